// One-time passwords of RFC 6238 from a base32 secret or an otpauth:// address.
import { VaultError } from '../../errors.ts'
import { subtleCrypto } from './aes.ts'
import type { Bytes } from './bytes.ts'

export type TotpAlgorithm = 'SHA-1' | 'SHA-256' | 'SHA-512'
/** `alphabet` is the digits of the code in order. */
export type TotpParameters = { secret: Bytes; algorithm: TotpAlgorithm; digits: number; periodSeconds: number; alphabet: string }
export type TotpCode = { code: string; periodSeconds: number; secondsLeft: number }

const algorithms: Record<string, TotpAlgorithm> = { SHA1: 'SHA-1', SHA256: 'SHA-256', SHA512: 'SHA-512' }
const secretBytesMax = 256

/** Returns the current code. `text` is the member `totp` of a login secret. Throws `totp_invalid`. */
export const totpCode = (text: string, nowMs: number = Date.now()): Promise<TotpCode> => codeAt(parseTotp(text), nowMs)

const decimal = '0123456789'
/** The digits of Steam Guard, whose codes have five of them. */
const steam = '23456789BCDFGHJKMNPQRTVWXY'
const steamDigits = 5

/**
 * Reads `otpauth://totp/…?secret=…&algorithm=…&digits=…&period=…`, or a bare base32 secret with default parameters. Password managers
 * write secrets of Steam as `encoder=steam`, `otpauth://steam/…` or `steam://SECRET`.
 */
export function parseTotp(text: string): TotpParameters {
  const trimmed = text.trim()
  const usual = { algorithm: 'SHA-1', digits: 6, periodSeconds: 30, alphabet: decimal } as const
  const ofSteam = { ...usual, digits: steamDigits, alphabet: steam }
  if (/^steam:\/\//i.test(trimmed)) return { ...ofSteam, secret: decodeBase32(trimmed.slice('steam://'.length)) }
  if (!/^otpauth:/i.test(trimmed)) return { ...usual, secret: decodeBase32(trimmed) }
  if (trimmed.length > 4096) throw invalid('is too long')
  let url: URL
  try {
    url = new URL(trimmed)
  } catch {
    throw invalid('is not an otpauth address')
  }
  // Engines disagree on whether an unknown scheme has a host, so the type is read from the text.
  const [, type] = /^otpauth:\/\/(totp|steam)(?:\/|\?|$)/i.exec(trimmed) ?? []
  if (type === undefined) throw invalid('is not of type totp')
  const encoder = url.searchParams.get('encoder')?.toLowerCase() ?? ''
  if (encoder !== '' && encoder !== 'steam') throw invalid('has an unknown encoder')
  const secret = decodeBase32(url.searchParams.get('secret') ?? '')
  const periodSeconds = readCount(url.searchParams.get('period'), usual.periodSeconds, 1, 3600, 'period')
  if (type.toLowerCase() === 'steam' || encoder === 'steam') return { ...ofSteam, secret, periodSeconds }
  const name = (url.searchParams.get('algorithm') ?? 'SHA1').toUpperCase().replace('-', '')
  const algorithm = Object.hasOwn(algorithms, name) ? algorithms[name] : undefined
  if (!algorithm) throw invalid('has an unknown algorithm')
  return { ...usual, secret, algorithm, digits: readCount(url.searchParams.get('digits'), usual.digits, 5, 10, 'digits'), periodSeconds }
}

/** RFC 6238 §4.2 over RFC 4226 §5.3. The digits of another alphabet than the decimal one are written from the last to the first, as Steam does. */
export async function codeAt(parameters: TotpParameters, nowMs: number): Promise<TotpCode> {
  const { secret, algorithm, digits, periodSeconds, alphabet } = parameters
  const seconds = Math.floor(nowMs / 1000)
  const counter = new DataView(new ArrayBuffer(8))
  counter.setBigUint64(0, BigInt(Math.floor(seconds / periodSeconds)))
  const subtle = subtleCrypto()
  const key = await subtle.importKey('raw', secret, { name: 'HMAC', hash: algorithm }, false, ['sign'])
  const mac = new DataView(await subtle.sign('HMAC', key, counter))
  const offset = mac.getUint8(mac.byteLength - 1) & 0x0f
  let value = mac.getUint32(offset) & 0x7fffffff
  let code = ''
  for (let i = 0; i < digits; i++) {
    const digit = alphabet.charAt(value % alphabet.length)
    code = alphabet === decimal ? digit + code : code + digit
    value = Math.floor(value / alphabet.length)
  }
  return { code, periodSeconds, secondsLeft: periodSeconds - (seconds % periodSeconds) }
}

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** RFC 4648 §6 with the variations of authenticator apps, which are any case, spaces, hyphens, and optional padding. */
function decodeBase32(text: string): Bytes {
  if (text.length > 1024) throw invalid('is too long')
  const symbols = text.toUpperCase().replace(/[\s-]/g, '').replace(/=+$/, '')
  const bytes: number[] = []
  let buffer = 0
  let bits = 0
  for (const symbol of symbols) {
    const value = base32.indexOf(symbol)
    if (value < 0) throw invalid('is not base32')
    buffer = ((buffer << 5) | value) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes.push((buffer >> bits) & 0xff)
    }
  }
  if (bytes.length === 0 || bytes.length > secretBytesMax) throw invalid('has a secret of an impossible length')
  return new Uint8Array(bytes)
}

function readCount(text: string | null, usual: number, min: number, max: number, name: string): number {
  if (text === null) return usual
  const value = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) throw invalid(`has an impossible ${name}`)
  return value
}

const invalid = (reason: string) => new VaultError('totp_invalid', `The one-time password secret ${reason}.`)

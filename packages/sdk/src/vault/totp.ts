// One-time passwords of RFC 6238 from a base32 secret or an otpauth:// address.
import { VaultError } from '../errors.ts'
import { subtleCrypto } from './aes.ts'
import type { Bytes } from './bytes.ts'

export type TotpAlgorithm = 'SHA-1' | 'SHA-256' | 'SHA-512'
export type TotpParameters = { secret: Bytes; algorithm: TotpAlgorithm; digits: number; periodSeconds: number }
export type TotpCode = { code: string; periodSeconds: number; secondsLeft: number }

const algorithms: Record<string, TotpAlgorithm> = { SHA1: 'SHA-1', SHA256: 'SHA-256', SHA512: 'SHA-512' }
const secretBytesMax = 256

/** Returns the current code. `text` is the member `totp` of a login secret. Throws `totp_invalid`. */
export const totpCode = (text: string, nowMs: number = Date.now()): Promise<TotpCode> => codeAt(parseTotp(text), nowMs)

/** Reads `otpauth://totp/…?secret=…&algorithm=…&digits=…&period=…`, or a bare base32 secret with default parameters. */
export function parseTotp(text: string): TotpParameters {
  const trimmed = text.trim()
  if (!/^otpauth:/i.test(trimmed)) return { secret: decodeBase32(trimmed), algorithm: 'SHA-1', digits: 6, periodSeconds: 30 }
  if (trimmed.length > 4096) throw invalid('is too long')
  let url: URL
  try {
    url = new URL(trimmed)
  } catch {
    throw invalid('is not an otpauth address')
  }
  // Engines disagree on whether an unknown scheme has a host, so the type is read from the text.
  if (!/^otpauth:\/\/totp(\/|\?|$)/i.test(trimmed)) throw invalid('is not of type totp')
  const name = (url.searchParams.get('algorithm') ?? 'SHA1').toUpperCase().replace('-', '')
  const algorithm = Object.hasOwn(algorithms, name) ? algorithms[name] : undefined
  if (!algorithm) throw invalid('has an unknown algorithm')
  return {
    secret: decodeBase32(url.searchParams.get('secret') ?? ''),
    algorithm,
    digits: readCount(url.searchParams.get('digits'), 6, 6, 10, 'digits'),
    periodSeconds: readCount(url.searchParams.get('period'), 30, 1, 3600, 'period'),
  }
}

/** RFC 6238 §4.2 over RFC 4226 §5.3. */
export async function codeAt(parameters: TotpParameters, nowMs: number): Promise<TotpCode> {
  const { secret, algorithm, digits, periodSeconds } = parameters
  const seconds = Math.floor(nowMs / 1000)
  const counter = new DataView(new ArrayBuffer(8))
  counter.setBigUint64(0, BigInt(Math.floor(seconds / periodSeconds)))
  const subtle = subtleCrypto()
  const key = await subtle.importKey('raw', secret, { name: 'HMAC', hash: algorithm }, false, ['sign'])
  const mac = new DataView(await subtle.sign('HMAC', key, counter))
  const offset = mac.getUint8(mac.byteLength - 1) & 0x0f
  const value = (mac.getUint32(offset) & 0x7fffffff) % 10 ** digits
  return { code: String(value).padStart(digits, '0'), periodSeconds, secondsLeft: periodSeconds - (seconds % periodSeconds) }
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** RFC 4648 §6 with the variations of authenticator apps, which are any case, spaces, hyphens, and optional padding. */
function decodeBase32(text: string): Bytes {
  if (text.length > 1024) throw invalid('is too long')
  const symbols = text.toUpperCase().replace(/[\s-]/g, '').replace(/=+$/, '')
  const bytes: number[] = []
  let buffer = 0
  let bits = 0
  for (const symbol of symbols) {
    const value = alphabet.indexOf(symbol)
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

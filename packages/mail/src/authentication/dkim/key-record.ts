// Parses DKIM key records (RFC 6376 §3.6.1, RFC 8301, RFC 8463) into public keys.
import { createPublicKey, type KeyObject } from 'node:crypto'
import { keepReadings } from '../record-cache.ts'
import { readNames, readTagList } from '../tag-list.ts'

export type KeyKind = 'rsa' | 'ed25519'

/** `isStrict`: the i= domain must equal d= (t=s). `isSlow`: a verification takes at least 1 ms and runs on another thread. */
export type DkimKey = { kind: KeyKind; key: KeyObject; isStrict: boolean; isSlow: boolean }

/** A key, or the reason why the record has none. `policy` means a valid key that is refused, for example for its size. */
export type KeyReading = DkimKey | { refusal: string; result: 'neutral' | 'policy' }

/** Smallest RSA key, in bits (RFC 8301 §3.2). */
const rsaBitsMin = 1024
/** Largest RSA key, in bits. Keys in use have 4,096 bits or less. */
const quickBitsMax = 4096
/** Public exponents in use are 65,537 or less. The largest that OpenSSL accepts costs 13 ms per signature, and a message can have dozens. */
const exponentMax = 1n << 32n

/** Reads a record. Results are cached, because importing a key costs more than a verification. */
export const readKeyRecord: (record: string) => KeyReading = keepReadings(readAnew, 4_096)

const refuse = (refusal: string): KeyReading => ({ refusal, result: 'neutral' })

function readAnew(record: string): KeyReading {
  const { tags, firstName, defect } = readTagList(record)
  const text = tags.get('p')?.value.replaceAll(' ', '') ?? ''
  // An empty p= is a revoked key.
  if (defect !== null || !isBase64(text)) return refuse('invalid public key')
  const version = tags.get('v')
  if (version && (version.value !== 'DKIM1' || firstName !== 'v')) return refuse('unknown key version')
  const services = tags.get('s')
  if (services && !readNames(services.value).some((service) => service === 'email' || service === '*')) return refuse('key not for email')
  const hashes = tags.get('h')
  if (hashes && !readNames(hashes.value).includes('sha256')) return refuse('inappropriate hash algorithm')
  const kind = tags.get('k')?.value.toLowerCase() ?? 'rsa'
  if (kind !== 'rsa' && kind !== 'ed25519') return refuse('unknown key type')
  const flags = readNames(tags.get('t')?.value ?? '')
  return importKey(kind, Buffer.from(text, 'base64'), flags.includes('s'))
}

const isBase64 = (text: string): boolean => /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1

// The DER prefix of an Ed25519 key (RFC 8410 §4). A record holds only the 32 octets of the key (RFC 8463 §4).
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex')
const ed25519Bytes = 32

function importKey(kind: KeyKind, bytes: Buffer, isStrict: boolean): KeyReading {
  if (kind === 'ed25519' && bytes.length !== ed25519Bytes) return refuse('invalid public key')
  const der = kind === 'ed25519' ? Buffer.concat([ed25519Prefix, bytes]) : bytes
  let key: KeyObject
  try {
    key = createPublicKey({ key: der, format: 'der', type: kind === 'rsa' && isBareRsaKey(der) ? 'pkcs1' : 'spki' })
  } catch {
    return refuse('unknown key type')
  }
  if (key.asymmetricKeyType !== kind) return refuse('unknown key type')
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (kind === 'rsa' && bits < rsaBitsMin) return { refusal: `weak key: RSA with ${bits} bits`, result: 'policy' }
  if (exponent > exponentMax) return { refusal: 'RSA exponent too large', result: 'policy' }
  return { kind, key, isStrict, isSlow: bits > quickBitsMax }
}

/** True for the bare RSAPublicKey of RFC 6376 §3.6.1, which starts with an integer. Published keys are usually a SubjectPublicKeyInfo, which starts with a sequence. */
function isBareRsaKey(der: Buffer): boolean {
  const lengthByte = der[1] ?? 0
  return der[0] === 0x30 && der[lengthByte < 0x80 ? 2 : 2 + (lengthByte & 0x7f)] === 0x02
}

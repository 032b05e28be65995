// Reads and checks signed requests of an ACME client (RFC 8555 §6.2, RFC 7515).
import { createHash, createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto'

type JsonObject = Record<string, unknown>
export type Jwk = { kty: string; [field: string]: unknown }
export type SignedRequest = {
  header: { alg: string; nonce?: string; url?: string; kid?: string; jwk?: Jwk }
  /** Null for POST-as-GET. */
  payload: JsonObject | null
  /** True when this key made the signature. */
  isSignedBy(key: KeyObject): boolean
}

/** A problem document (RFC 8555 §6.7). */
export class Problem extends Error {
  readonly status: number
  readonly type: string
  readonly headers: Record<string, string>
  readonly more: JsonObject
  constructor(status: number, type: string, detail: string, headers: Record<string, string> = {}, more: JsonObject = {}) {
    super(detail)
    this.status = status
    this.type = type
    this.headers = headers
    this.more = more
  }
}

const algorithms: Record<string, { hash: string; isFor: (jwk: JsonObject) => boolean; dsaEncoding?: 'ieee-p1363' }> = {
  RS256: { hash: 'sha256', isFor: ({ kty }) => kty === 'RSA' },
  ES256: { hash: 'sha256', isFor: ({ crv }) => crv === 'P-256', dsaEncoding: 'ieee-p1363' },
  ES384: { hash: 'sha384', isFor: ({ crv }) => crv === 'P-384', dsaEncoding: 'ieee-p1363' },
}

const malformed = (detail: string) => new Problem(400, 'malformed', detail)
const base64url = /^[A-Za-z0-9_-]*$/

function decode(part: unknown, what: string): JsonObject {
  if (typeof part !== 'string' || !base64url.test(part)) throw malformed(`${what} is not base64url`)
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as JsonObject
  } catch {
    throw malformed(`${what} is not JSON`)
  }
}

/** The flattened JSON serialization. Throws a Problem. */
export function readJws(body: string): SignedRequest {
  let jws: JsonObject
  try {
    jws = JSON.parse(body) as JsonObject
  } catch {
    throw malformed('the body is not JSON')
  }
  return readParts(jws)
}

/** A JWS that is already parsed, such as the inner one of a key change. */
export function readParts(jws: JsonObject): SignedRequest {
  if ('header' in jws || 'signatures' in jws) throw malformed('unprotected headers and several signatures are not allowed')
  const header = decode(jws.protected, 'protected') as SignedRequest['header']
  const algorithm = algorithms[header.alg]
  if (!algorithm)
    throw new Problem(400, 'badSignatureAlgorithm', `alg ${header.alg} is not supported`, {}, { algorithms: Object.keys(algorithms) })
  if ((header.jwk === undefined) === (header.kid === undefined)) throw malformed('exactly one of jwk and kid is required')
  if (typeof jws.signature !== 'string' || !base64url.test(jws.signature)) throw malformed('signature is not base64url')
  const signature = Buffer.from(jws.signature, 'base64url')
  const signed = Buffer.from(`${jws.protected}.${jws.payload}`)
  return {
    header,
    payload: jws.payload === '' ? null : decode(jws.payload, 'payload'),
    isSignedBy(key) {
      if (!algorithm.isFor(key.export({ format: 'jwk' }) as JsonObject)) return false
      return verify(algorithm.hash, signed, algorithm.dsaEncoding ? { key, dsaEncoding: algorithm.dsaEncoding } : key, signature)
    },
  }
}

/** Throws a Problem for a key that cannot be used. */
export function keyOf(jwk: Jwk): KeyObject {
  try {
    return createPublicKey({ key: jwk as never, format: 'jwk' })
  } catch {
    throw new Problem(400, 'badPublicKey', 'the key of the account cannot be read')
  }
}

/** RFC 7638. */
export function thumbprintOf(jwk: Jwk): string {
  const fields = jwk.kty === 'RSA' ? ['e', 'kty', 'n'] : ['crv', 'kty', 'x', 'y']
  const canonical = JSON.stringify(Object.fromEntries(fields.map((field) => [field, jwk[field]])))
  return createHash('sha256').update(canonical).digest('base64url')
}

/** Checks the binding of a new account to an account of the authority (RFC 8555 §7.3.4). `keys` are base64url, by key id. */
export function checkBinding(binding: unknown, { keys, url, jwk }: { keys: Record<string, string>; url: string; jwk: Jwk }): void {
  if (typeof binding !== 'object' || binding === null)
    throw new Problem(403, 'externalAccountRequired', 'externalAccountBinding is required')
  const jws = binding as JsonObject
  const header = decode(jws.protected, 'protected of the binding')
  if (header.alg !== 'HS256' || header.nonce !== undefined || header.url !== url) throw malformed('the header of the binding is wrong')
  if (thumbprintOf(decode(jws.payload, 'payload of the binding') as Jwk) !== thumbprintOf(jwk))
    throw malformed('the binding is for another key')
  const key = keys[String(header.kid)]
  if (key === undefined) throw new Problem(403, 'unauthorized', `no account has the key id ${header.kid}`)
  const expected = createHmac('sha256', Buffer.from(key, 'base64url')).update(`${jws.protected}.${jws.payload}`).digest()
  const signature = Buffer.from(String(jws.signature), 'base64url')
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected))
    throw new Problem(403, 'unauthorized', 'the signature of the binding is wrong')
}

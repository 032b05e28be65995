// Signatures of webhooks by Standard Webhooks 1.0.0. Defines the signed bytes, the format of secrets, and verification.

/** Header names, in lower case. */
export const signatureHeaders = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' } as const

/** The maximum difference between the clocks of sender and receiver, in seconds. */
export const toleranceSeconds = 5 * 60

const secretPrefix = 'whsec_'

/** The signature is wrong or malformed. The message gives the reason. */
export class InvalidSignature extends Error {
  override name = 'InvalidSignature'
}

/** Formats a secret as `whsec_` and base64 of its bytes. */
export const formatSecret = (bytes: Uint8Array): string => secretPrefix + btoa(String.fromCharCode(...bytes))

/** The bytes of a secret, with or without the prefix. Throws InvalidSignature unless it is base64 of at least 24 bytes. */
export function parseSecret(secret: string): Uint8Array<ArrayBuffer> {
  const text = secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    throw new InvalidSignature('The secret is not valid. It must be whsec_ followed by base64.')
  }
  if (bytes.length < 24) throw new InvalidSignature('The secret is shorter than 24 bytes.')
  return bytes
}

/** The bytes that precede the body in the signed text. */
export const signedPrefix = (id: string, timestampSeconds: number): string => `${id}.${timestampSeconds}.`

/** The `webhook-signature` header value of one or more HMAC-SHA256 digests in base64. */
export const signatureHeader = (digests: string[]): string => digests.map((digest) => `v1,${digest}`).join(' ')

export type SignedRequest = {
  /** The exact bytes or text of the body as received. Parsing and serializing it would change it. */
  body: string | Uint8Array
  /** The request's headers, as an object with names in any case, or as Headers. */
  headers: Record<string, string | string[] | undefined> | { get(name: string): string | null }
}

/**
 * Verifies a webhook against its secret, or against several during a rotation, and returns its parsed body. Compares in constant
 * time. Rejects with InvalidSignature, and only with it.
 */
export async function verifyWebhook<T = unknown>(
  request: SignedRequest,
  secrets: string | string[],
  options: { nowMs?: number } = {},
): Promise<T> {
  const id = readHeader(request.headers, signatureHeaders.id)
  const timestamp = readHeader(request.headers, signatureHeaders.timestamp)
  const given = readHeader(request.headers, signatureHeaders.signature)
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN
  if (Number.isNaN(seconds)) throw new InvalidSignature('webhook-timestamp is not a Unix time in seconds.')
  if (Math.abs((options.nowMs ?? Date.now()) / 1000 - seconds) > toleranceSeconds)
    throw new InvalidSignature(`webhook-timestamp is more than ${toleranceSeconds} seconds away from the current time.`)
  const body = typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body
  const content = concat(new TextEncoder().encode(signedPrefix(id, seconds)), body)
  const candidates = given.split(' ').flatMap((part) => (part.startsWith('v1,') ? [decode(part.slice(3))] : []))
  let isGood = false
  for (const secret of [secrets].flat()) {
    const expected = await hmac(parseSecret(secret), content)
    for (const candidate of candidates) isGood = isEqual(expected, candidate) || isGood
  }
  if (!isGood) throw new InvalidSignature('webhook-signature does not match the secret.')
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as T
  } catch {
    throw new InvalidSignature('The body is signed, but it is not JSON.')
  }
}

/** The three headers of a webhook sent now, for senders that have only WebCrypto. */
export async function signWebhook(secret: string, id: string, body: string, nowMs: number = Date.now()): Promise<Record<string, string>> {
  const seconds = Math.floor(nowMs / 1000)
  const digest = await hmac(parseSecret(secret), new TextEncoder().encode(signedPrefix(id, seconds) + body))
  return {
    [signatureHeaders.id]: id,
    [signatureHeaders.timestamp]: String(seconds),
    [signatureHeaders.signature]: signatureHeader([btoa(String.fromCharCode(...digest))]),
  }
}

function readHeader(headers: SignedRequest['headers'], name: string): string {
  let value: string | string[] | null | undefined
  if (typeof headers.get === 'function') value = headers.get(name)
  else value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] as string | string[] | undefined
  if (typeof value !== 'string' || value === '' || value.length > 4096) throw new InvalidSignature(`The header ${name} is missing.`)
  return value
}

async function hmac(secret: Uint8Array<ArrayBuffer>, content: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, content))
}

function decode(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array(0)
  }
}

/** Compares digests of equal length in constant time. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (const [i, byte] of a.entries()) difference |= byte ^ (b[i] as number)
  return difference === 0
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(a.length + b.length)
  whole.set(a)
  whole.set(b, a.length)
  return whole
}

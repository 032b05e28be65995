// When a certificate is renewed, and when a failed order is repeated. Pure.
import { createPrivateKey, X509Certificate } from 'node:crypto'

/** A part of the lifetime by which renewals are spread, so that certificates issued together are not renewed together. */
const jitterPart = 1 / 30
const latestPart = 1 / 6
const thirdOfLife = 1 / 3

/** The start and end of the time in which the authority suggests to renew (RFC 9773 §4.2). */
export type RenewalWindow = { startMs: number; endMs: number }

const lifeOf = (chain: string): { endMs: number; lifeMs: number } => {
  const { validFromDate, validToDate } = new X509Certificate(chain)
  return { endMs: validToDate.getTime(), lifeMs: validToDate.getTime() - validFromDate.getTime() }
}

/** The end of the lifetime, in milliseconds since 1970. */
export const expiryMs = (chain: string): number => lifeOf(chain).endMs

/**
 * A moment with a third of the lifetime left or somewhat earlier, or one in the window that the authority suggests. A window near the end of
 * the lifetime is cut, so that a failed order can be repeated. `random` is from 0 to 1.
 */
export function renewalAtMs(chain: string, window: RenewalWindow | null, random: number): number {
  const { endMs, lifeMs } = lifeOf(chain)
  if (window === null) return endMs - lifeMs * (thirdOfLife + jitterPart * random)
  return Math.min(window.startMs + (window.endMs - window.startMs) * random, endMs - lifeMs * latestPart)
}

/** The delay after this many failures in a row, with a jitter of a tenth, and at least as long as the authority demands. */
export function retryInMs(failures: number, delaysSeconds: number[], retryAfterMs: number, random: number): number {
  const seconds = delaysSeconds[Math.min(failures, delaysSeconds.length - 1)] ?? 0
  return Math.max(seconds * 1000 * (0.9 + random / 5), retryAfterMs)
}

/** The id of a certificate at its authority (RFC 9773 §4.1), or null without an authority key identifier. */
export function renewalId(chain: string): string | null {
  const certificate = new X509Certificate(chain)
  const keyId = authorityKeyId(certificate.raw)
  if (keyId === null) return null
  const serial = Buffer.from(
    certificate.serialNumber.padStart(certificate.serialNumber.length + (certificate.serialNumber.length % 2), '0'),
    'hex',
  )
  // A DER integer with a high first bit would be negative.
  const octets = (serial[0] as number) >= 0x80 ? Buffer.concat([Buffer.of(0), serial]) : serial
  return `${keyId.toString('base64url')}.${octets.toString('base64url')}`
}

// The extension's object identifier 2.5.29.35.
const authorityKeyIdOid = Buffer.from('0603551d23', 'hex')

/** The keyIdentifier of RFC 5280 §4.2.1.1. Authorities have short ones, so every length takes one octet. */
function authorityKeyId(der: Buffer): Buffer | null {
  const at = der.indexOf(authorityKeyIdOid)
  if (at < 0) return null
  // OCTET STRING and SEQUENCE, each of two octets, and then [0] with the key identifier.
  const start = at + authorityKeyIdOid.length + 4
  return der[start] === 0x80 ? der.subarray(start + 2, start + 2 + (der[start + 1] as number)) : null
}

/** Throws with a sentence when the chain cannot be used for the name with this key. */
export function checkIssued(chain: string, key: string, name: string, nowMs: number): void {
  const certificate = new X509Certificate(chain)
  if (!certificate.checkPrivateKey(createPrivateKey(key))) throw new Error('the certificate is for another key')
  if (certificate.checkHost(name.replace(/^\*\./, 'any.')) === undefined) throw new Error(`the certificate is not for ${name}`)
  if (certificate.validToDate.getTime() <= nowMs) throw new Error('the certificate has expired already')
}

// Signed download links of attachments. A link grants access to one attachment until it expires.
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'

/**
 * `expires` and `nowSeconds` are Unix times in seconds. `key` has 32 secret bytes for this purpose only. It is a key object, because signing with
 * a buffer takes six times as long.
 */
export type MediaLink = { attachmentId: string; expires: number; key: KeyObject }

const idPattern = /^[a-z0-9_]{1,64}$/
// Twelve digits reach beyond the year 30000 and stay below Number.MAX_SAFE_INTEGER.
const expiresPattern = /^[1-9][0-9]{0,11}$/

/** `{base_url}/media/<attachment_id>?expires=<unix_time>&signature=<signature>`. `expires` is in seconds. */
export function signMediaUrl({ baseUrl, ...link }: MediaLink & { baseUrl: string }): string {
  if (!idPattern.test(link.attachmentId) || !expiresPattern.test(String(link.expires))) throw new Error('not a media link')
  return `${baseUrl.replace(/\/$/, '')}/media/${link.attachmentId}?expires=${link.expires}&signature=${signature(link)}`
}

/**
 * Verifies a received link, with `expires` and `signature` as text. Only a genuine link can be `expired`. Runs in constant time for any wrong
 * signature.
 */
export function verifyMediaLink(given: {
  attachmentId: string
  expires: string
  signature: string
  key: KeyObject
  nowSeconds: number
}): 'valid' | 'expired' | 'forged' {
  if (!idPattern.test(given.attachmentId) || !expiresPattern.test(given.expires)) return 'forged'
  const expires = Number(given.expires)
  // Compared as text, because base64url has several encodings of the same bytes.
  const expected = Buffer.from(signature({ attachmentId: given.attachmentId, expires, key: given.key }))
  const actual = Buffer.from(given.signature)
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return 'forged'
  return given.nowSeconds < expires ? 'valid' : 'expired'
}

/** HMAC-SHA256 in base64url. The parts have no line breaks, so the signed text is unambiguous. Its first line separates it from other signed texts. */
function signature({ attachmentId, expires, key }: MediaLink): string {
  return createHmac('sha256', key).update(`callsign media link 1\n${attachmentId}\n${expires}`).digest('base64url')
}

// Signed download links of attachments: who holds one may fetch those bytes until it expires, and nothing else.
import { createHmac, timingSafeEqual } from 'node:crypto'

/** `expires` and `nowSeconds` are Unix times in seconds; `key` is 32 secret bytes kept for this purpose alone. */
export type MediaLink = { attachmentId: string; expires: number; key: Buffer }

const idPattern = /^[a-z0-9_]{1,64}$/
// Twelve digits reach beyond the year 30000, and stay far inside what a number holds exactly.
const expiresPattern = /^[1-9][0-9]{0,11}$/

/** `{base_url}/media/<attachment_id>?expires=<unix_time>&signature=<signature>`. `expires` is in seconds. */
export function signMediaUrl({ baseUrl, ...link }: MediaLink & { baseUrl: string }): string {
  if (!idPattern.test(link.attachmentId) || !expiresPattern.test(String(link.expires))) throw new Error('not a media link')
  return `${baseUrl.replace(/\/$/, '')}/media/${link.attachmentId}?expires=${link.expires}&signature=${signature(link)}`
}

/**
 * Judges a link as it came over the wire, `expires` and `signature` as text. Only a link of ours is ever called expired. Takes the same time
 * wherever the signature is wrong.
 */
export function verifyMediaLink(given: {
  attachmentId: string
  expires: string
  signature: string
  key: Buffer
  nowSeconds: number
}): 'valid' | 'expired' | 'forged' {
  if (!idPattern.test(given.attachmentId) || !expiresPattern.test(given.expires)) return 'forged'
  const expires = Number(given.expires)
  // Compared as text: base64url has several spellings of the same bytes, of which we made one.
  const expected = Buffer.from(signature({ attachmentId: given.attachmentId, expires, key: given.key }))
  const actual = Buffer.from(given.signature)
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return 'forged'
  return given.nowSeconds < expires ? 'valid' : 'expired'
}

/** HMAC-SHA256 in base64url. The parts hold no line end, so no two links share a text; the first line keeps it apart from anything else we may sign. */
function signature({ attachmentId, expires, key }: MediaLink): string {
  return createHmac('sha256', key).update(`callsign media link 1\n${attachmentId}\n${expires}`).digest('base64url')
}

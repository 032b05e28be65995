// Signed links that approve or reject one version of a draft. The database has only their ids, so that a copy of it opens none.
import { createHmac, timingSafeEqual } from 'node:crypto'

export const approvalPath = '/approve/'

/** The path of a link. `key` is 32 secret bytes for this purpose only. */
export const approvalPathOf = (linkId: string, key: Buffer): string => `${approvalPath}${linkId}.${signature(linkId, key)}`

/** The link id in a token, or null for a token that was not made here. Takes the same time for every wrong signature. */
export function readApprovalToken(token: string, key: Buffer): string | null {
  const dot = token.indexOf('.')
  const linkId = token.slice(0, Math.max(0, dot))
  if (!/^[a-z0-9_]{1,64}$/.test(linkId)) return null
  // Compared as text, because base64url has several encodings of the same bytes.
  const expected = Buffer.from(signature(linkId, key))
  const actual = Buffer.from(token.slice(dot + 1))
  return actual.length === expected.length && timingSafeEqual(actual, expected) ? linkId : null
}

/** HMAC-SHA256 in base64url. The first line separates it from other signed texts. */
const signature = (linkId: string, key: Buffer): string =>
  createHmac('sha256', key).update(`callsign approval link 1\n${linkId}`).digest('base64url')

// Tokens that open a WebSocket of events for a short time, for clients that cannot send a key in a header.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isId } from '@callsign/contract/ids'

/** `keyId` is the API key that the token stands for, and `expires` a Unix time in seconds. */
export type SocketToken = { keyId: string; expires: number }

const tokenPattern = /^evs_([a-z0-9_]{1,64})\.([1-9][0-9]{0,11})\.([A-Za-z0-9_-]{43})$/

/** The text of a token. `secret` is 32 secret bytes for this purpose only, the same on every node. */
export const signSocketToken = (token: SocketToken, secret: Buffer): string =>
  `evs_${token.keyId}.${token.expires}.${signature(token, secret)}`

/** The key of a token, or null for a token that is forged, expired or of another form. */
export function readSocketToken(text: string, secret: Buffer, nowMs: number): string | null {
  const match = tokenPattern.exec(text)
  if (!match) return null
  const token = { keyId: match[1] as string, expires: Number(match[2]) }
  // Compared as text, because base64url has several encodings of the same bytes.
  const [expected, actual] = [Buffer.from(signature(token, secret)), Buffer.from(match[3] as string)]
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return null
  return isId('key', token.keyId) && nowMs < token.expires * 1000 ? token.keyId : null
}

/** HMAC-SHA256 in base64url. The first line separates it from other signed texts. */
const signature = ({ keyId, expires }: SocketToken, secret: Buffer): string =>
  createHmac('sha256', secret).update(`callsign event socket 1\n${keyId}\n${expires}`).digest('base64url')

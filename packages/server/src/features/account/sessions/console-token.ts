// The console token: a JWT (RFC 7519) signed with Ed25519 that the page sends to the API as its Bearer for 10 minutes.
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { now, nowMs } from '../../../core/clock.ts'

export const tokenMs = 10 * 60_000

const algorithm = 'EdDSA'
const type = 'callsign-console+jwt'
const issuer = 'callsign'
const audience = 'callsign-api'
const tokenPattern = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

/** The PKCS #8 form of an Ed25519 private key without its 32 bytes (RFC 8410 §7). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

export interface ConsoleTokens {
  sign(sessionId: string): Promise<{ token: string; expires_at: string }>
  /** The session of a token, or null when it is not one of ours, altered or expired. Null at once for text that is not a JWT. */
  verify(token: string): Promise<string | null> | null
}

/** `seed` is 32 secret bytes, the same on every node. */
export function createConsoleTokens(seed: Buffer): ConsoleTokens {
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey)
  return {
    async sign(sessionId) {
      const expiresMs = Math.floor((nowMs() + tokenMs) / 1000) * 1000
      const token = await new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: algorithm, typ: type })
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(now())
        .setExpirationTime(new Date(expiresMs))
        .sign(privateKey)
      return { token, expires_at: new Date(expiresMs).toISOString() }
    },
    verify(token) {
      if (!tokenPattern.test(token)) return null
      const options = { algorithms: [algorithm], typ: type, issuer, audience, requiredClaims: ['exp', 'sid'], currentDate: now() }
      return jwtVerify(token, publicKey, options).then(
        ({ payload }) => (typeof payload.sid === 'string' ? payload.sid : null),
        () => null,
      )
    },
  }
}

// Console sessions: the cookie, the CSRF value made from it, and how long they last.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { MemberRole } from '../roles/model.ts'

export type SignInMethod = 'link' | 'password' | 'passkey' | 'oidc' | 'key'

/** The browser of a request. `address` is one name for its network, as the session list shows it. */
export type Client = { address: string; exactAddress: string; userAgent: string; requestId: string }

/** The user of a session: a member, or an API key. */
export type Principal = { organizationId: string; userId: string; keyId: null } | { organizationId: string; userId: null; keyId: string }

export type SessionMember = { id: string; email: string | null; name: string; role: MemberRole }

export type Session = {
  id: string
  organizationId: string
  organizationName: string
  method: SignInMethod
  createdAt: Date
  expiresAt: Date
  /** The user of the session: the member, or the one that the key belongs to. */
  userId: string
  /** The permissions of the session in the console. An organization key acts as an owner, or as a reviewer if it has limits. */
  role: MemberRole | 'agent'
  /** The agent of an agent key. */
  agentHandle: string | null
  /** Null when a key signed in. */
  member: SessionMember | null
  keyId: string | null
}

/** Lifetime of a session, in milliseconds: without use, and at most. */
export type SessionLimits = { idleMs: number; maxMs: number }

/** A cookie, a link or a challenge: 256 random bits as base64url. Only its hash is stored. */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** 32 bytes, or null for text that is not a token. */
export const hashToken = (token: string): Buffer | null =>
  /^[A-Za-z0-9_-]{43}$/.test(token) ? createHash('sha256').update(token).digest() : null

/** The value that a request with effects repeats in X-Callsign-CSRF. A page of another origin can send the cookie and not read this. */
export const csrfOf = (cookie: string): string => createHash('sha256').update(`callsign csrf\n${cookie}`).digest('base64url')

/** Compares in constant time. */
export function isCsrf(cookie: string, given: unknown): boolean {
  const wanted = Buffer.from(csrfOf(cookie))
  const bytes = Buffer.from(typeof given === 'string' ? given : '')
  return bytes.length === wanted.length && timingSafeEqual(bytes, wanted)
}

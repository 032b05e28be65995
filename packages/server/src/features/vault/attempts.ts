// Proving a vault key by its auth_hash: how hashes are kept and compared, and how many wrong ones are let through.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { VaultKeyRow } from './model.ts'

/** Failures count for this long. */
export const windowMs = 15 * 60 * 1000

/** Maximum of wrong hashes per identity, or per organization key, within the window. */
export const failuresPerHolderMax = 10

/** Maximum of all identities together, and of all organization keys together. Agents that guess cannot lock out the organization. */
export const failuresPerTypeMax = 30

/** The origin of an attempt. `identityId` is null for organization keys. All keys of an agent count as one, and a key of several agents
 * counts for the first. */
export type Holder = { keyId: string; identityId: string | null }

export type Failure = { key_id: string; identity_id: string | null; failed_at: Date }

/** Milliseconds until this holder may try again, or 0. `failures` are those of the window, newest first. */
export function waitMs(failures: Failure[], { keyId, identityId }: Holder, nowMs: number): number {
  const ofType = failures.filter((failure) => (failure.identity_id === null) === (identityId === null))
  const own = ofType.filter((failure) => (identityId === null ? failure.key_id === keyId : failure.identity_id === identityId))
  const deciding = [own[failuresPerHolderMax - 1], ofType[failuresPerTypeMax - 1]]
  return Math.max(0, ...deciding.map((failure) => (failure ? failure.failed_at.getTime() + windowMs - nowMs : 0)))
}

/** The stored form of an auth_hash: its own salt and SHA-256(salt ‖ hash). The hash has 256 bits, so a slow hash is not needed. */
export function digestAuthHash(authHash: string): { auth_salt: Buffer; auth_digest: Buffer } {
  const salt = randomBytes(16)
  return { auth_salt: salt, auth_digest: digest(salt, authHash) }
}

const digest = (salt: Buffer, authHash: string): Buffer => createHash('sha256').update(salt).update(Buffer.from(authHash, 'hex')).digest()

/** The key with this auth_hash (64 hexadecimal digits of either case), or null. Always compares with every row, each in constant time. */
export function findKey(keys: VaultKeyRow[], authHash: string): VaultKeyRow | null {
  let found: VaultKeyRow | null = null
  for (const key of keys) if (timingSafeEqual(digest(key.auth_salt, authHash), key.auth_digest)) found ??= key
  return found
}

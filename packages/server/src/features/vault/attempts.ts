// Proving a vault key by its auth_hash: how hashes are kept and compared, and how many wrong ones are let through.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { VaultKeyRow } from './model.ts'

/** Failures count for this long. */
export const windowMs = 15 * 60 * 1000

/** Wrong hashes within the window: so many of one API key, and so many of all keys together, because whoever may make keys has many. */
export const failuresPerKeyMax = 10
export const failuresPerVaultMax = 30

export type Failure = { key_id: string; failed_at: Date }

/** Milliseconds until this API key may try again; 0 for now. `failures`: those of the window, newest first. */
export function waitMs(failures: Failure[], keyId: string, nowMs: number): number {
  const own = failures.filter((failure) => failure.key_id === keyId)
  const deciding = [own[failuresPerKeyMax - 1], failures[failuresPerVaultMax - 1]]
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

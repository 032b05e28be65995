// Unlocks the vault by a proof of one of its keys. A failed proof stays recorded though the request fails.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { UnlockedVault } from '@callsign/contract/vault'
import type { Static } from 'typebox'
import type { BusinessEvents } from '../../core/business-events.ts'
import { identityIdsOf, limitIdOf } from '../../core/caller.ts'
import { inMs, now, nowMs } from '../../core/clock.ts'
import { ApiError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { Call } from '../../core/route.ts'
import type { Database, Tx } from '../../core/sql.ts'
import { type Accounts, actorOf } from '../account/organizations/operations.ts'
import * as keyStore from './key-store.ts'
import { type Failure, type Holder, kdfParamsOf, toUnlockedSecret, type VaultKeyRow, type VaultRow } from './model.ts'
import * as store from './store.ts'

/** Failures count for this long. */
export const windowMs = 15 * 60 * 1000

/** Maximum of wrong hashes per identity, or per organization key, within the window. */
export const failuresPerHolderMax = 10

/** Maximum of all identities together, and of all organization keys together. Agents that guess cannot lock out the organization. */
export const failuresPerTypeMax = 30

export const notInitialized = (): ApiError =>
  new ApiError('vault_not_initialized', 'This organization has no vault yet: initialize it first.')

/** The organization's vault, held until the transaction ends. Throws 404. */
export async function lockVault(tx: Tx, call: Call): Promise<VaultRow> {
  const vault = await keyStore.lockVault(tx, call.caller.organizationId)
  if (!vault) throw notInitialized()
  return vault
}

export type Proof<T> = {
  /** The API's name of the attempted operation, for the audit log. */
  purpose: 'unlock' | 'replace_primary_key' | 'delete_key' | 'rotate'
  authHash: string
  /** Which keys prove it; any of the vault's when absent. */
  keyType?: 'primary' | 'recovery'
  /** Runs before the hash is compared. Its errors do not count as attempts. */
  check?: (vault: VaultRow) => void
  /** The work that the proof permits, in the transaction of the comparison. Throwing rolls it back. */
  work: (tx: Tx, vault: VaultRow, proven: VaultKeyRow, keys: VaultKeyRow[]) => Promise<T>
}

type Ending<T> = { outcome: 'ok'; value: T } | { outcome: 'wrong' | 'throttled'; refusal: ApiError }

export type ProofParts = { db: Database; accounts: Accounts; businessEvents: BusinessEvents }

/** Proves a vault key and lists the secrets that the caller may read, as ciphertext. Only the client can decrypt them. */
export async function unlock(parts: ProofParts, call: Call, authHash: string): Promise<Static<typeof UnlockedVault>> {
  const { organizationId } = call.caller
  for (;;) {
    // Locks the vault's row, counts the attempt and compares the hash. A right one is recorded in the same transaction.
    const { vault, key } = await prove(parts, call, {
      purpose: 'unlock',
      authHash,
      async work(tx, vault, key) {
        await keyStore.touchKey(tx, organizationId, key.id, now())
        await parts.accounts.audit(tx, organizationId, actorOf(call), 'vault.unlocked', vault.id, { key_id: key.id, key_type: key.type })
        return { vault, key }
      },
    })
    // Outside of the lock, so that readers of many secrets do not wait for each other.
    const { keyVersion, secrets } = await store.listReadable(parts.db, organizationId, identityIdsOf(call.caller))
    // A rotation came in between: the key that was proven does not open these secrets.
    if (keyVersion !== vault.key_version) continue
    return {
      wrapped_org_key: key.wrapped_org_key.toString('base64'),
      kdf_params: kdfParamsOf(key),
      kdf_salt: key.kdf_salt.toString('base64'),
      secrets: secrets.map(toUnlockedSecret),
      vault_id: vault.id,
      key_id: key.id,
      key_type: key.type,
      key_version: vault.key_version,
    }
  }
}

/** Runs `work` when the hash is right. Throws 401 when it is wrong and 429, right or wrong, after too many wrong ones. */
export async function prove<T>(parts: ProofParts, call: Call, { purpose, authHash, keyType, check, work }: Proof<T>): Promise<T> {
  const { accounts, businessEvents } = parts
  const { organizationId, keyId, agents } = call.caller
  const holder = { keyId: limitIdOf(call.caller), identityId: agents?.[0]?.identityId ?? null }
  // A refusal is returned, not thrown: the transaction that recorded the failure has to commit.
  const ending = await call.transact<Ending<T>>(async (tx) => {
    const vault = await lockVault(tx, call)
    check?.(vault)
    const wait = waitMs(await keyStore.listFailures(tx, organizationId, inMs(-windowMs)), holder, nowMs())
    if (wait > 0) return { outcome: 'throttled', refusal: throttled(wait) }
    const keys = await keyStore.listKeys(tx, organizationId)
    const proven = findKey(keys, authHash)
    if (proven && (keyType === undefined || proven.type === keyType)) {
      return { outcome: 'ok', value: await work(tx, vault, proven, keys) }
    }
    await keyStore.recordFailure(tx, organizationId, { ...holder, id: newId('audit'), at: now(), forgetBefore: inMs(-windowMs) })
    await accounts.audit(tx, organizationId, actorOf(call), 'vault.unlock_failed', vault.id, { operation: purpose })
    return { outcome: 'wrong', refusal: new ApiError('invalid_auth_hash', 'No key of this vault has this auth_hash.') }
  })
  businessEvents.vaultKeyTried({ organization_id: organizationId, key_id: keyId, outcome: ending.outcome })
  if (ending.outcome !== 'ok') throw ending.refusal
  return ending.value
}

const throttled = (ms: number): ApiError =>
  new ApiError('rate_limited', 'Too many wrong hashes. Wait as long as Retry-After says; until then the right one is refused too.', {
    headers: { 'Retry-After': String(Math.ceil(ms / 1000)) },
  })

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

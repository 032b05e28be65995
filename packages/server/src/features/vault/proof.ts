// One attempt to prove a vault key: under the vault's lock it is counted, compared and recorded, and a failure stays recorded though the request fails.
import type { BusinessEvents } from '../../core/business-events.ts'
import { limitIdOf } from '../../core/caller.ts'
import { inMs, now, nowMs } from '../../core/clock.ts'
import { ApiError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { Call } from '../../core/route.ts'
import type { Tx } from '../../core/sql.ts'
import { type Accounts, actorOf } from '../account/organizations/operations.ts'
import { findKey, waitMs, windowMs } from './attempts.ts'
import * as keyStore from './key-store.ts'
import type { VaultKeyRow, VaultRow } from './model.ts'

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

/** Runs `work` when the hash is right. Throws 401 when it is wrong and 429, right or wrong, after too many wrong ones. */
export function createProver(accounts: Accounts, businessEvents: BusinessEvents) {
  return async function prove<T>(call: Call, { purpose, authHash, keyType, check, work }: Proof<T>): Promise<T> {
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
}

const throttled = (ms: number): ApiError =>
  new ApiError('rate_limited', 'Too many wrong hashes. Wait as long as Retry-After says; until then the right one is refused too.', {
    headers: { 'Retry-After': String(Math.ceil(ms / 1000)) },
  })

// Operations on the vault as a whole: metadata, initialize, unlock, keys and rotation.
import type { UnlockedVault, VaultWithKeys } from '@callsign/contract/vault'
import type { Static } from 'typebox'
import type { BusinessEvents } from '../../core/business-events.ts'
import { type Caller, identityIdsOf } from '../../core/caller.ts'
import { now } from '../../core/clock.ts'
import { ApiError, invalid, notFound } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { onePage, type Page } from '../../core/page.ts'
import type { Call } from '../../core/route.ts'
import type { Database, Tx } from '../../core/sql.ts'
import type { Identities } from '../account/identities/operations.ts'
import { type Accounts, actorOf } from '../account/organizations/operations.ts'
import * as keyStore from './key-store.ts'
import { readPayload, readSalt, readWrappedKey, requireKdfFloor } from './material.ts'
import {
  findMismatch,
  findRepeated,
  type KdfParams,
  type Mismatch,
  toKeyName,
  toVault,
  toVaultKey,
  type VaultKeyRow,
  type VaultRow,
} from './model.ts'
import { createSecrets, requireKeyVersion, requireRoom, type Secrets } from './secrets.ts'
import * as store from './store.ts'
import { digestAuthHash, notInitialized, prove, unlock } from './unlock.ts'

export interface Vaults extends Secrets {
  /** `GET` and `POST /vault/unlock`. */
  unlock(call: Call, authHash: string): Promise<Static<typeof UnlockedVault>>
  /** `GET /vault`. */
  getVault(caller: Caller): Promise<ReturnType<typeof toVault> | { initialized: false }>
  /** `POST /vault/initialize`. */
  initialize(call: Call, body: KeyBody & { id?: string; recovery_keys?: RecoveryBody[] }): Promise<Static<typeof VaultWithKeys>>
  /** `GET /vault/keys`: at most eleven, the primary first. */
  listKeys(caller: Caller): Promise<Page<ReturnType<typeof toVaultKey>> & { next_cursor: null }>
  /** `PUT /vault/keys/primary`: wraps the same organization key with a new primary key. */
  replacePrimaryKey(
    call: Call,
    body: KeyBody & { current_auth_hash?: string; recovery_auth_hash?: string; expected_key_version?: number },
  ): Promise<Static<typeof VaultWithKeys>>
  /** `DELETE /vault/keys/{id}`: deletes a recovery key; idempotent. */
  deleteKey(call: Call, id: string, body: { auth_hash: string }): Promise<{ id: string; deleted: true }>
  /** `POST /vault/rotate`: replaces the keys and re-encrypts every live secret, in one transaction. */
  rotate(call: Call, body: RotateBody): Promise<Static<typeof VaultWithKeys>>
}

type Parts = { db: Database; accounts: Accounts; identities: Identities; businessEvents: BusinessEvents }

type KeyBody = { auth_hash: string; wrapped_org_key: string; kdf_salt: string; kdf_params: KdfParams }
type RecoveryBody = Omit<KeyBody, 'kdf_salt' | 'kdf_params'> & { id?: string; kdf_salt?: string; kdf_params?: KdfParams }

type RotateBody = Omit<KeyBody, 'auth_hash'> & {
  auth_hash: string
  expected_key_version: number
  new_auth_hash: string
  recovery_keys?: RecoveryBody[]
  secrets: { id: string; revision: number; encrypted_payload: string }[]
}

/** The most secrets that a rotation conflict names. */
const namedMax = 100

export function createVaults({ db, accounts, identities, businessEvents }: Parts): Vaults {
  const proofs = { db, accounts, businessEvents }

  /** A key as it is stored. `path` is where the request has it, for its errors. */
  function newKey(call: Call, type: VaultKeyRow['type'], path: string, body: KeyBody, id = newId('vaultKey')): VaultKeyRow {
    requireKdfFloor(`${path}/kdf_params`, body.kdf_params)
    const { m, t, p } = body.kdf_params
    return {
      id,
      type,
      kdf_salt: readSalt(`${path}/kdf_salt`, body.kdf_salt),
      kdf_memory_kib: m,
      kdf_passes: t,
      kdf_lanes: p,
      ...digestAuthHash(body.auth_hash),
      wrapped_org_key: readWrappedKey(`${path}/wrapped_org_key`, body.wrapped_org_key),
      created_by: call.caller.keyId,
      created_at: now(),
      last_used_at: null,
    }
  }

  /** The keys of a new organization key, the primary first. Recovery keys take the primary's salt and parameters unless they bring their own. */
  function newKeys(call: Call, primary: KeyBody, recovery: RecoveryBody[] = []): VaultKeyRow[] {
    const keys = [
      newKey(call, 'primary', '', primary),
      ...recovery.map(({ id, ...body }, i) =>
        newKey(call, 'recovery', `/recovery_keys/${i}`, { kdf_salt: primary.kdf_salt, kdf_params: primary.kdf_params, ...body }, id),
      ),
    ]
    if (findRepeated([primary, ...recovery].map((body) => body.auth_hash.toLowerCase())) !== null)
      throw invalid('/recovery_keys', 'two keys have the same auth_hash')
    if (findRepeated(keys.map((key) => key.id)) !== null) throw invalid('/recovery_keys', 'two keys have the same id')
    return keys
  }

  async function describe(tx: Tx, vault: VaultRow): Promise<Static<typeof VaultWithKeys>> {
    const keys = await keyStore.listKeys(tx, vault.organization_id)
    const { count } = await store.measureSecrets(tx, vault.organization_id)
    return { ...toVault(vault, keys, count, true), keys: keys.map(toKeyName) }
  }

  return {
    ...createSecrets(db, accounts, identities),
    unlock: (call, authHash) => unlock(proofs, call, authHash),

    async getVault(caller) {
      const { organizationId } = caller
      const readerIds = identityIdsOf(caller)
      const [found, count] = await Promise.all([
        keyStore.findVaultWithKeys(db, organizationId),
        store.countReadable(db, organizationId, readerIds),
      ])
      if (!found) return { initialized: false as const }
      return toVault(found.vault, found.keys, count, caller.agents === null)
    },

    async initialize(call, body) {
      const { organizationId } = call.caller
      const keys = newKeys(call, body, body.recovery_keys)
      const at = now()
      const vault = { id: body.id ?? newId('vault'), organization_id: organizationId, key_version: 1, created_at: at, updated_at: at }
      try {
        return await call.transact(async (tx) => {
          await keyStore.insertVault(tx, vault)
          await keyStore.insertKeys(tx, organizationId, keys)
          await accounts.audit(tx, organizationId, actorOf(call), 'vault.initialized', vault.id, { recovery_keys: keys.length - 1 })
          return { ...toVault(vault, keys, 0, true), keys: keys.map(toKeyName) }
        })
      } catch (error) {
        if (keyStore.isTaken(error)) throw new ApiError('vault_already_initialized', 'This organization has a vault already.')
        throw error
      }
    },

    async listKeys(caller) {
      const keys = await keyStore.listKeys(db, caller.organizationId)
      if (keys.length === 0) throw notInitialized()
      return onePage(keys.map(toVaultKey))
    },

    async replacePrimaryKey(call, body) {
      const { current_auth_hash: current, recovery_auth_hash: recovery } = body
      const authHash = current ?? recovery
      if (authHash === undefined || (current !== undefined && recovery !== undefined))
        throw invalid('/current_auth_hash', 'prove your right with either current_auth_hash or recovery_auth_hash')
      const { organizationId } = call.caller
      const key = newKey(call, 'primary', '', body)
      return prove(proofs, call, {
        purpose: 'replace_primary_key',
        authHash,
        keyType: current !== undefined ? 'primary' : 'recovery',
        check: (vault) => requireKeyVersion(vault, body.expected_key_version),
        async work(tx, vault, proven, keys) {
          const replaced = keys.filter((one) => one.type === 'primary' || one.id === proven.id).map((one) => one.id)
          await keyStore.deleteKeys(tx, organizationId, replaced)
          await keyStore.insertKeys(tx, organizationId, [key])
          const after = { ...vault, updated_at: now() }
          await keyStore.updateVault(tx, after)
          await accounts.audit(tx, organizationId, actorOf(call), 'vault.primary_key_replaced', vault.id, {
            by: proven.type,
            key_id: key.id,
          })
          return describe(tx, after)
        },
      })
    },

    deleteKey: (call, id, body) =>
      prove(proofs, call, {
        purpose: 'delete_key',
        authHash: body.auth_hash,
        async work(tx, vault, _proven, keys) {
          const key = keys.find((one) => one.id === id)
          if (key?.type === 'primary') throw new ApiError('conflict', 'The primary key can be replaced, not deleted.')
          if (key) {
            await keyStore.deleteKeys(tx, vault.organization_id, [id])
            await accounts.audit(tx, vault.organization_id, actorOf(call), 'vault.key_deleted', id)
          } else if (!(await keyStore.wasKeyDeleted(tx, vault.organization_id, id))) throw notFound('vault key')
          return { id, deleted: true as const }
        },
      }),

    async rotate(call, body) {
      const { organizationId } = call.caller
      const keys = newKeys(call, { ...body, auth_hash: body.new_auth_hash }, body.recovery_keys)
      const secrets = body.secrets.map(({ id, encrypted_payload }, i) => ({
        id,
        payload: readPayload(`/secrets/${i}/encrypted_payload`, encrypted_payload),
      }))
      if (findRepeated(secrets.map(({ id }) => id)) !== null) throw invalid('/secrets', 'a secret is in the list twice')
      requireRoom(secrets.reduce((characters, { payload }) => characters + payload.length, 0))
      return prove(proofs, call, {
        purpose: 'rotate',
        authHash: body.auth_hash,
        check: (vault) => requireKeyVersion(vault, body.expected_key_version),
        async work(tx, vault) {
          const mismatch = findMismatch(await store.listRevisions(tx, organizationId), body.secrets)
          if (mismatch) throw rotationConflict(mismatch)
          const at = now()
          const after = { ...vault, key_version: vault.key_version + 1, updated_at: at }
          await store.rewriteSecrets(tx, organizationId, secrets, after.key_version, at)
          await keyStore.deleteKeys(tx, organizationId, null)
          await keyStore.insertKeys(tx, organizationId, keys)
          await keyStore.updateVault(tx, after)
          await accounts.audit(tx, organizationId, actorOf(call), 'vault.rotated', vault.id, {
            key_version: after.key_version,
            secrets: secrets.length,
          })
          return describe(tx, after)
        },
      })
    },
  }
}

function rotationConflict(mismatch: Mismatch): ApiError {
  const details = (['missing', 'stale', 'unknown'] as const)
    .flatMap((message) => mismatch[message].map((id) => ({ path: `/secrets/${id}`, message })))
    .slice(0, namedMax)
  return new ApiError(
    'vault_rotation_conflict',
    "The submitted secrets do not match the vault's current ones. Fetch them again and re-encrypt.",
    {
      details,
    },
  )
}

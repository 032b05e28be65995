// Operations on vault secrets and on the grants that let agents read them.
import { isId } from '@callsign/contract/ids'
import type { SecretType } from '@callsign/contract/vault'
import { base64Length, secretsMax, vaultPayloadBytesMax } from '@callsign/contract/vault-blob'
import { type Caller, identityIdsOf } from '../../core/caller.ts'
import { now } from '../../core/clock.ts'
import { ApiError, invalid, notFound } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { onePage, type Page, type PageQuery, type PageRequest, readPage, toPage } from '../../core/page.ts'
import type { Call } from '../../core/route.ts'
import type { Database, Sql, Tx } from '../../core/sql.ts'
import type { Identities } from '../account/identities/operations.ts'
import type { AuditAction } from '../account/organizations/model.ts'
import { type Accounts, actorOf } from '../account/organizations/operations.ts'
import * as keyStore from './key-store.ts'
import { readPayload } from './material.ts'
import { type AccessRow, type SecretRow, toAccess, toSecret, type VaultRow } from './model.ts'
import * as store from './store.ts'
import { lockVault, notInitialized } from './unlock.ts'

type Secret = ReturnType<typeof toSecret>
type Access = ReturnType<typeof toAccess>

/** The most agents that one secret is granted to. */
const grantsMax = 1000

export interface Secrets {
  /** `GET /vault/secrets/{id}`. */
  getSecret(caller: Caller, id: string): Promise<Secret>
  /** `POST /vault/secrets`. */
  createSecret(
    call: Call,
    body: { id?: string; type: SecretType; name: string; description?: string | null; encrypted_payload: string; key_version?: number },
  ): Promise<Secret>
  /** `GET /vault/secrets`: newest first; an agent sees those granted to it. `id` selects one secret. */
  listSecrets(caller: Caller, query: PageQuery & { id?: string; type?: SecretType }): Promise<Page<Secret>>
  /** `PATCH /vault/secrets/{id}`. */
  updateSecret(call: Call, id: string, body: SecretChange): Promise<Secret>
  /** `DELETE /vault/secrets/{id}`: with its grants; idempotent. */
  deleteSecret(call: Call, id: string): Promise<{ id: string; deleted: true }>
  /** `GET /vault/secrets/{id}/access`: newest first. */
  listAccess(caller: Caller, secretId: string, query: PageQuery): Promise<Page<Access>>
  /** `POST /vault/secrets/{id}/access`: a second grant to the same agent returns the first one. */
  grantAccess(call: Call, secretId: string, body: IdentityChoice): Promise<Access>
  /** `DELETE /vault/secrets/{id}/access/{identity_id}`, or with the agent in the query or the body. */
  revokeAccess(
    call: Call,
    secretId: string,
    places: IdentityChoice[],
  ): Promise<{ id: string; secret_id: string; identity_id: string; deleted: true }>
}

export type IdentityChoice = { identity_id?: string; agent_handle?: string }

export type SecretChange = {
  name?: string
  description?: string | null
  encrypted_payload?: string
  revision?: number
  key_version?: number
}

/** Throws 409 when a client writes under an organization key that has been rotated away. */
export function requireKeyVersion(vault: VaultRow, keyVersion: number | undefined): void {
  if (keyVersion === undefined || keyVersion === vault.key_version) return
  throw new ApiError('vault_key_version_stale', `The vault is at key_version ${vault.key_version}: unlock it again and re-encrypt.`)
}

/** Throws 409 when a vault would hold more base64 than that of its limit. */
export function requireRoom(characters: number): void {
  if (characters > base64Length(vaultPayloadBytesMax))
    throw new ApiError('conflict', `The vault would hold more than ${vaultPayloadBytesMax} bytes of ciphertext. Delete something first.`)
}

export function createSecrets(db: Database, accounts: Accounts, identities: Identities): Secrets {
  const audit = (tx: Tx, call: Call, action: AuditAction, id: string, details: Record<string, unknown> = {}) =>
    accounts.audit(tx, call.caller.organizationId, actorOf(call), action, id, details)

  /** The secrets as shown to a caller. Only an organization key sees the grants of each secret. */
  async function show(sql: Sql, caller: Caller, rows: SecretRow[]) {
    if (caller.agents) return rows.map((row) => toSecret(row, null))
    const bySecret = new Map<string, AccessRow[]>(rows.map((row) => [row.id, []]))
    if (rows.length > 0)
      for (const row of await store.findAccess(sql, caller.organizationId, [...bySecret.keys()])) bySecret.get(row.secret_id)?.push(row)
    return rows.map((row) => toSecret(row, bySecret.get(row.id) ?? []))
  }

  /** 404 with the reason why nothing was found: no vault, or no such secret. */
  async function missing(sql: Sql, organizationId: string): Promise<ApiError> {
    return (await keyStore.findVault(sql, organizationId)) ? notFound('secret') : notInitialized()
  }

  async function requireSecret(tx: Tx, organizationId: string, id: string): Promise<SecretRow> {
    const row = await store.findSecret(tx, organizationId, null, id)
    if (!row) throw notFound('secret')
    return row
  }

  async function resolveIdentity(caller: Caller, places: IdentityChoice[]): Promise<string> {
    const references = places.flatMap(({ identity_id, agent_handle }) => [identity_id, agent_handle]).filter((one) => one !== undefined)
    const [reference, ...more] = references
    if (reference === undefined) throw invalid('/identity_id', 'name the agent by identity_id or agent_handle')
    if (more.length > 0) throw invalid('/identity_id', 'name the agent once, by identity_id or agent_handle')
    // Text in the form of an id is an id, also when a handle has that form.
    if (isId('identity', reference)) return reference
    const agent = await identities.findAgent(caller.organizationId, reference.replace(/^@/, ''))
    if (!agent) throw notFound('identity')
    return agent.identityId
  }

  async function getSecret(caller: Caller, id: string) {
    const row = await store.findSecret(db, caller.organizationId, identityIdsOf(caller), id)
    if (!row) throw await missing(db, caller.organizationId)
    const [shown] = await show(db, caller, [row])
    return shown as NonNullable<typeof shown>
  }

  return {
    getSecret,

    async createSecret(call, body) {
      const payload = readPayload('/encrypted_payload', body.encrypted_payload)
      const { organizationId } = call.caller
      return call.transact(async (tx) => {
        const vault = await lockVault(tx, call)
        requireKeyVersion(vault, body.key_version)
        const { count, characters } = await store.measureSecrets(tx, organizationId)
        if (count >= secretsMax) throw new ApiError('conflict', `A vault holds at most ${secretsMax} secrets. Delete one first.`)
        requireRoom(characters + payload.length)
        const at = now()
        const row: SecretRow = {
          id: body.id ?? newId('vaultSecret'),
          type: body.type,
          name: body.name,
          description: body.description ?? null,
          encrypted_payload: payload,
          revision: 1,
          key_version: vault.key_version,
          created_at: at,
          updated_at: at,
        }
        if (!(await store.insertSecret(tx, organizationId, row)))
          throw new ApiError('vault_secret_exists', 'This id is, or was, that of another secret. Take a new one.')
        await audit(tx, call, 'vault.secret_created', row.id, { type: row.type })
        return toSecret(row, [])
      })
    },

    async listSecrets(caller, query) {
      const page = readPage(query, 'vaultSecret')
      const readerIds = identityIdsOf(caller)
      if (query.id !== undefined) {
        const secret = await getSecret(caller, query.id)
        return onePage([secret])
      }
      const rows = await store.listSecrets(db, caller.organizationId, readerIds, query.type ?? null, page)
      if (rows.length === 0 && !(await keyStore.findVault(db, caller.organizationId))) throw notInitialized()
      const list = toPage(rows, page.limit, idOf, (row) => row)
      return { ...list, data: await show(db, caller, list.data) }
    },

    async updateSecret(call, id, body) {
      if (body.name === undefined && body.description === undefined && body.encrypted_payload === undefined)
        throw invalid('', 'give name, description or encrypted_payload')
      const payload = body.encrypted_payload === undefined ? null : readPayload('/encrypted_payload', body.encrypted_payload)
      const { organizationId } = call.caller
      return call.transact(async (tx) => {
        const vault = await lockVault(tx, call)
        const before = await requireSecret(tx, organizationId, id)
        requireKeyVersion(vault, body.key_version)
        if (body.revision !== undefined && body.revision !== before.revision)
          throw new ApiError('vault_secret_conflict', `The secret is at revision ${before.revision}: get it again and reapply the change.`)
        if (payload) {
          const { characters } = await store.measureSecrets(tx, organizationId)
          requireRoom(characters - before.encrypted_payload.length + payload.length)
        }
        const row: SecretRow = {
          ...before,
          name: body.name ?? before.name,
          description: body.description === undefined ? before.description : body.description,
          encrypted_payload: payload ?? before.encrypted_payload,
          revision: before.revision + 1,
          updated_at: now(),
        }
        await store.updateSecret(tx, organizationId, row)
        await audit(tx, call, 'vault.secret_updated', id, { revision: row.revision, payload: payload !== null })
        const [shown] = await show(tx, call.caller, [row])
        return shown as NonNullable<typeof shown>
      })
    },

    async deleteSecret(call, id) {
      const { organizationId } = call.caller
      await call.transact(async (tx) => {
        await lockVault(tx, call)
        if (await store.deleteSecret(tx, organizationId, id, now())) await audit(tx, call, 'vault.secret_deleted', id)
        else if (!(await store.isDeleted(tx, organizationId, id))) throw notFound('secret')
      })
      return { id, deleted: true as const }
    },

    async listAccess(caller, secretId, query) {
      const page: PageRequest = readPage(query, 'vaultAccess')
      if (!(await store.findSecret(db, caller.organizationId, null, secretId))) throw await missing(db, caller.organizationId)
      return toPage(await store.listAccess(db, caller.organizationId, secretId, page), page.limit, idOf, toAccess)
    },

    async grantAccess(call, secretId, body) {
      const { organizationId, keyId } = call.caller
      const identityId = await resolveIdentity(call.caller, [body])
      return call.transact(async (tx) => {
        await lockVault(tx, call)
        await requireSecret(tx, organizationId, secretId)
        const access = { id: newId('vaultAccess'), secretId, identityId, createdBy: keyId, at: now() }
        const isNew = await store.insertAccess(tx, organizationId, access)
        const grants = await store.findAccess(tx, organizationId, [secretId])
        const grant = grants.find((one) => one.identity_id === identityId)
        if (!grant) throw notFound('identity')
        if (grants.length > grantsMax) throw new ApiError('conflict', `A secret is granted to at most ${grantsMax} agents.`)
        if (isNew) await audit(tx, call, 'vault.access_granted', secretId, { identity_id: identityId })
        return toAccess(grant)
      })
    },

    async revokeAccess(call, secretId, places) {
      const { organizationId } = call.caller
      const identityId = await resolveIdentity(call.caller, places)
      await call.transact(async (tx) => {
        await lockVault(tx, call)
        await requireSecret(tx, organizationId, secretId)
        if (await store.deleteAccess(tx, organizationId, secretId, identityId))
          await audit(tx, call, 'vault.access_revoked', secretId, { identity_id: identityId })
      })
      return { id: identityId, secret_id: secretId, identity_id: identityId, deleted: true as const }
    },
  }
}

const idOf = (row: { id: string }): string => row.id

// Operations on API keys: authenticate, create, list, revoke.
import type { CreatedKey, createKey, Key } from '@callsign/contract/keys'
import type { Static } from 'typebox'
import { batchLoader } from '../../../core/batch.ts'
import type { Caller } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { invalid, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import { type Database, isForeignKeyViolation, type Sql } from '../../../core/sql.ts'
import type { Actor } from '../organizations/model.ts'
import { type Accounts, actorOf } from '../organizations/operations.ts'
import { generateKey, hashSecret, isSecret, type KeyParts, newSalt, parseKey } from './model.ts'
import * as store from './store.ts'

export interface Keys {
  /** The caller of a bearer token. Null for a token that is unknown, wrong, revoked or expired, and at once for one that is not well-formed. */
  authenticate(token: string): Promise<Caller | null> | null
  /** The caller of a key by its id. Null when it is unknown, revoked or expired. For a console session that a key signed in to. */
  findCaller(id: string): Promise<Caller | null>
  /** Gives the keys of one user to another in the caller's transaction. */
  moveKeys(sql: Sql, organizationId: string, fromUserId: string, toUserId: string): Promise<void>
  /** Those of these keys that were revoked, have expired or were deleted with their agent. For work that outlives its request. */
  findUnusable(ids: string[]): Promise<Set<string>>
  /** `POST /keys`. */
  createKey(call: Call, body: Static<NonNullable<typeof createKey.body>>): Promise<Static<typeof CreatedKey>>
  /** `GET /keys`: newest first, revoked ones included. */
  listKeys(caller: Caller, query: PageQuery): Promise<Page<Static<typeof Key>>>
  /** `DELETE /keys/{id}`: effective from the next request on. */
  revokeKey(call: Call, id: string): Promise<{ id: string; deleted: true; revoked_at: string }>
  /** Adds a key in the caller's transaction, for the first start and for host commands. */
  insertFromHost(sql: Sql, request: NewKeyRequest, plaintext?: string): Promise<Static<typeof CreatedKey>>
  /** Adds a key without a plaintext in the caller's transaction, for a connected app, and returns its id. */
  insertWithin(sql: Sql, actor: Actor, request: NewKeyRequest): Promise<string>
  /** Revokes a key in the caller's transaction. */
  revokeWithin(sql: Sql, actor: Actor, organizationId: string, id: string): Promise<Date>
  /** Moves the expiry of a key in the caller's transaction, unless the key is revoked. */
  extendWithin(sql: Sql, organizationId: string, id: string, expiresAt: Date): Promise<void>
  /** Revokes a key from the host and resolves with the time of its revocation. */
  revokeFromHost(organizationId: string, id: string): Promise<Date>
  /** The keys of an organization for host commands, newest first. */
  listFromHost(organizationId: string): Promise<store.KeyRow[]>
  /** True when a key with the same public part is stored. */
  isKnown(plaintext: string): Promise<boolean>
}

/** Finds the agent that a key is limited to. A function, because identities come after keys in the order of features. */
export type FindAgent = (organizationId: string, handle: string) => Promise<{ identityId: string; handle: string } | null>

export type NewKeyRequest = {
  organizationId: string
  userId: string
  name: string
  agent: { identityId: string; handle: string } | null
  scopes: string[]
  expiresAt: Date | null
  /** Additions to the audit entry. */
  details?: Record<string, unknown>
}

export function createKeys(db: Database, accounts: Accounts, findAgent: FindAgent): Keys {
  const loadHolder = batchLoader((lookupIds) => store.findHolders(db.lookups, lookupIds))
  const loadHolderById = batchLoader((ids) => store.findHoldersById(db.lookups, ids))
  const touches = new Set<string>()

  /** Records the use of a key, at most once per minute and key. The request does not wait for it. */
  function touch(keyId: string): void {
    if (touches.size === 0) {
      setImmediate(() => {
        const ids = [...touches]
        touches.clear()
        // The next request records the use when this write fails.
        store.touchKeys(db, ids).catch(() => {})
      })
    }
    touches.add(keyId)
  }

  async function findCallerOf({ lookupId, secret }: KeyParts): Promise<Caller | null> {
    const holder = await loadHolder(lookupId)
    if (!holder || !isSecret(secret, holder.salt, holder.secretHash) || !holder.isUsable) return null
    if (holder.isTouchDue) touch(holder.caller.keyId)
    return holder.caller
  }

  /** Stores a key inside the caller's transaction, and returns it with its plaintext. */
  async function insert(sql: Sql, actor: Actor, request: NewKeyRequest, plaintext = generateKey()): Promise<Static<typeof CreatedKey>> {
    const parts = parseKey(plaintext)
    if (!parts) throw new Error('the key is not well-formed')
    const salt = newSalt()
    const row = {
      id: newId('key'),
      name: request.name,
      type: request.agent ? ('agent' as const) : ('organization' as const),
      scopes: request.scopes,
      last4: plaintext.slice(-4),
      expires_at: request.expiresAt,
      created_at: now(),
    }
    await store.insertKey(sql, {
      ...row,
      organization_id: request.organizationId,
      user_id: request.userId,
      lookup_id: parts.lookupId,
      salt,
      secret_hash: hashSecret(salt, parts.secret),
      identity_id: request.agent?.identityId ?? null,
    })
    await accounts.audit(sql, request.organizationId, actor, 'key.created', row.id, { name: row.name, type: row.type, ...request.details })
    const view = toKey({ ...row, agent_handle: request.agent?.handle ?? null, last_used_at: null, revoked_at: null, connected_app: null })
    return { ...view, key: plaintext }
  }

  async function revoke(sql: Sql, actor: Actor, organizationId: string, id: string): Promise<Date> {
    const revoked = await store.revokeKey(sql, organizationId, id)
    if (!revoked) throw notFound('key')
    if (revoked.isNew) await accounts.audit(sql, organizationId, actor, 'key.revoked', id)
    return revoked.revokedAt
  }

  return {
    authenticate(token) {
      const parts = parseKey(token)
      return parts && findCallerOf(parts)
    },

    async findCaller(id) {
      const holder = await loadHolderById(id)
      if (!holder?.isUsable) return null
      if (holder.isTouchDue) touch(holder.caller.keyId)
      return holder.caller
    },

    moveKeys: store.moveKeys,

    findUnusable: (ids) => store.findUnusable(db, ids),

    async createKey(call, body) {
      const { organizationId, userId } = call.caller
      const { type } = body
      const handle = body.agent_handle?.replace(/^@/, '')
      if (type === 'agent' && handle === undefined) throw invalid('/agent_handle', 'agent_handle is required for an agent key')
      if (type === 'organization' && handle !== undefined) throw invalid('/agent_handle', 'agent_handle requires type agent: omit it')
      if (type === 'organization' && body.scopes?.length)
        throw invalid('/scopes', 'scopes require type agent: an organization key has full access')
      const expiresAt = body.expires_at ? new Date(body.expires_at) : null
      if (expiresAt && expiresAt <= now()) throw invalid('/expires_at', 'expires_at must be in the future')
      const agent = handle === undefined ? null : await findAgent(organizationId, handle)
      if (handle !== undefined && !agent) throw notFound('agent')
      const request = { organizationId, userId, name: body.name, agent, scopes: body.scopes ?? [], expiresAt }
      return call
        .transact((tx) => insert(tx, actorOf(call), request))
        .catch((error: unknown) => {
          throw isForeignKeyViolation(error) ? notFound('agent') : error
        })
    },

    async listKeys(caller, query) {
      const page = readPage(query, 'key')
      return toPage(await store.listKeys(db, caller.organizationId, page), page.limit, (row) => row.id, toKey)
    },

    async revokeKey(call, id) {
      const revokedAt = await call.transact((tx) => revoke(tx, actorOf(call), call.caller.organizationId, id))
      return { id, deleted: true as const, revoked_at: revokedAt.toISOString() }
    },

    insertWithin: async (sql, actor, request) => (await insert(sql, actor, request)).id,

    revokeWithin: revoke,

    extendWithin: store.extendKey,

    insertFromHost: (sql, request, plaintext) => insert(sql, { type: 'host' }, request, plaintext),

    revokeFromHost: (organizationId, id) => db.transact((tx) => revoke(tx, { type: 'host' }, organizationId, id)),

    listFromHost: (organizationId) => store.listKeys(db, organizationId, { limit: 999, cursor: null }),

    isKnown: (plaintext) => {
      const parts = parseKey(plaintext)
      return parts ? store.hasLookupId(db, parts.lookupId) : Promise.resolve(false)
    },
  }
}

function toKey(row: store.KeyRow): Static<typeof Key> {
  return {
    ...row,
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  }
}

// Operations on API keys: authenticate, create, list, rename, revoke.
import type { CreatedKey, createKey, Key, updateKey } from '@callsign/contract/keys'
import { effectiveScopes, organizationScopes, type Scope } from '@callsign/contract/scopes'
import type { Static } from 'typebox'
import { batchLoader } from '../../../core/batch.ts'
import type { Authenticate, Caller, RequestClient } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { forbidden, invalid, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { isInRanges, isWithin, readRange } from '../../../core/ip-ranges.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import { type Database, isForeignKeyViolation, type Sql } from '../../../core/sql.ts'
import type { Actor } from '../organizations/model.ts'
import { type Accounts, actorOf } from '../organizations/operations.ts'
import { generateKey, hashSecret, isSecret, type KeyParts, newSalt, parseKey, scopesToStore } from './model.ts'
import * as store from './store.ts'

export interface Keys {
  /** The caller of a bearer token. Null for a token that is unknown, wrong, revoked or expired. */
  authenticate: Authenticate
  /** The caller of a key by its id. Null when it is unknown, revoked or expired. For a console session that a key signed in to. */
  findCaller(id: string, client: RequestClient): Promise<Caller | null>
  /** The caller limited to these agents, for a client that asks for less. Throws 403 or 404 for an agent that the caller may not act for. */
  narrow(caller: Caller, handles: string[]): Promise<Caller>
  /** Gives the keys of one user to another in the caller's transaction. */
  moveKeys(sql: Sql, organizationId: string, fromUserId: string, toUserId: string): Promise<void>
  /** Those of these keys that were revoked, have expired or were deleted with their agent. For work that outlives its request. */
  findUnusable(ids: string[]): Promise<Set<string>>
  /** `POST /keys`. */
  createKey(call: Call, body: Static<NonNullable<typeof createKey.body>>): Promise<Static<typeof CreatedKey>>
  /** `GET /keys`: newest first, revoked ones included. */
  listKeys(caller: Caller, query: PageQuery): Promise<Page<Static<typeof Key>>>
  /** `PATCH /keys/{id}`: the name. */
  updateKey(call: Call, id: string, body: Static<NonNullable<typeof updateKey.body>>): Promise<Static<typeof Key>>
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
export type FindAgent = (organizationId: string, handle: string) => Promise<FoundAgent | null>

type FoundAgent = { identityId: string; handle: string }

export type NewKeyRequest = {
  organizationId: string
  userId: string
  name: string
  /** Null for an organization key. */
  agents: FoundAgent[] | null
  /** Empty for the default of the type. */
  scopes: readonly string[]
  /** Canonical CIDR ranges, empty for any address. */
  allowedIps: readonly string[]
  expiresAt: Date | null
  /** Additions to the audit entry. */
  details?: Record<string, unknown>
}

export function createKeys(db: Database, accounts: Accounts, findAgent: FindAgent): Keys {
  const loadHolder = batchLoader((lookupIds) => store.findHolders(db, lookupIds))
  const loadHolderById = batchLoader((ids) => store.findHoldersById(db, ids))
  let touches = new Map<string, RequestClient>()

  /** Records the use of a key, at most once per minute and key. The request does not wait for it. */
  function touch(keyId: string, client: RequestClient): void {
    if (touches.size === 0) {
      setImmediate(() => {
        const uses = touches
        touches = new Map()
        // The next request records the use when this write fails.
        store.touchKeys(db, uses).catch(() => {})
      })
    }
    touches.set(keyId, client)
  }

  /** Null for a key that is not usable. Throws 403 for one that is not allowed from this address. */
  function admit(found: store.FoundHolder | null, client: RequestClient): Caller | null {
    if (!found?.isUsable) return null
    const { caller } = found
    const { allowedIps } = caller.limits
    if (allowedIps.length > 0 && !isInRanges(client.address, allowedIps))
      throw forbidden(`This key is not allowed from ${client.address}. Use it from an address in its allowed_ips.`)
    if (found.isTouchDue) touch(caller.keyId, client)
    return caller
  }

  async function findCallerOf({ lookupId, secret }: KeyParts, client: RequestClient): Promise<Caller | null> {
    const found = await loadHolder(lookupId)
    return found && isSecret(secret, found.salt, found.secretHash) ? admit(found, client) : null
  }

  /** Stores a key inside the caller's transaction, and returns it with its plaintext. */
  async function insert(sql: Sql, actor: Actor, request: NewKeyRequest, plaintext = generateKey()): Promise<Static<typeof CreatedKey>> {
    const parts = parseKey(plaintext)
    if (!parts) throw new Error('the key is not well-formed')
    const salt = newSalt()
    const row = {
      id: newId('key'),
      name: request.name,
      type: request.agents ? ('agent' as const) : ('organization' as const),
      scopes: [...request.scopes],
      allowed_ips: [...request.allowedIps],
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
      identity_ids: request.agents?.map((agent) => agent.identityId) ?? [],
    })
    await accounts.audit(sql, request.organizationId, actor, 'key.created', row.id, {
      name: row.name,
      type: row.type,
      scopes: row.scopes,
      ...request.details,
    })
    const view = toKey({
      ...row,
      agent_handles: request.agents?.map((agent) => agent.handle) ?? [],
      last_used_at: null,
      last_used_ip: null,
      last_used_user_agent: null,
      revoked_at: null,
      connected_app: null,
    })
    return { ...view, key: plaintext }
  }

  async function findAgents(organizationId: string, handles: string[]): Promise<FoundAgent[]> {
    const found = await Promise.all(handles.map((handle) => findAgent(organizationId, handle)))
    if (found.includes(null)) throw notFound('agent')
    return [...new Map(found.flatMap((agent) => (agent ? [[agent.identityId, agent] as const] : []))).values()]
  }

  async function narrow(caller: Caller, handles: string[]): Promise<Caller> {
    const known = caller.agents ?? (await store.findAgents(db, caller.organizationId, handles))
    const agents = known.filter(({ handle }) => handles.includes(handle))
    if (agents.length === new Set(handles).size) return { ...caller, agents }
    throw caller.agents ? forbidden('This key is limited to another agent.') : notFound('agent')
  }

  async function revoke(sql: Sql, actor: Actor, organizationId: string, id: string): Promise<Date> {
    const revoked = await store.revokeKey(sql, organizationId, id)
    if (!revoked) throw notFound('key')
    if (revoked.isNew) await accounts.audit(sql, organizationId, actor, 'key.revoked', id)
    return revoked.revokedAt
  }

  return {
    authenticate(token, client) {
      const parts = parseKey(token)
      return parts && findCallerOf(parts, client)
    },

    narrow,

    findCaller: async (id, client) => admit(await loadHolderById(id), client),

    moveKeys: store.moveKeys,
    findUnusable: (ids) => store.findUnusable(db, ids),

    async createKey(call, body) {
      const { caller } = call
      const { organizationId, userId } = caller
      const expiresAt = body.expires_at ? new Date(body.expires_at) : null
      if (expiresAt && expiresAt <= now()) throw invalid('/expires_at', 'expires_at must be in the future')
      const given = { scopes: readScopes(body), allowedIps: readRanges(body.allowed_ips ?? []), expiresAt }
      const handles = readHandles(body)
      requireWithin(caller, body.type, given)
      const agents = handles && (await findAgents(organizationId, handles))
      const request = { organizationId, userId, name: body.name, agents, ...given }
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

    updateKey: (call, id, { name }) =>
      call.transact(async (tx) => {
        const { organizationId } = call.caller
        const row = await store.renameKey(tx, organizationId, id, name)
        if (!row) throw notFound('key')
        await accounts.audit(tx, organizationId, actorOf(call), 'key.updated', id, { name })
        return toKey(row)
      }),

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

type KeyBody = Static<NonNullable<typeof createKey.body>>

/** The handles of an agent key. Null for an organization key. */
function readHandles({ type, agent_handle: one, agent_handles: several }: KeyBody): string[] | null {
  const field = several === undefined ? 'agent_handle' : 'agent_handles'
  if (one !== undefined && several !== undefined) throw invalid('/agent_handles', 'name the agents by agent_handle or agent_handles')
  const handles = (several ?? (one === undefined ? [] : [one])).map((handle) => handle.replace(/^@/, ''))
  if (type === 'organization') {
    if (handles.length > 0) throw invalid(`/${field}`, `${field} requires type agent: omit it`)
    return null
  }
  if (handles.length === 0) throw invalid(`/${field}`, `${field} is required for an agent key`)
  return handles
}

/** The whole list of scopes of a request. Throws 400 for one that an agent key cannot have, and for the preset `none` alone. */
function readScopes({ type, scopes = [], preset }: KeyBody): Scope[] {
  const isPossible = (scope: Scope): boolean => type === 'organization' || !organizationScopes.includes(scope)
  const refused = scopes.findIndex((scope) => !isPossible(scope))
  if (refused !== -1) throw invalid(`/scopes/${refused}`, `${scopes[refused]} requires an organization key: omit it`)
  if (preset === 'none' && scopes.length === 0)
    throw invalid('/scopes', 'the preset none needs at least one scope: list it, or omit preset')
  return scopesToStore(type, scopes, preset).filter(isPossible)
}

function readRanges(texts: string[]): string[] {
  const ranges = texts.map((text, i) => {
    const range = readRange(text.trim())
    if (range === null) throw invalid(`/allowed_ips/${i}`, 'must be an address or a CIDR range, such as 192.0.2.7 or 2001:db8::/32')
    return range
  })
  return [...new Set(ranges)]
}

/** Throws 403 where a new key would have more access than the caller. */
function requireWithin(
  { scopes, limits }: Caller,
  type: KeyBody['type'],
  key: Pick<NewKeyRequest, 'scopes' | 'allowedIps' | 'expiresAt'>,
): void {
  const more = effectiveScopes(type, key.scopes).find((scope) => !scopes.has(scope))
  if (more !== undefined) throw forbidden(`A key cannot create a key with more scopes than its own: ${more} is missing. List fewer scopes.`)
  if (!isWithin(key.allowedIps, limits.allowedIps))
    throw forbidden('A key cannot create a key that is allowed from more addresses than its own. Set allowed_ips within its ranges.')
  if (limits.expiresAt && !(key.expiresAt && key.expiresAt <= limits.expiresAt))
    throw forbidden('A key cannot create a key that expires later than itself. Set an earlier expires_at.')
}

function toKey(row: store.KeyRow): Static<typeof Key> {
  return {
    ...row,
    agent_handle: row.agent_handles.length === 1 ? (row.agent_handles[0] ?? null) : null,
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  }
}

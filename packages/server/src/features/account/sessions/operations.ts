// Operations on console sessions: start, find, list and end them, and make API tokens.
import { batchLoader } from '../../../core/batch.ts'
import { type Authenticate, type Caller, onlyAgentOf, type RequestClient } from '../../../core/caller.ts'
import { inMs, now } from '../../../core/clock.ts'
import { notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { Database, Sql } from '../../../core/sql.ts'
import type { Keys } from '../keys/operations.ts'
import type { Actor } from '../organizations/model.ts'
import type { Accounts } from '../organizations/operations.ts'
import { roleScopes } from '../roles/model.ts'
import type { ConsoleTokens } from './console-token.ts'
import {
  type Client,
  hashToken,
  newToken,
  type Principal,
  type Session,
  type SessionLimits,
  type SessionMember,
  type SignInMethod,
} from './model.ts'
import * as store from './store.ts'

export interface Sessions {
  /** The session of a cookie, or null. Records its use. */
  find(cookie: string, client: Client): Promise<Session | null>
  /** The caller of a console token. Null when it is invalid or its session has ended, and at once for text that is not a JWT. */
  authenticate: Authenticate
  /** A token for the API, valid for 10 minutes while the session stands. */
  issueToken(session: Session): Promise<{ token: string; expires_at: string }>
  /** Starts a session in the caller's transaction and returns its cookie. Ends the oldest of a key that has too many. */
  start(sql: Sql, principal: Principal, method: SignInMethod, client: Client): Promise<string>
  /** The sessions that this one may see: all of the organization for an owner, else those of the same member or key. */
  list(session: Session): Promise<SessionView[]>
  /** Ends one of those sessions. Throws 404 for another. */
  end(session: Session, id: string, requestId: string): Promise<void>
  /** Ends every session of the same member or key, this one included. */
  endAll(session: Session, requestId: string): Promise<void>
  /** Ends one session in the caller's transaction, without a record, because a sign-in replaces it. */
  discard(sql: Sql, id: string): Promise<void>
  /** Ends the sessions of a member in the caller's transaction. */
  endOf(sql: Sql, organizationId: string, userId: string, exceptId: string | null): Promise<void>
  /** Of these sessions, those that have ended. For work that outlives its request. */
  findUnusable(ids: string[]): Promise<Set<string>>
  /** True when this address has a session of the user that stands. */
  isKnownAddress(userId: string, address: string): Promise<boolean>
  /** Deletes expired sessions. */
  sweep(): Promise<void>
}

export type SessionView = {
  id: string
  method: SignInMethod
  created_at: string
  last_seen_at: string
  ip: string
  user_agent: string
  current: boolean
  member: { id: string; email: string | null; name: string | null; role: string | null } | null
  key: { id: string; name: string | null } | null
}

/** Sessions of one API key. The oldest ends when another one starts. */
const sessionsOfKeyMax = 10

type Parts = { db: Database; accounts: Accounts; keys: Keys; tokens: ConsoleTokens; limits: SessionLimits }

export function createSessions({ db, accounts, keys, tokens, limits }: Parts): Sessions {
  const loadSession = batchLoader((ids) => store.findById(db, ids))

  /** The caller that a session acts as in the API, or null when its key is no longer usable. */
  async function callerOf(row: store.SessionRow, client: RequestClient): Promise<Caller | null> {
    const { id, key_id: keyId } = row
    const member = memberOf(row)
    if (member) {
      return {
        keyId: id,
        keyName: member.name || member.email || 'Console',
        keyType: 'organization',
        listedScopes: [],
        scopes: roleScopes(member.role),
        organizationId: row.organization_id,
        organizationName: row.organization_name,
        userId: member.id,
        role: member.role,
        agents: null,
        limits: { expiresAt: null, allowedIps: [] },
        session: { id, memberId: member.id },
        mailApproval: 'agent',
      }
    }
    const caller = await keys.findCaller(keyId as string, client)
    return caller && { ...caller, session: { id, memberId: null } }
  }

  async function findCaller(verified: Promise<string | null>, client: RequestClient): Promise<Caller | null> {
    const id = await verified
    const row = id === null ? null : await loadSession(id)
    return row && callerOf(row, client)
  }

  async function endWhere(session: Session, filter: Partial<store.SessionFilter>, requestId: string): Promise<string[]> {
    return db.transact(async (tx) => {
      const ended = await store.deleteSessions(tx, session.organizationId, {
        id: null,
        userId: null,
        keyId: null,
        exceptId: null,
        ...filter,
      })
      for (const id of ended) await accounts.audit(tx, session.organizationId, actorOfSession(session, requestId), 'session.ended', id)
      return ended
    })
  }

  return {
    async find(cookie, client) {
      const hash = hashToken(cookie)
      const row = hash && (await store.findByToken(db, hash))
      if (!row) return null
      if (row.is_touch_due) store.touchSession(db, row.id, limits).catch(() => {})
      const caller = await callerOf(row, { address: client.exactAddress, userAgent: client.userAgent })
      return caller && toSession(row, caller)
    },

    authenticate(token, client) {
      const verified = tokens.verify(token)
      return verified && findCaller(verified, client)
    },

    issueToken: (session) => tokens.sign(session.id),

    async start(sql, { organizationId, userId, keyId }, method, client) {
      const cookie = newToken()
      const id = newId('consoleSession')
      await store.insertSession(sql, {
        id,
        organization_id: organizationId,
        user_id: userId,
        key_id: keyId,
        token_hash: hashToken(cookie) as Buffer,
        method,
        ip: client.address,
        user_agent: client.userAgent.slice(0, 300),
        at: now(),
        expires_at: inMs(Math.min(limits.idleMs, limits.maxMs)),
      })
      const actor: Actor = userId
        ? { type: 'member', id: userId, requestId: client.requestId }
        : { type: 'key', id: keyId as string, requestId: client.requestId }
      await accounts.audit(sql, organizationId, actor, 'session.started', id, { method, ip: client.address })
      const ended = keyId === null ? [] : await store.endOldest(sql, keyId, sessionsOfKeyMax)
      for (const oldId of ended) await accounts.audit(sql, organizationId, actor, 'session.ended', oldId)
      return cookie
    },

    async list(session) {
      const isOwner = session.role === 'owner'
      const whose = isOwner ? { userId: null, keyId: null } : { userId: session.member?.id ?? null, keyId: session.keyId }
      return (await store.listSessions(db, session.organizationId, whose)).map((row) => toView(row, session.id))
    },

    async end(session, id, requestId) {
      const whose = session.role === 'owner' ? {} : { userId: session.member?.id ?? null, keyId: session.keyId }
      if ((await endWhere(session, { id, ...whose }, requestId)).length === 0) throw notFound('session')
    },

    async endAll(session, requestId) {
      await endWhere(session, { userId: session.member?.id ?? null, keyId: session.keyId }, requestId)
    },

    discard: store.deleteSession,

    async endOf(sql, organizationId, userId, exceptId) {
      await store.deleteSessions(sql, organizationId, { id: null, userId, keyId: null, exceptId })
    },

    async findUnusable(ids) {
      const unexpired = await store.findUnexpired(db, ids)
      const unusableKeys = await keys.findUnusable([...new Set(unexpired.flatMap(({ key_id }) => key_id ?? []))])
      const usable = new Set(unexpired.filter(({ key_id }) => key_id === null || !unusableKeys.has(key_id)).map(({ id }) => id))
      return new Set(ids.filter((id) => !usable.has(id)))
    },

    isKnownAddress: (userId, address) => store.hasSessionFrom(db, userId, address),

    sweep: () => store.sweepSessions(db),
  }
}

/** The actor of a request in the console. */
export const actorOfSession = (session: Session, requestId: string): Actor =>
  session.member ? { type: 'member', id: session.member.id, requestId } : { type: 'key', id: session.keyId as string, requestId }

const memberOf = (row: store.SessionRow): SessionMember | null =>
  row.user_id && row.role ? { id: row.user_id, email: row.email, name: row.name ?? '', role: row.role } : null

/** A key with limits must not gain more through the invitations of an owner. */
function roleOfKey({ agents, scopes, limits }: Caller): Session['role'] {
  if (agents) return 'agent'
  return includesAll(scopes) && limits.expiresAt === null && limits.allowedIps.length === 0 ? 'owner' : 'reviewer'
}

const includesAll = (scopes: Caller['scopes']): boolean => [...roleScopes('owner')].every((scope) => scopes.has(scope))

const toSession = (row: store.SessionRow, caller: Caller): Session => ({
  id: row.id,
  organizationId: row.organization_id,
  organizationName: row.organization_name,
  method: row.method,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  userId: caller.userId,
  role: row.role ?? roleOfKey(caller),
  agentHandle: onlyAgentOf(caller)?.handle ?? caller.agents?.[0]?.handle ?? null,
  member: memberOf(row),
  keyId: row.key_id,
})

const toView = (row: store.ListedSession, currentId: string): SessionView => ({
  id: row.id,
  method: row.method,
  created_at: row.created_at.toISOString(),
  last_seen_at: row.last_seen_at.toISOString(),
  ip: row.ip,
  user_agent: row.user_agent,
  current: row.id === currentId,
  member: row.user_id === null ? null : { id: row.user_id, email: row.email, name: row.name, role: row.role },
  key: row.key_id === null ? null : { id: row.key_id, name: row.key_name },
})

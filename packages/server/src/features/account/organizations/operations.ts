// Operations on organizations: the caller, the audit log, and organizations made on the host.
import type { AuditEntry, CallerInfo } from '@callsign/contract/accounts'
import type { IdKind } from '@callsign/contract/ids'
import type { Static } from 'typebox'
import { type Caller, onlyAgentOf, personOf } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { ApiError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../../core/page.ts'
import type { Database, Sql, Tx } from '../../../core/sql.ts'
import type { Actor, AuditAction } from './model.ts'
import * as store from './store.ts'

export interface Accounts {
  /** `GET /me`. */
  describeCaller(caller: Caller): Static<typeof CallerInfo>
  /** `GET /audit`: newest first. */
  listAudit(caller: Caller, query: PageQuery): Promise<Page<Static<typeof AuditEntry>>>
  /** Adds an audit entry in the transaction of the change. */
  audit(
    sql: Sql,
    organizationId: string,
    actor: Actor,
    action: AuditAction,
    targetId: string,
    details?: Record<string, unknown>,
  ): Promise<void>
  /** Adds an organization with its owner in the caller's transaction. */
  createOrganization(sql: Sql, name: string): Promise<{ organizationId: string; userId: string }>
  /** Claims the first start for this organization. False when another start has claimed it. */
  claimInstallation(sql: Sql, organizationId: string): Promise<boolean>
  /** The organization of the first start; null on an empty database. */
  findInstallation(): Promise<string | null>
  /** The user that owns keys made on the host. */
  findOwner(organizationId: string): Promise<{ userId: string; name: string } | null>
  listOrganizations(): Promise<{ id: string; name: string; created_at: Date }[]>
}

export function createAccounts(db: Database): Accounts {
  return {
    describeCaller(caller) {
      return {
        user_id: caller.userId,
        organization_id: caller.organizationId,
        organization_name: caller.organizationName,
        role: caller.role,
        key: {
          id: caller.keyId,
          name: caller.keyName,
          type: caller.keyType,
          scopes: [...caller.listedScopes],
          agent_handle: onlyAgentOf(caller)?.handle ?? null,
          agent_handles: caller.agents?.map((agent) => agent.handle) ?? [],
        },
      }
    },

    async listAudit(caller, query) {
      const page = readPage(query, 'audit')
      const rows = await store.listAudit(db.reads, caller.organizationId, page)
      return toPage(
        rows,
        page.limit,
        (row) => row.id,
        ({ organization_id: _, ...row }) => ({ ...row, created_at: row.created_at.toISOString() }),
      )
    },

    async audit(sql, organizationId, actor, action, targetId, details = {}) {
      await store.insertAudit(sql, {
        id: newId('audit'),
        organization_id: organizationId,
        action,
        actor_type: actor.type,
        actor_id: 'id' in actor ? actor.id : null,
        target_id: targetId,
        details,
        request_id: 'requestId' in actor ? actor.requestId : null,
        created_at: now(),
      })
    },

    async createOrganization(sql, name) {
      const organizationId = newId('organization')
      const userId = newId('user')
      await store.insertOrganization(sql, { id: organizationId, name, ownerId: userId, at: now() })
      await this.audit(sql, organizationId, { type: 'host' }, 'organization.created', organizationId, { name })
      return { organizationId, userId }
    },

    claimInstallation: (sql, organizationId) => store.claimInstallation(sql, organizationId, now()),

    findInstallation: () => store.findInstallation(db),

    findOwner: (organizationId) => store.findOwner(db, organizationId),

    listOrganizations: () => store.listOrganizations(db),
  }
}

/**
 * Creates a thing once per `client_id`, in the transaction of its creation. `find` looks for the thing that has the id. Concurrent calls with
 * the same id wait for each other. Without an id, the thing is created.
 */
export async function createOnce<R>(
  tx: Tx,
  { organizationId, kind, clientId }: { organizationId: string; kind: IdKind; clientId: string | null | undefined },
  find: (tx: Tx, clientId: string) => Promise<R | null>,
  create: (tx: Tx) => Promise<R>,
): Promise<R> {
  if (clientId === undefined || clientId === null) return create(tx)
  await store.lockClientId(tx, organizationId, kind, clientId)
  return (await find(tx, clientId)) ?? create(tx)
}

/** 409 for a `client_id` that a thing of another agent has. */
export const clientIdTaken = (): ApiError =>
  new ApiError('conflict', 'client_id is the id of an object of another agent. Choose another client_id.')

/** The actor of an API request. */
export function actorOf({ caller, requestId }: { caller: Caller; requestId: string }): Actor {
  const memberId = personOf(caller)
  return memberId === null ? { type: 'key', id: caller.keyId, requestId } : { type: 'member', id: memberId, requestId }
}

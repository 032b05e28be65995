// Operations on organizations: who the caller is, the audit log, and making organizations from the host.
import type { CallerInfo } from '@callsign/contract/accounts'
import type { Static } from 'typebox'
import type { Caller } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { newId } from '../../../core/ids.ts'
import { readPage, toPage } from '../../../core/page.ts'
import type { Database, Sql } from '../../../core/sql.ts'
import type { Actor, AuditAction } from './model.ts'
import * as store from './store.ts'

export type Accounts = ReturnType<typeof createAccounts>

export function createAccounts(db: Database) {
  return {
    /** `GET /me`. */
    describeCaller(caller: Caller): Static<typeof CallerInfo> {
      return {
        user_id: caller.userId,
        organization_id: caller.organizationId,
        organization_name: caller.organizationName,
        role: caller.role,
        key: {
          id: caller.keyId,
          name: caller.keyName,
          type: caller.keyType,
          scopes: caller.scopes,
          agent_handle: caller.agent?.handle ?? null,
        },
      }
    },

    /** `GET /audit`: newest first. */
    async listAudit(caller: Caller, query: { limit?: number; cursor?: string }) {
      const page = readPage(query, 'audit')
      const rows = await store.listAudit(db, caller.organizationId, page)
      return toPage(
        rows,
        page.limit,
        (row) => row.id,
        ({ organization_id: _, ...row }) => ({ ...row, created_at: row.created_at.toISOString() }),
      )
    },

    /** Adds an audit entry in the transaction of what it tells. */
    async audit(
      sql: Sql,
      organizationId: string,
      actor: Actor,
      action: AuditAction,
      targetId: string,
      details: Record<string, unknown> = {},
    ) {
      await store.insertAudit(sql, {
        id: newId('audit'),
        organization_id: organizationId,
        action,
        actor_type: actor.type,
        actor_id: actor.type === 'key' ? actor.id : null,
        target_id: targetId,
        details,
        request_id: actor.type === 'key' ? actor.requestId : null,
        created_at: now(),
      })
    },

    /** A new organization with its owner, inside the caller's transaction. */
    async createOrganization(sql: Sql, name: string): Promise<{ organizationId: string; userId: string }> {
      const organizationId = newId('organization')
      const userId = newId('user')
      await store.insertOrganization(sql, { id: organizationId, name, ownerId: userId, at: now() })
      await this.audit(sql, organizationId, { type: 'host' }, 'organization.created', organizationId, { name })
      return { organizationId, userId }
    },

    /** Claims the first start for this organization; false when another start already has it. */
    claimInstallation: (sql: Sql, organizationId: string) => store.claimInstallation(sql, organizationId, now()),

    /** The organization that the first start made, or null on an empty database. */
    findInstallation: () => store.findInstallation(db),

    /** The user that keys made on the host belong to. */
    findOwner: (organizationId: string) => store.findOwner(db, organizationId),

    listOrganizations: () => store.listOrganizations(db),
  }
}

/** The actor of an API request. */
export const actorOf = (call: { caller: Caller; requestId: string }): Actor => ({
  type: 'key',
  id: call.caller.keyId,
  requestId: call.requestId,
})

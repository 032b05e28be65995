// The SQL of storage quotas. The counters are those of migrations/0003-mail.sql.
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { Level, Subject } from './model.ts'

/** The organizations and identities of a check. `serverMax` is the quota of organizations without a lower one. */
export type Subjects = { organizationIds: string[]; identityIds: string[]; serverMax: number | null }

/** Locks subjects until the transaction ends. Only transactions that add mail to a subject with a quota wait for each other. */
export async function lockSubjects(tx: Tx, { organizationIds, identityIds, serverMax }: Subjects): Promise<void> {
  if (organizationIds.length > 0)
    await tx.query({
      name: 'lock-organization-quotas',
      text: `SELECT 1 FROM organizations WHERE id = ANY($1) AND (storage_quota_bytes IS NOT NULL OR $2) ORDER BY id FOR NO KEY UPDATE`,
      values: [organizationIds, serverMax !== null],
    })
  if (identityIds.length > 0)
    await tx.query({
      name: 'lock-identity-quotas',
      text: 'SELECT 1 FROM identities WHERE id = ANY($1) AND storage_quota_bytes IS NOT NULL ORDER BY id FOR NO KEY UPDATE',
      values: [identityIds],
    })
}

const usedByOrganization = '(SELECT coalesce(sum(s.bytes), 0)::float8 FROM storage_counts s WHERE s.organization_id = o.id)'
const usedByIdentity =
  '(SELECT coalesce(sum(c.bytes), 0)::float8 FROM mailboxes b JOIN message_counts c ON c.mailbox_id = b.id WHERE b.identity_id = i.id)'

/** The subjects with a quota, with their stored bytes. */
export async function findSubjects(sql: Sql, { organizationIds, identityIds, serverMax }: Subjects): Promise<Subject[]> {
  const { rows } = await sql.query<Subject>({
    name: 'find-storage-subjects',
    text: `SELECT 'organization' AS kind, o.id, o.id AS organization_id, NULL AS agent_handle,
        least(o.storage_quota_bytes, $3::bigint)::float8 AS quota_bytes, o.storage_announced AS announced, ${usedByOrganization} AS used_bytes
      FROM organizations o WHERE o.id = ANY($1) AND (o.storage_quota_bytes IS NOT NULL OR $3 IS NOT NULL)
      UNION ALL SELECT 'identity', i.id, i.organization_id, i.agent_handle, i.storage_quota_bytes::float8, i.storage_announced, ${usedByIdentity}
      FROM identities i WHERE i.id = ANY($2) AND i.storage_quota_bytes IS NOT NULL`,
    values: [organizationIds, identityIds, serverMax],
  })
  return rows
}

/** Sets the announced level. False when another transaction has set this one or a higher one. */
export async function setAnnounced(tx: Tx, { kind, id }: Pick<Subject, 'kind' | 'id'>, level: Level): Promise<boolean> {
  const table = kind === 'organization' ? 'organizations' : 'identities'
  const { rowCount } = await tx.query({
    text: `UPDATE ${table} SET storage_announced = $2 WHERE id = $1 AND ($2 = 0 OR storage_announced < $2)`,
    values: [id, level],
  })
  return rowCount === 1
}

/** The stored bytes of an organization, with its own quota. */
export async function findOrganizationUse(sql: Sql, id: string) {
  const { rows } = await sql.query<{ used_bytes: number; quota_bytes: number | null }>({
    name: 'find-organization-storage',
    text: `SELECT ${usedByOrganization} AS used_bytes, o.storage_quota_bytes::float8 AS quota_bytes FROM organizations o WHERE o.id = $1`,
    values: [id],
  })
  return rows[0] as { used_bytes: number; quota_bytes: number | null }
}

export type AgentUse = { id: string; agent_handle: string; used_bytes: number; quota_bytes: number | null }

/** The stored bytes of agents, newest agent first. One row more than the limit shows that there are more. */
export async function listAgentUse(sql: Sql, organizationId: string, handle: string | null, page: PageRequest): Promise<AgentUse[]> {
  const { rows } = await sql.query<AgentUse>({
    name: 'list-agent-storage',
    text: `SELECT i.id, i.agent_handle, i.storage_quota_bytes::float8 AS quota_bytes, ${usedByIdentity} AS used_bytes FROM identities i
      WHERE i.organization_id = $1 AND ($4::text IS NULL OR i.agent_handle = $4) AND i.id < ${before('$2')} ORDER BY i.id DESC LIMIT $3`,
    values: [organizationId, page.cursor, page.limit + 1, handle],
  })
  return rows
}

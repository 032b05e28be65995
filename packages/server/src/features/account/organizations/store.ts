// The SQL of organizations, users and the audit log.
import type { OrganizationRetention } from '@callsign/contract/storage'
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { AuditRow, LimitSettings, ListedAudit } from './model.ts'

export async function insertOrganization(sql: Sql, row: { id: string; name: string; ownerId: string; at: Date }): Promise<void> {
  await sql.query({
    text: `WITH organization AS (INSERT INTO organizations (id, name, created_at) VALUES ($1, $2, $4))
      INSERT INTO users (id, organization_id, role, created_at) VALUES ($3, $1, 'owner', $4)`,
    values: [row.id, row.name, row.ownerId, row.at],
  })
}

/** Claims the first start; false when another start was first. Waits for one that is under way. */
export async function claimInstallation(sql: Sql, organizationId: string, at: Date): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: 'INSERT INTO installation (organization_id, created_at) VALUES ($1, $2) ON CONFLICT (singleton) DO NOTHING',
    values: [organizationId, at],
  })
  return rowCount === 1
}

/** Locks a client id until the transaction ends. Two with the same hash wait for each other, which is harmless. */
export async function lockClientId(tx: Tx, organizationId: string, kind: string, clientId: string): Promise<void> {
  await tx.query({ text: `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, values: [`${organizationId} ${kind} ${clientId}`] })
}

export async function findInstallation(sql: Sql): Promise<string | null> {
  const { rows } = await sql.query<{ organization_id: string }>({ text: 'SELECT organization_id FROM installation' })
  return rows[0]?.organization_id ?? null
}

export async function findOwner(sql: Sql, organizationId: string): Promise<{ userId: string; name: string } | null> {
  const { rows } = await sql.query<{ id: string; name: string }>({
    text: `SELECT u.id, o.name FROM users u JOIN organizations o ON o.id = u.organization_id
      WHERE u.organization_id = $1 AND u.role = 'owner' ORDER BY u.id LIMIT 1`,
    values: [organizationId],
  })
  return rows[0] ? { userId: rows[0].id, name: rows[0].name } : null
}

export async function listOrganizations(sql: Sql): Promise<{ id: string; name: string; created_at: Date }[]> {
  return (
    await sql.query<{ id: string; name: string; created_at: Date }>({ text: 'SELECT id, name, created_at FROM organizations ORDER BY id' })
  ).rows
}

export async function insertAudit(sql: Sql, row: AuditRow): Promise<void> {
  await sql.query({
    name: 'insert-audit',
    text: `INSERT INTO audit_log (id, organization_id, action, actor_type, actor_id, target_id, details, request_id, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      row.id,
      row.organization_id,
      row.action,
      row.actor_type,
      row.actor_id,
      row.target_id,
      JSON.stringify(row.details),
      row.request_id,
      row.created_at,
    ],
  })
}

export async function listAudit(sql: Sql, organizationId: string, page: PageRequest): Promise<ListedAudit[]> {
  const { rows } = await sql.query<ListedAudit>({
    name: 'list-audit',
    text: `SELECT a.*, COALESCE(k.name, NULLIF(u.name, ''), u.email) AS actor_name FROM audit_log a
      LEFT JOIN api_keys k ON a.actor_type = 'key' AND k.organization_id = a.organization_id AND k.id = a.actor_id
      LEFT JOIN users u ON a.actor_type = 'member' AND u.organization_id = a.organization_id AND u.id = a.actor_id
      WHERE a.organization_id = $1 AND a.id < ${before('$2')} ORDER BY a.id DESC LIMIT $3`,
    values: [organizationId, page.cursor, page.limit + 1],
  })
  return rows
}

export type OrganizationRow = {
  id: string
  name: string
  paused_at: Date | null
  pause_reason: string | null
  sending_limits: LimitSettings
  key_sending_limits: LimitSettings
  inbound_mode: 'open' | 'allowlist'
  outbound_mode: 'open' | 'allowlist'
  storage_quota_bytes: number | null
  retention: Partial<OrganizationRetention>
  created_at: Date
}

export async function findOrganization(sql: Sql, id: string): Promise<OrganizationRow | null> {
  const { rows } = await sql.query<OrganizationRow>({
    name: 'find-organization',
    text: `SELECT id, name, paused_at, pause_reason, sending_limits, key_sending_limits, storage_quota_bytes::float8, retention, inbound_mode, outbound_mode,
        created_at
      FROM organizations WHERE id = $1`,
    values: [id],
  })
  return rows[0] ?? null
}

/** Merges limits into the stored ones. */
export async function changeLimits(sql: Sql, id: string, ofAll: LimitSettings, ofKeys: LimitSettings): Promise<void> {
  await sql.query({
    text: 'UPDATE organizations SET sending_limits = sending_limits || $2, key_sending_limits = key_sending_limits || $3 WHERE id = $1',
    values: [id, JSON.stringify(ofAll), JSON.stringify(ofKeys)],
  })
}

/** Sets the storage quota, unless it is undefined, and merges days of retention into the stored ones. */
export async function changeStorage(
  sql: Sql,
  id: string,
  quotaBytes: number | null | undefined,
  retention: Partial<OrganizationRetention>,
): Promise<void> {
  await sql.query({
    text: `UPDATE organizations SET storage_quota_bytes = CASE WHEN $2 THEN $3 ELSE storage_quota_bytes END, retention = retention || $4 WHERE id = $1`,
    values: [id, quotaBytes !== undefined, quotaBytes ?? null, JSON.stringify(retention)],
  })
}

/** Pauses, unless the organization is paused already. */
export async function pause(sql: Sql, id: string, reason: string | null, at: Date): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: 'UPDATE organizations SET paused_at = $2, pause_reason = $3 WHERE id = $1 AND paused_at IS NULL',
    values: [id, at, reason],
  })
  return rowCount === 1
}

/** Ends a pause. False without one. Waits for transactions that hold a job because of it. */
export async function resume(sql: Sql, id: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: 'UPDATE organizations SET paused_at = NULL, pause_reason = NULL WHERE id = $1 AND paused_at IS NOT NULL',
    values: [id],
  })
  return rowCount === 1
}

/** True while sending is paused. The pause cannot end before the transaction. */
export async function lockPause(tx: Tx, id: string): Promise<boolean> {
  const { rows } = await tx.query<{ is_paused: boolean }>({
    name: 'lock-pause',
    text: 'SELECT paused_at IS NOT NULL AS is_paused FROM organizations WHERE id = $1 FOR SHARE',
    values: [id],
  })
  return rows[0]?.is_paused === true
}

/** Changes the modes of every agent. Null leaves one unchanged. */
export async function changeModes(sql: Sql, organizationId: string, inbound: string | null, outbound: string | null): Promise<void> {
  await sql.query({
    text: 'UPDATE organizations SET inbound_mode = coalesce($2, inbound_mode), outbound_mode = coalesce($3, outbound_mode) WHERE id = $1',
    values: [organizationId, inbound, outbound],
  })
}

// The SQL of organizations, users and the audit log.
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql } from '../../../core/sql.ts'
import type { AuditRow } from './model.ts'

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

export async function listAudit(sql: Sql, organizationId: string, page: PageRequest): Promise<AuditRow[]> {
  const { rows } = await sql.query<AuditRow>({
    name: 'list-audit',
    text: `SELECT * FROM audit_log WHERE organization_id = $1 AND id < ${before('$2')} ORDER BY id DESC LIMIT $3`,
    values: [organizationId, page.cursor, page.limit + 1],
  })
  return rows
}

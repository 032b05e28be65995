// The SQL of the suppression list.
import type { SuppressionSource } from '@callsign/contract/suppressions'
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql } from '../../../core/sql.ts'
import type { SuppressionRow } from './model.ts'

const columns = 'id, organization_id, email_address, source, reason, message_id, created_at'

/** Adds addresses to the list. A removed address becomes a new entry. An existing entry stays, and gets the new reason, if any, unless `isReasonKept`. */
export async function upsertSuppressions(sql: Sql, rows: SuppressionRow[], isReasonKept: boolean): Promise<SuppressionRow[]> {
  // Sorted, so that concurrent transactions wait instead of deadlocking.
  const sorted = rows.toSorted((a, b) => (a.organization_id + a.email_address < b.organization_id + b.email_address ? -1 : 1))
  const changed = (column: string) => `${column} = CASE WHEN s.removed_at IS NULL THEN s.${column} ELSE excluded.${column} END`
  const { rows: stored } = await sql.query<SuppressionRow>({
    text: `INSERT INTO suppressions AS s (${columns})
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
      ON CONFLICT (organization_id, email_address) DO UPDATE SET ${['id', 'source', 'message_id', 'created_at'].map(changed).join(', ')},
        reason = CASE WHEN s.removed_at IS NULL AND ($8 OR excluded.reason IS NULL) THEN s.reason ELSE excluded.reason END, removed_at = NULL
      RETURNING ${columns}`,
    values: [
      sorted.map((row) => row.id),
      sorted.map((row) => row.organization_id),
      sorted.map((row) => row.email_address),
      sorted.map((row) => row.source),
      sorted.map((row) => row.reason),
      sorted.map((row) => row.message_id),
      sorted.map((row) => row.created_at),
      isReasonKept,
    ],
  })
  return stored
}

export type SuppressionFilter = { emailAddress: string | null; source: SuppressionSource | null; id: string | null }

export async function listSuppressions(
  sql: Sql,
  organizationId: string,
  filter: SuppressionFilter,
  page: PageRequest,
): Promise<SuppressionRow[]> {
  const values: unknown[] = [organizationId, page.cursor, page.limit + 1]
  // A condition on null would hide the index of the filter from the planner.
  const equal = (column: string, value: string | null) => (value === null ? '' : ` AND ${column} = $${values.push(value)}`)
  const { rows } = await sql.query<SuppressionRow>({
    text: `SELECT ${columns} FROM suppressions WHERE organization_id = $1 AND removed_at IS NULL AND id < ${before('$2')}
      ${equal('email_address', filter.emailAddress)}${equal('source', filter.source)}${equal('id', filter.id)} ORDER BY id DESC LIMIT $3`,
    values,
  })
  return rows
}

export type Wanted = { organizationId: string; emailAddress: string }

/** The entries among these addresses of these organizations, pairwise. */
export async function findSuppressions(sql: Sql, wanted: Wanted[]): Promise<SuppressionRow[]> {
  const { rows } = await sql.query<SuppressionRow>({
    name: 'find-suppressions',
    text: `SELECT ${columns} FROM suppressions
      WHERE (organization_id, email_address) IN (SELECT * FROM unnest($1::text[], $2::text[])) AND removed_at IS NULL`,
    values: [wanted.map((one) => one.organizationId), wanted.map((one) => one.emailAddress)],
  })
  return rows
}

/** Removes an address from the list. `isNew` is false when it was already removed. Null when it was never on the list. */
export async function removeSuppression(
  sql: Sql,
  organizationId: string,
  emailAddress: string,
  at: Date,
): Promise<{ id: string; isNew: boolean } | null> {
  const { rows } = await sql.query<{ id: string; is_new: boolean }>({
    text: `WITH before AS (SELECT id, removed_at FROM suppressions WHERE organization_id = $1 AND email_address = $2 FOR UPDATE)
      UPDATE suppressions s SET removed_at = coalesce(s.removed_at, $3) FROM before WHERE s.id = before.id
      RETURNING s.id, before.removed_at IS NULL AS is_new`,
    values: [organizationId, emailAddress, at],
  })
  return rows[0] ? { id: rows[0].id, isNew: rows[0].is_new } : null
}

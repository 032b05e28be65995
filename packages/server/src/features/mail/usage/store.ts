// The SQL of counted mail.
import { usageCounts } from '@callsign/contract/usage'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { UsageChange, UsageRange, UsageRow } from './model.ts'

/** Adds changes in the transaction of their messages. */
export async function insertChanges(tx: Tx, changes: UsageChange[]): Promise<void> {
  await tx.query({
    name: 'insert-usage-changes',
    text: `INSERT INTO usage_changes (organization_id, agent_handle, domain, day, name, count)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::date[], $5::text[], $6::int[])`,
    values: [
      changes.map((one) => one.organizationId),
      changes.map((one) => one.handle),
      changes.map((one) => one.domain),
      changes.map((one) => one.day),
      changes.map((one) => one.name),
      changes.map((one) => one.count),
    ],
  })
}

/**
 * Moves all changes into the counts. Waits for a move that is running, whose changes are then in the counts. In one order, so that
 * concurrent moves wait instead of deadlocking. Changes of organizations that were deleted are dropped.
 */
export async function moveChanges(sql: Sql): Promise<void> {
  await sql.query({
    name: 'move-usage-changes',
    text: `WITH taken AS (DELETE FROM usage_changes RETURNING *)
      INSERT INTO usage_counts AS c (organization_id, kind, subject, day, name, count)
      SELECT t.organization_id, s.kind, s.subject, t.day, t.name, sum(t.count)
      FROM taken t JOIN handles h ON h.handle = t.agent_handle AND h.organization_id = t.organization_id
      CROSS JOIN LATERAL (VALUES ('organization', ''), ('agent', t.agent_handle), ('domain', t.domain)) AS s (kind, subject)
      WHERE s.kind = 'organization' OR s.subject <> ''
      GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
      ON CONFLICT (organization_id, kind, day, subject, name) DO UPDATE SET count = c.count + excluded.count`,
  })
}

const sums = usageCounts.map((name) => `coalesce(sum(count) FILTER (WHERE name = '${name}'), 0)::float8 AS ${name}`).join(', ')
const selectDays = `SELECT to_char(day, 'YYYY-MM-DD') AS date, day, subject, ${sums} FROM usage_counts
  WHERE organization_id = $1 AND kind = $2 AND day BETWEEN $3::date AND $4::date`
const inOrder = 'GROUP BY day, subject ORDER BY day DESC, subject LIMIT'

/** Days of one subject, or of every subject of a kind, newest day first. One more than the limit shows that there are more. */
export async function listDays(sql: Sql, organizationId: string, { subject, ...range }: UsageRange): Promise<UsageRow[]> {
  const { kind, startDate, endDate, cursor, limit } = range
  const values = [organizationId, kind, startDate, endDate, cursor?.date ?? 'infinity', subject ?? cursor?.subject ?? '', limit + 1]
  const { rows } = await sql.query<UsageRow>(
    subject === null
      ? {
          name: 'list-usage-subjects',
          // The rest of the day of the cursor, and the days before it: two ranges of the index.
          text: `SELECT * FROM ((${selectDays} AND day = $5::date AND subject > $6 ${inOrder} $7)
            UNION ALL (${selectDays} AND day < $5::date ${inOrder} $7)) AS days ORDER BY day DESC, subject LIMIT $7`,
          values,
        }
      : {
          name: 'list-usage-days',
          text: `${selectDays} AND subject = $6 AND day < $5::date ${inOrder} $7`,
          values,
        },
  )
  return rows
}

/** Deletes the counts of days before this one. */
export async function sweep(sql: Sql, before: Date): Promise<void> {
  await sql.query({ text: `DELETE FROM usage_counts WHERE day < ($1::timestamptz AT TIME ZONE 'UTC')::date`, values: [before] })
}

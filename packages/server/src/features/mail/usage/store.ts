// The SQL of counted mail.
import { usageCounts } from '@callsign/contract/usage'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { Counted, UsageRange, UsageRow } from './model.ts'

/** Concurrent transactions run on different connections, and so add to different rows. */
const shards = 16

const conflict = '(organization_id, kind, day, subject, name, shard)'

/** Counts messages of this transaction for their organization, agent and domain. The rows stay locked until the transaction ends. */
export async function count(tx: Tx, counted: Counted[]): Promise<void> {
  await tx.query({
    name: 'count-usage',
    text: `INSERT INTO usage_counts AS c (organization_id, kind, subject, day, name, shard, count)
      SELECT m.organization_id, s.kind, s.subject, (one.at AT TIME ZONE 'UTC')::date, one.name, pg_backend_pid() % ${shards}, count(*)
      FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS one (id, name, at)
      JOIN messages m ON m.id = one.id JOIN mailboxes b ON b.id = m.mailbox_id JOIN identities i ON i.id = b.identity_id
      CROSS JOIN LATERAL (VALUES ('organization', ''), ('agent', i.agent_handle), ('domain', lower(substring(
        coalesce(CASE m.direction WHEN 'outbound' THEN m.from_address ELSE m.envelope_to END, b.address) FROM '[^@]*$')))) AS s (kind, subject)
      GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
      ON CONFLICT ${conflict} DO UPDATE SET count = c.count + excluded.count`,
    values: [counted.map((one) => one.messageId), counted.map((one) => one.name), counted.map((one) => one.at)],
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

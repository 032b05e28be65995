// The SQL of counted mail.
import { usageCounts } from '@callsign/contract/usage'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { Increment, UsageRange, UsageRow } from './model.ts'

/** Concurrent transactions run on different connections, and so add to different rows. */
const shards = 16

/** Adds to the counts of subjects. The rows stay locked until the transaction ends. */
export async function add(tx: Tx, increments: Increment[]): Promise<void> {
  await tx.query({
    name: 'add-usage',
    text: `INSERT INTO usage_counts AS c (organization_id, kind, subject, day, name, shard, count)
      SELECT organization_id, kind, subject, day, name, pg_backend_pid() % ${shards}, count
      FROM unnest($1::text[], $2::text[], $3::text[], $4::date[], $5::text[], $6::int[]) AS n (organization_id, kind, subject, day, name, count)
      ON CONFLICT (organization_id, kind, day, subject, name, shard) DO UPDATE SET count = c.count + excluded.count`,
    values: [
      increments.map((one) => one.organizationId),
      increments.map((one) => one.kind),
      increments.map((one) => one.subject),
      increments.map((one) => one.day),
      increments.map((one) => one.name),
      increments.map((one) => one.count),
    ],
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

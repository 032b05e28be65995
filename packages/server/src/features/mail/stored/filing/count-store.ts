// The SQL of the counters of mailboxes: listed messages, and stored bytes (`migrations/0003-mail.sql`).
import type { Tx } from '../../../../core/sql.ts'
import type { MessageRow } from '../model.ts'

/** Additions to the counters of a mailbox. `delta` counts listed messages. */
export type CountChange = { organizationId: string; mailboxId: string; delta: number; bytes: number }

const mailboxShards = 8
const organizationShards = 64

/** Adds to one shard of the counters. Every node and transaction takes one at random, so that few of them wait for each other. */
export async function addToCounts(tx: Tx, counts: CountChange[]): Promise<void> {
  const sorted = counts.filter(({ delta, bytes }) => delta !== 0 || bytes !== 0).toSorted((a, b) => (a.mailboxId < b.mailboxId ? -1 : 1))
  if (sorted.length === 0) return
  const shard = Math.floor(Math.random() * organizationShards)
  await tx.query({
    name: 'add-to-counts',
    text: `WITH n AS (SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::bigint[]) AS n (mailbox_id, organization_id, delta, bytes)),
      stored AS (INSERT INTO storage_counts AS s (organization_id, shard, bytes)
        SELECT organization_id, $6, sum(bytes) FROM n GROUP BY organization_id HAVING sum(bytes) <> 0 ORDER BY organization_id
        ON CONFLICT (organization_id, shard) DO UPDATE SET bytes = s.bytes + excluded.bytes)
      INSERT INTO message_counts AS c (mailbox_id, organization_id, shard, count, bytes)
      SELECT mailbox_id, organization_id, $5, delta, bytes FROM n
      ON CONFLICT (mailbox_id, shard) DO UPDATE SET count = c.count + excluded.count, bytes = c.bytes + excluded.bytes`,
    values: [
      sorted.map((c) => c.mailboxId),
      sorted.map((c) => c.organizationId),
      sorted.map((c) => c.delta),
      sorted.map((c) => c.bytes),
      shard % mailboxShards,
      shard,
    ],
  })
}

/** The additions of new messages, one per mailbox. */
export function countsOf(rows: MessageRow[]): CountChange[] {
  const counts = new Map<string, CountChange>()
  for (const row of rows) {
    const count = counts.get(row.mailbox_id) ?? { organizationId: row.organization_id, mailboxId: row.mailbox_id, delta: 0, bytes: 0 }
    if (row.status !== 'quarantined') count.delta++
    count.bytes += row.size_bytes
    counts.set(row.mailbox_id, count)
  }
  return [...counts.values()]
}

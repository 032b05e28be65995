// The SQL of counted messages.
import type { Sql, Tx } from '../../../core/sql.ts'
import { type Charge, type Counted, windowUnits } from './sending-limits.ts'

/**
 * Adds the messages of a transaction to the counters of their windows, and returns the new counts. The rows stay locked until the
 * transaction ends, so concurrent senders wait for each other here. Call it as the last statement.
 */
export async function count(tx: Tx, charges: Charge[]): Promise<Counted[]> {
  const fresh = await addKnown(tx, charges)
  // Sorted, so that concurrent transactions lock common rows in the same order.
  const wanted = charges
    .flatMap((charge) =>
      charge.limits.map(([name, max]) => ({
        charge,
        name,
        max,
        amount: name === 'new_recipients_per_day' ? (fresh.get(charge.subject) ?? 0) : charge.messages,
      })),
    )
    .filter(({ amount }) => amount > 0)
    .toSorted((a, b) => (`${a.charge.subject} ${a.name}` < `${b.charge.subject} ${b.name}` ? -1 : 1))
  if (wanted.length === 0) return []
  const { rows } = await tx.query<{ subject: string; name: string; count: number; window_start: Date }>({
    name: 'count-sent',
    text: `INSERT INTO send_counts AS c (organization_id, subject, name, window_start, count)
      SELECT organization_id, subject, name, date_trunc(unit, clock_timestamp(), 'UTC'), amount
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[]) AS w (organization_id, subject, name, unit, amount)
      ON CONFLICT (subject, name, window_start) DO UPDATE SET count = c.count + excluded.count
      RETURNING subject, name, count, window_start`,
    values: [
      wanted.map(({ charge }) => charge.organizationId),
      wanted.map(({ charge }) => charge.subject),
      wanted.map(({ name }) => name),
      wanted.map(({ name }) => windowUnits[name]),
      wanted.map(({ amount }) => amount),
    ],
  })
  const found = new Map(rows.map((row) => [`${row.subject} ${row.name}`, row]))
  return wanted.flatMap((one) => {
    const row = found.get(`${one.charge.subject} ${one.name}`)
    return row ? [{ ...one, count: row.count, windowStart: row.window_start }] : []
  })
}

/** Records addresses that a subject with a limit of new recipients writes to for the first time. Returns their number by subject. */
async function addKnown(tx: Tx, charges: Charge[]): Promise<Map<string, number>> {
  const pairs = charges
    .filter(({ limits }) => limits.some(([name]) => name === 'new_recipients_per_day'))
    .flatMap(({ organizationId, subject, addresses }) => [...addresses].map((address) => ({ organizationId, subject, address })))
  if (pairs.length === 0) return new Map()
  const { rows } = await tx.query<{ subject: string }>({
    name: 'add-known-recipients',
    text: `INSERT INTO known_recipients (organization_id, subject, address, created_at)
      SELECT organization_id, subject, address, now() FROM unnest($1::text[], $2::text[], $3::text[]) AS p (organization_id, subject, address)
      ORDER BY subject, address ON CONFLICT DO NOTHING RETURNING subject`,
    values: [pairs.map((pair) => pair.organizationId), pairs.map((pair) => pair.subject), pairs.map((pair) => pair.address)],
  })
  const fresh = new Map<string, number>()
  for (const { subject } of rows) fresh.set(subject, (fresh.get(subject) ?? 0) + 1)
  return fresh
}

/** Deletes counts of past windows. */
export async function sweepCounts(sql: Sql, startedBefore: Date): Promise<void> {
  await sql.query({ text: 'DELETE FROM send_counts WHERE window_start < $1', values: [startedBefore] })
}

/** Deletes the addresses that an identity has written to. */
export async function forgetRecipients(sql: Sql, subject: string): Promise<void> {
  await sql.query({ text: 'DELETE FROM known_recipients WHERE subject = $1', values: [subject] })
}

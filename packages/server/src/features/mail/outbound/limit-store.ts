// The SQL of counted messages.
import type { Sql, Tx } from '../../../core/sql.ts'
import { type Addition, type Charge, type Counted, slicesPerWindow, windowSeconds } from './sending-limits.ts'

/**
 * Adds the messages of a transaction to the counters of their limits, and returns the new counts. Locks the subjects until the
 * transaction ends, so concurrent senders wait for each other here. Call it after the message is filed, because other senders of these subjects wait from here to the commit.
 */
export async function count(tx: Tx, charges: Charge[]): Promise<Counted[]> {
  const fresh = await addKnown(tx, charges)
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
  const counts = await add(
    tx,
    wanted.map(({ charge: { organizationId, subject }, name, amount }) => ({
      organizationId,
      subject,
      name,
      seconds: windowSeconds[name],
      amount,
    })),
  )
  return wanted.map((one, index) => ({ ...one, count: counts[index] as number }))
}

/** Adds to counters, each once, and returns their new counts in order. Locks the subjects until the transaction ends. */
export async function add(tx: Tx, additions: Addition[]): Promise<number[]> {
  if (additions.length === 0) return []
  await lockSubjects(tx, [...new Set(additions.map(({ subject }) => subject))])
  const { rows } = await tx.query<{ subject: string; name: string; count: number }>({
    name: 'count-sent',
    text: `WITH wanted AS MATERIALIZED (
        SELECT w.*, clock_timestamp() AS now, make_interval(secs => w.seconds / ${slicesPerWindow}.0) AS slice
        FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[]) AS w (organization_id, subject, name, seconds, amount)
      ), added AS (
        INSERT INTO send_counts AS c (organization_id, subject, name, ends_at, count)
        SELECT organization_id, subject, name, date_bin(slice, now, 'epoch') + slice * ${slicesPerWindow + 1}, amount FROM wanted
        ON CONFLICT (subject, name, ends_at) DO UPDATE SET count = c.count + excluded.count
      )
      SELECT subject, name, amount + (
        SELECT coalesce(sum(c.count), 0) FROM send_counts c WHERE c.subject = w.subject AND c.name = w.name AND c.ends_at > w.now
      )::int AS count FROM wanted w`,
    values: [
      additions.map(({ organizationId }) => organizationId),
      additions.map(({ subject }) => subject),
      additions.map(({ name }) => name),
      additions.map(({ seconds }) => seconds),
      additions.map(({ amount }) => amount),
    ],
  })
  const found = new Map(rows.map((row) => [`${row.subject} ${row.name}`, row.count]))
  return additions.map(({ subject, name, amount }) => found.get(`${subject} ${name}`) ?? amount)
}

/** The present counts of some counters of a subject, by their names. Counters of 0 are left out. */
export async function findCounts(sql: Sql, organizationId: string, subject: string, names: string[]): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ name: string; count: number }>({
    name: 'find-send-counts',
    text: `SELECT name, sum(count)::int AS count FROM send_counts
      WHERE organization_id = $1 AND subject = $2 AND name = ANY($3) AND ends_at > clock_timestamp() GROUP BY name`,
    values: [organizationId, subject, names],
  })
  return new Map(rows.map(({ name, count }) => [name, count]))
}

/** Sorted, so that concurrent transactions lock common subjects in the same order. */
async function lockSubjects(tx: Tx, subjects: string[]): Promise<void> {
  await tx.query({
    name: 'lock-send-counts',
    text: `SELECT pg_advisory_xact_lock(hashtextextended('send counts ' || subject, 0)) FROM unnest($1::text[]) AS s (subject)`,
    values: [subjects.toSorted()],
  })
}

/** The time at which so much is free below a limit that its counter can take the amount. Call it after `count`, in its transaction. */
export async function freeAt(tx: Tx, { charge, name, max, amount, count }: Counted): Promise<Date | null> {
  const { rows } = await tx.query<{ ends_at: Date }>({
    text: `SELECT ends_at FROM (
        SELECT ends_at, sum(count) OVER (ORDER BY ends_at) AS freed FROM send_counts
        WHERE subject = $1 AND name = $2 AND ends_at > clock_timestamp()
      ) AS slices WHERE freed >= $3 ORDER BY ends_at LIMIT 1`,
    values: [charge.subject, name, Math.min(count - max, count - amount)],
  })
  return rows[0]?.ends_at ?? null
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

/** Deletes counts that no window includes any more. */
export async function sweepCounts(sql: Sql): Promise<void> {
  await sql.query({ text: 'DELETE FROM send_counts WHERE ends_at < now()' })
}

/** Deletes the addresses that an identity has written to. */
export async function forgetRecipients(sql: Sql, subject: string): Promise<void> {
  await sql.query({ text: 'DELETE FROM known_recipients WHERE subject = $1', values: [subject] })
}

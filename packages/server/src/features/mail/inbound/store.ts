// The SQL of mail that is asked to come again: since when, so that it is not put off for ever.
import type { Sql } from '../../../core/sql.ts'

/** Records that a message is put off, and returns when that happened for the first time. `key` names the message across its retries. */
export async function noteDeferral(sql: Sql, key: Buffer, at: Date): Promise<Date> {
  const { rows } = await sql.query<{ first_at: Date }>({
    text: `INSERT INTO deferred_mail AS d (key, first_at) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET first_at = d.first_at RETURNING first_at`,
    values: [key, at],
  })
  return (rows[0] as { first_at: Date }).first_at
}

/** Forgets deferrals from before a time: their senders have given up, or got through. */
export async function sweepDeferrals(sql: Sql, before: Date): Promise<number> {
  const { rowCount } = await sql.query({ text: 'DELETE FROM deferred_mail WHERE first_at < $1', values: [before] })
  return rowCount
}

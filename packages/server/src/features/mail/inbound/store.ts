// The SQL of deferred mail, which is not deferred for ever, and of messages that may have been stored.
import type { Sql } from '../../../core/sql.ts'

/** Records a deferral, and returns the time of the message's first. `key` identifies the message across retries. */
export async function noteDeferral(sql: Sql, key: Buffer, at: Date): Promise<Date> {
  const { rows } = await sql.query<{ first_at: Date }>({
    text: `INSERT INTO deferred_mail AS d (key, first_at) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET first_at = d.first_at RETURNING first_at`,
    values: [key, at],
  })
  return (rows[0] as { first_at: Date }).first_at
}

/** Deletes deferrals from before a time, whose senders have given up or succeeded. */
export async function sweepDeferrals(sql: Sql, before: Date): Promise<number> {
  const { rowCount } = await sql.query({ text: 'DELETE FROM deferred_mail WHERE first_at < $1', values: [before] })
  return rowCount
}

/** The first of these messages that is stored, or null. */
export async function findFiled(sql: Sql, ids: string[]): Promise<string | null> {
  const text = 'SELECT id FROM messages WHERE id = ANY($1) LIMIT 1'
  return (await sql.query<{ id: string }>({ text, values: [ids] })).rows[0]?.id ?? null
}

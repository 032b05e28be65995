// The SQL of pieces that the simulator accepted, by their key. The simulator's outbox shows them as a phone would.
import type { Sql } from '../../core/sql.ts'

export type SimulatedRow = { id: string; send_key: string; recipient: string; created_at: Date }

/** Records an accepted piece, with repetitions. */
export async function insertSimulated(sql: Sql, row: SimulatedRow): Promise<void> {
  await sql.query({
    name: 'insert-simulated-imessage',
    text: 'INSERT INTO imessage_simulated (id, send_key, recipient, created_at) VALUES ($1, $2, $3, $4)',
    values: [row.id, row.send_key, row.recipient, row.created_at],
  })
}

export async function findSimulated(sql: Sql, sendKey: string): Promise<string | null> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'find-simulated-imessage',
    text: 'SELECT id FROM imessage_simulated WHERE send_key = $1 ORDER BY id LIMIT 1',
    values: [sendKey],
  })
  return rows[0]?.id ?? null
}

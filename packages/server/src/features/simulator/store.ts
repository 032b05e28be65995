// The SQL of the simulator: simulated numbers, pending faults, withheld texts and the outbox of simulated phones.
import { before, type PageRequest } from '../../core/page.ts'
import type { Sql } from '../../core/sql.ts'

/** The free numbers among these: never used ones first, then by time of release. */
export async function findFree(sql: Sql, numbers: string[]): Promise<string[]> {
  const { rows } = await sql.query<{ phone_number: string }>({
    text: `SELECT n.phone_number FROM unnest($1::text[]) WITH ORDINALITY AS n (phone_number, place)
      LEFT JOIN simulated_numbers s ON s.phone_number = n.phone_number
      WHERE s.phone_number IS NULL OR s.released_at IS NOT NULL ORDER BY s.released_at NULLS FIRST, n.place`,
    values: [numbers],
  })
  return rows.map((row) => row.phone_number)
}

/** Gives a free number to an order key, or finds that it has it already. */
export async function buyNumber(
  sql: Sql,
  order: { organizationId: string; orderKey: string; phoneNumber: string },
  readyInMs: number,
): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `INSERT INTO simulated_numbers (phone_number, order_key, organization_id, ready_at)
      VALUES ($1, $2, $3, now() + $4 * interval '1 millisecond')
      ON CONFLICT (phone_number) DO UPDATE
        SET order_key = $2, organization_id = $3, ready_at = excluded.ready_at, is_rejected = false, released_at = NULL
        WHERE simulated_numbers.released_at IS NOT NULL`,
    values: [order.phoneNumber, order.orderKey, order.organizationId, readyInMs],
  })
  return rowCount === 1
}

export async function findNumber(sql: Sql, orderKey: string) {
  const { rows } = await sql.query<{ phone_number: string; is_ready: boolean; is_rejected: boolean }>({
    text: `SELECT phone_number, ready_at <= now() AS is_ready, is_rejected FROM simulated_numbers WHERE order_key = $1 AND released_at IS NULL`,
    values: [orderKey],
  })
  const row = rows[0]
  return row ? { phoneNumber: row.phone_number, isReady: row.is_ready, isRejected: row.is_rejected } : null
}

/** Ends the wait of a number, one way or the other. */
export async function advanceNumber(sql: Sql, orderKey: string, isRejected: boolean): Promise<void> {
  await sql.query({
    text: 'UPDATE simulated_numbers SET ready_at = now(), is_rejected = $2 WHERE order_key = $1 AND released_at IS NULL',
    values: [orderKey, isRejected],
  })
}

export async function releaseNumber(sql: Sql, orderKey: string): Promise<void> {
  await sql.query({
    text: 'UPDATE simulated_numbers SET released_at = now() WHERE order_key = $1 AND released_at IS NULL',
    values: [orderKey],
  })
}

export type FaultRow = { channel: string; op: string; fail: string; times: number }

/** Sets the number of calls that fail next. 0 removes the fault. */
export async function setFault(sql: Sql, organizationId: string, fault: FaultRow): Promise<void> {
  const { channel, op, fail, times } = fault
  await sql.query(
    times === 0
      ? {
          text: 'DELETE FROM simulated_faults WHERE organization_id = $1 AND channel = $2 AND op = $3 AND fail = $4',
          values: [organizationId, channel, op, fail],
        }
      : {
          text: `INSERT INTO simulated_faults (organization_id, channel, op, fail, times) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (organization_id, channel, op, fail) DO UPDATE SET times = excluded.times`,
          values: [organizationId, channel, op, fail, times],
        },
  )
}

export async function listFaults(sql: Sql, organizationId: string): Promise<FaultRow[]> {
  const { rows } = await sql.query<FaultRow>({
    text: 'SELECT channel, op, fail, times FROM simulated_faults WHERE organization_id = $1 ORDER BY channel, op, fail',
    values: [organizationId],
  })
  return rows
}

/** Takes one fault of a step, or null. */
export async function takeFault(sql: Sql, organizationId: string, channel: string, op: string): Promise<string | null> {
  const { rows } = await sql.query<{ fail: string }>({
    name: 'take-simulated-fault',
    text: `WITH one AS (
        SELECT fail, times FROM simulated_faults WHERE organization_id = $1 AND channel = $2 AND op = $3 ORDER BY fail LIMIT 1 FOR UPDATE),
      last AS (DELETE FROM simulated_faults f USING one
        WHERE f.organization_id = $1 AND f.channel = $2 AND f.op = $3 AND f.fail = one.fail AND one.times = 1),
      fewer AS (UPDATE simulated_faults f SET times = f.times - 1 FROM one
        WHERE f.organization_id = $1 AND f.channel = $2 AND f.op = $3 AND f.fail = one.fail AND one.times > 1)
      SELECT fail FROM one`,
    values: [organizationId, channel, op],
  })
  return rows[0]?.fail ?? null
}

/** Keeps a text back: for the provider's list, or (held) until the next one has gone. */
export async function keepText(sql: Sql, organizationId: string, id: string, body: unknown, isHeld: boolean): Promise<void> {
  await sql.query({
    text: 'INSERT INTO simulated_texts (id, organization_id, body, is_held, created_at) VALUES ($1, $2, $3, $4, now())',
    values: [id, organizationId, JSON.stringify(body), isHeld],
  })
}

/** SQL condition: the number of a text still belongs to the organization that wrote it. A released number may have another owner. */
const isToOwnNumber = `EXISTS (SELECT 1 FROM simulated_numbers n
  WHERE n.phone_number = t.body ->> 'to' AND n.organization_id = t.organization_id AND n.released_at IS NULL)`

/** Takes the texts that were held and can be delivered, oldest first. The others are deleted. */
export async function takeHeld(sql: Sql, organizationId: string): Promise<unknown[]> {
  const { rows } = await sql.query<{ id: string; body: unknown; is_to_own: boolean }>({
    text: `DELETE FROM simulated_texts t WHERE organization_id = $1 AND is_held RETURNING id, body, ${isToOwnNumber} AS is_to_own`,
    values: [organizationId],
  })
  const deliverable = rows.filter((row) => row.is_to_own)
  return deliverable.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((row) => row.body)
}

/** The texts of the provider's list that can be delivered. */
export async function listTexts(sql: Sql, since: Date): Promise<unknown[]> {
  const { rows } = await sql.query<{ body: unknown }>({
    text: `SELECT body FROM simulated_texts t WHERE created_at >= $1 AND ${isToOwnNumber} ORDER BY id`,
    values: [since],
  })
  return rows.map((row) => row.body)
}

/** Deletes expired state. */
export async function sweepTexts(sql: Sql, olderThan: Date): Promise<void> {
  await sql.query({ text: 'DELETE FROM simulated_texts WHERE created_at < $1', values: [olderThan] })
}

export type OutboxRow = {
  id: string
  channel: 'imessage' | 'sms'
  from_number: string
  to_number: string
  text: string
  media_url: string | null
  created_at: Date
}

/** Newest first. */
export async function listOutbox(sql: Sql, organizationId: string, to: string | null, page: PageRequest): Promise<OutboxRow[]> {
  const { rows } = await sql.query<OutboxRow>({
    text: `SELECT id, channel, from_number, to_number, text, media_url, created_at FROM simulated_outbox
      WHERE organization_id = $1 AND ($2::text IS NULL OR to_number = $2) AND id < ${before('$3')} ORDER BY id DESC LIMIT $4`,
    values: [organizationId, to, page.cursor, page.limit + 1],
  })
  return rows
}

/** Inserts a message into the outbox. A given id makes it idempotent. */
export async function insertOutbox(sql: Sql, organizationId: string, row: OutboxRow): Promise<void> {
  await sql.query({
    text: `INSERT INTO simulated_outbox (id, organization_id, channel, from_number, to_number, text, media_url, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING`,
    values: [row.id, organizationId, row.channel, row.from_number, row.to_number, row.text, row.media_url, row.created_at],
  })
}

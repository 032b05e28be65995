// The SQL of recipients and their delivery.

import { firstId } from '@callsign/contract/ids'
import { batchLoader } from '../../../../core/batch.ts'
import { anyOfIds, type Database, type Sql, sortedIds, type Tx } from '../../../../core/sql.ts'
import type { LogEntry, RecipientRow, RecipientStatus } from '../model.ts'

const recipientColumns =
  'message_id, position, kind, name, address, status, attempts, last_answer, diagnostic_code, last_attempt_at, next_attempt_at, log'

/**
 * The current recipients of messages, by message, locked until the transaction ends, so that changes never build on older rows. Locks in one
 * order, so that concurrent transactions wait instead of deadlocking.
 */
export async function lockRecipients(tx: Tx, messageIds: string[]): Promise<Map<string, RecipientRow[]>> {
  const { rows } = await tx.query<RecipientRow>({
    name: 'lock-recipients',
    text: `SELECT ${recipientColumns} FROM message_recipients WHERE ${anyOfIds('message_id', '$1')} ORDER BY message_id, position FOR UPDATE`,
    values: [sortedIds(messageIds)],
  })
  return byMessage(rows)
}

function byMessage(rows: RecipientRow[]): Map<string, RecipientRow[]> {
  const lists = new Map<string, RecipientRow[]>()
  for (const row of rows) {
    const list = lists.get(row.message_id)
    if (list) list.push(row)
    else lists.set(row.message_id, [row])
  }
  return lists
}

const untagged = (column: string): string => `lower(regexp_replace(${column}, '\\+[^@]*@', '@'))`

/** Messages with correspondents on a thread, by their addresses without tags. Ids lie between `sinceId` and `beforeId`. */
export type Exchange = { threadId: string; addresses: string[]; beforeId: string; sinceId: string }

/** The delivery time of a message, and the address of its correspondent. Null stands for a message that still waits. */
export type Exchanged = { at: Date | null; address: string }

/** The latest 2,000 messages of an exchange, newest first. */
export async function findExchange(sql: Sql, exchange: Exchange): Promise<Exchanged[]> {
  const { rows } = await sql.query<Exchanged>({
    name: 'find-exchange',
    text: `SELECT CASE WHEN m.direction = 'inbound' THEN ${untagged('m.from_address')} ELSE ${untagged('r.address')} END AS address,
        CASE WHEN m.direction = 'inbound' THEN m.created_at WHEN r.status = 'queued' THEN NULL ELSE r.last_attempt_at END AS at
      FROM messages m LEFT JOIN message_recipients r
        ON r.message_id = m.id AND m.direction = 'outbound' AND ${untagged('r.address')} = ANY($2)
      WHERE m.thread_id = $1 AND m.id < $3 AND m.id > $4
        AND ((m.direction = 'inbound' AND ${untagged('m.from_address')} = ANY($2)) OR r.status IN ('queued', 'sent', 'delivered'))
      ORDER BY m.id DESC LIMIT 2000`,
    values: [exchange.threadId, exchange.addresses, exchange.beforeId, exchange.sinceId],
  })
  return rows
}

/** The messages of a mailbox from these addresses since then, at most 1,000, by address without a tag. Hidden ones count. */
export async function countReceived(sql: Sql, mailboxId: string, addresses: string[], since: Date): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ address: string; count: number }>({
    name: 'count-received',
    text: `SELECT address, count(*)::int AS count FROM (SELECT ${untagged('from_address')} AS address, direction FROM messages
        WHERE mailbox_id = $1 AND is_hidden = ANY('{true,false}') AND id > $3 ORDER BY id DESC LIMIT 1000) m
      WHERE direction = 'inbound' AND address = ANY($2) GROUP BY address`,
    values: [mailboxId, addresses, firstId('message', since.getTime())],
  })
  return new Map(rows.map(({ address, count }) => [address, count]))
}

/** Recipients by message, in their original order. */
export async function findRecipients(sql: Sql, messageIds: string[]): Promise<Map<string, RecipientRow[]>> {
  const { rows } = await sql.query<RecipientRow>({
    name: 'find-recipients',
    text: `SELECT ${recipientColumns} FROM message_recipients WHERE ${anyOfIds('message_id', '$1')} ORDER BY message_id, position`,
    values: [sortedIds(messageIds)],
  })
  return byMessage(rows)
}

export type RecipientChange = {
  position: number
  status: RecipientStatus
  attempts: number
  lastAnswer: string | null
  diagnosticCode: string | null
  lastAttemptAt: Date | null
  nextAttemptAt: Date | null
  /** Null leaves the log unchanged. */
  entry: LogEntry | null
}

/** The most entries of a recipient's log. */
const logMax = 50

/** Changes to recipients of one message, and the message's resulting status. */
export type DeliveryChange = { messageId: string; changes: RecipientChange[]; status: RecipientStatus }

/** Writes changes to recipients, and the statuses of their messages. Each message may occur once. */
export async function updateDeliveries(sql: Sql, given: DeliveryChange[], at: Date): Promise<void> {
  const deliveries = given.toSorted((a, b) => (a.messageId < b.messageId ? -1 : 1))
  const changes = deliveries.flatMap((delivery) => delivery.changes.map((change) => ({ ...change, messageId: delivery.messageId })))
  await sql.query({
    name: 'update-deliveries',
    text: `WITH change AS (SELECT * FROM unnest($1::text[], $2::int[], $3::text[], $4::int[], $5::text[], $6::text[], $7::timestamptz[], $8::timestamptz[], $9::jsonb[])
        AS c (message_id, position, status, attempts, last_answer, diagnostic_code, last_attempt_at, next_attempt_at, entry)),
      recipient AS (UPDATE message_recipients r SET status = c.status, attempts = c.attempts, last_answer = c.last_answer,
        diagnostic_code = c.diagnostic_code, last_attempt_at = c.last_attempt_at, next_attempt_at = c.next_attempt_at,
        log = CASE WHEN c.entry IS NULL THEN r.log WHEN jsonb_array_length(r.log) >= ${logMax} THEN (r.log - 0) || c.entry ELSE r.log || c.entry END
        FROM change c WHERE r.message_id = c.message_id AND r.position = c.position AND ${anyOfIds('r.message_id', '$10')})
      UPDATE messages m SET status = ($11::text[])[array_position($10::text[], m.id)], updated_at = $12 WHERE ${anyOfIds('m.id', '$10')}`,
    values: [
      changes.map((change) => change.messageId),
      changes.map((change) => change.position),
      changes.map((change) => change.status),
      changes.map((change) => change.attempts),
      changes.map((change) => change.lastAnswer),
      changes.map((change) => change.diagnosticCode),
      changes.map((change) => change.lastAttemptAt),
      changes.map((change) => change.nextAttemptAt),
      changes.map((change) => change.entry && JSON.stringify(change.entry)),
      deliveries.map((delivery) => delivery.messageId),
      deliveries.map((delivery) => delivery.status),
      at,
    ],
  })
}

/** Returns a function from a message's id to its recipients, in order. The list is empty when the message was deleted. */
export function createFindRecipients(db: Database): (messageId: string) => Promise<RecipientRow[]> {
  const load = batchLoader((ids) => findRecipients(db, ids))
  return async (messageId) => (await load(messageId)) ?? []
}

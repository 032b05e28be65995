// The SQL of outgoing pieces, of the ids of received messages, and of poll positions.
import type { Sql, Tx } from '../../core/sql.ts'
import type { SendRow } from './model.ts'
import type { ProviderName } from './provider.ts'

const columns =
  's.id, s.chat_id, s.organization_id, s.message_id, s.part, s.text, s.media_id, s.state, s.attempts, s.first_tried_at, s.last_tried_at, s.provider_message_id'

export type NewSend = Pick<SendRow, 'id' | 'chat_id' | 'organization_id' | 'message_id' | 'part' | 'text' | 'media_id'>

export async function insertSends(tx: Tx, rows: NewSend[], at: Date): Promise<void> {
  for (const row of rows) {
    await tx.query({
      name: 'insert-imessage-send',
      text: `INSERT INTO imessage_sends (id, chat_id, organization_id, message_id, part, text, media_id, state, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, 'waiting', $8)`,
      values: [row.id, row.chat_id, row.organization_id, row.message_id, row.part, row.text, row.media_id, at],
    })
  }
}

/** The oldest unfinished piece of a chat. */
export async function findNextSend(sql: Sql, chatId: string): Promise<SendRow | null> {
  const { rows } = await sql.query<SendRow>({
    name: 'find-next-imessage-send',
    text: `SELECT ${columns} FROM imessage_sends s WHERE s.chat_id = $1 AND s.state IN ('waiting', 'sending') ORDER BY s.id LIMIT 1`,
    values: [chatId],
  })
  return rows[0] ?? null
}

/** Marks a waiting piece as being sent. False when it is not waiting. */
export async function beginSend(tx: Tx, id: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'begin-imessage-send',
    text: `UPDATE imessage_sends SET state = 'sending', attempts = attempts + 1, first_tried_at = coalesce(first_tried_at, $2), last_tried_at = $2
      WHERE id = $1 AND state = 'waiting'`,
    values: [id, at],
  })
  return rowCount === 1
}

/** Returns a piece to the queue: the provider rejected it, or deduplicates by its key. */
export async function returnSend(tx: Tx, id: string): Promise<void> {
  await tx.query({
    name: 'return-imessage-send',
    text: `UPDATE imessage_sends SET state = 'waiting' WHERE id = $1 AND state = 'sending'`,
    values: [id],
  })
}

/** Records the result of a piece. False when it is deleted or finished. */
export async function recordSendResult(
  tx: Tx,
  id: string,
  to: { state: 'sent'; providerMessageId: string } | { state: 'failed' },
  at: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'record-imessage-send-result',
    text: `UPDATE imessage_sends SET state = $2, provider_message_id = coalesce($3, provider_message_id), settled_at = $4
      WHERE id = $1 AND state IN ('waiting', 'sending')`,
    values: [id, to.state, to.state === 'sent' ? to.providerMessageId : null, at],
  })
  return rowCount === 1
}

/** Number of pieces of a message that are not sent yet. */
export async function countUnsent(tx: Tx, messageId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>({
    name: 'count-unsent-imessage-pieces',
    text: `SELECT count(*)::int AS count FROM imessage_sends WHERE message_id = $1 AND state <> 'sent'`,
    values: [messageId],
  })
  return rows[0]?.count ?? 0
}

/** Fails the waiting pieces of a conversation without contacting the provider, and returns their messages. In-flight pieces continue. */
export async function dropWaiting(tx: Tx, by: { conversationId: string } | { messageId: string }, at: Date): Promise<string[]> {
  const { rows } = await tx.query<{ message_id: string }>({
    name: 'conversationId' in by ? 'drop-waiting-of-conversation' : 'drop-waiting-of-message',
    text: `UPDATE imessage_sends s SET state = 'failed', settled_at = $2 WHERE s.state = 'waiting' AND ${
      'conversationId' in by ? 's.message_id IN (SELECT id FROM imessage_messages WHERE conversation_id = $1)' : 's.message_id = $1'
    } RETURNING s.message_id`,
    values: ['conversationId' in by ? by.conversationId : by.messageId, at],
  })
  return [...new Set(rows.map((row) => row.message_id))]
}

/** The provider's ids of pieces sent in a chat since this time. */
export async function findProviderIds(sql: Sql, chatId: string, since: Date): Promise<Set<string>> {
  const { rows } = await sql.query<{ provider_message_id: string }>({
    text: 'SELECT provider_message_id FROM imessage_sends WHERE chat_id = $1 AND provider_message_id IS NOT NULL AND settled_at >= $2',
    values: [chatId, since],
  })
  return new Set(rows.map((row) => row.provider_message_id))
}

/** The message that a provider's message belongs to. */
export async function findMessageOf(sql: Sql, provider: ProviderName, providerMessageId: string): Promise<string | null> {
  const { rows } = await sql.query<{ message_id: string | null }>({
    text: `SELECT s.message_id FROM imessage_sends s JOIN imessage_chats c ON c.id = s.chat_id
      WHERE s.provider_message_id = $2 AND c.provider = $1`,
    values: [provider, providerMessageId],
  })
  return rows[0]?.message_id ?? null
}

/** Records the id of a received message. False for a repetition. A concurrent transaction with the same id waits for the first. */
export async function noteReceived(tx: Tx, provider: ProviderName, providerMessageId: string, sentAt: Date, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'note-imessage-received',
    text: `INSERT INTO imessage_received (provider, provider_message_id, sent_at, received_at) VALUES ($1, $2, $3, $4)
      ON CONFLICT (provider, provider_message_id) DO NOTHING`,
    values: [provider, providerMessageId, sentAt, at],
  })
  return rowCount === 1
}

/** Deletes records older than this time, except those that the next poll may return again. */
export async function sweepReceived(sql: Sql, olderThan: Date): Promise<number> {
  const { rowCount } = await sql.query({
    text: `DELETE FROM imessage_received r WHERE r.received_at < $1 AND NOT EXISTS (
      SELECT 1 FROM imessage_positions p WHERE p.provider = r.provider AND r.sent_at > p.position - interval '2 days')`,
    values: [olderThan],
  })
  return rowCount
}

/** The installation's first organization, which owns jobs without an organization. */
export async function findFirstOrganization(sql: Sql): Promise<string> {
  const { rows } = await sql.query<{ organization_id: string }>({
    name: 'find-first-organization',
    text: 'SELECT organization_id FROM installation',
  })
  return (rows[0] as { organization_id: string }).organization_id
}

export type Position = { started_at: Date; position: Date; hints: number }

/** Claims a due poll of a provider. Null when none is due or another node has claimed it. The first poll starts at `at`. */
export async function claimPoll(sql: Sql, provider: ProviderName, at: Date, nextMs: number): Promise<Position | null> {
  const { rows } = await sql.query<Position>({
    name: 'claim-imessage-poll',
    text: `INSERT INTO imessage_positions (provider, started_at, position, due_at) VALUES ($1, $2, $2, now() + $3 * interval '1 millisecond')
      ON CONFLICT (provider) DO UPDATE SET due_at = excluded.due_at WHERE imessage_positions.due_at <= now()
      RETURNING started_at, position, hints`,
    values: [provider, at, nextMs],
  })
  return rows[0] ?? null
}

/** Stores the position up to which messages are filed. A hint received meanwhile makes the next poll due at once. */
export async function finishPoll(sql: Sql, provider: ProviderName, claimed: Position, position: Date): Promise<void> {
  await sql.query({
    name: 'finish-imessage-poll',
    text: `UPDATE imessage_positions SET position = greatest(position, $2), due_at = CASE WHEN hints <> $3 THEN now() ELSE due_at END WHERE provider = $1`,
    values: [provider, position, claimed.hints],
  })
}

/** Makes the next poll due at once. */
export async function noteHint(sql: Sql, provider: ProviderName): Promise<void> {
  await sql.query({
    name: 'note-imessage-hint',
    text: 'UPDATE imessage_positions SET hints = hints + 1, due_at = least(due_at, now()) WHERE provider = $1',
    values: [provider],
  })
}

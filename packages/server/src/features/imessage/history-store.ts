// The SQL of the history: messages and their files.
import type { ListOrder, PageRequest } from '../../core/page.ts'
import type { Sql, Tx } from '../../core/sql.ts'
import type { MediaMetadata, MediaRow, MessageRow } from './model.ts'

const messageColumns =
  'm.id, m.organization_id, m.conversation_id, m.direction, m.status, m.sender, m.text, m.sent_at, m.error_code, m.error_detail, m.created_at'

/** Inserts a message and updates `last_message_at` of its conversation. */
export async function insertMessage(tx: Tx, row: MessageRow): Promise<void> {
  await tx.query({
    name: 'insert-imessage',
    text: `WITH filed AS (
        INSERT INTO imessage_messages (id, organization_id, conversation_id, direction, status, sender, text, sent_at, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9))
      UPDATE imessage_conversations SET last_message_at = greatest(last_message_at, $9), updated_at = greatest(updated_at, $9) WHERE id = $3`,
    values: [
      row.id,
      row.organization_id,
      row.conversation_id,
      row.direction,
      row.status,
      row.sender,
      row.text,
      row.sent_at,
      row.created_at,
    ],
  })
}

export async function findMessages(
  sql: Sql,
  ids: string[],
): Promise<Map<string, MessageRow & { participant: string; identity_id: string }>> {
  const { rows } = await sql.query<MessageRow & { participant: string; identity_id: string }>({
    name: 'find-imessages',
    text: `SELECT ${messageColumns}, c.participant, v.identity_id FROM imessage_messages m
      JOIN imessage_conversations v ON v.id = m.conversation_id JOIN imessage_chats c ON c.id = v.chat_id WHERE m.id = ANY($1)`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

const afterCursor = (parameter: string, order: ListOrder): string =>
  `(${parameter}::text IS NULL OR (m.created_at, m.id) ${order === 'asc' ? '>' : '<'} (SELECT p.created_at, p.id FROM imessage_messages p WHERE p.id = ${parameter} AND p.organization_id = $1))`

/** The messages of one conversation, by time. */
export async function listOfConversation(
  sql: Sql,
  organizationId: string,
  conversationId: string,
  page: PageRequest,
  order: ListOrder,
): Promise<MessageRow[]> {
  const { rows } = await sql.query<MessageRow>({
    text: `SELECT ${messageColumns} FROM imessage_messages m WHERE m.organization_id = $1 AND m.conversation_id = $2 AND ${afterCursor('$3', order)}
      ORDER BY m.created_at ${order}, m.id ${order} LIMIT $4`,
    values: [organizationId, conversationId, page.cursor, page.limit + 1],
  })
  return rows
}

/** The messages of an organization or of one agent, by time. */
export async function listOfOrganization(
  sql: Sql,
  organizationId: string,
  identityIds: string[] | null,
  page: PageRequest,
  order: ListOrder,
): Promise<MessageRow[]> {
  const { rows } = await sql.query<MessageRow>({
    text: `SELECT ${messageColumns} FROM imessage_messages m
      WHERE m.organization_id = $1 AND ${afterCursor('$3', order)}
        AND ($2::text[] IS NULL OR EXISTS (SELECT 1 FROM imessage_conversations v WHERE v.id = m.conversation_id AND v.identity_id = ANY($2)))
      ORDER BY m.created_at ${order}, m.id ${order} LIMIT $4`,
    values: [organizationId, identityIds, page.cursor, page.limit + 1],
  })
  return rows
}

/** Marks a queued message as sent or failed, or a sent one as failed. Null when its status does not allow that. */
export async function recordResult(
  tx: Tx,
  id: string,
  to: { status: 'sent'; at: Date } | { status: 'failed'; code: string; detail: string },
): Promise<(MessageRow & { identity_id: string }) | null> {
  const isSent = to.status === 'sent'
  const { rows } = await tx.query<MessageRow & { identity_id: string }>({
    name: 'record-imessage-result',
    text: `UPDATE imessage_messages m SET status = $2, sent_at = coalesce(m.sent_at, $3), error_code = $4, error_detail = $5
      FROM imessage_conversations v WHERE m.id = $1 AND v.id = m.conversation_id AND m.direction = 'outbound'
        AND (m.status = 'queued' OR ($2 = 'failed' AND m.status = 'sent'))
      RETURNING ${messageColumns}, v.identity_id`,
    values: [id, to.status, isSent ? to.at : null, isSent ? null : to.code, isSent ? null : to.detail],
  })
  return rows[0] ?? null
}

const metadataColumns = 'id, organization_id, message_id, position, state, filename, content_type, size_bytes, provider_ref'

export async function insertMedia(tx: Tx, rows: MediaRow[]): Promise<void> {
  for (const row of rows) {
    await tx.query({
      name: 'insert-imessage-media',
      text: `INSERT INTO imessage_media (${metadataColumns}, blob_key, bytes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      values: [
        row.id,
        row.organization_id,
        row.message_id,
        row.position,
        row.state,
        row.filename,
        row.content_type,
        row.size_bytes,
        row.provider_ref,
        row.blob_key,
        row.bytes,
      ],
    })
  }
}

/** The files of messages, in order, by message id. */
export async function findMediaOf(sql: Sql, messageIds: string[]): Promise<Map<string, MediaMetadata[]>> {
  if (messageIds.length === 0) return new Map()
  const { rows } = await sql.query<MediaMetadata>({
    name: 'find-imessage-media-of',
    text: `SELECT ${metadataColumns} FROM imessage_media WHERE message_id = ANY($1) ORDER BY message_id, position`,
    values: [messageIds],
  })
  return Map.groupBy(rows, (row) => row.message_id)
}

export async function findMedia(sql: Sql, id: string): Promise<MediaRow | null> {
  const { rows } = await sql.query<MediaRow>({
    name: 'find-imessage-media',
    text: `SELECT ${metadataColumns}, blob_key, bytes FROM imessage_media WHERE id = $1`,
    values: [id],
  })
  return rows[0] ?? null
}

/** Stores the fetched bytes of a pending file, or marks it as unavailable. */
export async function recordMediaResult(
  tx: Tx,
  id: string,
  file: { contentType: string; sizeBytes: number; blob_key: string | null; bytes: Buffer | null } | null,
): Promise<void> {
  await tx.query({
    name: 'record-imessage-result-media',
    text: `UPDATE imessage_media SET state = $2, content_type = coalesce($3, content_type), size_bytes = $4, blob_key = $5, bytes = $6
      WHERE id = $1 AND state = 'pending'`,
    values: [
      id,
      file ? 'stored' : 'unavailable',
      file?.contentType ?? null,
      file?.sizeBytes ?? 0,
      file?.blob_key ?? null,
      file?.bytes ?? null,
    ],
  })
}

/** The keys among these that a file uses. */
export async function findNamedBlobs(sql: Sql, keys: string[]): Promise<string[]> {
  const { rows } = await sql.query<{ blob_key: string }>({
    text: 'SELECT blob_key FROM imessage_media WHERE blob_key = ANY($1)',
    values: [keys],
  })
  return rows.map((row) => row.blob_key)
}

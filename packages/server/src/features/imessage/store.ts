// The SQL of chats, conversations, messages and their files.
import type { PageRequest } from '../../core/page.ts'
import { before } from '../../core/page.ts'
import type { Sql, Tx } from '../../core/sql.ts'
import type { ArchivedReason, ChatRow, ConversationRow, MediaMetadata, MediaRow, MessageRow } from './model.ts'
import type { ProviderName } from './provider.ts'

const chatColumns = 'id, provider, line, participant, chat_ref, is_sending, helped_at'

/** The chat of somebody on a line, made when it is new, and held until the transaction ends. */
export async function holdChatOf(
  tx: Tx,
  chat: { id: string; provider: ProviderName; line: string; participant: string; chatRef: string | null; at: Date },
): Promise<ChatRow> {
  const { rows } = await tx.query<ChatRow>({
    name: 'hold-imessage-chat-of',
    text: `INSERT INTO imessage_chats (id, provider, line, participant, chat_ref, created_at) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (provider, line, participant) DO UPDATE SET chat_ref = coalesce(excluded.chat_ref, imessage_chats.chat_ref)
      RETURNING ${chatColumns}`,
    values: [chat.id, chat.provider, chat.line, chat.participant, chat.chatRef, chat.at],
  })
  return rows[0] as ChatRow
}

export async function holdChat(tx: Tx, id: string): Promise<ChatRow | null> {
  const { rows } = await tx.query<ChatRow>({
    name: 'hold-imessage-chat',
    text: `SELECT ${chatColumns} FROM imessage_chats WHERE id = $1 FOR UPDATE`,
    values: [id],
  })
  return rows[0] ?? null
}

export async function findChat(sql: Sql, id: string): Promise<ChatRow | null> {
  const { rows } = await sql.query<ChatRow>({
    name: 'find-imessage-chat',
    text: `SELECT ${chatColumns} FROM imessage_chats WHERE id = $1`,
    values: [id],
  })
  return rows[0] ?? null
}

/** The line that somebody has a chat on, the newest conversation first; null when they are new. */
export async function findLineOf(sql: Sql, provider: ProviderName, participant: string, lines: string[]): Promise<string | null> {
  const { rows } = await sql.query<{ line: string }>({
    text: `SELECT c.line FROM imessage_chats c LEFT JOIN imessage_conversations v ON v.chat_id = c.id
      WHERE c.provider = $1 AND c.line = ANY($3) AND c.participant = $2 ORDER BY v.id DESC NULLS LAST, c.id LIMIT 1`,
    values: [provider, participant, lines],
  })
  return rows[0]?.line ?? null
}

export async function updateChat(tx: Tx, id: string, change: { isSending?: boolean; helpedAt?: Date; chatRef?: string }): Promise<void> {
  await tx.query({
    name: 'update-imessage-chat',
    text: `UPDATE imessage_chats SET is_sending = coalesce($2, is_sending), helped_at = coalesce($3, helped_at), chat_ref = coalesce($4, chat_ref)
      WHERE id = $1`,
    values: [id, change.isSending ?? null, change.helpedAt ?? null, change.chatRef ?? null],
  })
}

const conversationColumns = `v.id, v.organization_id, v.identity_id, i.agent_handle, v.chat_id, c.provider, c.line, c.participant, v.status, v.archived_at,
  v.archived_reason, v.last_message_at, v.created_at, v.updated_at`
const conversationTables = 'imessage_conversations v JOIN identities i ON i.id = v.identity_id JOIN imessage_chats c ON c.id = v.chat_id'

export async function findConversations(sql: Sql, ids: string[]): Promise<Map<string, ConversationRow>> {
  const { rows } = await sql.query<ConversationRow>({
    name: 'find-imessage-conversations',
    text: `SELECT ${conversationColumns} FROM ${conversationTables} WHERE v.id = ANY($1)`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** The active conversation of a chat. */
export async function findActive(sql: Sql, chatId: string): Promise<ConversationRow | null> {
  const { rows } = await sql.query<ConversationRow>({
    name: 'find-active-imessage-conversation',
    text: `SELECT ${conversationColumns} FROM ${conversationTables} WHERE v.chat_id = $1 AND v.status = 'active'`,
    values: [chatId],
  })
  return rows[0] ?? null
}

/** The active conversations of an organization with somebody, newest first; of one agent, or of all. */
export async function findActiveWith(
  sql: Sql,
  organizationId: string,
  provider: ProviderName,
  participant: string,
  identityId: string | null,
): Promise<ConversationRow[]> {
  const { rows } = await sql.query<ConversationRow>({
    text: `SELECT ${conversationColumns} FROM ${conversationTables}
      WHERE c.provider = $2 AND c.participant = $3 AND v.organization_id = $1 AND v.status = 'active' AND ($4::text IS NULL OR v.identity_id = $4)
      ORDER BY v.id DESC`,
    values: [organizationId, provider, participant, identityId],
  })
  return rows
}

export async function listConversations(
  sql: Sql,
  filter: { organizationId: string; identityId: string | null; status: 'active' | 'archived' | null },
  page: PageRequest,
): Promise<ConversationRow[]> {
  const { rows } = await sql.query<ConversationRow>({
    text: `SELECT ${conversationColumns} FROM ${conversationTables}
      WHERE v.organization_id = $1 AND ($2::text IS NULL OR v.identity_id = $2) AND ($3::text IS NULL OR v.status = $3) AND v.id < ${before('$4')}
      ORDER BY v.id DESC LIMIT $5`,
    values: [filter.organizationId, filter.identityId, filter.status, page.cursor, page.limit + 1],
  })
  return rows
}

export async function insertConversation(
  tx: Tx,
  row: { id: string; organizationId: string; identityId: string; chatId: string; at: Date },
): Promise<void> {
  await tx.query({
    name: 'insert-imessage-conversation',
    text: `INSERT INTO imessage_conversations (id, organization_id, identity_id, chat_id, status, created_at, updated_at)
      VALUES ($1, $2, $3, $4, 'active', $5, $5)`,
    values: [row.id, row.organizationId, row.identityId, row.chatId, row.at],
  })
}

/** False when it was archived before. */
export async function archiveConversation(tx: Tx, id: string, reason: ArchivedReason, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'archive-imessage-conversation',
    text: `UPDATE imessage_conversations SET status = 'archived', archived_at = $3, archived_reason = $2, updated_at = $3
      WHERE id = $1 AND status = 'active'`,
    values: [id, reason, at],
  })
  return rowCount === 1
}

const messageColumns =
  'm.id, m.organization_id, m.conversation_id, m.direction, m.status, m.sender, m.text, m.sent_at, m.error_code, m.error_detail, m.created_at'

/** Files a message; its conversation remembers when. */
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

const afterCursor = (parameter: string): string =>
  `(${parameter}::text IS NULL OR (m.created_at, m.id) > (SELECT p.created_at, p.id FROM imessage_messages p WHERE p.id = ${parameter} AND p.organization_id = $1))`

/** Oldest first, of one conversation. */
export async function listOfConversation(
  sql: Sql,
  organizationId: string,
  conversationId: string,
  page: PageRequest,
): Promise<MessageRow[]> {
  const { rows } = await sql.query<MessageRow>({
    text: `SELECT ${messageColumns} FROM imessage_messages m WHERE m.organization_id = $1 AND m.conversation_id = $2 AND ${afterCursor('$3')}
      ORDER BY m.created_at, m.id LIMIT $4`,
    values: [organizationId, conversationId, page.cursor, page.limit + 1],
  })
  return rows
}

/** Oldest first, of an organization or of one agent. */
export async function listOfOrganization(
  sql: Sql,
  organizationId: string,
  identityId: string | null,
  page: PageRequest,
): Promise<MessageRow[]> {
  const { rows } = await sql.query<MessageRow>({
    text: `SELECT ${messageColumns} FROM imessage_messages m
      WHERE m.organization_id = $1 AND ${afterCursor('$3')}
        AND ($2::text IS NULL OR EXISTS (SELECT 1 FROM imessage_conversations v WHERE v.id = m.conversation_id AND v.identity_id = $2))
      ORDER BY m.created_at, m.id LIMIT $4`,
    values: [organizationId, identityId, page.cursor, page.limit + 1],
  })
  return rows
}

/** Ends a queued message, or fails one that was sent. Null when it is in no state for that. */
export async function settleMessage(
  tx: Tx,
  id: string,
  to: { status: 'sent'; at: Date } | { status: 'failed'; code: string; detail: string },
): Promise<(MessageRow & { identity_id: string }) | null> {
  const isSent = to.status === 'sent'
  const { rows } = await tx.query<MessageRow & { identity_id: string }>({
    name: 'settle-imessage',
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

/** By message, in order. */
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

/** Puts the fetched bytes of a pending file in place, or gives it up. */
export async function settleMedia(
  tx: Tx,
  id: string,
  file: { contentType: string; sizeBytes: number; blob_key: string | null; bytes: Buffer | null } | null,
): Promise<void> {
  await tx.query({
    name: 'settle-imessage-media',
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

/** Those among these blobs that a file is kept in. */
export async function findNamedBlobs(sql: Sql, keys: string[]): Promise<string[]> {
  const { rows } = await sql.query<{ blob_key: string }>({
    text: 'SELECT blob_key FROM imessage_media WHERE blob_key = ANY($1)',
    values: [keys],
  })
  return rows.map((row) => row.blob_key)
}

/** True when somebody is connected to an agent of another organization. */
export async function isTalkingElsewhere(sql: Sql, provider: ProviderName, participant: string, organizationId: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `SELECT 1 FROM imessage_chats c JOIN imessage_conversations v ON v.chat_id = c.id
      WHERE c.provider = $1 AND c.participant = $2 AND v.status = 'active' AND v.organization_id <> $3 LIMIT 1`,
    values: [provider, participant, organizationId],
  })
  return rowCount > 0
}

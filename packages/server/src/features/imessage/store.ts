// The SQL of chats and conversations.
import type { PageRequest } from '../../core/page.ts'
import { before } from '../../core/page.ts'
import type { Sql, Tx } from '../../core/sql.ts'
import type { ArchivedReason, ChatRow, ConversationRow } from './model.ts'
import type { ProviderName } from './provider.ts'

const chatColumns = 'id, provider, line, participant, chat_ref, is_sending, helped_at'

/** Finds or creates the chat of a person on a line, and locks it until the transaction ends. */
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

/** The line of a person's newest conversation, or else of any chat. Null for a new person. */
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

/** The active conversations of an organization with a person, newest first, of one agent or of all. */
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
  filter: { organizationId: string; identityIds: string[] | null; status: 'active' | 'archived' | null },
  page: PageRequest,
): Promise<ConversationRow[]> {
  const { rows } = await sql.query<ConversationRow>({
    text: `SELECT ${conversationColumns} FROM ${conversationTables}
      WHERE v.organization_id = $1 AND ($2::text[] IS NULL OR v.identity_id = ANY($2)) AND ($3::text IS NULL OR v.status = $3) AND v.id < ${before('$4')}
      ORDER BY v.id DESC LIMIT $5`,
    values: [filter.organizationId, filter.identityIds, filter.status, page.cursor, page.limit + 1],
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

/** True when this person is connected to an agent of another organization. */
export async function isTalkingElsewhere(sql: Sql, provider: ProviderName, participant: string, organizationId: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `SELECT 1 FROM imessage_chats c JOIN imessage_conversations v ON v.chat_id = c.id
      WHERE c.provider = $1 AND c.participant = $2 AND v.status = 'active' AND v.organization_id <> $3 LIMIT 1`,
    values: [provider, participant, organizationId],
  })
  return rowCount > 0
}

// The SQL that moves messages to the trash and back, and deletes them, together with the counters of their threads.

import type { MessageStatus } from '@callsign/contract/message-delivery'
import { anyOfIds, type Sql, sortedIds, TryAgain, type Tx } from '../../../core/sql.ts'
import type { ChangeScope, ListedMessage } from './message-store.ts'
import type { StoredFolder } from './model.ts'
import { currentThread } from './thread-store.ts'

/** A thread, locked until the transaction ends. */
export type LockedThread = {
  id: string
  organization_id: string
  mailbox_id: string
  message_count: number
  trashed_count: number
}

const lockedColumns = 'id, organization_id, mailbox_id, message_count, trashed_count, joined_into'

/** Locks a thread of the scope. Null for one that is not there, or that shows nothing and has nothing in the trash. */
export async function lockThread(tx: Tx, scope: ChangeScope, id: string): Promise<LockedThread | null> {
  const { rows } = await tx.query<LockedThread & { joined_into: string | null }>({
    name: 'lock-thread',
    text: `SELECT ${lockedColumns} FROM threads
      WHERE id = ${currentThread('$1')} AND organization_id = $2 AND ($3::text[] IS NULL OR mailbox_id = ANY($3)) FOR UPDATE`,
    values: [id, scope.organizationId, scope.mailboxIds],
  })
  const row = rows[0]
  if (row?.joined_into) throw new TryAgain(threadMoved)
  return row && row.message_count + row.trashed_count > 0 ? row : null
}

const threadMoved = 'the thread has become part of another one'

/** A locked message with its thread, which is locked first, like in a transaction that joins threads. */
export type LockedMessage = { thread: LockedThread; status: MessageStatus; released_at: Date | null; trashed_at: Date | null }

/** Locks a message and its thread until the transaction ends. */
export async function lockMessage(tx: Tx, mailboxId: string, id: string): Promise<LockedMessage | null> {
  const { rows } = await tx.query<LockedThread>({
    name: 'lock-thread-of-message',
    text: `SELECT ${lockedColumns} FROM threads WHERE id = (SELECT thread_id FROM messages WHERE mailbox_id = $1 AND id = $2) FOR UPDATE`,
    values: [mailboxId, id],
  })
  const { rows: messages } = await tx.query<Omit<LockedMessage, 'thread'> & { thread_id: string }>({
    name: 'lock-message',
    text: 'SELECT thread_id, status, released_at, trashed_at FROM messages WHERE mailbox_id = $1 AND id = $2 FOR UPDATE',
    values: [mailboxId, id],
  })
  const [thread, message] = [rows[0], messages[0]]
  if (!message) return null
  if (thread?.id !== message.thread_id) throw new TryAgain(threadMoved)
  return { ...message, thread }
}

/** Messages that a change adds to a thread, or takes from it when negative. */
type Counted = { messages: number; unread: number; trashed: number }

/** A message that was moved to the trash or back, or marked as read or unread. */
export type MovedMessage = { id: string; is_read: boolean; identity_id: string }

/** Moves messages of a locked thread to the trash, or back with `at` null. All of them without `ids`. Returns those that moved. */
export async function setTrashed(tx: Tx, thread: LockedThread, ids: string[] | null, at: Date | null): Promise<MovedMessage[]> {
  const { rows } = await tx.query<MovedMessage>({
    name: at === null ? 'restore-messages' : 'trash-messages',
    text: `UPDATE messages m SET trashed_at = $3 FROM mailboxes b WHERE b.id = $4 AND m.thread_id = $1 AND ($2::text[] IS NULL OR m.id = ANY($2))
        AND ${at === null ? 'm.is_hidden AND m.trashed_at IS NOT NULL' : 'NOT m.is_hidden'} RETURNING m.id, m.is_read, b.identity_id`,
    values: [thread.id, ids, at, thread.mailbox_id],
  })
  const [count, unread] = [rows.length, rows.filter((row) => !row.is_read).length]
  const sign = at === null ? 1 : -1
  await refreshThread(tx, thread.id, { messages: sign * count, unread: sign * unread, trashed: -sign * count })
  return rows
}

/** Locks the messages of a locked thread that a deletion is about: these, or without `ids` all outside quarantine. Returns their ids. */
export async function lockForDeletion(
  tx: Tx,
  threadId: string,
  { ids, trashedBefore }: { ids: string[] | null; trashedBefore: Date | null },
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'lock-for-deletion',
    text: `SELECT id FROM messages WHERE thread_id = $1 AND ($2::text[] IS NOT NULL OR NOT is_quarantined)
      AND ($2::text[] IS NULL OR id = ANY($2)) AND ($3::timestamptz IS NULL OR trashed_at < $3) ORDER BY id FOR UPDATE`,
    values: [threadId, ids, trashedBefore],
  })
  return rows.map((row) => row.id)
}

/** The deleted messages: their raw messages, how many of them lists had shown, and their stored bytes. */
export type DeletedMessages = { rawIds: string[]; listed: number; bytes: number }

/** Deletes messages of a locked thread with their dependent rows, and records their ids. The thread goes with its last message. */
export async function deleteMessages(tx: Tx, thread: LockedThread, ids: string[], at: Date): Promise<DeletedMessages> {
  const { rows } = await tx.query<{ raw_id: string | null; is_hidden: boolean; is_read: boolean; is_trashed: boolean; bytes: number }>({
    name: 'delete-messages',
    text: `WITH gone AS (DELETE FROM messages WHERE thread_id = $1 AND id = ANY($2)
        RETURNING id, raw_id, is_hidden, is_read, trashed_at IS NOT NULL AS is_trashed, coalesce(kept_bytes, size_bytes) AS bytes),
      reference AS (UPDATE thread_references SET message_id = NULL WHERE mailbox_id = $3 AND thread_id = $1 AND message_id = ANY($2)),
      known AS (INSERT INTO deleted_messages (mailbox_id, message_id, deleted_at) SELECT $3, id, $4 FROM gone)
      SELECT raw_id, is_hidden, is_read, is_trashed, bytes FROM gone`,
    values: [thread.id, ids, thread.mailbox_id, at],
  })
  const listed = rows.filter((row) => !row.is_hidden)
  await refreshThread(tx, thread.id, {
    messages: -listed.length,
    unread: -listed.filter((row) => !row.is_read).length,
    trashed: -rows.filter((row) => row.is_trashed).length,
  })
  await tx.query({
    name: 'delete-empty-thread',
    text: 'DELETE FROM threads t WHERE t.id = $1 AND NOT EXISTS (SELECT 1 FROM messages WHERE thread_id = t.id)',
    values: [thread.id],
  })
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
  return { rawIds: [...new Set(rows.flatMap((row) => row.raw_id ?? []))], listed: listed.length, bytes }
}

/** Adds to the counters of a locked thread, and sets its displayed fields from the latest message that it shows. */
async function refreshThread(tx: Tx, id: string, { messages, unread, trashed }: Counted): Promise<void> {
  await tx.query({
    name: 'refresh-thread',
    text: `WITH latest AS (SELECT id, created_at, snippet FROM messages WHERE thread_id = $1 AND NOT is_hidden ORDER BY id DESC LIMIT 1),
      marked AS (UPDATE thread_marks SET last_message_id = latest.id FROM latest WHERE thread_id = $1)
      UPDATE threads t SET message_count = t.message_count + $2, unread_count = t.unread_count + $3, trashed_count = t.trashed_count + $4,
        last_message_id = coalesce(m.id, t.last_message_id), last_message_at = coalesce(m.created_at, t.last_message_at),
        snippet = coalesce(m.snippet, t.snippet)
      FROM (SELECT 1) AS one LEFT JOIN latest m ON true WHERE t.id = $1`,
    values: [id, messages, unread, trashed],
  })
}

/** The threads of messages of the scope, in the order in which they are locked. */
export async function findThreadsOf(tx: Tx, scope: ChangeScope, messageIds: string[]): Promise<string[]> {
  const { rows } = await tx.query<{ thread_id: string }>({
    name: 'find-threads-of',
    text: `SELECT DISTINCT thread_id FROM messages
      WHERE ${anyOfIds('id', '$1')} AND organization_id = $2 AND ($3::text[] IS NULL OR mailbox_id = ANY($3)) ORDER BY thread_id`,
    values: [sortedIds(messageIds), scope.organizationId, scope.mailboxIds],
  })
  return rows.map((row) => row.thread_id)
}

/** Sets the folder of a locked thread. */
export async function setFolder(tx: Tx, id: string, folder: StoredFolder): Promise<void> {
  await tx.query({ name: 'set-folder', text: 'UPDATE threads SET folder = $2 WHERE id = $1', values: [id, folder] })
}

/** Marks the messages of a locked thread that lists show, and returns the received ones. Marking as unread leaves out what the agent wrote. */
export async function setThreadRead(tx: Tx, id: string, isRead: boolean, at: Date): Promise<MovedMessage[]> {
  const { rows } = await tx.query<MovedMessage & { is_inbound: boolean }>({
    name: 'set-thread-read',
    text: `WITH marked AS (UPDATE messages SET is_read = $2, updated_at = $3
        WHERE thread_id = $1 AND NOT is_hidden AND is_read <> $2 AND ($2 OR direction = 'inbound') RETURNING id, mailbox_id, direction),
      counted AS (UPDATE threads SET unread_count = unread_count + (SELECT CASE WHEN $2 THEN -count(*) ELSE count(*) END FROM marked) WHERE id = $1)
      SELECT m.id, $2 AS is_read, b.identity_id, m.direction = 'inbound' AS is_inbound FROM marked m JOIN mailboxes b ON b.id = m.mailbox_id`,
    values: [id, isRead, at],
  })
  return rows.filter((row) => row.is_inbound)
}

/** Changes the labels of a locked thread: `labels` replaces them. Returns their number. */
export async function setThreadLabels(
  tx: Tx,
  id: string,
  change: { labels: string[] | null; add: string[]; remove: string[] },
): Promise<number> {
  await tx.query({
    name: 'remove-thread-labels',
    text: `DELETE FROM thread_marks WHERE thread_id = $1 AND kind = 'label' AND (mark = ANY($2) OR ($3::text[] IS NOT NULL AND mark <> ALL($3)))`,
    values: [id, change.remove, change.labels],
  })
  await tx.query({
    name: 'add-thread-labels',
    text: `INSERT INTO thread_marks (organization_id, mailbox_id, thread_id, kind, mark, last_message_id)
      SELECT t.organization_id, t.mailbox_id, t.id, 'label', label, t.last_message_id FROM threads t, unnest($2::text[]) AS label
      WHERE t.id = $1 ON CONFLICT DO NOTHING`,
    values: [id, [...new Set([...(change.labels ?? []), ...change.add])].filter((label) => !change.remove.includes(label))],
  })
  const { rows } = await tx.query<{ count: number }>({
    name: 'count-thread-labels',
    text: `SELECT count(*) AS count FROM thread_marks WHERE thread_id = $1 AND kind = 'label'`,
    values: [id],
  })
  return rows[0]?.count ?? 0
}

/** The newest messages of a thread in the trash. */
export async function listTrashed(sql: Sql, threadId: string, limit: number): Promise<ListedMessage[]> {
  const { rows } = await sql.query<ListedMessage>({
    name: 'list-trashed',
    text: `SELECT m.id FROM messages m WHERE m.thread_id = $1 AND m.is_hidden AND m.trashed_at IS NOT NULL ORDER BY m.id DESC LIMIT $2`,
    values: [threadId, limit],
  })
  return rows
}

/** A message whose time in the trash is over. */
export type Expired = { id: string; thread_id: string; organization_id: string; mailbox_id: string }

/** The messages that have been in the trash for longest, of those moved there before this time. */
export async function listExpired(tx: Sql, before: Date, limit: number): Promise<Expired[]> {
  const { rows } = await tx.query<Expired>({
    name: 'list-expired-trash',
    text: 'SELECT id, thread_id, organization_id, mailbox_id FROM messages WHERE trashed_at < $1 ORDER BY trashed_at LIMIT $2',
    values: [before, limit],
  })
  return rows
}

/** Records that a thread was deleted permanently. */
export async function insertDeletedThread(tx: Tx, thread: LockedThread, at: Date): Promise<void> {
  await tx.query({
    text: `INSERT INTO deleted_threads (organization_id, mailbox_id, thread_id, deleted_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    values: [thread.organization_id, thread.mailbox_id, thread.id, at],
  })
}

/** True when the thread was deleted permanently. */
export async function isThreadDeleted(tx: Tx, scope: ChangeScope, id: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: 'SELECT 1 FROM deleted_threads WHERE organization_id = $1 AND thread_id = $3 AND ($2::text[] IS NULL OR mailbox_id = ANY($2))',
    values: [scope.organizationId, scope.mailboxIds, id],
  })
  return rowCount > 0
}

// The SQL that reads and changes stored messages and threads.
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { MessageRow, ThreadRow } from './model.ts'
import { currentThread } from './thread-store.ts'
import type { MessageHead } from './wait.ts'

export const columns = `m.id, m.organization_id, m.mailbox_id, m.thread_id, m.direction, m.status, m.from_address, m.from_name, m.to_addresses, m.cc_addresses,
  m.bcc_addresses, m.reply_to, m.subject, m.snippet, m.text, m.html, m.extracted_text, m.extracted_characters, m.rfc_message_id, m.in_reply_to,
  m.in_reply_to_message_id, m.reference_ids, m.headers, m.authentication, m.envelope_from, m.envelope_to, m.labels, m.is_read, m.is_starred, m.size_bytes,
  m.attachment_count, m.raw_id, m.codes, m.guardrail, m.flags, m.released_at, m.created_at, m.updated_at`

/** A message as `columns` reads it. The extracted text is null when it is a prefix of the text, with its length in characters. */
export type StoredMessage<M extends MessageRow = MessageRow> = Omit<M, 'extracted_text'> &
  ({ extracted_text: string; extracted_characters: null } | { extracted_text: null; extracted_characters: number })

/** Restores the extracted text of messages. Cut here, because PostgreSQL takes six times as long for a list when it counts the characters. */
export const toRows = <M extends MessageRow>(stored: StoredMessage<M>[]): M[] =>
  stored.map(({ extracted_characters, ...row }) => {
    const extracted_text = extracted_characters === null ? row.extracted_text : beginningOf(row.text, extracted_characters)
    return { ...row, extracted_text } as unknown as M
  })

/** The first characters of a text, counted by code points like PostgreSQL. */
function beginningOf(text: string, characters: number): string {
  const units = text.slice(0, characters)
  return /[\ud800-\udfff]/.test(units) ? [...text.slice(0, 2 * characters)].slice(0, characters).join('') : units
}

/** A message with the names of its mailbox. */
export type LocatedMessage = MessageRow & { agent_handle: string; address: string }

export async function findMessages(sql: Sql, ids: string[]): Promise<Map<string, LocatedMessage>> {
  const { rows } = await sql.query<StoredMessage<LocatedMessage>>({
    name: 'find-messages',
    text: `SELECT ${columns}, i.agent_handle, b.address FROM messages m
      JOIN mailboxes b ON b.id = m.mailbox_id JOIN identities i ON i.id = b.identity_id WHERE m.id = ANY($1)`,
    values: [ids],
  })
  return new Map(toRows(rows).map((row) => [row.id, row]))
}

/** The columns that waits filter by, of messages outside quarantine. */
export async function findHeads(sql: Sql, ids: string[]): Promise<Map<string, MessageHead>> {
  const { rows } = await sql.query<MessageHead>({
    name: 'find-heads',
    text: `SELECT id, mailbox_id, thread_id, from_address, from_name, to_addresses, cc_addresses, subject, codes, created_at, released_at
      FROM messages WHERE id = ANY($1) AND status <> 'quarantined'`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Messages with bodies cut after this many characters, because many large ones would not fit into memory. */
export async function findCutMessages(sql: Sql, ids: string[], charactersMax: number): Promise<Map<string, MessageRow>> {
  const cut = columns.replace(/\bm\.(text|html|extracted_text)\b/g, 'left(m.$1, $2) AS $1')
  const { rows } = await sql.query<StoredMessage>({
    name: 'find-cut-messages',
    text: `SELECT ${cut} FROM messages m WHERE m.id = ANY($1)`,
    values: [ids, charactersMax],
  })
  return new Map(toRows(rows).map((row) => [row.id, row]))
}

/** The scope of a list: an organization, one of its mailboxes, or one thread (of a mailbox, when given). */
export type ListScope = { organizationId: string; mailboxId: string | null; threadId: string | null }

/** Newest first, without quarantined messages. Each scope has its own statement, because each has its own index. */
export async function listByScope(sql: Sql, scope: ListScope, page: PageRequest): Promise<MessageRow[]> {
  const after = `AND m.id < ${before('$2')} AND NOT m.is_quarantined ORDER BY m.id DESC LIMIT $3`
  const { rows } = scope.threadId
    ? await sql.query<StoredMessage>({
        name: 'list-by-thread',
        text: `SELECT ${columns} FROM messages m WHERE m.thread_id = ${currentThread('$1')} AND m.organization_id = $4 AND ($5::text IS NULL OR m.mailbox_id = $5) ${after}`,
        values: [scope.threadId, page.cursor, page.limit + 1, scope.organizationId, scope.mailboxId],
      })
    : scope.mailboxId
      ? await sql.query<StoredMessage>({
          name: 'list-by-mailbox',
          text: `SELECT ${columns} FROM messages m WHERE m.mailbox_id = $1 AND m.organization_id = $4 ${after}`,
          values: [scope.mailboxId, page.cursor, page.limit + 1, scope.organizationId],
        })
      : await sql.query<StoredMessage>({
          name: 'list-by-organization',
          text: `SELECT ${columns} FROM messages m WHERE m.organization_id = $1 ${after}`,
          values: [scope.organizationId, page.cursor, page.limit + 1],
        })
  return toRows(rows)
}

/** The total of `listByScope`. Mailboxes and organizations have counters, and threads are counted. */
export async function countByScope(sql: Sql, scope: ListScope): Promise<number> {
  const { rows } = scope.threadId
    ? await sql.query<{ count: number }>({
        name: 'count-by-thread',
        text: `SELECT count(*) AS count FROM messages
          WHERE thread_id = ${currentThread('$1')} AND organization_id = $2 AND ($3::text IS NULL OR mailbox_id = $3) AND NOT is_quarantined`,
        values: [scope.threadId, scope.organizationId, scope.mailboxId],
      })
    : scope.mailboxId
      ? await sql.query<{ count: number }>({
          name: 'count-by-mailbox',
          text: 'SELECT coalesce(sum(count), 0)::bigint AS count FROM message_counts WHERE mailbox_id = $1',
          values: [scope.mailboxId],
        })
      : await sql.query<{ count: number }>({
          name: 'count-by-organization',
          text: 'SELECT coalesce(sum(count), 0)::bigint AS count FROM message_counts WHERE organization_id = $1',
          values: [scope.organizationId],
        })
  return rows[0]?.count ?? 0
}

export type FlagChange = {
  isRead: boolean | null
  isStarred: boolean | null
  labels: string[] | null
  add: string[]
  remove: string[]
  at: Date
}

/** Sets flags and labels. Null when the message is not in the mailbox. */
export async function updateFlags(
  sql: Sql,
  mailboxId: string,
  id: string,
  change: FlagChange,
): Promise<{ is_read: boolean; is_starred: boolean; labels: string[] } | null> {
  const { rows } = await sql.query<{ is_read: boolean; is_starred: boolean; labels: string[] }>({
    name: 'update-flags',
    text: `UPDATE messages SET is_read = coalesce($3, is_read), is_starred = coalesce($4, is_starred),
      labels = ARRAY(SELECT DISTINCT label FROM unnest(coalesce($5::text[], labels) || $6::text[]) label WHERE label <> ALL($7::text[]) ORDER BY label),
      updated_at = $8 WHERE mailbox_id = $1 AND id = $2 RETURNING is_read, is_starred, labels`,
    values: [mailboxId, id, change.isRead, change.isStarred, change.labels, change.add, change.remove, change.at],
  })
  return rows[0] ?? null
}

export type LockedMessage = Pick<MessageRow, 'thread_id' | 'raw_id' | 'status' | 'released_at'> & { isCounted: boolean }

/** Locks a message and its thread until the transaction ends. Locks the thread first, like a transaction that joins threads. */
export async function lockMessage(sql: Sql, mailboxId: string, id: string): Promise<LockedMessage | null> {
  await sql.query({
    text: 'SELECT 1 FROM threads WHERE id = (SELECT thread_id FROM messages WHERE mailbox_id = $1 AND id = $2) FOR UPDATE',
    values: [mailboxId, id],
  })
  const { rows } = await sql.query<Omit<LockedMessage, 'isCounted'>>({
    text: 'SELECT thread_id, raw_id, status, released_at FROM messages WHERE mailbox_id = $1 AND id = $2 FOR UPDATE',
    values: [mailboxId, id],
  })
  return rows[0] ? { ...rows[0], isCounted: rows[0].status !== 'quarantined' } : null
}

/** Takes the lock on automatic answers from this mailbox to this address, until the transaction ends. */
export async function lockAutomaticAnswers(tx: Tx, mailboxId: string, address: string): Promise<void> {
  await tx.query({
    name: 'lock-automatic-answers',
    // An advisory lock, because there may be no row yet. Two pairs with the same hash wait for each other, which is harmless.
    text: `SELECT pg_advisory_xact_lock(hashtextextended($1 || ' ' || lower($2), 0))`,
    values: [mailboxId, address],
  })
}

/** True when an automatic answer (outbound with the null return path) to an address is newer than this id. */
export async function hasAutomaticAnswer(sql: Sql, mailboxId: string, address: string, sinceId: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    name: 'find-automatic-answer',
    text: `SELECT 1 FROM messages WHERE mailbox_id = $1 AND id > $2 AND direction = 'outbound' AND envelope_from = ''
      AND lower($3) IN (SELECT lower(a) FROM unnest(to_addresses) a) LIMIT 1`,
    values: [mailboxId, sinceId, address],
  })
  return rowCount > 0
}

export async function isDeleted(sql: Sql, mailboxId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: 'SELECT 1 FROM deleted_messages WHERE mailbox_id = $1 AND message_id = $2',
    values: [mailboxId, id],
  })
  return rowCount > 0
}

/** Releases a locked message from quarantine. */
export async function releaseMessage(sql: Sql, id: string, at: Date): Promise<MessageRow> {
  const { rows } = await sql.query<StoredMessage>({
    text: `UPDATE messages m SET status = 'received', released_at = $2, updated_at = $2 WHERE m.id = $1 RETURNING ${columns}`,
    values: [id, at],
  })
  return toRows(rows)[0] as MessageRow
}

/** Deletes a locked message and its dependent rows, records its id as deleted, and updates its thread. */
export async function deleteMessage(
  sql: Sql,
  mailboxId: string,
  id: string,
  threadId: string,
  isCounted: boolean,
  at: Date,
): Promise<void> {
  // A transaction that files into the thread holds this lock, too. The next statements see its messages.
  await sql.query({ text: 'SELECT 1 FROM threads WHERE id = $1 FOR UPDATE', values: [threadId] })
  await sql.query({
    text: `WITH gone AS (DELETE FROM messages WHERE mailbox_id = $1 AND id = $2),
      reference AS (UPDATE thread_references SET message_id = NULL WHERE mailbox_id = $1 AND thread_id = $4 AND message_id = $2)
      INSERT INTO deleted_messages (mailbox_id, message_id, deleted_at) VALUES ($1, $2, $3)`,
    values: [mailboxId, id, at, threadId],
  })
  await sql.query({
    text: `UPDATE threads t SET message_count = t.message_count - $2, last_message_id = coalesce(m.id, t.last_message_id),
        last_message_at = coalesce(m.created_at, t.last_message_at), snippet = coalesce(m.snippet, t.snippet)
      FROM (SELECT 1) AS one LEFT JOIN (SELECT id, created_at, snippet FROM messages WHERE thread_id = $1 AND NOT is_quarantined
        ORDER BY id DESC LIMIT 1) m ON true WHERE t.id = $1`,
    values: [threadId, isCounted ? 1 : 0],
  })
  await sql.query({
    text: 'DELETE FROM threads t WHERE t.id = $1 AND NOT EXISTS (SELECT 1 FROM messages WHERE thread_id = t.id)',
    values: [threadId],
  })
}

/** Deletes every message of a mailbox. Returns the ids of its raw messages. */
export async function deleteAll(sql: Sql, organizationId: string, mailboxId: string): Promise<string[]> {
  const { rows } = await sql.query<{ raw_id: string | null }>({
    text: 'DELETE FROM messages WHERE organization_id = $1 AND mailbox_id = $2 RETURNING raw_id',
    values: [organizationId, mailboxId],
  })
  return [...new Set(rows.flatMap((row) => (row.raw_id ? [row.raw_id] : [])))]
}

const threadColumns = 't.id, t.mailbox_id, t.subject, t.snippet, t.message_count, t.last_message_at, t.last_message_id, t.created_at'

/** Threads by their latest message, whose id is the cursor. */
export async function listThreads(sql: Sql, mailboxId: string, page: PageRequest): Promise<ThreadRow[]> {
  const { rows } = await sql.query<ThreadRow>({
    name: 'list-threads',
    text: `SELECT ${threadColumns} FROM threads t
      WHERE t.mailbox_id = $1 AND t.message_count > 0 AND t.last_message_id < ${before('$2')} ORDER BY t.last_message_id DESC LIMIT $3`,
    values: [mailboxId, page.cursor, page.limit + 1],
  })
  return rows
}

export async function findThread(sql: Sql, mailboxId: string, id: string): Promise<ThreadRow | null> {
  const { rows } = await sql.query<ThreadRow>({
    name: 'find-thread',
    text: `SELECT ${threadColumns} FROM threads t WHERE t.mailbox_id = $1 AND t.id = ${currentThread('$2')} AND t.message_count > 0`,
    values: [mailboxId, id],
  })
  return rows[0] ?? null
}

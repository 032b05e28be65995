// The SQL that reads and changes stored messages and threads.
import type { View } from '@callsign/contract/message-views'
import type { MetadataChange } from '@callsign/contract/metadata'
import { anyOfIds, type Sql, sortedIds, type Tx } from '../../../core/sql.ts'
import type { MessageHead, MessageRow } from './model.ts'

export const columns = `m.id, m.organization_id, m.mailbox_id, m.thread_id, m.direction, m.status, m.from_address, m.from_name, m.to_addresses, m.cc_addresses,
  m.bcc_addresses, m.reply_to, m.subject, m.snippet, m.text, m.html, m.extracted_text, m.extracted_characters, m.rfc_message_id, m.in_reply_to,
  m.in_reply_to_message_id, m.reference_ids, m.headers, m.authentication, m.envelope_from, m.envelope_to, m.labels, m.tags, m.metadata, m.is_read, m.is_starred, m.size_bytes,
  m.kept_bytes, m.attachment_count, m.raw_id, m.codes, m.guardrail, m.flags, m.released_at, m.trashed_at, m.created_at, m.updated_at`

/** A message as `columns` reads it. The extracted text is null when it is a prefix of the text, with its length in characters. */
export type StoredMessage<M extends MessageRow = MessageRow> = Omit<M, 'extracted_text'> &
  ({ extracted_text: string; extracted_characters: null } | { extracted_text: null; extracted_characters: number })

/** A message of a list. */
export type ListedMessage = { id: string }

/** The columns that each view of a listed message does not read. */
const unreadColumns: Record<View, RegExp | null> = {
  full: null,
  standard: /\bm\.headers,\s/g,
  summary: /\bm\.(text|html|extracted_text|extracted_characters|headers|reference_ids),\s/g,
}

/** Listed messages as they are now, with the fields of the view. */
export async function findListed(sql: Sql, ids: string[], view: View): Promise<MessageRow[]> {
  if (ids.length === 0) return []
  const { rows } = await sql.query<StoredMessage>({
    name: `find-listed-${view}`,
    text: `SELECT ${columnsOf(view)} FROM messages m WHERE ${anyOfIds('m.id', '$1')}`,
    values: [sortedIds(ids)],
  })
  return view === 'summary' ? (rows as unknown as MessageRow[]) : toRows(rows)
}

function columnsOf(view: View): string {
  const unread = unreadColumns[view]
  return unread === null ? columns : columns.replace(unread, '')
}

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

const locatedTables = 'messages m JOIN mailboxes b ON b.id = m.mailbox_id JOIN identities i ON i.id = b.identity_id'

export async function findMessages(sql: Sql, ids: string[]): Promise<Map<string, LocatedMessage>> {
  const { rows } = await sql.query<StoredMessage<LocatedMessage>>({
    name: 'find-messages',
    text: `SELECT ${columns}, i.agent_handle, b.address FROM ${locatedTables} WHERE ${anyOfIds('m.id', '$1')}`,
    values: [sortedIds(ids)],
  })
  return new Map(toRows(rows).map((row) => [row.id, row]))
}

/** The bytes of text and HTML of messages of the scope, without reading them. */
export async function findBodySizes(
  sql: Sql,
  scope: ChangeScope,
  ids: string[],
): Promise<Map<string, { size: number; is_quarantined: boolean }>> {
  const { rows } = await sql.query<{ id: string; size: number; is_quarantined: boolean }>({
    name: 'find-body-sizes',
    text: `SELECT id, octet_length(text) + octet_length(html) AS size, is_quarantined FROM messages
      WHERE ${anyOfIds('id', '$1')} AND organization_id = $2 AND ($3::text[] IS NULL OR mailbox_id = ANY($3))`,
    values: [sortedIds(ids), scope.organizationId, scope.mailboxIds],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** The columns that waits filter by, of messages outside quarantine. */
export async function findHeads(sql: Sql, ids: string[]): Promise<Map<string, MessageHead>> {
  const { rows } = await sql.query<MessageHead>({
    name: 'find-heads',
    text: `SELECT id, mailbox_id, thread_id, from_address, from_name, to_addresses, cc_addresses, subject, codes, created_at, released_at
      FROM messages WHERE ${anyOfIds('id', '$1')} AND status <> 'quarantined'`,
    values: [sortedIds(ids)],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Messages with bodies cut after this many characters, because many large ones would not fit into memory. */
export async function findCutMessages(sql: Sql, ids: string[], charactersMax: number): Promise<Map<string, MessageRow>> {
  const cut = columns.replace(/\bm\.(text|html|extracted_text)\b/g, 'left(m.$1, $2) AS $1')
  const { rows } = await sql.query<StoredMessage>({
    name: 'find-cut-messages',
    text: `SELECT ${cut} FROM messages m WHERE ${anyOfIds('m.id', '$1')}`,
    values: [sortedIds(ids), charactersMax],
  })
  return new Map(toRows(rows).map((row) => [row.id, row]))
}

export type FlagChange = {
  isRead: boolean | null
  isStarred: boolean | null
  labels: string[] | null
  add: string[]
  remove: string[]
  /** Null leaves the tags unchanged. An empty list removes them. */
  tags: string[] | null
  metadata: MetadataChange | null
  at: Date
}

/** The flags, labels, tags and metadata of a message after a change, and its flags and labels before. */
export type ChangedMessage = Pick<
  MessageRow,
  'id' | 'thread_id' | 'mailbox_id' | 'direction' | 'is_read' | 'is_starred' | 'labels' | 'tags' | 'metadata'
> & { identity_id: string; was_read: boolean; was_starred: boolean; old_labels: string[] }

/** The mailbox whose messages a change may reach, or null for every mailbox of the organization. */
export type ChangeScope = { organizationId: string; mailboxIds: string[] | null }

/** Sets flags, labels, tags and metadata of messages, and counts unread ones in their threads. Messages outside the scope are absent from the result. */
export async function updateFlags(tx: Tx, scope: ChangeScope, ids: string[], change: FlagChange): Promise<ChangedMessage[]> {
  if (change.isRead !== null)
    await tx.query({
      name: 'lock-threads-of-messages',
      // Threads before messages, in the order of their ids, like every other change of both.
      text: `SELECT 1 FROM threads WHERE id IN (SELECT thread_id FROM messages WHERE ${anyOfIds('id', '$1')} AND organization_id = $2) ORDER BY id FOR UPDATE`,
      values: [sortedIds(ids), scope.organizationId],
    })
  const { rows } = await tx.query<ChangedMessage>({
    name: 'update-flags',
    text: `WITH old AS MATERIALIZED (SELECT id, thread_id, mailbox_id, is_read, is_starred, labels, is_hidden FROM messages
        WHERE ${anyOfIds('id', '$1')} AND organization_id = $2 AND ($3::text[] IS NULL OR mailbox_id = ANY($3)) ORDER BY id FOR UPDATE),
      unread AS (SELECT thread_id, count(*) AS count FROM old WHERE NOT is_hidden AND is_read <> $4::boolean GROUP BY thread_id),
      counted AS (UPDATE threads t SET unread_count = t.unread_count + CASE WHEN $4 THEN -unread.count ELSE unread.count END
        FROM unread WHERE t.id = unread.thread_id)
      UPDATE messages m SET is_read = coalesce($4, m.is_read), is_starred = coalesce($5, m.is_starred),
        labels = ARRAY(SELECT DISTINCT label FROM unnest(coalesce($6::text[], m.labels) || $7::text[]) label WHERE label <> ALL($8::text[]) ORDER BY label),
        tags = CASE WHEN $10::text[] IS NULL THEN m.tags WHEN $10 = '{}' THEN NULL ELSE $10 END,
        metadata = CASE WHEN $11::jsonb IS NULL THEN m.metadata ELSE nullif(jsonb_strip_nulls(coalesce(m.metadata, '{}') || $11), '{}') END,
        updated_at = $9 FROM old JOIN mailboxes b ON b.id = old.mailbox_id WHERE m.id = old.id AND ${anyOfIds('m.id', '$1')}
        RETURNING m.id, m.thread_id, m.mailbox_id, m.direction, m.is_read, m.is_starred, m.labels, m.tags, m.metadata, b.identity_id,
          old.is_read AS was_read, old.is_starred AS was_starred, old.labels AS old_labels`,
    values: [
      sortedIds(ids),
      scope.organizationId,
      scope.mailboxIds,
      change.isRead,
      change.isStarred,
      change.labels,
      change.add,
      change.remove,
      change.at,
      change.tags,
      change.metadata && JSON.stringify(change.metadata),
    ],
  })
  return rows
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

/** Deletes every message of a mailbox. Returns the ids of its raw messages. */
export async function deleteAll(sql: Sql, organizationId: string, mailboxId: string): Promise<string[]> {
  const { rows } = await sql.query<{ raw_id: string | null }>({
    text: 'DELETE FROM messages WHERE organization_id = $1 AND mailbox_id = $2 RETURNING raw_id',
    values: [organizationId, mailboxId],
  })
  return [...new Set(rows.flatMap((row) => (row.raw_id ? [row.raw_id] : [])))]
}

// The SQL that files new messages: threads, references, raw bytes, messages, recipients and counters. One statement inserts many rows.
import { type Sql, type Tx, tryAgain } from '../../../../core/sql.ts'
import type { MessageRow, RecipientRow } from '../model.ts'

export type NewThread = {
  id: string
  organizationId: string
  mailboxId: string
  subject: string
  snippet: string
  /** Number of added messages that are not quarantined. A thread without any is hidden. */
  count: number
  /** Number of those that are not read. */
  unread: number
  hasOutbound: boolean
  /** True when a message that is not quarantined has arrived. The thread then returns to the inbox from the archive and from sent. */
  hasInbound: boolean
  /** Authors and recipients of messages that are not quarantined, in lower case. */
  participants: string[]
  lastMessageId: string
  at: Date
}

/** The most participants that a thread has. */
export const participantsMax = 100

/** Displayed fields of a thread come from messages that are not quarantined. The first of those sets all of them. */
const shownFields = [
  ['subject', 'false'],
  ['created_at', 'false'],
  ['snippet', 'excluded.last_message_id > t.last_message_id'],
  ['last_message_id', 'excluded.last_message_id > t.last_message_id'],
  ['last_message_at', 'excluded.last_message_id > t.last_message_id'],
]
  .map(
    ([field, isLater]) =>
      `${field} = CASE WHEN excluded.message_count > 0 AND (t.message_count + t.trashed_count = 0 OR ${isLater}) THEN excluded.${field} ELSE t.${field} END`,
  )
  .join(', ')

const insertThreadsText = `INSERT INTO threads AS t (id, organization_id, mailbox_id, subject, snippet, message_count, last_message_id, last_message_at, created_at, has_outbound,
  unread_count, folder, participants)
  SELECT id, organization_id, mailbox_id, subject, snippet, count, last_message_id, at, at, has_outbound,
  unread, CASE WHEN has_outbound AND NOT has_inbound THEN 'sent' ELSE 'inbox' END, string_to_array(participants, E'\\n')
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::timestamptz[], $9::boolean[],
  $10::int[], $11::boolean[], $12::text[])
  AS n (id, organization_id, mailbox_id, subject, snippet, count, last_message_id, at, has_outbound, unread, has_inbound, participants)`

const threadValuesOf = (threads: NewThread[]): unknown[] => {
  const sorted = threads.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return [
    sorted.map((t) => t.id),
    sorted.map((t) => t.organizationId),
    sorted.map((t) => t.mailboxId),
    sorted.map((t) => t.subject),
    sorted.map((t) => t.snippet),
    sorted.map((t) => t.count),
    sorted.map((t) => t.lastMessageId),
    sorted.map((t) => t.at),
    sorted.map((t) => t.hasOutbound),
    sorted.map((t) => t.unread),
    sorted.map((t) => t.hasInbound),
    sorted.map((t) => t.participants.join('\n')),
  ]
}

/** Inserts threads with new ids. Violates the foreign key when the mailbox is deleted. */
export async function insertThreads(tx: Tx, threads: NewThread[]): Promise<void> {
  if (threads.length === 0) return
  await tx.query({ name: 'insert-threads', text: insertThreadsText, values: threadValuesOf(threads) })
}

/**
 * Updates threads, or inserts those that were deleted meanwhile. Violates the foreign key when the mailbox is deleted. The transaction starts again when a thread
 * was joined into another since it was looked up. The retry finds the references in the joined thread.
 */
export async function upsertThreads(tx: Tx, threads: NewThread[]): Promise<void> {
  if (threads.length === 0) return
  await tx.query({
    name: 'upsert-threads',
    text: `WITH filed AS (
        ${insertThreadsText}
        ON CONFLICT (id) DO UPDATE SET message_count = t.message_count + excluded.message_count,
          unread_count = t.unread_count + excluded.unread_count,
          has_outbound = t.has_outbound OR excluded.has_outbound,
          folder = CASE WHEN excluded.message_count > 0 AND excluded.folder = 'inbox' AND t.folder <> 'spam' THEN 'inbox' ELSE t.folder END,
          participants = CASE WHEN t.participants @> excluded.participants OR cardinality(t.participants) >= ${participantsMax} THEN t.participants
            ELSE ARRAY(SELECT DISTINCT one FROM unnest(t.participants || excluded.participants) one LIMIT ${participantsMax}) END,
          ${shownFields}
          WHERE t.joined_into IS NULL
        RETURNING t.id, t.last_message_id),
      marked AS (UPDATE thread_marks l SET last_message_id = filed.last_message_id FROM filed WHERE l.thread_id = filed.id)
      SELECT fail_transaction('${tryAgain}') WHERE (SELECT count(*) FROM filed) <> cardinality($1)`,
    values: threadValuesOf(threads),
  })
}

export type NewRaw = {
  id: string
  organizationId: string
  sizeBytes: number
  sha256: Buffer
  bytes: Buffer | null
  blobKey: string | null
  at: Date
}

/** Builds INSERT statements by number of rows, with one parameter per value, and caches them. `row` may wrap parameters in expressions. */
function insertOf(table: string, perRow: number): (count: number) => string {
  const texts = new Map<number, string>()
  const rowAt = (index: number): string => Array.from({ length: perRow }, (_, i) => `$${index * perRow + i + 1}`).join(', ')
  return (count) => {
    const text =
      texts.get(count) ?? `INSERT INTO ${table} VALUES ${Array.from({ length: count }, (_, index) => `(${rowAt(index)})`).join(', ')}`
    texts.set(count, text)
    return text
  }
}

/** One parameter per value, because a single `bytea` is sent in binary and an array of them as hexadecimal text. */
const rawText = insertOf('raw_messages (id, organization_id, size_bytes, sha256, bytes, blob_key, created_at)', 7)

export async function insertRaw(tx: Tx, raws: NewRaw[]): Promise<void> {
  await Promise.all(
    chunksOf(raws).map((chunk) =>
      tx.query({
        name: `insert-raw-${chunk.length}`,
        text: rawText(chunk.length),
        values: chunk.flatMap((raw) => [raw.id, raw.organizationId, raw.sizeBytes, raw.sha256, raw.bytes, raw.blobKey, raw.at]),
      }),
    ),
  )
}

/** A message with a known Message-ID, the first message that carried it, and the thread of all that do. */
export type Repeated = { firstId: string; threadId: string; rfcMessageId: string; sha256: Buffer }

/** For each candidate, a message with the same Message-ID and bytes from the last day, if one exists. */
export async function findSameRaw(sql: Sql, candidates: Repeated[]): Promise<(string | undefined)[]> {
  if (candidates.length === 0) return []
  const { rows } = await sql.query<{ place: number; id: string }>({
    name: 'find-same-raw',
    // Compares the first message and the newest 100 of the thread. A flood of different messages with one Message-ID may file duplicates.
    text: `SELECT c.place::integer AS place, m.id
      FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) WITH ORDINALITY AS c (first_id, thread_id, rfc_message_id, sha256, place)
      CROSS JOIN LATERAL (
        SELECT f.id, f.raw_id, f.rfc_message_id, f.created_at FROM messages f WHERE f.id = c.first_id
        UNION ALL SELECT n.* FROM unnest(ARRAY[false, true]) AS held CROSS JOIN LATERAL (
          SELECT t.id, t.raw_id, t.rfc_message_id, t.created_at FROM messages t WHERE t.thread_id = c.thread_id AND t.is_hidden = held
          ORDER BY t.id DESC LIMIT 100) AS n) AS m
      JOIN raw_messages r ON r.id = m.raw_id AND r.sha256 = c.sha256
      WHERE m.rfc_message_id = c.rfc_message_id AND m.created_at > now() - interval '1 day'`,
    values: [
      candidates.map(({ firstId }) => firstId),
      candidates.map(({ threadId }) => threadId),
      candidates.map(({ rfcMessageId }) => rfcMessageId),
      candidates.map(({ sha256 }) => sha256),
    ],
  })
  const found = new Map(rows.map((row) => [row.place, row.id]))
  return candidates.map((_, index) => found.get(index + 1))
}

/** `search` is the vector in PostgreSQL's binary format. */
export type NewMessage = MessageRow & { search: Buffer }

const insertColumns = `id, organization_id, mailbox_id, thread_id, direction, status, from_address, from_name, to_addresses, cc_addresses, bcc_addresses,
  reply_to, subject, snippet, text, html, extracted_text, extracted_characters, rfc_message_id, in_reply_to, in_reply_to_message_id, reference_ids, headers, authentication,
  envelope_from, envelope_to, labels, is_read, is_starred, size_bytes, attachment_count, raw_id, codes, guardrail, flags, tags, metadata, created_at, updated_at, search`

const perMessage = insertColumns.split(',').length

/** Characters as PostgreSQL counts them: code points. */
const charactersOf = (text: string): number => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)

/** The extracted text as stored: the text itself, or its length in characters when it is a prefix of the full text. */
const toExtracted = ({ text, extracted_text }: MessageRow): [string | null, number | null] =>
  text.startsWith(extracted_text) ? [null, charactersOf(extracted_text)] : [extracted_text, null]

const toValues = (m: NewMessage): unknown[] => [
  m.id,
  m.organization_id,
  m.mailbox_id,
  m.thread_id,
  m.direction,
  m.status,
  m.from_address,
  m.from_name,
  m.to_addresses,
  m.cc_addresses,
  m.bcc_addresses,
  m.reply_to,
  m.subject,
  m.snippet,
  m.text,
  m.html,
  ...toExtracted(m),
  m.rfc_message_id,
  m.in_reply_to,
  m.in_reply_to_message_id,
  m.reference_ids,
  JSON.stringify(m.headers),
  m.authentication === null ? null : JSON.stringify(m.authentication),
  m.envelope_from,
  m.envelope_to,
  m.labels,
  m.is_read,
  m.is_starred,
  m.size_bytes,
  m.attachment_count,
  m.raw_id,
  JSON.stringify(m.codes),
  m.guardrail === null ? null : JSON.stringify(m.guardrail),
  JSON.stringify(m.flags),
  m.tags,
  m.metadata === null ? null : JSON.stringify(m.metadata),
  m.created_at,
  m.updated_at,
  // A Buffer is sent as binary.
  m.search,
]

const insertText = insertOf(`messages (${insertColumns})`, perMessage)

/** Limit of rows per statement. Messages have about 40 parameters, and each row count has its own prepared statement. */
const chunkMax = 16

const chunksOf = <T>(rows: T[]): T[][] =>
  Array.from({ length: Math.ceil(rows.length / chunkMax) }, (_, index) => rows.slice(index * chunkMax, (index + 1) * chunkMax))

export async function insertMessages(tx: Tx, messages: NewMessage[]): Promise<void> {
  await Promise.all(
    chunksOf(messages).map((chunk) =>
      tx.query({ name: `insert-messages-${chunk.length}`, text: insertText(chunk.length), values: chunk.flatMap(toValues) }),
    ),
  )
}

export type NewRecipient = Pick<RecipientRow, 'message_id' | 'position' | 'kind' | 'name' | 'address'> & { organizationId: string }

export async function insertRecipients(tx: Tx, recipients: NewRecipient[]): Promise<void> {
  if (recipients.length === 0) return
  await tx.query({
    name: 'insert-recipients',
    text: `INSERT INTO message_recipients (organization_id, message_id, position, kind, name, address)
      SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[])`,
    values: [
      recipients.map((r) => r.organizationId),
      recipients.map((r) => r.message_id),
      recipients.map((r) => r.position),
      recipients.map((r) => r.kind),
      recipients.map((r) => r.name),
      recipients.map((r) => r.address),
    ],
  })
}

// The SQL that makes one thread of several, and that changes the metadata of a thread.
import type { Metadata } from '@callsign/contract/metadata'
import { joinMetadata, metadataMarks } from '../../../core/metadata.ts'
import type { Sql, Tx } from '../../../core/sql.ts'
import { participantsMax } from './filing/filing-store.ts'
import type { MessageRow, StoredFolder } from './model.ts'

/** The displayed fields of a thread, and the thread that it was joined into. */
export type StoredThread = {
  id: string
  subject: string
  snippet: string
  message_count: number
  unread_count: number
  trashed_count: number
  folder: StoredFolder
  metadata: Metadata | null
  participants: string[]
  last_message_id: string
  last_message_at: Date
  created_at: Date
  has_outbound: boolean
  joined_into: string | null
}

/** The thread that an id leads to, as SQL: itself, or the one that it has become part of. */
export const currentThread = (parameter: string): string =>
  `coalesce((SELECT joined_into FROM threads WHERE id = ${parameter}), ${parameter})`

/** Of these threads those that are part of another one, with that one. */
export async function findJoined(sql: Sql, ids: string[]): Promise<Map<string, string>> {
  const { rows } = await sql.query<{ id: string; joined_into: string }>({
    name: 'find-joined-threads',
    text: 'SELECT id, joined_into FROM threads WHERE id = ANY($1) AND joined_into IS NOT NULL',
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row.joined_into]))
}

/** Locks threads until the transaction ends, in the order of their ids. */
export async function lockThreads(tx: Tx, ids: string[]): Promise<Map<string, StoredThread>> {
  const { rows } = await tx.query<StoredThread>({
    name: 'lock-threads',
    text: `SELECT id, subject, snippet, message_count, unread_count, trashed_count, folder, metadata, participants, last_message_id, last_message_at, created_at,
        has_outbound, joined_into
      FROM threads WHERE id = ANY($1) ORDER BY id FOR UPDATE`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Makes one thread of threads of one mailbox that `lockThreads` locked: messages, drafts and references move to `kept`. */
export async function joinStored(tx: Tx, kept: StoredThread, others: StoredThread[]): Promise<void> {
  const shown = [kept, ...others].filter((thread) => thread.message_count + thread.trashed_count > 0)
  const all = shown.length > 0 ? shown : [kept, ...others]
  const first = all.reduce((one, other) => (other.created_at < one.created_at ? other : one))
  const last = all.reduce((one, other) => (other.last_message_id > one.last_message_id ? other : one))
  const sum = (field: 'message_count' | 'unread_count' | 'trashed_count') => shown.reduce((total, thread) => total + thread[field], 0)
  const from = others.map((thread) => thread.id)
  const values = [kept.id, from]
  await Promise.all([
    tx.query({ name: 'move-messages', text: 'UPDATE messages SET thread_id = $1 WHERE thread_id = ANY($2)', values }),
    tx.query({ name: 'move-drafts', text: 'UPDATE drafts SET thread_id = $1 WHERE thread_id = ANY($2)', values }),
    tx.query({ name: 'move-references', text: 'UPDATE thread_references SET thread_id = $1 WHERE thread_id = ANY($2)', values }),
    tx.query({
      name: 'move-joined-threads',
      text: `UPDATE threads SET joined_into = $1, message_count = 0, unread_count = 0, trashed_count = 0
        WHERE id = ANY($2) OR (mailbox_id = (SELECT mailbox_id FROM threads WHERE id = $1) AND joined_into = ANY($2))`,
      values,
    }),
    tx.query({
      name: 'move-labels',
      text: `WITH moved AS (DELETE FROM thread_marks WHERE thread_id = ANY($2) RETURNING organization_id, mailbox_id, kind, mark)
        INSERT INTO thread_marks (organization_id, mailbox_id, thread_id, kind, mark, last_message_id)
        SELECT DISTINCT organization_id, mailbox_id, $1, kind, mark, '' FROM moved WHERE kind = 'label' ON CONFLICT DO NOTHING`,
      values,
    }),
    tx.query({
      name: 'show-joined-thread',
      text: `WITH marked AS (UPDATE thread_marks SET last_message_id = $5 WHERE thread_id = $1)
        UPDATE threads SET subject = $2, created_at = $3, snippet = $4, last_message_id = $5, last_message_at = $6, message_count = $7, has_outbound = $8,
          unread_count = $9, trashed_count = $10, folder = $11, participants = $12 WHERE id = $1`,
      values: [
        kept.id,
        first.subject,
        first.created_at,
        last.snippet,
        last.last_message_id,
        last.last_message_at,
        sum('message_count'),
        [kept, ...others].some((thread) => thread.has_outbound),
        sum('unread_count'),
        sum('trashed_count'),
        shown.some((thread) => thread.folder === 'inbox') ? 'inbox' : kept.folder,
        [...new Set(shown.flatMap((thread) => thread.participants))].slice(0, participantsMax),
      ],
    }),
  ])
  if (![kept, ...others].some(({ metadata }) => metadata !== null)) return
  const metadata = joinMetadata([kept, ...others].map((thread) => thread.metadata))
  await setThreadMetadata(tx, kept.id, metadata, metadataMarks(metadata))
}

/** The metadata of a locked thread. */
export async function findMetadata(tx: Tx, id: string): Promise<Metadata | null> {
  const { rows } = await tx.query<{ metadata: Metadata | null }>({ text: 'SELECT metadata FROM threads WHERE id = $1', values: [id] })
  return rows[0]?.metadata ?? null
}

/** Sets the metadata of a locked thread, with the marks that lists find it by. */
export async function setThreadMetadata(tx: Tx, id: string, metadata: Metadata | null, marks: string[]): Promise<void> {
  await tx.query({
    text: `DELETE FROM thread_marks WHERE thread_id = $1 AND kind = 'metadata' AND mark <> ALL($2)`,
    values: [id, marks],
  })
  await tx.query({
    text: `WITH changed AS (UPDATE threads SET metadata = $2 WHERE id = $1 RETURNING organization_id, mailbox_id, id, last_message_id)
      INSERT INTO thread_marks (organization_id, mailbox_id, thread_id, kind, mark, last_message_id)
      SELECT t.organization_id, t.mailbox_id, t.id, 'metadata', mark, t.last_message_id FROM changed t, unnest($3::text[]) AS mark ON CONFLICT DO NOTHING`,
    values: [id, metadata && JSON.stringify(metadata), marks],
  })
}

/** The addresses of one message of a thread. */
export type ThreadAddresses = Pick<MessageRow, 'thread_id' | 'direction' | 'from_address' | 'authentication' | 'guardrail'> & {
  recipients: string[]
}

/** Number of newest messages per thread that participants are read from. */
const participantMessagesMax = 200

/** The authors and recipients of the newest messages of threads, without quarantined ones. */
export async function findThreadAddresses(sql: Sql, threadIds: string[]): Promise<ThreadAddresses[]> {
  const { rows } = await sql.query<ThreadAddresses>({
    name: 'find-thread-addresses',
    text: `SELECT m.thread_id, m.direction, m.from_address, m.recipients, m.authentication, m.guardrail FROM unnest($1::text[]) AS t (id) CROSS JOIN LATERAL (
        SELECT thread_id, direction, from_address, to_addresses || cc_addresses || bcc_addresses AS recipients, authentication, guardrail
        FROM messages WHERE thread_id = t.id AND NOT is_hidden ORDER BY id DESC LIMIT ${participantMessagesMax}) AS m`,
    values: [threadIds],
  })
  return rows
}

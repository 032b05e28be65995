// The SQL of retention: the mailboxes and organizations that have one, the old messages of a mailbox, and the deletion of their files.
import { firstId } from '@callsign/contract/ids'
import { anyOfIds, type Sql, sortedIds, type Tx } from '../../../core/sql.ts'

/** A mailbox with the days in force. Null keeps the data. */
export type RetainedMailbox = {
  id: string
  organization_id: string
  identity_id: string
  messages_days: number | null
  attachments_days: number | null
  /** The messages up to this id have no files that retention may delete. */
  files_deleted_through: string
}

const dayOf = (name: string): string => `coalesce((i.retention ->> '${name}')::int, (o.retention ->> '${name}')::int) AS ${name}`

/** The mailboxes with a retention in the order of their ids, after one of them. */
export async function listRetainedMailboxes(sql: Sql, after: string, limit: number): Promise<RetainedMailbox[]> {
  const { rows } = await sql.query<RetainedMailbox>({
    name: 'list-retained-mailboxes',
    text: `SELECT * FROM (SELECT b.id, b.organization_id, b.identity_id, b.files_deleted_through, ${dayOf('messages_days')}, ${dayOf('attachments_days')}
        FROM mailboxes b JOIN identities i ON i.id = b.identity_id JOIN organizations o ON o.id = b.organization_id) AS b
      WHERE b.id > $1 AND (messages_days IS NOT NULL OR attachments_days IS NOT NULL) ORDER BY b.id LIMIT $2`,
    values: [after, limit],
  })
  return rows
}

/** The mailboxes that a preview covers: one agent, or those of an organization without a day of their own. */
export async function findPreviewed(
  sql: Sql,
  organizationId: string,
  handle: string | null,
): Promise<{ id: string; has_messages_days: boolean; has_attachments_days: boolean }[]> {
  const { rows } = await sql.query<{ id: string; has_messages_days: boolean; has_attachments_days: boolean }>({
    text: `SELECT b.id, i.retention ->> 'messages_days' IS NOT NULL AS has_messages_days,
        i.retention ->> 'attachments_days' IS NOT NULL AS has_attachments_days
      FROM mailboxes b JOIN identities i ON i.id = b.identity_id WHERE b.organization_id = $1 AND ($2::text IS NULL OR i.agent_handle = $2)`,
    values: [organizationId, handle],
  })
  return rows
}

/** The threads and messages that a draft needs which is scheduled or waits for approval, of the mailboxes in $1. */
const held = `held AS MATERIALIZED (SELECT thread_id, in_reply_to_message_id, forward_of_message_id FROM drafts
  WHERE mailbox_id = ANY($1) AND (send_at IS NOT NULL OR approval_status = 'requested'))`

/** True for a message that retention does not delete: it is not sent yet, or a draft needs it. */
const isHeld = `(m.status = 'queued' OR EXISTS (SELECT 1 FROM held h
  WHERE h.thread_id = m.thread_id OR h.in_reply_to_message_id = m.id OR h.forward_of_message_id = m.id))`

/** A message to delete, with its thread. */
export type OldMessage = { id: string; thread_id: string }

/** Messages of a mailbox from before a time, oldest first. */
export async function listOld(sql: Sql, mailboxId: string, before: Date, limit: number): Promise<OldMessage[]> {
  const { rows } = await sql.query<OldMessage>({
    name: 'list-old-messages',
    // One range of the index for hidden messages and one for the others. A list of mailboxes would be read in the order of all messages.
    text: `WITH ${held} SELECT found.id, found.thread_id FROM unnest(ARRAY[false, true]) AS hidden CROSS JOIN LATERAL (
        SELECT m.id, m.thread_id FROM messages m WHERE m.mailbox_id = ($1::text[])[1] AND m.is_hidden = hidden AND m.id < $2 AND NOT ${isHeld}
        ORDER BY m.id LIMIT $3) AS found ORDER BY found.id LIMIT $3`,
    values: [[mailboxId], firstId('message', before.getTime()), limit],
  })
  return rows
}

/** The messages among these that retention may still delete. For messages of a locked thread. */
export async function findDeletable(tx: Tx, mailboxId: string, ids: string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'find-deletable-messages',
    text: `WITH ${held} SELECT m.id FROM messages m WHERE ${anyOfIds('m.id', '$2')} AND NOT ${isHeld}`,
    values: [[mailboxId], sortedIds(ids)],
  })
  return rows.map((row) => row.id)
}

export type Preview = { messages: number; messages_bytes: number; attachments: number; attachments_bytes: number; held_messages: number }

const bytesKept = 'least(m.size_bytes, octet_length(m.text) + octet_length(m.html))'

/** Counts the messages and files that a retention would delete. A null time counts none. */
export async function preview(
  sql: Sql,
  given: { messagesOf: string[]; messagesBefore: Date | null; filesOf: string[]; filesBefore: Date | null },
): Promise<Preview> {
  const bound = (at: Date | null) => (at === null ? '' : firstId('message', at.getTime()))
  const { rows } = await sql.query<Preview>({
    text: `WITH ${held},
      old AS (SELECT ${isHeld} AS is_held, m.id < $2 AND m.mailbox_id = ANY($4) AS is_deleted, m.attachment_count, coalesce(m.kept_bytes, m.size_bytes) AS bytes,
          CASE WHEN m.kept_bytes IS NULL AND m.attachment_count > 0 AND m.id < $3 AND m.mailbox_id = ANY($5) THEN m.size_bytes - ${bytesKept} END AS file_bytes
        FROM messages m WHERE m.mailbox_id = ANY($1) AND m.id < greatest($2, $3))
      SELECT count(*) FILTER (WHERE is_deleted AND NOT is_held)::int AS messages,
        coalesce(sum(bytes) FILTER (WHERE is_deleted AND NOT is_held), 0)::float8 AS messages_bytes,
        coalesce(sum(attachment_count) FILTER (WHERE file_bytes IS NOT NULL AND NOT is_deleted AND NOT is_held), 0)::int AS attachments,
        coalesce(sum(file_bytes) FILTER (WHERE NOT is_deleted AND NOT is_held), 0)::float8 AS attachments_bytes,
        count(*) FILTER (WHERE is_held AND (is_deleted OR file_bytes IS NOT NULL))::int AS held_messages FROM old`,
    values: [
      [...new Set([...given.messagesOf, ...given.filesOf])],
      bound(given.messagesBefore),
      bound(given.filesBefore),
      given.messagesOf,
      given.filesOf,
    ],
  })
  return rows[0] as Preview
}

/** The messages of a mailbox after an id and before a time that have files, oldest first, and if they are held. */
export async function listWithFiles(
  tx: Tx,
  { mailboxId, after, before, limit }: { mailboxId: string; after: string; before: Date; limit: number },
): Promise<{ id: string; is_held: boolean }[]> {
  const { rows } = await tx.query<{ id: string; is_held: boolean }>({
    name: 'list-messages-with-files',
    text: `WITH ${held} SELECT m.id, ${isHeld} AS is_held FROM messages m WHERE m.mailbox_id = ($1::text[])[1] AND m.id > $2 AND m.id < $3
        AND m.attachment_count > 0 AND m.kept_bytes IS NULL
      ORDER BY m.id LIMIT $4 FOR UPDATE OF m`,
    values: [[mailboxId], after, firstId('message', before.getTime()), limit],
  })
  return rows
}

/** The storage that deleted files release. `attachments` is their number. */
export type ReleasedFiles = { bytes: number; attachments: number; rawIds: string[]; blobKeys: string[] }

/** Deletes the files of locked messages: the bytes of their attachments, and the raw messages. */
export async function deleteFiles(tx: Tx, ids: string[], at: Date): Promise<ReleasedFiles> {
  const { rows: files } = await tx.query<{ blob_key: string | null; raw_id: string | null }>({
    name: 'delete-files',
    text: `WITH old AS (SELECT id, blob_key, raw_id FROM attachments WHERE message_id = ANY($1) AND deleted_at IS NULL ORDER BY id FOR UPDATE)
      UPDATE attachments a SET deleted_at = $2, raw_start = NULL, raw_end = NULL, encoding = NULL, raw_id = NULL, blob_key = NULL, bytes = NULL
      FROM old WHERE a.id = old.id RETURNING old.blob_key, old.raw_id`,
    values: [ids, at],
  })
  const { rows } = await tx.query<{ raw_id: string | null; released: number }>({
    name: 'release-files',
    text: `WITH old AS (SELECT id, raw_id FROM messages WHERE ${anyOfIds('id', '$1')})
      UPDATE messages m SET raw_id = NULL, kept_bytes = ${bytesKept}
      FROM old WHERE m.id = old.id AND ${anyOfIds('m.id', '$1')} RETURNING old.raw_id, m.size_bytes - m.kept_bytes AS released`,
    values: [sortedIds(ids)],
  })
  return {
    bytes: rows.reduce((sum, row) => sum + row.released, 0),
    attachments: files.length,
    rawIds: [...rows, ...files].flatMap((row) => row.raw_id ?? []),
    blobKeys: files.flatMap((row) => row.blob_key ?? []),
  }
}

export async function setFilesDeletedThrough(tx: Tx, mailboxId: string, id: string): Promise<void> {
  await tx.query({ text: 'UPDATE mailboxes SET files_deleted_through = $2 WHERE id = $1', values: [mailboxId, id] })
}

export type RetainedOrganization = { id: string; events_days: number | null; requests_days: number | null }

/** Organizations that keep events or requests for fewer days than the server. */
export async function listRetainedOrganizations(sql: Sql): Promise<RetainedOrganization[]> {
  const { rows } = await sql.query<RetainedOrganization>({
    text: `SELECT id, (retention ->> 'events_days')::int AS events_days, (retention ->> 'requests_days')::int AS requests_days FROM organizations
      WHERE retention ->> 'events_days' IS NOT NULL OR retention ->> 'requests_days' IS NOT NULL ORDER BY id`,
  })
  return rows
}

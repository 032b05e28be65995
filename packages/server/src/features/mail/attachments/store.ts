// The SQL of attachments.
import type { Sql, Tx } from '../../../core/sql.ts'

export type AttachmentRow = {
  id: string
  organization_id: string
  /** Null for an attachment of a draft. */
  message_id: string | null
  draft_id: string | null
  position: number
  filename: string
  content_type: string
  content_id: string | null
  is_inline: boolean
  size_bytes: number
  raw_start: number | null
  raw_end: number | null
  encoding: 'base64' | 'quoted-printable' | 'identity' | null
  /** The raw message of the range, when it is not the raw message of the attachment's own message. */
  raw_id: string | null
  blob_key: string | null
  bytes: Buffer | null
  /** The time when its bytes were deleted. Null while they exist. */
  deleted_at: Date | null
  created_at: Date
}

/** A row to insert. Absent columns are null. */
export type NewAttachment = Omit<AttachmentRow, 'message_id' | 'draft_id' | 'raw_id' | 'deleted_at'> &
  Partial<Pick<AttachmentRow, 'message_id' | 'draft_id' | 'raw_id'>>

export async function insertAttachments(tx: Tx, rows: NewAttachment[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
    name: 'insert-attachments',
    text: `INSERT INTO attachments (id, organization_id, message_id, position, filename, content_type, content_id, is_inline, size_bytes, raw_start, raw_end,
        encoding, blob_key, bytes, created_at, draft_id, raw_id)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::bool[], $9::int[], $10::int[], $11::int[],
        $12::text[], $13::text[], $14::bytea[], $15::timestamptz[], $16::text[], $17::text[])`,
    values: [
      rows.map((r) => r.id),
      rows.map((r) => r.organization_id),
      rows.map((r) => r.message_id ?? null),
      rows.map((r) => r.position),
      rows.map((r) => r.filename),
      rows.map((r) => r.content_type),
      rows.map((r) => r.content_id),
      rows.map((r) => r.is_inline),
      rows.map((r) => r.size_bytes),
      rows.map((r) => r.raw_start),
      rows.map((r) => r.raw_end),
      rows.map((r) => r.encoding),
      rows.map((r) => r.blob_key),
      rows.map((r) => r.bytes),
      rows.map((r) => r.created_at),
      rows.map((r) => r.draft_id ?? null),
      rows.map((r) => r.raw_id ?? null),
    ],
  })
}

export type AttachmentMetadata = Pick<AttachmentRow, 'id' | 'filename' | 'content_type' | 'content_id' | 'size_bytes'>

/** Metadata by message, in order. */
export async function findMetadata(sql: Sql, messageIds: string[]): Promise<Map<string, AttachmentMetadata[]>> {
  const { rows } = await sql.query<AttachmentMetadata & { message_id: string }>({
    name: 'find-attachments',
    text: 'SELECT id, message_id, filename, content_type, content_id, size_bytes FROM attachments WHERE message_id = ANY($1) ORDER BY message_id, position',
    values: [messageIds],
  })
  return Map.groupBy(rows, (row) => row.message_id)
}

/** An attachment with the place of its bytes. The database cuts the raw message to the attachment's range. */
export type StoredAttachment = AttachmentRow & { raw_slice: Buffer | null; raw_blob_key: string | null }

const storedColumns = `a.*, r.blob_key AS raw_blob_key,
  CASE WHEN r.bytes IS NOT NULL THEN substring(r.bytes FROM a.raw_start + 1 FOR a.raw_end - a.raw_start) END AS raw_slice`
const storedTables = `attachments a LEFT JOIN messages m ON a.raw_start IS NOT NULL AND m.id = a.message_id
  LEFT JOIN raw_messages r ON r.id = coalesce(a.raw_id, m.raw_id)`

export async function findStored(sql: Sql, id: string): Promise<StoredAttachment | null> {
  const { rows } = await sql.query<StoredAttachment>({
    name: 'find-stored-attachment',
    text: `SELECT ${storedColumns} FROM ${storedTables} WHERE a.id = $1`,
    values: [id],
  })
  return rows[0] ?? null
}

export async function listStored(sql: Sql, messageId: string): Promise<StoredAttachment[]> {
  const { rows } = await sql.query<StoredAttachment>({
    name: 'list-stored-attachments',
    text: `SELECT ${storedColumns} FROM ${storedTables} WHERE a.message_id = $1 ORDER BY a.position`,
    values: [messageId],
  })
  return rows
}

/** The storage of attachments outside their rows: blobs, and raw messages of other messages. */
export type Bytes = { blobKeys: string[]; rawIds: string[] }

const toBytes = (rows: { blob_key: string | null; raw_id: string | null }[]): Bytes => ({
  blobKeys: rows.flatMap((row) => row.blob_key ?? []),
  rawIds: [...new Set(rows.flatMap((row) => row.raw_id ?? []))],
})

export async function findBytes(sql: Sql, messageIds: string[]): Promise<Bytes> {
  const { rows } = await sql.query<{ blob_key: string | null; raw_id: string | null }>({
    text: 'SELECT blob_key, raw_id FROM attachments WHERE message_id = ANY($1) AND (blob_key IS NOT NULL OR raw_id IS NOT NULL)',
    values: [messageIds],
  })
  return toBytes(rows)
}

/** The storage of the attachments of every message and draft of one mailbox. */
export async function findMailboxBytes(sql: Sql, mailboxId: string): Promise<Bytes> {
  const { rows } = await sql.query<{ blob_key: string | null; raw_id: string | null }>({
    text: `SELECT a.blob_key, a.raw_id FROM attachments a JOIN messages m ON m.id = a.message_id
        WHERE m.mailbox_id = $1 AND (a.blob_key IS NOT NULL OR a.raw_id IS NOT NULL)
      UNION ALL SELECT a.blob_key, NULL FROM attachments a JOIN drafts d ON d.id = a.draft_id WHERE d.mailbox_id = $1 AND a.blob_key IS NOT NULL`,
    values: [mailboxId],
  })
  return toBytes(rows)
}

/** The blobs among these that attachments no longer name. */
export async function findUnusedBlobs(sql: Sql, keys: string[]): Promise<string[]> {
  if (keys.length === 0) return []
  const { rows } = await sql.query<{ blob_key: string }>({
    text: 'SELECT k.blob_key FROM unnest($1::text[]) AS k (blob_key) WHERE NOT EXISTS (SELECT 1 FROM attachments a WHERE a.blob_key = k.blob_key)',
    values: [keys],
  })
  return rows.map((row) => row.blob_key)
}

/** A message's attachments, locked until the transaction ends. `raw_id` is set for ranges. */
export async function lockAttachments(tx: Tx, messageId: string): Promise<AttachmentRow[]> {
  const { rows } = await tx.query<AttachmentRow & { message_raw_id: string | null }>({
    name: 'lock-attachments',
    text: `SELECT a.*, m.raw_id AS message_raw_id FROM attachments a JOIN messages m ON m.id = a.message_id
      WHERE a.message_id = $1 AND a.deleted_at IS NULL ORDER BY a.position FOR KEY SHARE OF a`,
    values: [messageId],
  })
  return rows.map(({ message_raw_id, ...row }) => ({ ...row, raw_id: row.raw_start === null ? null : (row.raw_id ?? message_raw_id) }))
}

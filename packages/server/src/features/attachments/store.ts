// The SQL of attachments.
import type { Sql, Tx } from '../../core/sql.ts'

export type AttachmentRow = {
  id: string
  organization_id: string
  message_id: string
  position: number
  filename: string
  content_type: string
  content_id: string | null
  is_inline: boolean
  size_bytes: number
  raw_start: number | null
  raw_end: number | null
  encoding: 'base64' | 'quoted-printable' | 'identity' | null
  blob_key: string | null
  bytes: Buffer | null
  created_at: Date
}

export async function insertAttachments(tx: Tx, rows: AttachmentRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
    name: 'insert-attachments',
    text: `INSERT INTO attachments (id, organization_id, message_id, position, filename, content_type, content_id, is_inline, size_bytes, raw_start, raw_end,
        encoding, blob_key, bytes, created_at)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::bool[], $9::int[], $10::int[], $11::int[],
        $12::text[], $13::text[], $14::bytea[], $15::timestamptz[])`,
    values: [
      rows.map((r) => r.id),
      rows.map((r) => r.organization_id),
      rows.map((r) => r.message_id),
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
    ],
  })
}

export type AttachmentMetadata = Pick<AttachmentRow, 'id' | 'message_id' | 'filename' | 'content_type' | 'content_id' | 'size_bytes'>

/** Metadata by message, in the order of the message. */
export async function findMetadata(sql: Sql, messageIds: string[]): Promise<Map<string, AttachmentMetadata[]>> {
  const { rows } = await sql.query<AttachmentMetadata>({
    name: 'find-attachments',
    text: 'SELECT id, message_id, filename, content_type, content_id, size_bytes FROM attachments WHERE message_id = ANY($1) ORDER BY message_id, position',
    values: [messageIds],
  })
  const byMessage = new Map<string, AttachmentMetadata[]>()
  for (const row of rows) {
    const list = byMessage.get(row.message_id)
    if (list) list.push(row)
    else byMessage.set(row.message_id, [row])
  }
  return byMessage
}

/** An attachment with where its bytes are; the raw message's bytes are cut to the attachment's range by the database. */
export type StoredAttachment = AttachmentRow & { raw_slice: Buffer | null; raw_blob_key: string | null }

const storedColumns = `a.*, r.blob_key AS raw_blob_key,
  CASE WHEN r.bytes IS NOT NULL THEN substring(r.bytes FROM a.raw_start + 1 FOR a.raw_end - a.raw_start) END AS raw_slice`
const storedTables = `attachments a LEFT JOIN messages m ON a.raw_start IS NOT NULL AND m.id = a.message_id LEFT JOIN raw_messages r ON r.id = m.raw_id`

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

/** Blobs of the attachments of one message. */
export async function findBlobs(sql: Sql, messageIds: string[]): Promise<string[]> {
  const { rows } = await sql.query<{ blob_key: string }>({
    text: 'SELECT blob_key FROM attachments WHERE message_id = ANY($1) AND blob_key IS NOT NULL',
    values: [messageIds],
  })
  return rows.map((row) => row.blob_key)
}

// The SQL of raw messages and of the blobs that rows name.

import type { Blobs } from '../../../../core/blobs.ts'
import { now } from '../../../../core/clock.ts'
import { newId } from '../../../../core/ids.ts'
import type { Sql } from '../../../../core/sql.ts'

/** Deletes the raw messages that neither a message nor a forwarded attachment uses. Returns the blobs to delete after the commit. */
export async function deleteUnusedRaw(sql: Sql, rawIds: string[]): Promise<string[]> {
  const { rows } = await sql.query<{ blob_key: string | null }>({
    text: `DELETE FROM raw_messages r WHERE r.id = ANY($1) AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.raw_id = r.id)
      AND NOT EXISTS (SELECT 1 FROM attachments a WHERE a.raw_id = r.id) RETURNING blob_key`,
    values: [rawIds],
  })
  return rows.flatMap((row) => (row.blob_key ? [row.blob_key] : []))
}

export async function findRaw(sql: Sql, rawId: string): Promise<{ bytes: Buffer | null; blobKey: string | null } | null> {
  const { rows } = await sql.query<{ bytes: Buffer | null; blob_key: string | null }>({
    name: 'find-raw',
    text: 'SELECT bytes, blob_key FROM raw_messages WHERE id = $1',
    values: [rawId],
  })
  return rows[0] ? { bytes: rows[0].bytes, blobKey: rows[0].blob_key } : null
}

/** Blob keys among these that a raw message or an attachment names. */
export async function findNamedBlobs(sql: Sql, keys: string[]): Promise<Set<string>> {
  const { rows } = await sql.query<{ blob_key: string }>({
    text: 'SELECT blob_key FROM raw_messages WHERE blob_key = ANY($1) UNION SELECT blob_key FROM attachments WHERE blob_key = ANY($1)',
    values: [keys],
  })
  return new Set(rows.map((row) => row.blob_key))
}

/** Raw messages up to this size stay in their row. Larger ones go to the blob store. */
const inlineBytesMax = 64 * 1024

/** The row of a raw message. Large bytes are durable before this resolves. */
export async function keepRaw(blobs: Blobs, organizationId: string, bytes: Buffer, sha256: Buffer) {
  const id = newId('raw')
  const blobKey = bytes.length <= inlineBytesMax ? null : `raw/${organizationId}/${id}`
  if (blobKey) await blobs.put(blobKey, bytes)
  return { id, organizationId, sizeBytes: bytes.length, sha256, bytes: blobKey ? null : bytes, blobKey, at: now() }
}

// The SQL of attachments of drafts.
import type { Sql, Tx } from '../../../core/sql.ts'
import type { AttachmentMetadata, AttachmentRow } from './store.ts'

export type DraftAttachment = AttachmentMetadata & { draft_id: string; position: number; blob_key: string | null }

/** Attachments by draft, in order. */
export async function findOfDrafts(sql: Sql, draftIds: string[]): Promise<Map<string, DraftAttachment[]>> {
  const { rows } = await sql.query<DraftAttachment>({
    name: 'find-draft-attachments',
    text: `SELECT id, draft_id, position, filename, content_type, content_id, size_bytes, blob_key FROM attachments
      WHERE draft_id = ANY($1) ORDER BY draft_id, position`,
    values: [draftIds],
  })
  return Map.groupBy(rows, (row) => row.draft_id)
}

/** The attachments of one draft with the place of their bytes. */
export async function findFiles(sql: Sql, draftId: string): Promise<DraftFile[]> {
  const { rows } = await sql.query<DraftFile>({
    name: 'find-draft-files',
    text: 'SELECT filename, content_type, content_id, size_bytes, bytes, blob_key FROM attachments WHERE draft_id = $1 ORDER BY position',
    values: [draftId],
  })
  return rows
}

type DraftFile = Pick<AttachmentRow, 'filename' | 'content_type' | 'content_id' | 'size_bytes' | 'bytes' | 'blob_key'>

/** Moves a draft's attachments to a message, after the `before` that it already has. Bytes are not copied. */
export async function moveToMessage(tx: Tx, draftId: string, messageId: string, before: number): Promise<void> {
  await tx.query({
    name: 'move-draft-attachments',
    text: 'UPDATE attachments SET message_id = $2, draft_id = NULL, position = position + $3 WHERE draft_id = $1',
    values: [draftId, messageId, before],
  })
}

export async function deleteOfDraft(tx: Tx, draftId: string, ids: string[]): Promise<void> {
  await tx.query({ text: 'DELETE FROM attachments WHERE draft_id = $1 AND id = ANY($2)', values: [draftId, ids] })
}

// The SQL of drafts.
import type { Sql, Tx } from '../../../core/sql.ts'
import type { DraftRow } from './model.ts'

const columns = `id, organization_id, mailbox_id, thread_id, in_reply_to_message_id, in_reply_to, reference_ids, forward_of_message_id, reply_all,
  forward_attachments, to_addresses, cc_addresses, bcc_addresses, subject, snippet, text, html, headers, version, attachment_count, send_at, job_id,
  send_error, is_written_by_agent, change_id, created_at, updated_at`

export async function insertDraft(tx: Tx, row: DraftRow): Promise<void> {
  await tx.query({
    name: 'insert-draft',
    text: `INSERT INTO drafts (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
      $23, $24, $25, $26, $27)`,
    values: [
      row.id,
      row.organization_id,
      row.mailbox_id,
      row.thread_id,
      row.in_reply_to_message_id,
      row.in_reply_to,
      row.reference_ids,
      row.forward_of_message_id,
      row.reply_all,
      row.forward_attachments,
      row.to_addresses,
      row.cc_addresses,
      row.bcc_addresses,
      row.subject,
      row.snippet,
      row.text,
      row.html,
      JSON.stringify(row.headers),
      row.version,
      row.attachment_count,
      row.send_at,
      row.job_id,
      row.send_error,
      row.is_written_by_agent,
      row.change_id,
      row.created_at,
      row.updated_at,
    ],
  })
}

/** Drafts by id, of any mailbox. */
export async function findDrafts(sql: Sql, ids: string[]): Promise<Map<string, DraftRow>> {
  const { rows } = await sql.query<DraftRow>({
    name: 'find-drafts',
    text: `SELECT ${columns} FROM drafts WHERE id = ANY($1)`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * A draft of this mailbox, locked until the transaction ends. Null when it does not exist. Waits for a concurrent transaction, and then sees
 * its change, or null after a send.
 */
export async function lockDraft(tx: Tx, mailboxId: string, id: string): Promise<DraftRow | null> {
  // Locks the mailbox first, like the deletion of an agent. The other order would deadlock with it.
  const mailbox = tx.query({ name: 'hold-draft-mailbox', text: 'SELECT 1 FROM mailboxes WHERE id = $1 FOR KEY SHARE', values: [mailboxId] })
  const draft = tx.query<DraftRow>({
    name: 'lock-draft',
    text: `SELECT ${columns} FROM drafts WHERE mailbox_id = $1 AND id = $2 FOR UPDATE`,
    values: [mailboxId, id],
  })
  const [, { rows }] = await Promise.all([mailbox, draft])
  return rows[0] ?? null
}

/** The drafts of a mailbox, latest change first. */
export async function listDrafts(sql: Sql, mailboxId: string, limit: number, offset: number): Promise<DraftRow[]> {
  const { rows } = await sql.query<DraftRow>({
    name: 'list-drafts',
    // Only the index is read up to the offset. Wide rows are read for the page alone.
    text: `SELECT ${columns} FROM drafts WHERE id = ANY (ARRAY(
        SELECT id FROM drafts WHERE mailbox_id = $1 ORDER BY change_id DESC LIMIT $2 OFFSET $3)) ORDER BY change_id DESC`,
    values: [mailboxId, limit, offset],
  })
  return rows
}

export async function countDrafts(sql: Sql, mailboxId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>({
    name: 'count-drafts',
    text: 'SELECT count(*) AS count FROM drafts WHERE mailbox_id = $1',
    values: [mailboxId],
  })
  return rows[0]?.count ?? 0
}

/** Writes the changeable columns of a locked draft. */
export async function updateDraft(tx: Tx, row: DraftRow): Promise<void> {
  await tx.query({
    name: 'update-draft',
    text: `UPDATE drafts SET to_addresses = $2, cc_addresses = $3, bcc_addresses = $4, subject = $5, snippet = $6, text = $7, html = $8, headers = $9,
      version = $10, attachment_count = $11, send_at = $12, job_id = $13, send_error = $14, is_written_by_agent = $15, change_id = $16, updated_at = $17
      WHERE id = $1`,
    values: [
      row.id,
      row.to_addresses,
      row.cc_addresses,
      row.bcc_addresses,
      row.subject,
      row.snippet,
      row.text,
      row.html,
      JSON.stringify(row.headers),
      row.version,
      row.attachment_count,
      row.send_at,
      row.job_id,
      row.send_error,
      row.is_written_by_agent,
      row.change_id,
      row.updated_at,
    ],
  })
}

export type DraftVersionRow = Pick<
  DraftRow,
  'version' | 'to_addresses' | 'cc_addresses' | 'bcc_addresses' | 'subject' | 'text' | 'html' | 'is_written_by_agent' | 'created_at'
>

const versionColumns = 'version, to_addresses, cc_addresses, bcc_addresses, subject, text, html, is_written_by_agent'

/** Keeps the current content of a locked draft as a version, unless it is larger than `bytesMax`. Only the last `versionsMax` stay. */
export async function keepVersion(tx: Tx, id: string, versionsMax: number, bytesMax: number): Promise<void> {
  await tx.query({
    name: 'keep-draft-version',
    text: `WITH gone AS (DELETE FROM draft_versions v USING drafts d WHERE d.id = $1 AND v.draft_id = d.id AND v.version <= d.version - $2)
      INSERT INTO draft_versions (organization_id, draft_id, created_at, ${versionColumns})
      SELECT organization_id, id, updated_at, ${versionColumns} FROM drafts
      WHERE id = $1 AND coalesce(octet_length(text), 0) + coalesce(octet_length(html), 0) <= $3`,
    values: [id, versionsMax, bytesMax],
  })
}

/** Earlier versions of a draft, newest first. */
export async function listVersions(sql: Sql, id: string): Promise<DraftVersionRow[]> {
  const { rows } = await sql.query<DraftVersionRow>({
    name: 'list-draft-versions',
    text: `SELECT ${versionColumns}, created_at FROM draft_versions WHERE draft_id = $1 ORDER BY version DESC`,
    values: [id],
  })
  return rows
}

/** Deletes a locked draft and its remaining attachments. */
export async function deleteDraft(tx: Tx, id: string): Promise<void> {
  await tx.query({ name: 'delete-draft', text: 'DELETE FROM drafts WHERE id = $1', values: [id] })
}

/** Deletes a locked draft that became a message, and records its id. */
export async function endDraft(tx: Tx, row: DraftRow, messageId: string, at: Date): Promise<void> {
  await tx.query({
    name: 'end-draft',
    text: `WITH gone AS (DELETE FROM drafts WHERE id = $2)
      INSERT INTO sent_drafts (mailbox_id, draft_id, message_id, sent_at) VALUES ($1, $2, $3, $4)`,
    values: [row.mailbox_id, row.id, messageId, at],
  })
}

export async function isSent(sql: Sql, mailboxId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    name: 'is-draft-sent',
    text: 'SELECT 1 FROM sent_drafts WHERE mailbox_id = $1 AND draft_id = $2',
    values: [mailboxId, id],
  })
  return rowCount > 0
}

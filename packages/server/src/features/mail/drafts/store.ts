// The SQL of drafts.
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql, Statement, Tx } from '../../../core/sql.ts'
import type { DraftRow } from './model.ts'

/** Columns that updates write. */
const changeable = [
  ...([
    'to_addresses',
    'cc_addresses',
    'bcc_addresses',
    'reply_to',
    'subject',
    'snippet',
    'text',
    'html',
    'headers',
    'from_entry',
    'is_automatic',
    'labels',
    'tags',
    'metadata',
  ] as const),
  ...([
    'version',
    'attachment_count',
    'send_at',
    'job_id',
    'scheduled_by_key_id',
    'is_scheduled_by_approver',
    'send_error',
    'is_written_by_agent',
    'change_id',
    'updated_at',
  ] as const),
  ...(['approval_id', 'approval_status', 'approval_reasons', 'approval_requested_at', 'approval_expires_at'] as const),
  ...(['approval_job_id', 'approval_link_id', 'is_approved'] as const),
]
const permanent = [
  ...(['organization_id', 'mailbox_id', 'thread_id', 'in_reply_to_message_id', 'in_reply_to', 'reference_ids'] as const),
  ...(['forward_of_message_id', 'reply_all', 'forward_attachments', 'client_id', 'created_at'] as const),
]
const names = ['id', ...permanent, ...changeable] as const
export const columns = names.join(', ')
const columnOf = (row: DraftRow, name: (typeof names)[number]) =>
  (name === 'headers' || name === 'metadata') && row[name] !== null ? JSON.stringify(row[name]) : row[name]

export async function insertDraft(tx: Tx, row: DraftRow): Promise<void> {
  await tx.query({
    name: 'insert-draft',
    text: `INSERT INTO drafts (${columns}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    values: names.map((name) => columnOf(row, name)),
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
/** The drafts of a mailbox, latest change first, and one row more than the page's limit. The cursor is the id of a change. */
export async function listDrafts(sql: Sql, mailboxId: string, page: PageRequest, offset: number): Promise<DraftRow[]> {
  const { rows } = await sql.query<DraftRow>({
    name: 'list-drafts',
    // Only the index is read up to the offset. Wide rows are read for the page alone.
    text: `SELECT ${columns} FROM drafts WHERE id = ANY (ARRAY(
        SELECT id FROM drafts WHERE mailbox_id = $1 AND change_id < ${before('$4')} ORDER BY change_id DESC LIMIT $2 OFFSET $3))
      ORDER BY change_id DESC`,
    values: [mailboxId, page.limit + 1, offset, page.cursor],
  })
  return rows
}

/** The drafts of an organization, of these mailboxes of it, or of one thread. */
export type DraftScope = { organizationId: string; mailboxIds: string[] | null; threadId?: string | undefined }

/** The drafts of the scope, newest first, and one row more than the page's limit. Each scope has its own statement, because each has its own index. */
export async function listByScope(sql: Sql, scope: DraftScope, page: PageRequest): Promise<DraftRow[]> {
  const { rows } = await sql.query<DraftRow>(pageStatement(scope, page))
  return rows
}

function pageStatement({ organizationId, mailboxIds, threadId }: DraftScope, { cursor, limit }: PageRequest): Statement {
  const select = (own: string) => `SELECT ${columns} FROM drafts WHERE ${own} AND id < ${before('$2')} ORDER BY id DESC LIMIT $3`
  if (threadId !== undefined)
    return {
      name: 'list-drafts-of-thread',
      text: select('thread_id = $1 AND organization_id = $4 AND ($5::text[] IS NULL OR mailbox_id = ANY($5))'),
      values: [threadId, cursor, limit + 1, organizationId, mailboxIds],
    }
  if (mailboxIds === null)
    return { name: 'list-drafts-of-organization', text: select('organization_id = $1'), values: [organizationId, cursor, limit + 1] }
  return {
    name: 'list-drafts-of-mailboxes',
    text: `SELECT d.* FROM unnest($1::text[]) AS b (id) CROSS JOIN LATERAL (${select('mailbox_id = b.id')}) d ORDER BY d.id DESC LIMIT $3`,
    values: [mailboxIds, cursor, limit + 1],
  }
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
    text: `UPDATE drafts SET ${changeable.map((name, index) => `${name} = $${index + 2}`).join(', ')} WHERE id = $1`,
    values: [row.id, ...changeable.map((name) => columnOf(row, name))],
  })
}

const versionNames = [
  ...(['version', 'from_entry', 'to_addresses', 'cc_addresses', 'bcc_addresses', 'reply_to', 'subject', 'text', 'html'] as const),
  ...(['headers', 'is_automatic', 'is_written_by_agent'] as const),
]
const versionColumns = versionNames.join(', ')

export type DraftVersionRow = Pick<DraftRow, (typeof versionNames)[number] | 'created_at'> & {
  files: { filename: string; content_type: string; size_bytes: number }[]
}

/** Keeps the current content of a locked draft as a version, unless it is larger than `bytesMax`. Only the last `versionsMax` stay. */
export async function keepVersion(tx: Tx, id: string, versionsMax: number, bytesMax: number): Promise<void> {
  await tx.query({
    name: 'keep-draft-version',
    text: `WITH gone AS (DELETE FROM draft_versions v USING drafts d WHERE d.id = $1 AND v.draft_id = d.id AND v.version <= d.version - $2)
      INSERT INTO draft_versions (organization_id, draft_id, created_at, files, ${versionColumns})
      SELECT organization_id, id, updated_at, (SELECT coalesce(jsonb_agg(jsonb_build_object('filename', filename, 'content_type', content_type,
          'size_bytes', size_bytes) ORDER BY position), '[]') FROM attachments WHERE draft_id = $1), ${versionColumns} FROM drafts
      WHERE id = $1 AND coalesce(octet_length(text), 0) + coalesce(octet_length(html), 0) <= $3`,
    values: [id, versionsMax, bytesMax],
  })
}

/** Earlier versions of a draft, newest first. */
export async function listVersions(sql: Sql, id: string): Promise<DraftVersionRow[]> {
  const { rows } = await sql.query<DraftVersionRow>({
    name: 'list-draft-versions',
    text: `SELECT ${versionColumns}, files, created_at FROM draft_versions WHERE draft_id = $1 ORDER BY version DESC`,
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
      INSERT INTO sent_drafts (mailbox_id, draft_id, message_id, sent_at, client_id) VALUES ($1, $2, $3, $4, $5)`,
    values: [row.mailbox_id, row.id, messageId, at, row.client_id],
  })
}

/** A draft by its client id. `isSent` is true for a draft that became a message of this mailbox. */
export async function findByClientId(
  sql: Sql,
  organizationId: string,
  mailboxId: string,
  clientId: string,
): Promise<{ row: DraftRow | null; isSent: boolean }> {
  const [found, sent] = await Promise.all([
    sql.query<DraftRow>({
      text: `SELECT ${columns} FROM drafts WHERE organization_id = $1 AND client_id = $2`,
      values: [organizationId, clientId],
    }),
    sql.query({ text: 'SELECT 1 FROM sent_drafts WHERE mailbox_id = $1 AND client_id = $2', values: [mailboxId, clientId] }),
  ])
  return { row: found.rows[0] ?? null, isSent: sent.rowCount === 1 }
}

/** The message that a draft became. Null for a draft that was not sent. */
export async function findSent(sql: Sql, mailboxId: string, id: string): Promise<{ message_id: string; sent_at: Date } | null> {
  const { rows } = await sql.query<{ message_id: string; sent_at: Date }>({
    name: 'find-sent-draft',
    text: 'SELECT message_id, sent_at FROM sent_drafts WHERE mailbox_id = $1 AND draft_id = $2',
    values: [mailboxId, id],
  })
  return rows[0] ?? null
}

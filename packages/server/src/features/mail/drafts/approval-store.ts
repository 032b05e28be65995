// The SQL of the queue of drafts that wait for approval.
import { before, type ListOrder, type PageRequest } from '../../../core/page.ts'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { DraftRow } from './model.ts'
import { columns } from './store.ts'

/** Waiting drafts of an organization, or of one mailbox, by the time of their request. */
export async function listWaiting(
  sql: Sql,
  organizationId: string,
  mailboxIds: string[] | null,
  page: PageRequest,
  order: ListOrder,
): Promise<DraftRow[]> {
  const select = (own: string) => `SELECT ${columns} FROM drafts WHERE ${own} AND approval_status = 'requested'
    AND approval_id ${order === 'asc' ? "> coalesce($2::text, '')" : `< ${before('$2')}`} ORDER BY approval_id ${order} LIMIT $3`
  const { rows } = await sql.query<DraftRow>({
    name: `list-waiting-drafts-${order}${mailboxIds === null ? '' : '-of-mailboxes'}`,
    text:
      mailboxIds === null
        ? select('organization_id = $1')
        : `SELECT d.* FROM unnest($1::text[]) AS b (id) CROSS JOIN LATERAL (${select('mailbox_id = b.id')}) d ORDER BY d.approval_id ${order} LIMIT $3`,
    values: [mailboxIds ?? organizationId, page.cursor, page.limit + 1],
  })
  return rows
}

/** The draft that a link decides on, of any mailbox. */
export async function findByLink(sql: Sql, linkId: string): Promise<DraftRow | null> {
  const { rows } = await sql.query<DraftRow>({
    name: 'find-draft-by-link',
    text: `SELECT ${columns} FROM drafts WHERE approval_link_id = $1`,
    values: [linkId],
  })
  return rows[0] ?? null
}

/** Gives a locked draft another link, or none. */
export async function setLink(tx: Tx, id: string, linkId: string | null): Promise<void> {
  await tx.query({ name: 'set-approval-link', text: 'UPDATE drafts SET approval_link_id = $2 WHERE id = $1', values: [id, linkId] })
}

/** Ends the request of a locked draft without a decision. */
export async function expireApproval(tx: Tx, id: string): Promise<void> {
  await tx.query({
    name: 'expire-approval',
    text: `UPDATE drafts SET approval_status = 'expired', approval_job_id = NULL, approval_link_id = NULL WHERE id = $1`,
    values: [id],
  })
}

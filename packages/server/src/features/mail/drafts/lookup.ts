// Looks up drafts by the id of the client, and explains why a draft is missing.
import { ApiError, notFound } from '../../../core/errors.ts'
import type { Sql } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { clientIdTaken } from '../../account/organizations/operations.ts'
import type { DraftRow } from './model.ts'
import * as store from './store.ts'

/** The error for a missing draft: this code when it was sent, 404 when it does not exist. */
export async function absence(
  sql: Sql,
  owner: MailboxOwner,
  id: string,
  code: 'draft_not_editable' | 'draft_send_in_progress',
): Promise<ApiError> {
  if (!(await store.findSent(sql, owner.mailboxId, id))) return notFound('draft')
  return new ApiError(
    code,
    code === 'draft_not_editable' ? 'This draft has been sent: it cannot be changed.' : 'This draft has been sent already.',
  )
}

/** The draft with this client id. Throws 409 when it has been sent, or belongs to another mailbox. */
export async function findByClientId(sql: Sql, owner: MailboxOwner, clientId: string): Promise<DraftRow | null> {
  const { row, isSent } = await store.findByClientId(sql, owner.organizationId, owner.mailboxId, clientId)
  if (isSent) throw new ApiError('draft_not_editable', 'The draft with this client_id has been sent. Choose another client_id.')
  if (row && row.mailbox_id !== owner.mailboxId) throw clientIdTaken()
  return row
}

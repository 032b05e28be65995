// Drafts that wait for approval, over all mailboxes, and the one-time links that decide on them.
import type * as contract from '@callsign/contract/approvals'
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Connection, path, type RequestOptions } from './request.ts'

export type ApprovalPage = ReplyOf<typeof contract.listApprovals>
export type Approval = ApprovalPage['data'][number]
export type ApprovalLink = ReplyOf<typeof contract.createApprovalLink>

export class Approvals {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns one page, oldest request first. */
  list(query?: QueryOf<typeof contract.listApprovals>, options?: RequestOptions): Promise<ApprovalPage> {
    return this.#connection.request({ method: 'GET', path: '/approvals', query, options })
  }

  /** Returns the one-time link that approves or rejects the current version of a draft. Organization keys only. */
  createLink(mailbox: string, draftId: string, options?: RequestOptions): Promise<ApprovalLink> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/drafts/${draftId}/approval-link`, options })
  }

  /** Makes the link of a draft invalid. The draft keeps waiting. */
  revokeLink(mailbox: string, draftId: string, options?: RequestOptions): Promise<ReplyOf<typeof contract.revokeApprovalLink>> {
    return this.#connection.request({ method: 'DELETE', path: path`/mailboxes/${mailbox}/drafts/${draftId}/approval-link`, options })
  }
}

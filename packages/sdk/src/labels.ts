// Labels of a mailbox with their colors.
import type * as contract from '@callsign/contract/labels'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Connection, path, type RequestOptions } from './request.ts'

export type MailboxLabel = ReplyOf<typeof contract.createLabel>
export type MailboxLabelPage = ReplyOf<typeof contract.listLabels>

export class Labels {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Defines a label. Throws `conflict` for a name that the mailbox has. */
  create(mailbox: string, body: BodyOf<typeof contract.createLabel>, options?: RequestOptions): Promise<MailboxLabel> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/labels`, body, isKeyed: true, options })
  }

  list(mailbox: string, query?: QueryOf<typeof contract.listLabels>, options?: RequestOptions): Promise<MailboxLabelPage> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/labels`, query, options })
  }

  /** Changes the name or the color. Messages and threads get the new name. */
  update(mailbox: string, id: string, body: BodyOf<typeof contract.updateLabel>, options?: RequestOptions): Promise<MailboxLabel> {
    return this.#connection.request({ method: 'PATCH', path: path`/mailboxes/${mailbox}/labels/${id}`, body, options })
  }

  /** Deletes a label, and removes it from messages and threads. */
  delete(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof contract.deleteLabel>> {
    return this.#connection.request({ method: 'DELETE', path: path`/mailboxes/${mailbox}/labels/${id}`, options })
  }
}

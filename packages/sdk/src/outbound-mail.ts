// Sends mail of an agent, and lists mail across mailboxes.
import type { listMail } from '@callsign/contract/messages'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { sendMail } from '@callsign/contract/outbound-mail'
import type { Connection, RequestOptions } from './request.ts'

export type QueuedMessage = ReplyOf<typeof sendMail>
export type MailList = ReplyOf<typeof listMail>

export class Mail {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Queues a message from an agent. `messages.get` returns its current status. */
  send(body: BodyOf<typeof sendMail>, options?: RequestOptions): Promise<QueuedMessage> {
    return this.#connection.request({ method: 'POST', path: '/mail/send', body, isKeyed: true, options })
  }

  /** One page of messages of every mailbox that the key can access, newest first. */
  list(query?: QueryOf<typeof listMail>, options?: RequestOptions): Promise<MailList> {
    return this.#connection.request({ method: 'GET', path: '/mail/messages', query, options })
  }
}

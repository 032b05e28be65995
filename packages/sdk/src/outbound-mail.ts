// Mail of an agent: send, and list across mailboxes.
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

  /** Queues a message from an agent. Its real status is the message's: `messages.get`. */
  send(body: BodyOf<typeof sendMail>, options?: RequestOptions): Promise<QueuedMessage> {
    return this.#connection.request({ method: 'POST', path: '/mail/send', body, isKeyed: true, options })
  }

  /** One page of messages of every mailbox that the key may see, newest first. */
  list(query?: QueryOf<typeof listMail>, options?: RequestOptions): Promise<MailList> {
    return this.#connection.request({ method: 'GET', path: '/mail/messages', query, options })
  }
}

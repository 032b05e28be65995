// Sends mail of an agent, and lists mail across mailboxes.
import type { getMessages, sendBatch, updateMessages } from '@callsign/contract/batches'
import type { MessageSummary } from '@callsign/contract/message-views'
import type { listMail } from '@callsign/contract/messages'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { sendMail } from '@callsign/contract/outbound-mail'
import type { Connection, RequestOptions } from './request.ts'

export type QueuedMessage = ReplyOf<typeof sendMail>
export type MailList = ReplyOf<typeof listMail>
export type SummaryList = Omit<MailList, 'messages'> & { messages: MessageSummary[] }

export class Mail {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Queues a message from an agent. `messages.get` returns its current status. */
  send(body: BodyOf<typeof sendMail>, options?: RequestOptions): Promise<QueuedMessage> {
    return this.#connection.request({ method: 'POST', path: '/mail/send', body, isKeyed: true, options })
  }

  /** Queues up to 100 messages in one transaction: all or none, or with `mode: 'permissive'` those that can be sent. */
  sendBatch(body: BodyOf<typeof sendBatch>, options?: RequestOptions): Promise<ReplyOf<typeof sendBatch>> {
    return this.#connection.request({ method: 'POST', path: '/mail/batch', body, isKeyed: true, options })
  }

  /** Up to 500 messages, in the order of `ids`. */
  getMessages(body: BodyOf<typeof getMessages>, options?: RequestOptions): Promise<ReplyOf<typeof getMessages>> {
    return this.#connection.request({ method: 'POST', path: '/mail/messages/get', body, options })
  }

  /** Changes flags, labels and trash of up to 500 messages in one transaction. */
  updateMessages(body: BodyOf<typeof updateMessages>, options?: RequestOptions): Promise<ReplyOf<typeof updateMessages>> {
    return this.#connection.request({ method: 'PATCH', path: '/mail/messages', body, options })
  }

  /** One page of messages of every mailbox that the key can access, newest first. `view: 'full'` has headers too. `view: 'summary'` leaves out bodies and references. */
  list(query: QueryOf<typeof listMail> & { view: 'summary' }, options?: RequestOptions): Promise<SummaryList>
  list(query?: QueryOf<typeof listMail>, options?: RequestOptions): Promise<MailList>
  list(query?: QueryOf<typeof listMail>, options?: RequestOptions): Promise<MailList> {
    return this.#connection.request({ method: 'GET', path: '/mail/messages', query, options })
  }
}

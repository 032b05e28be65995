// Mailboxes with their threads, and the mail of all of them. `mailbox` is a full address or an agent handle.
// Printed from the contract by npm run docs. Do not edit.
import type * as batches from '@callsign/contract/batches'
import type * as identities from '@callsign/contract/identities'
import type * as messageViews from '@callsign/contract/message-views'
import type * as messages from '@callsign/contract/messages'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as outboundMail from '@callsign/contract/outbound-mail'
import type * as threads from '@callsign/contract/threads'
import { type Connection, path, type RequestOptions } from '../connection/request.ts'

export type Mailbox = ReplyOf<typeof identities.getMailbox>
export type MailboxPage = ReplyOf<typeof identities.listMailboxes>
export type MessageWait = ReplyOf<typeof messages.waitForMessage>
export type ThreadPage = ReplyOf<typeof threads.listThreads>
export type Thread = ReplyOf<typeof threads.getThread>
export type QueuedMessage = ReplyOf<typeof outboundMail.sendMail>
export type MailList = ReplyOf<typeof messages.listMail>
export type SummaryList = Omit<MailList, 'messages'> & { messages: messageViews.MessageSummary[] }

export class MailboxCalls {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns one mailbox, named by its full address or by the handle of its agent. */
  get(mailbox: string, options?: RequestOptions): Promise<Mailbox> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}`, options })
  }

  /** Returns one page of mailboxes, newest first. Each identity has one. An agent key gets a list with its own mailbox. */
  list(query?: QueryOf<typeof identities.listMailboxes>, options?: RequestOptions): Promise<MailboxPage> {
    return this.#connection.request({ method: 'GET', path: '/mailboxes', query, options })
  }

  /**
   * Holds the request until a message arrives that passes every filter, for at most 60 seconds. Without `after` and `cursor`, only new
   * arrivals match. To miss nothing, give `after` with the time before you caused the message, for example by signing up, and repeat with
   * the `cursor` of the last response. The SDK and the CLI do this for you, and wait longer than a minute.
   */
  wait(mailbox: string, query?: QueryOf<typeof messages.waitForMessage>, options?: RequestOptions): Promise<MessageWait> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/wait`, query, options })
  }
}

export class Threads {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Moves a thread to the trash. After 30 days its messages are deleted with their attachments. `permanent=true` deletes them at once,
   * which cannot be undone. Messages in quarantine stay.
   */
  delete(
    id: string,
    query?: QueryOf<typeof threads.deleteThread>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof threads.deleteThread>> {
    return this.#connection.request({ method: 'DELETE', path: path`/threads/${id}`, query, options })
  }

  /**
   * Returns one thread with its messages, oldest first. If it has more than 100 messages, the latest 100 are returned. List messages with
   * `thread_id` to get all of them.
   */
  get(mailbox: string, id: string, options?: RequestOptions): Promise<Thread> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/threads/${id}`, options })
  }

  /**
   * Returns one thread of any mailbox that the key can access, with its messages, oldest first. A thread in the trash has its trashed
   * messages.
   */
  getById(id: string, options?: RequestOptions): Promise<Thread> {
    return this.#connection.request({ method: 'GET', path: path`/threads/${id}`, options })
  }

  /** Returns the threads of one mailbox, the one with the latest message first. The filters are those of `GET /threads`. */
  list(mailbox: string, query?: QueryOf<typeof threads.listThreads>, options?: RequestOptions): Promise<ThreadPage> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/threads`, query, options })
  }

  /**
   * Returns the threads of every mailbox that the key can access, the one with the latest message first. Every thread is in one folder:
   * `inbox`, `archive`, `spam`, `sent` if only the agent has written in it, or `trash`. Without `folder`, spam and trash are left out.
   * `folder=sent` lists every thread with a sent message, and `folder=scheduled` every thread with a scheduled draft. `q` searches the
   * messages. A request reads a limited number of threads for `participant`, `subject` and `q`: a page may then have fewer threads than
   * `limit`, even none, while `has_more` is true.
   */
  listAll(query?: QueryOf<typeof threads.listAllThreads>, options?: RequestOptions): Promise<ReplyOf<typeof threads.listAllThreads>> {
    return this.#connection.request({ method: 'GET', path: '/threads', query, options })
  }

  /**
   * Takes every message of a thread out of the trash. The thread returns to the folder where it was. A thread without messages in the trash
   * does not change.
   */
  restore(id: string, options?: RequestOptions): Promise<ReplyOf<typeof threads.restoreThread>> {
    return this.#connection.request({ method: 'POST', path: path`/threads/${id}/restore`, isKeyed: true, options })
  }

  /**
   * Moves a thread to `inbox`, `archive`, `spam` or `trash`, marks its messages as read or unread, and changes its labels and metadata.
   * `metadata` sets the keys that you give and deletes those with `null`. The labels of a thread are its own, beside the labels of its
   * messages. An answer that arrives takes a thread from the archive to the inbox.
   */
  update(id: string, body: BodyOf<typeof threads.updateThread>, options?: RequestOptions): Promise<ReplyOf<typeof threads.updateThread>> {
    return this.#connection.request({ method: 'PATCH', path: path`/threads/${id}`, body, options })
  }
}

export class Mail {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Returns up to 500 messages of every mailbox that the key can access, in the order of `ids`. `missing` are ids without a message for
   * this key, and `404` means that all are. `left` are the messages that did not fit into 32 MB of text: request them again.
   */
  getMessages(body: BodyOf<typeof batches.getMessages>, options?: RequestOptions): Promise<ReplyOf<typeof batches.getMessages>> {
    return this.#connection.request({ method: 'POST', path: '/mail/messages/get', body, options })
  }

  /**
   * Returns messages of every mailbox that the key can access, sent and received, newest first. Filter by `agent`, `thread_id`,
   * `direction`, `folder`, `tag` or `metadata`. Quarantined messages are not in this list. `total` counts the messages of `agent` and
   * `thread_id`, whatever the other filters are.
   */
  list(query: QueryOf<typeof messages.listMail> & { view: 'summary' }, options?: RequestOptions): Promise<SummaryList>
  list(query?: QueryOf<typeof messages.listMail>, options?: RequestOptions): Promise<MailList>
  list(query?: QueryOf<typeof messages.listMail>, options?: RequestOptions): Promise<MailList> {
    return this.#connection.request({ method: 'GET', path: '/mail/messages', query, options })
  }

  /**
   * Queues a message and returns at once with status `queued`. The delivery to each recipient is reported by the events `email.sent`,
   * `email.delivered`, `email.bounced` and `email.failed`, and by `delivery` of the message. Send an `Idempotency-Key`, so that a retry
   * does not send twice. A message has at most 25 MB with its attachments. Give `html` and `text`, or one of them. With `thread_id`, the
   * message joins a thread of the mailbox. `403 approval_required` means that mail of this agent needs a draft, and `403
   * recipient_not_allowed` names the rule that forbids a recipient.
   */
  send(body: BodyOf<typeof outboundMail.sendMail>, options?: RequestOptions): Promise<QueuedMessage> {
    return this.#connection.request({ method: 'POST', path: '/mail/send', body, isKeyed: true, options })
  }

  /**
   * Queues up to 100 messages in one transaction. With `mode` `strict`, the default, one message that cannot be sent refuses the whole
   * batch, and `details` of the error name it as `/messages/{index}`. With `permissive`, the others are queued, and each entry of `data`
   * has a status or an error. A batch over a sending limit is refused whole in both modes. Answers count in their order: those above 20 to
   * one correspondent elsewhere are refused, and the others are queued. A server that stops in the middle has queued all of them or none.
   * Send an `Idempotency-Key`, so that a retry does not send twice.
   */
  sendBatch(body: BodyOf<typeof batches.sendBatch>, options?: RequestOptions): Promise<ReplyOf<typeof batches.sendBatch>> {
    return this.#connection.request({ method: 'POST', path: '/mail/batch', body, isKeyed: true, options })
  }

  /**
   * Changes up to 500 messages of every mailbox that the key can access, in one transaction. The fields are those of one message, and
   * `is_trashed` moves messages to the trash or back. Messages in quarantine stay there. `missing` are ids without a message for this key,
   * and `404` means that all are.
   */
  updateMessages(body: BodyOf<typeof batches.updateMessages>, options?: RequestOptions): Promise<ReplyOf<typeof batches.updateMessages>> {
    return this.#connection.request({ method: 'PATCH', path: '/mail/messages', body, options })
  }
}

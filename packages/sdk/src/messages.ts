// The messages and threads of one mailbox. `mailbox` is a full address or an agent handle everywhere.
import type { getAttachmentText } from '@callsign/contract/attachments'
import type { listMessageShares, shareMessage, unshareMessage } from '@callsign/contract/message-sharing'
import type { MessageSummary } from '@callsign/contract/message-views'
import type {
  deleteMessage,
  getMessage,
  listMessages,
  releaseMessage,
  restoreMessage,
  searchMessages,
  trashMessage,
  updateMessage,
} from '@callsign/contract/messages'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { forwardMessage, replyToMessage, sendMessage } from '@callsign/contract/outbound-mail'
import type {
  deleteThread,
  getThread,
  getThreadById,
  listAllThreads,
  listThreads,
  restoreThread,
  updateThread,
} from '@callsign/contract/threads'
import { type Connection, path, type RequestOptions } from './request.ts'

export type Message = ReplyOf<typeof getMessage>
export type AttachmentText = ReplyOf<typeof getAttachmentText>
export type MessagePage = ReplyOf<typeof listMessages>
export type MessageItem = MessagePage['data'][number]
export type SummaryPage = Omit<MessagePage, 'data'> & { data: MessageSummary[] }
export type { MessageSummary }
export type SearchPage = ReplyOf<typeof searchMessages>
export type ThreadPage = ReplyOf<typeof listThreads>
export type Thread = ReplyOf<typeof getThread>

export class Messages {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** One page of messages, newest first. `view: 'full'` has headers too. `view: 'summary'` leaves out bodies and references. */
  list(mailbox: string, query: QueryOf<typeof listMessages> & { view: 'summary' }, options?: RequestOptions): Promise<SummaryPage>
  list(mailbox: string, query?: QueryOf<typeof listMessages>, options?: RequestOptions): Promise<MessagePage>
  list(mailbox: string, query?: QueryOf<typeof listMessages>, options?: RequestOptions): Promise<MessagePage> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/messages`, query, options })
  }

  get(mailbox: string, id: string, options?: RequestOptions): Promise<Message> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/messages/${id}`, options })
  }

  /** Makes a signed link to a page with the message, for people without a key. */
  share(mailbox: string, id: string, body?: BodyOf<typeof shareMessage>, options?: RequestOptions): Promise<ReplyOf<typeof shareMessage>> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/messages/${id}/share`, body, options })
  }

  /** The links to a message that have not expired, newest first, without their URLs. */
  shares(
    mailbox: string,
    id: string,
    query?: QueryOf<typeof listMessageShares>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof listMessageShares>> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/messages/${id}/shares`, query, options })
  }

  /** Revokes a link to a message. */
  unshare(mailbox: string, id: string, linkId: string, options?: RequestOptions): Promise<ReplyOf<typeof unshareMessage>> {
    return this.#connection.request({ method: 'DELETE', path: path`/mailboxes/${mailbox}/messages/${id}/shares/${linkId}`, options })
  }

  /** Returns the raw message (RFC 5322). */
  raw(mailbox: string, id: string, options?: RequestOptions): Promise<Uint8Array<ArrayBuffer>> {
    return this.#connection.requestBytes({ method: 'GET', path: path`/mailboxes/${mailbox}/messages/${id}/raw`, options })
  }

  /** The text of an attachment as Markdown. Untrusted, because the sender wrote it. */
  attachmentText(
    mailbox: string,
    id: string,
    attachmentId: string,
    query?: QueryOf<typeof getAttachmentText>,
    options?: RequestOptions,
  ): Promise<AttachmentText> {
    const where = path`/mailboxes/${mailbox}/messages/${id}/attachments/${attachmentId}/text`
    return this.#connection.request({ method: 'GET', path: where, query, options })
  }

  /** Sets flags and labels. */
  update(
    mailbox: string,
    id: string,
    body: BodyOf<typeof updateMessage>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof updateMessage>> {
    return this.#connection.request({ method: 'PATCH', path: path`/mailboxes/${mailbox}/messages/${id}`, body, options })
  }

  delete(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof deleteMessage>> {
    return this.#connection.request({ method: 'DELETE', path: path`/mailboxes/${mailbox}/messages/${id}`, options })
  }

  /** Moves a message to the trash, where it stays for 30 days. */
  trash(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof trashMessage>> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/messages/${id}/trash`, isKeyed: true, options })
  }

  /** Takes a message out of the trash. */
  restore(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof restoreMessage>> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/messages/${id}/restore`, isKeyed: true, options })
  }

  /** Releases a message from quarantine. Organization keys only. */
  release(mailbox: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof releaseMessage>> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/messages/${id}/release`, isKeyed: true, options })
  }

  search(mailbox: string, query: QueryOf<typeof searchMessages>, options?: RequestOptions): Promise<SearchPage> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/search`, query, options })
  }

  send(mailbox: string, body: BodyOf<typeof sendMessage>, options?: RequestOptions): Promise<ReplyOf<typeof sendMessage>> {
    return this.#connection.request({ method: 'POST', path: path`/mailboxes/${mailbox}/messages`, body, isKeyed: true, options })
  }

  /** Replies in the message's thread, to its sender unless `to` is given. */
  reply(
    mailbox: string,
    id: string,
    body: BodyOf<typeof replyToMessage>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof replyToMessage>> {
    const where = path`/mailboxes/${mailbox}/messages/${id}/reply`
    return this.#connection.request({ method: 'POST', path: where, body, isKeyed: true, options })
  }

  forward(
    mailbox: string,
    id: string,
    body: BodyOf<typeof forwardMessage>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof forwardMessage>> {
    const where = path`/mailboxes/${mailbox}/messages/${id}/forward`
    return this.#connection.request({ method: 'POST', path: where, body, isKeyed: true, options })
  }
}

export class Threads {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  list(mailbox: string, query?: QueryOf<typeof listThreads>, options?: RequestOptions): Promise<ThreadPage> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/threads`, query, options })
  }

  /** A thread with its messages, oldest first. */
  get(mailbox: string, id: string, options?: RequestOptions): Promise<Thread> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}/threads/${id}`, options })
  }

  /** The threads of every mailbox that the key can access. */
  listAll(query?: QueryOf<typeof listAllThreads>, options?: RequestOptions): Promise<ThreadPage> {
    return this.#connection.request({ method: 'GET', path: '/threads', query, options })
  }

  /** A thread of any mailbox that the key can access. */
  getById(id: string, options?: RequestOptions): Promise<ReplyOf<typeof getThreadById>> {
    return this.#connection.request({ method: 'GET', path: path`/threads/${id}`, options })
  }

  /** Changes folder, labels and read state. */
  update(id: string, body: BodyOf<typeof updateThread>, options?: RequestOptions): Promise<ReplyOf<typeof updateThread>> {
    return this.#connection.request({ method: 'PATCH', path: path`/threads/${id}`, body, options })
  }

  /** Moves a thread to the trash, or deletes it for good with `permanent`. */
  delete(id: string, query?: QueryOf<typeof deleteThread>, options?: RequestOptions): Promise<ReplyOf<typeof deleteThread>> {
    return this.#connection.request({ method: 'DELETE', path: path`/threads/${id}`, query, options })
  }

  /** Takes a thread out of the trash. */
  restore(id: string, options?: RequestOptions): Promise<ReplyOf<typeof restoreThread>> {
    return this.#connection.request({ method: 'POST', path: path`/threads/${id}/restore`, isKeyed: true, options })
  }
}

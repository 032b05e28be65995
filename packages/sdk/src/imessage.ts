// iMessage. The router pairs people with agents, and each pair has a conversation with messages.
import type * as contract from '@callsign/contract/imessage'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Connection, path, type RequestOptions } from './request.ts'

export type ImessageRouter = ReplyOf<typeof contract.getImessageRouter>
export type ImessageSent = ReplyOf<typeof contract.sendImessage>
export type ImessageHistory = ReplyOf<typeof contract.listImessages>
export type ImessageItem = ImessageHistory['messages'][number]
export type ImessageConversationPage = ReplyOf<typeof contract.listImessageConversations>
export type ImessageConversation = ImessageConversationPage['data'][number]

export class Imessage {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns the line, the prompt, the links and a QR code (a data URI) with which a user connects to an agent. */
  router(query?: QueryOf<typeof contract.getImessageRouter>, options?: RequestOptions): Promise<ImessageRouter> {
    return this.#connection.request({ method: 'GET', path: '/imessage/router', query, options })
  }

  /** Queues a message into a conversation, or to the number of a connected person. The history has its current status. */
  send(body: BodyOf<typeof contract.sendImessage>, options?: RequestOptions): Promise<ImessageSent> {
    return this.#connection.request({ method: 'POST', path: '/imessage/messages', body, isKeyed: true, options })
  }

  /** Returns one page of messages, oldest first. Use `everyItem` to iterate over all of them. */
  history(query?: QueryOf<typeof contract.listImessages>, options?: RequestOptions): Promise<ImessageHistory> {
    return this.#connection.request({ method: 'GET', path: '/imessage/messages', query, options })
  }

  conversations(query?: QueryOf<typeof contract.listImessageConversations>, options?: RequestOptions): Promise<ImessageConversationPage> {
    return this.#connection.request({ method: 'GET', path: '/imessage/conversations', query, options })
  }

  conversation(id: string, options?: RequestOptions): Promise<ImessageConversation> {
    return this.#connection.request({ method: 'GET', path: path`/imessage/conversations/${id}`, options })
  }

  /** Archives a conversation. Its queued messages fail. */
  disconnect(id: string, options?: RequestOptions): Promise<ImessageConversation> {
    return this.#connection.request({ method: 'POST', path: path`/imessage/conversations/${id}/disconnect`, isKeyed: true, options })
  }
}

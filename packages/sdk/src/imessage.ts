// iMessage: the router that pairs people with agents, conversations, and the messages in them.
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

  /** What a user needs to connect to an agent: line, prompt, links, and a QR code as a data URI. */
  router(query?: QueryOf<typeof contract.getImessageRouter>, options?: RequestOptions): Promise<ImessageRouter> {
    return this.#connection.request({ method: 'GET', path: '/imessage/router', query, options })
  }

  /** Queues a message into a conversation, or to the number of somebody who is connected. The history has its real status. */
  send(body: BodyOf<typeof contract.sendImessage>, options?: RequestOptions): Promise<ImessageSent> {
    return this.#connection.request({ method: 'POST', path: '/imessage/messages', body, isKeyed: true, options })
  }

  /** One page of messages, oldest first; `everyItem` walks all of them. */
  history(query?: QueryOf<typeof contract.listImessages>, options?: RequestOptions): Promise<ImessageHistory> {
    return this.#connection.request({ method: 'GET', path: '/imessage/messages', query, options })
  }

  conversations(query?: QueryOf<typeof contract.listImessageConversations>, options?: RequestOptions): Promise<ImessageConversationPage> {
    return this.#connection.request({ method: 'GET', path: '/imessage/conversations', query, options })
  }

  conversation(id: string, options?: RequestOptions): Promise<ImessageConversation> {
    return this.#connection.request({ method: 'GET', path: path`/imessage/conversations/${id}`, options })
  }

  /** Archives a conversation; what waits in it fails. */
  disconnect(id: string, options?: RequestOptions): Promise<ImessageConversation> {
    return this.#connection.request({ method: 'POST', path: path`/imessage/conversations/${id}/disconnect`, isKeyed: true, options })
  }
}

// Agent identities and their mailboxes.
import type { createIdentity, getIdentity, getMailbox, listIdentities, listMailboxes, updateIdentity } from '@callsign/contract/identities'
import type { waitForMessage } from '@callsign/contract/messages'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Connection, path, type RequestOptions } from './request.ts'
import { waitUntil } from './waits.ts'

export type MessageWait = ReplyOf<typeof waitForMessage>
type WaitQuery = QueryOf<typeof waitForMessage>
export type Identity = ReplyOf<typeof getIdentity>
export type IdentityPage = ReplyOf<typeof listIdentities>
export type Mailbox = ReplyOf<typeof getMailbox>
export type MailboxPage = ReplyOf<typeof listMailboxes>

export class Identities {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Creates an identity with its mailbox and tunnel. 409 `handle_already_taken`. */
  create(body: BodyOf<typeof createIdentity>, options?: RequestOptions): Promise<Identity> {
    return this.#connection.request({ method: 'POST', path: '/identities', body, isKeyed: true, options })
  }

  list(query?: QueryOf<typeof listIdentities>, options?: RequestOptions): Promise<IdentityPage> {
    return this.#connection.request({ method: 'GET', path: '/identities', query, options })
  }

  get(handle: string, options?: RequestOptions): Promise<Identity> {
    return this.#connection.request({ method: 'GET', path: path`/identities/${handle}`, options })
  }

  update(handle: string, body: BodyOf<typeof updateIdentity>, options?: RequestOptions): Promise<Identity> {
    return this.#connection.request({ method: 'PATCH', path: path`/identities/${handle}`, body, options })
  }

  /** Deletes an identity with its mailbox, messages, tunnel, keys and grants. Its handle stays reserved. */
  delete(handle: string, options?: RequestOptions): Promise<void> {
    return this.#connection.request({ method: 'DELETE', path: path`/identities/${handle}`, options })
  }
}

export class Mailboxes {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  list(query?: QueryOf<typeof listMailboxes>, options?: RequestOptions): Promise<MailboxPage> {
    return this.#connection.request({ method: 'GET', path: '/mailboxes', query, options })
  }

  /** `mailbox` is a full address or an agent handle. */
  get(mailbox: string, options?: RequestOptions): Promise<Mailbox> {
    return this.#connection.request({ method: 'GET', path: path`/mailboxes/${mailbox}`, options })
  }
  /**
   * Waits up to `timeout` seconds (default 30, may exceed a minute) for the next message that passes every filter. Without `after` and
   * `cursor` only new arrivals match. `message` is null after a timeout. `cursor` starts the next wait where this one ended.
   */
  wait(mailbox: string, query: WaitQuery = {}, options?: RequestOptions): Promise<MessageWait> {
    return waitUntil<MessageWait>(this.#connection, path`/mailboxes/${mailbox}/wait`, query, (reply) => reply.message !== null, options)
  }
}

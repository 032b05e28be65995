// Mail rules decide which senders an agent accepts and which recipients it may write to.
import type * as contract from '@callsign/contract/mail-rules'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Connection, path, type RequestOptions } from './request.ts'

export type MailRule = ReplyOf<typeof contract.getMailRule>
export type MailRulePage = ReplyOf<typeof contract.listMailRules>

export class MailRules {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Adds a rule to an agent. 409 `conflict` if the entry already has a rule for this direction. */
  create(handle: string, body: BodyOf<typeof contract.createMailRule>, options?: RequestOptions): Promise<MailRule> {
    return this.#connection.request({ method: 'POST', path: path`/identities/${handle}/mail-rules`, body, isKeyed: true, options })
  }

  list(handle: string, query?: QueryOf<typeof contract.listMailRules>, options?: RequestOptions): Promise<MailRulePage> {
    return this.#connection.request({ method: 'GET', path: path`/identities/${handle}/mail-rules`, query, options })
  }

  get(handle: string, id: string, options?: RequestOptions): Promise<MailRule> {
    return this.#connection.request({ method: 'GET', path: path`/identities/${handle}/mail-rules/${id}`, options })
  }

  /** Changes a rule. Set the status `paused` to suspend it. */
  update(handle: string, id: string, body: BodyOf<typeof contract.updateMailRule>, options?: RequestOptions): Promise<MailRule> {
    return this.#connection.request({ method: 'PATCH', path: path`/identities/${handle}/mail-rules/${id}`, body, options })
  }

  delete(handle: string, id: string, options?: RequestOptions): Promise<ReplyOf<typeof contract.deleteMailRule>> {
    return this.#connection.request({ method: 'DELETE', path: path`/identities/${handle}/mail-rules/${id}`, options })
  }
}

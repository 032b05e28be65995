// The suppression list holds addresses to which the organization's mail is no longer sent.
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as contract from '@callsign/contract/suppressions'
import { type Connection, path, type RequestOptions } from './request.ts'

export type Suppression = ReplyOf<typeof contract.createSuppression>
export type SuppressionPage = ReplyOf<typeof contract.listSuppressions>

export class Suppressions {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  create(body: BodyOf<typeof contract.createSuppression>, options?: RequestOptions): Promise<Suppression> {
    return this.#connection.request({ method: 'POST', path: '/suppressions', body, isKeyed: true, options })
  }

  list(query?: QueryOf<typeof contract.listSuppressions>, options?: RequestOptions): Promise<SuppressionPage> {
    return this.#connection.request({ method: 'GET', path: '/suppressions', query, options })
  }

  /** Removes an address from the list. */
  delete(emailAddress: string, options?: RequestOptions): Promise<ReplyOf<typeof contract.deleteSuppression>> {
    return this.#connection.request({ method: 'DELETE', path: path`/suppressions/${emailAddress}`, options })
  }
}

// Counts of mail per day.
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { listUsage } from '@callsign/contract/usage'
import type { Connection, RequestOptions } from './request.ts'

export type UsagePage = ReplyOf<typeof listUsage>
export type UsageDay = UsagePage['data'][number]

export class Usage {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** One page of days, newest first. Organization keys only. */
  list(query?: QueryOf<typeof listUsage>, options?: RequestOptions): Promise<UsagePage> {
    return this.#connection.request({ method: 'GET', path: '/usage', query, options })
  }
}

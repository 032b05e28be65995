// The caller's account, and the organization's audit log.
import type { getCaller, listAudit } from '@callsign/contract/accounts'
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { Connection, RequestOptions } from './request.ts'

export type CallerInfo = ReplyOf<typeof getCaller>
export type AuditPage = ReplyOf<typeof listAudit>
export type AuditEntry = AuditPage['data'][number]

export class Audit {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** One page of the audit log, newest first. Organization keys only. */
  list(query?: QueryOf<typeof listAudit>, options?: RequestOptions): Promise<AuditPage> {
    return this.#connection.request({ method: 'GET', path: '/audit', query, options })
  }
}

/** Returns the organization, and the agent if any, that the key belongs to. */
export const getMe = (connection: Connection, options?: RequestOptions): Promise<CallerInfo> =>
  connection.request({ method: 'GET', path: '/me', options })

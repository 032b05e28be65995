// Counts of mail per day, stored bytes, and the preview of a retention.
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { listStorage, previewRetention } from '@callsign/contract/storage'
import type { listUsage } from '@callsign/contract/usage'
import type { Connection, RequestOptions } from './request.ts'

export type UsagePage = ReplyOf<typeof listUsage>
export type UsageDay = UsagePage['data'][number]
export type StoragePage = ReplyOf<typeof listStorage>
export type StorageUse = StoragePage['data'][number]
export type RetentionPreview = ReplyOf<typeof previewRetention>

export class Usage {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Stored bytes of mail with their quotas, of the organization or per agent. Organization keys only. */
  listStorage(query?: QueryOf<typeof listStorage>, options?: RequestOptions): Promise<StoragePage> {
    return this.#connection.request({ method: 'GET', path: '/usage/storage', query, options })
  }

  /** Counts what a retention would delete now. Organization keys only. */
  previewRetention(query: QueryOf<typeof previewRetention>, options?: RequestOptions): Promise<RetentionPreview> {
    return this.#connection.request({ method: 'GET', path: '/retention/preview', query, options })
  }

  /** One page of days, newest first. Organization keys only. */
  list(query?: QueryOf<typeof listUsage>, options?: RequestOptions): Promise<UsagePage> {
    return this.#connection.request({ method: 'GET', path: '/usage', query, options })
  }
}

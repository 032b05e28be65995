// The log of API requests.
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { getRequest, listRequests } from '@callsign/contract/requests'
import { type Connection, path, type RequestOptions } from './request.ts'

export type ApiRequest = ReplyOf<typeof getRequest>
export type ApiRequestPage = ReplyOf<typeof listRequests>

export class Requests {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** One page of requests, newest first. Organization keys only. */
  list(query?: QueryOf<typeof listRequests>, options?: RequestOptions): Promise<ApiRequestPage> {
    return this.#connection.request({ method: 'GET', path: '/requests', query, options })
  }

  /** One request by its request id, such as `requestId` of an ApiError. */
  get(id: string, options?: RequestOptions): Promise<ApiRequest> {
    return this.#connection.request({ method: 'GET', path: path`/requests/${id}`, options })
  }
}

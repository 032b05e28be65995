// The organization of the key: its limits, its retention, and the pause of all sending. Organization keys only.
import type { BodyOf, ReplyOf } from '@callsign/contract/operation'
import type * as contract from '@callsign/contract/organization'
import type { Connection, RequestOptions } from './request.ts'

export type Organization = ReplyOf<typeof contract.getOrganization>

export class OrganizationSettings {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  get(options?: RequestOptions): Promise<Organization> {
    return this.#connection.request({ method: 'GET', path: '/organization', options })
  }

  /** Changes the given limits and days of retention. null returns one to the default of the server. */
  update(body: BodyOf<typeof contract.updateOrganization>, options?: RequestOptions): Promise<Organization> {
    return this.#connection.request({ method: 'PATCH', path: '/organization', body, options })
  }

  /** Stops all sending at once. Further messages are accepted as `queued` and held. */
  pause(body: BodyOf<typeof contract.pauseOrganization> = {}, options?: RequestOptions): Promise<Organization> {
    return this.#connection.request({ method: 'POST', path: '/organization/pause', body, options })
  }

  /** Ends the pause. Held messages are sent. */
  resume(options?: RequestOptions): Promise<Organization> {
    return this.#connection.request({ method: 'POST', path: '/organization/resume', options })
  }
}

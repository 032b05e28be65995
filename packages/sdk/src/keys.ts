// Creates, lists, renames and revokes API keys.
import type { createKey, listKeys, revokeKey, updateKey } from '@callsign/contract/keys'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Connection, path, type RequestOptions } from './request.ts'

export type CreatedKey = ReplyOf<typeof createKey>
export type KeyPage = ReplyOf<typeof listKeys>
export type Key = KeyPage['data'][number]

export class Keys {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Creates a key. Store its plaintext, `key`, because only this response contains it. */
  create(body: BodyOf<typeof createKey>, options?: RequestOptions): Promise<CreatedKey> {
    return this.#connection.request({ method: 'POST', path: '/keys', body, isKeyed: true, options })
  }

  list(query?: QueryOf<typeof listKeys>, options?: RequestOptions): Promise<KeyPage> {
    return this.#connection.request({ method: 'GET', path: '/keys', query, options })
  }

  /** Renames a key. */
  update(id: string, body: BodyOf<typeof updateKey>, options?: RequestOptions): Promise<Key> {
    return this.#connection.request({ method: 'PATCH', path: path`/keys/${id}`, body, options })
  }

  /** Revokes a key. The next request with it is rejected. */
  revoke(id: string, options?: RequestOptions): Promise<ReplyOf<typeof revokeKey>> {
    return this.#connection.request({ method: 'DELETE', path: path`/keys/${id}`, options })
  }
}

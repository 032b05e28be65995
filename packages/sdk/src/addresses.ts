// The addresses of an agent. Mail to each of them arrives in its mailbox, and the agent can send from each.
import type * as contract from '@callsign/contract/addresses'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Connection, path, type RequestOptions } from './request.ts'

export type Address = ReplyOf<typeof contract.createAddress>
export type AddressPage = ReplyOf<typeof contract.listAddresses>

export class Addresses {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Adds an address to an agent. The local part is generated if you omit it. 409 `address_already_taken`. */
  create(handle: string, body: BodyOf<typeof contract.createAddress> = {}, options?: RequestOptions): Promise<Address> {
    return this.#connection.request({ method: 'POST', path: path`/identities/${handle}/addresses`, body, isKeyed: true, options })
  }

  list(handle: string, query?: QueryOf<typeof contract.listAddresses>, options?: RequestOptions): Promise<AddressPage> {
    return this.#connection.request({ method: 'GET', path: path`/identities/${handle}/addresses`, query, options })
  }

  /** Makes an address the primary one, from which mail is sent by default. */
  setPrimary(handle: string, address: string, options?: RequestOptions): Promise<Address> {
    return this.#connection.request({ method: 'POST', path: path`/identities/${handle}/addresses/${address}/set-primary`, options })
  }

  /** Deletes an address, except the primary one. Only the same organization can create it again. */
  delete(handle: string, address: string, options?: RequestOptions): Promise<ReplyOf<typeof contract.deleteAddress>> {
    return this.#connection.request({ method: 'DELETE', path: path`/identities/${handle}/addresses/${address}`, options })
  }
}

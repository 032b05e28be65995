// Tunnels and their captured requests.
// Printed from the contract by npm run docs. Do not edit.
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as tunnels from '@callsign/contract/tunnels'
import { type Connection, path, type RequestOptions } from '../connection/request.ts'

export type Tunnel = ReplyOf<typeof tunnels.getTunnel>
export type TunnelPage = ReplyOf<typeof tunnels.listTunnels>
export type TunnelRequestPage = ReplyOf<typeof tunnels.listTunnelRequests>
export type TunnelRequest = ReplyOf<typeof tunnels.listTunnelRequests>['data'][number]

export class TunnelCalls {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Returns one tunnel, named by the handle of its agent or by its id. Connect it with `callsign tunnel TARGET` or
   * `callsign.tunnels.listen`. `is_connected` is true while a client is connected.
   */
  get(handle: string, options?: RequestOptions): Promise<Tunnel> {
    return this.#connection.request({ method: 'GET', path: path`/tunnels/${handle}`, options })
  }

  /**
   * Returns tunnels, newest first. Each identity has one. An agent key gets a list with its own tunnel. The id of the last item is the
   * `cursor` of the next page.
   */
  list(query?: QueryOf<typeof tunnels.listTunnels>, options?: RequestOptions): Promise<TunnelPage> {
    return this.#connection.request({ method: 'GET', path: '/tunnels', query, options })
  }

  /**
   * Sends a captured request through the tunnel again and returns the result as a new request. `method`, `path`, `headers` and `body`
   * replace those of the captured request. `409 conflict` means that a part was not captured whole, for example because the body was cut,
   * and that you did not replace it.
   */
  replay(
    handle: string,
    requestId: string,
    changes: BodyOf<typeof tunnels.replayTunnelRequest> = {},
    options?: RequestOptions,
  ): Promise<TunnelRequest> {
    return this.#connection.request({ method: 'POST', path: path`/tunnels/${handle}/requests/${requestId}/replay`, body: changes, options })
  }

  /**
   * Returns the latest requests through a tunnel, newest first. Headers and bodies are null unless the capture mode keeps them. Secrets
   * such as cookies and authorization are masked.
   */
  requests(handle: string, query?: QueryOf<typeof tunnels.listTunnelRequests>, options?: RequestOptions): Promise<TunnelRequestPage> {
    return this.#connection.request({ method: 'GET', path: path`/tunnels/${handle}/requests`, query, options })
  }

  /**
   * Sets the status or the capture mode of a tunnel. Requests to a `suspended` tunnel are answered with 503, and its clients stay
   * connected. A `disabled` tunnel disconnects its clients and rejects new ones. `capture` sets the parts of each request that the
   * inspector keeps: none, headers, or headers and the beginning of bodies.
   */
  update(handle: string, body: BodyOf<typeof tunnels.updateTunnel>, options?: RequestOptions): Promise<Tunnel> {
    return this.#connection.request({ method: 'PATCH', path: path`/tunnels/${handle}`, body, options })
  }
}

// Tunnels, with their status, their latest requests, and the tunnel client.
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as contract from '@callsign/contract/tunnels'
import { type Connection, path, type RequestOptions } from './request.ts'
import type { ListenOptions, TunnelListener, TunnelTarget } from './tunnels/listen-options.ts'
import { openTunnel } from './tunnels/listener.ts'

export type Tunnel = ReplyOf<typeof contract.getTunnel>
export type TunnelPage = ReplyOf<typeof contract.listTunnels>
export type TunnelRequestPage = ReplyOf<typeof contract.listTunnelRequests>
export type TunnelRequest = TunnelRequestPage['data'][number]

export class Tunnels {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Newest first. Use the id of the last item as the cursor of the next page. */
  list(query?: QueryOf<typeof contract.listTunnels>, options?: RequestOptions): Promise<TunnelPage> {
    return this.#connection.request({ method: 'GET', path: '/tunnels', query, options })
  }

  /** By agent handle or tunnel id. */
  get(handle: string, options?: RequestOptions): Promise<Tunnel> {
    return this.#connection.request({ method: 'GET', path: path`/tunnels/${handle}`, options })
  }

  /** Sets `status` or the capture mode. Organization keys only. */
  update(handle: string, body: BodyOf<typeof contract.updateTunnel>, options?: RequestOptions): Promise<Tunnel> {
    return this.#connection.request({ method: 'PATCH', path: path`/tunnels/${handle}`, body, options })
  }

  /** Lists the latest requests, newest first. */
  requests(handle: string, query?: QueryOf<typeof contract.listTunnelRequests>, options?: RequestOptions): Promise<TunnelRequestPage> {
    return this.#connection.request({ method: 'GET', path: path`/tunnels/${handle}/requests`, query, options })
  }

  /** Sends a captured request through the tunnel again. `changes` replaces its method, path, headers or body (base64). */
  replay(
    handle: string,
    requestId: string,
    changes: NonNullable<BodyOf<typeof contract.replayTunnelRequest>> = {},
    options?: RequestOptions,
  ): Promise<TunnelRequest> {
    return this.#connection.request({
      method: 'POST',
      path: path`/tunnels/${handle}/requests/${requestId}/replay`,
      body: changes,
      options,
    })
  }

  /**
   * Connects and serves the tunnel's address from a local port, a URL, a Node handler `(request, response)`, or `{fetch}`, a handler of web
   * Requests. Resolves once connected. It reconnects after server restarts and network changes until `close` or `signal`. Rejects
   * if the key, the handle or the target is not valid. Needs Node.
   */
  async listen(handle: string, target: TunnelTarget, options: ListenOptions = {}): Promise<TunnelListener> {
    const tunnel = await this.get(handle, options.signal ? { signal: options.signal } : undefined)
    return openTunnel(this.#connection, tunnel, target, options)
  }
}

// The tunnel client: serves the address of a tunnel from this machine.
import type { Connection } from '../connection/request.ts'
import { TunnelCalls } from '../resources/tunnels.ts'
import type { ListenOptions, TunnelListener, TunnelTarget } from './listen-options.ts'
import { openTunnel } from './listener.ts'

export class Tunnels extends TunnelCalls {
  readonly #connection: Connection
  constructor(connection: Connection) {
    super(connection)
    this.#connection = connection
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

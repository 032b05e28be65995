// The open public connections. They are checked every second, and closed when the process stops.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { PublicConnection, type PublicConnectionHost } from './public-connection.ts'

export function createPublicConnections(host: PublicConnectionHost) {
  const connections = new Set<PublicConnection>()
  /** The real methods of requests that Node reads as POST. Each is the first request that Node reads from its connection. */
  const methods = new WeakMap<Socket, string>()
  const forget = (connection: PublicConnection): void => {
    connections.delete(connection)
  }
  return {
    /** Takes a new connection. `handOver` gets it back, unread, when it does not carry a simple request to a tunnel. */
    onConnection(socket: Socket, handOver: (socket: Socket) => void): void {
      const leave = (socket: Socket, method: string | null): void => {
        if (method !== null) methods.set(socket, method)
        handOver(socket)
      }
      connections.add(new PublicConnection(socket, host, leave, forget))
    },

    /** Gives a request that Node read as POST its real method. True if it had one. The connection must not serve another. */
    restoreMethod(request: IncomingMessage): boolean {
      const method = methods.get(request.socket)
      if (method === undefined) return false
      methods.delete(request.socket)
      request.method = method
      return true
    },

    /** Closes connections that have been idle for too long. */
    sweep(nowMs: number): void {
      for (const one of connections) one.check(nowMs)
    },

    /** Closes connections without a request in flight. */
    closeIdle(): void {
      for (const one of connections) one.closeIfIdle()
    },

    closeAll(): void {
      for (const one of connections) one.destroy()
    },
  }
}

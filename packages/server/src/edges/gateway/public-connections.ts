// The open public connections. They are checked every second, and closed when the process stops.
import type { Socket } from 'node:net'
import { PublicConnection, type PublicConnectionHost } from './public-connection.ts'

export function createPublicConnections(host: PublicConnectionHost) {
  const connections = new Set<PublicConnection>()
  const forget = (connection: PublicConnection): void => {
    connections.delete(connection)
  }
  return {
    /** Takes a new connection. `handOver` gets it back, unread, when it does not carry a simple request to a tunnel. */
    onConnection(socket: Socket, handOver: (socket: Socket) => void): void {
      connections.add(new PublicConnection(socket, host, handOver, forget))
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

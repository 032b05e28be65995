// The connections of visitors: all that are here, looked at every second, and closed when the process stops.
import type { Socket } from 'node:net'
import { VisitorConnection, type VisitorHost } from './public-connection.ts'

export function createVisitors(host: VisitorHost) {
  const connections = new Set<VisitorConnection>()
  const forget = (connection: VisitorConnection): void => {
    connections.delete(connection)
  }
  return {
    /** Takes a new connection; `handOver` gets it back, unread, when it turns out to be for somebody else. */
    meet(socket: Socket, handOver: (socket: Socket) => void): void {
      connections.add(new VisitorConnection(socket, host, handOver, forget))
    },

    /** Closes those that have been silent for too long. */
    sweep(nowMs: number): void {
      for (const one of connections) one.check(nowMs)
    },

    /** Closes those on which nothing is under way. */
    closeIdle(): void {
      for (const one of connections) one.closeIfIdle()
    },

    closeAll(): void {
      for (const one of connections) one.destroy()
    },
  }
}

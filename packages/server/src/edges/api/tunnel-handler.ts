// The part of the server that takes requests for tunnels on the port of the API.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests to the same port that do not belong to the API. */
export type TunnelHandler = {
  /** Sees every connection first, or null. */
  connections: FirstLook | null
  claims(request: IncomingMessage): boolean
  /** An upgrade request that `claims` does not accept is answered like any other request. */
  claimsUpgrade(request: IncomingMessage): boolean
  handle(request: IncomingMessage, response: ServerResponse): void
  upgrade(request: IncomingMessage, socket: Socket, early: Buffer): void
}

/** Reads connections until they carry something else, and then hands them back with those bytes unread. */
export type FirstLook = {
  onConnection(socket: Socket, handOver: (socket: Socket) => void): void
  closeIdle(): void
  closeAll(): void
}

/**
 * Shows every new connection to `first`, if there is one, before HTTP reads from it. Returns the function that passes a connection to HTTP
 * directly.
 */
export function passConnections(server: Server, first: FirstLook | null): (socket: Socket) => void {
  const listeners = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
  const serve = (socket: Socket): void => {
    for (const listener of listeners) listener.call(server, socket)
  }
  if (first) {
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => first.onConnection(socket, serve))
  }
  return serve
}

// Stops a server without cutting off a request: new connections are refused, requests in flight end, idle connections close.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { acceptWaiting } from '../../core/accept-waiting.ts'

/** How long idle connections stay open, since a request may be on its way on one of them; it is answered, with Connection: close. */
const idleLingerMs = 250

/** How often connections that became idle are looked for. */
const checkEveryMs = 50

/** The connections on which no request has arrived yet. */
export function trackFreshConnections(server: Server): Set<Socket> {
  const fresh = new Set<Socket>()
  const forget = function (this: Socket): void {
    fresh.delete(this)
  }
  server.on('connection', (socket: Socket) => {
    fresh.add(socket)
    socket.once('close', forget)
  })
  server.on('request', (request: IncomingMessage) => fresh.delete(request.socket))
  return fresh
}

/** Resolves when every connection is closed: by itself, as idle, or, after `graceMs`, by force. `others` are connections that are not the HTTP server's. */
export async function drainServer(
  server: Server,
  fresh: Set<Socket>,
  inFlight: Set<ServerResponse>,
  others: { closeIdle(): void; closeAll(): void } | null,
  graceMs: number,
): Promise<void> {
  for (const response of inFlight) if (!response.headersSent) response.shouldKeepAlive = false
  if (!server.listening) {
    server.close()
    return
  }
  await acceptWaiting(server)
  let isClosed = false
  const closed = new Promise<void>((resolve) => {
    // Not the HTTP server's own close(), which closes idle connections at once.
    NetServer.prototype.close.call(server, () => {
      isClosed = true
      resolve()
    })
  })
  const deadline = performance.now() + graceMs
  await Promise.race([closed, sleep(Math.min(idleLingerMs, graceMs), undefined, { ref: false })])
  while (!isClosed && performance.now() < deadline) {
    server.closeIdleConnections()
    others?.closeIdle()
    // Node counts a connection on which nothing was ever sent as busy.
    for (const socket of fresh) if (socket.bytesRead === 0) socket.destroy()
    await Promise.race([closed, sleep(checkEveryMs, undefined, { ref: false })])
  }
  server.closeAllConnections()
  others?.closeAll()
  await closed
  // Ends the timer that looks for slow requests; the server itself is closed by now.
  server.close()
}

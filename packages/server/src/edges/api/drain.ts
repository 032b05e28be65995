// Stops a server without interrupting a request. New connections are refused, requests in flight finish, and idle connections close.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { acceptWaiting } from '../../core/accept-waiting.ts'
import type { HttpsFront } from './https.ts'

/**
 * Milliseconds that idle connections stay open, because a request may be arriving on one of them. It is answered with Connection: close.
 */
const idleLingerMs = 250

/** Milliseconds between checks for connections that became idle. */
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

/**
 * Resolves when every connection is closed, by itself, as idle, or by force after `graceMs`. `others` are connections outside the HTTP
 * server, and `https` passes decrypted ones to it.
 */
export async function drainServer(
  server: Server,
  fresh: Set<Socket>,
  inFlight: Set<ServerResponse>,
  others: { closeIdle(): void; closeAll(): void } | null,
  graceMs: number,
  https: HttpsFront | null,
): Promise<void> {
  for (const response of inFlight) if (!response.headersSent) response.shouldKeepAlive = false
  if (!server.listening) {
    server.close()
    return
  }
  await Promise.all([acceptWaiting(server), https?.stopListening()])
  let isClosed = false
  const closed = Promise.all([
    // The HTTP server's own close() would end idle connections at once.
    new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve())),
    https?.closed,
  ]).then(() => {
    isClosed = true
  })
  const deadline = performance.now() + graceMs
  await Promise.race([closed, sleep(Math.min(idleLingerMs, graceMs), undefined, { ref: false })])
  while (!isClosed && performance.now() < deadline) {
    server.closeIdleConnections()
    others?.closeIdle()
    // Node counts a connection without any received bytes as busy.
    for (const socket of fresh) if (socket.bytesRead === 0) socket.destroy()
    await Promise.race([closed, sleep(checkEveryMs, undefined, { ref: false })])
  }
  server.closeAllConnections()
  others?.closeAll()
  https?.closeAll()
  await closed
  // Ends the timer that detects slow requests. The server itself is already closed.
  server.close()
}

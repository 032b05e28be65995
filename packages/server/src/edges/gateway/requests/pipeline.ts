// Serves the pipelined requests of a public connection one after the other. Node reads them all at once, which would put as many in flight
// as a client sends.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Number of waiting requests from which a connection is not read. Before that, the end of a client that leaves is seen. */
const waitingMax = 16

/** Number of waiting requests per connection. */
const waiting = new WeakMap<Socket, number>()

/** Node resumes the socket with the end of each request. */
function hold(this: Socket): void {
  if ((waiting.get(this) as number) >= waitingMax) this.pause()
}

/** Resolves when all earlier responses on the connection are complete. Never resolves when the connection closes before. */
export async function waitForTurn({ socket }: IncomingMessage, response: ServerResponse): Promise<void> {
  // A response gets its socket when the one before it is complete.
  if (response.socket !== null) return
  const before = waiting.get(socket)
  if (before === undefined) socket.on('resume', hold)
  waiting.set(socket, (before ?? 0) + 1)
  hold.call(socket)
  await new Promise<void>((resolve) => response.once('socket', () => resolve()))
  const left = (waiting.get(socket) as number) - 1
  waiting.set(socket, left)
  if (left === waitingMax - 1) socket.resume()
}

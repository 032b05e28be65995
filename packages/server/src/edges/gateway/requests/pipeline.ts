// Serves the pipelined requests of a public connection one after the other. Node reads them all at once, which would put as many in flight
// as a client sends.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Returns the function that calls `serve` when all earlier responses on the connection are complete. */
export function createPipelines(): (request: IncomingMessage, response: ServerResponse, serve: () => void) => void {
  /** Number of waiting requests. The connection is not read from before it is 0. */
  const waiting = new WeakMap<Socket, number>()
  const hold = function (this: Socket): void {
    if ((waiting.get(this) as number) > 0) this.pause()
  }

  return ({ socket }, response, serve) => {
    // A response gets its socket when the one before it is complete.
    if (response.socket !== null) {
      serve()
      return
    }
    const before = waiting.get(socket)
    // Node resumes the socket with the end of each request.
    if (before === undefined) socket.on('resume', hold)
    waiting.set(socket, (before ?? 0) + 1)
    socket.pause()
    response.once('socket', () => {
      const left = (waiting.get(socket) as number) - 1
      waiting.set(socket, left)
      if (left === 0) socket.resume()
      // The code that ended the response still has to free its stream, which this request may need.
      queueMicrotask(serve)
    })
  }
}

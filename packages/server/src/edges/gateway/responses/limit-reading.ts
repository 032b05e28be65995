// The time limit for a public client that does not read the end of its response, which is in memory until then.
import type { ServerResponse } from 'node:http'

/** Milliseconds without a byte after which a public client or target is disconnected, while the other side waits for it. */
export const stalledMsMax = 300_000

/** Limits the time for an ended response to be read. */
export function limitReading(response: ServerResponse): void {
  const { socket } = response
  if (socket === null || socket.writableLength === 0) return
  socket.setTimeout(stalledMsMax)
  // Before Node sets the limit for the time between requests.
  response.prependOnceListener('finish', () => socket.setTimeout(0))
}

// Time limit for the arrival of a request body. Node's own limit applies to a whole server, and uploads through tunnels have no limit.
import type { IncomingMessage } from 'node:http'

/** Enough for a body of 40 MB over a slow line. */
export const arrivalMsMax = 300_000

/** Calls `onLate` when the whole request has not arrived after `limitMs`. */
export function limitArrival(request: IncomingMessage, limitMs: number, onLate: () => void): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (coding === undefined && (length === undefined || length === '0')) return
  const timer = setTimeout(() => {
    if (!request.complete) onLate()
  }, limitMs)
  timer.unref()
  request.once('close', () => clearTimeout(timer))
}

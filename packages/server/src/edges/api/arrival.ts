// How long the body of a request may take to arrive. Node's own limit holds for a whole server, and uploads through tunnels have none.
import type { IncomingMessage } from 'node:http'

/** A body of 40 MB over a slow line. */
export const arrivalMsMax = 300_000

/** Calls `onLate` when the whole request is not there after `limitMs`. */
export function limitArrival(request: IncomingMessage, limitMs: number, onLate: () => void): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (coding === undefined && (length === undefined || length === '0')) return
  const timer = setTimeout(() => {
    if (!request.complete) onLate()
  }, limitMs)
  timer.unref()
  request.once('close', () => clearTimeout(timer))
}

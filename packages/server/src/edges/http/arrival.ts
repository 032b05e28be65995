// How long the body of a request may take to arrive. Node's own limit holds for a whole server, and uploads through tunnels have none.
import type { IncomingMessage } from 'node:http'

/** A body of 40 MB over a slow line. */
const arrivalMsMax = 300_000

/** Calls `onLate` when the request is not there in time. */
export function limitArrival(request: IncomingMessage, onLate: () => void): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (coding === undefined && (length === undefined || length === '0')) return
  const timer = setTimeout(() => {
    if (!request.complete) onLate()
  }, arrivalMsMax)
  timer.unref()
  request.once('close', () => clearTimeout(timer))
}

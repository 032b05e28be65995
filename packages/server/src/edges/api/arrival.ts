// Time limits for the arrival of a request body. Node's own limit applies to a whole server, and uploads through tunnels have no limit.
import type { IncomingMessage } from 'node:http'

export type ArrivalLimits = {
  /** Milliseconds for the whole request. */
  totalMs: number
  /** Milliseconds in which at least `windowBytesMin` have to arrive. */
  windowMs: number
  windowBytesMin: number
}

/** Enough for a body of 40 MB over a slow line, and at least 1 KB per second. */
export const arrivalLimits: ArrivalLimits = { totalMs: 300_000, windowMs: 10_000, windowBytesMin: 10_240 }

/** Calls `onLate` when the body arrives too slowly, or not completely in time. Time in which this server does not read does not count as slow. */
export function limitArrival(request: IncomingMessage, limits: ArrivalLimits, onLate: () => void): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (coding === undefined && (length === undefined || length === '0')) return
  let beforeBytes = request.socket.bytesRead
  let wasReading = false
  const end = (): void => {
    clearTimeout(timer)
    clearInterval(windows)
  }
  const cut = (): void => {
    if (request.complete) return
    end()
    onLate()
  }
  const windows = setInterval(() => {
    const bytes = request.socket.bytesRead
    if (wasReading && bytes - beforeBytes < limits.windowBytesMin) cut()
    beforeBytes = bytes
    wasReading = request.readableFlowing === true
  }, limits.windowMs)
  const timer = setTimeout(cut, limits.totalMs)
  windows.unref()
  timer.unref()
  request.once('close', end)
}

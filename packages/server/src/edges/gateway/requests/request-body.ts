// Sends a request body to the target with its framing, and pauses it while the stream is full.
import type { IncomingMessage } from 'node:http'
import type { TunnelStream } from '@callsign/contract/tunnel-stream'
import { notePassing } from '../../../core/external-buffers.ts'
import { trailersOf } from './request-head.ts'

const lastChunk = Buffer.from('0\r\n\r\n')
const lineEnd = Buffer.from('\r\n')

type Watch = {
  /** The stream that gets the body, or null when it is discarded. */
  stream: () => TunnelStream | null
  onPiece: (piece: Buffer) => void
  onSent: () => void
}

/** True while some of the body may still arrive. Node reports a request as incomplete until it has been read, even without a body. */
export function isArriving({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0')
}

/** Starts to send the body. `onDrain` of the stream's listener has to resume the request. */
export function sendBody(request: IncomingMessage, isChunked: boolean, { stream, onPiece, onSent }: Watch): void {
  request.on('data', (piece: Buffer) => {
    const to = stream()
    if (!to) return
    onPiece(piece)
    notePassing(piece.length)
    let hasRoom: boolean
    if (isChunked) {
      to.write(Buffer.from(`${piece.length.toString(16)}\r\n`, 'latin1'))
      to.write(piece)
      hasRoom = to.write(lineEnd)
    } else hasRoom = to.write(piece)
    if (!hasRoom) request.pause()
  })
  request.on('end', () => {
    onSent()
    if (isChunked)
      stream()?.write(request.rawTrailers.length === 0 ? lastChunk : Buffer.from(`0\r\n${trailersOf(request.rawTrailers)}\r\n`, 'latin1'))
  })
}

/** Milliseconds that the rest of a request body may take after the response is complete. */
const restOfBodyMsMax = 2000

/** Reads and discards the rest of the request body for a while, so that the public client can read its response. */
export function dropRestOfBody(request: IncomingMessage): void {
  request.resume()
  const timer = setTimeout(() => {
    if (!request.complete) request.destroy()
  }, restOfBodyMsMax)
  timer.unref()
}

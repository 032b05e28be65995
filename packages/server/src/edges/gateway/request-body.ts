// A visitor's body on its way to the target: as it comes, framed as it came, and no faster than the stream takes it.
import type { IncomingMessage } from 'node:http'
import type { TunnelStream } from '@callsign/contract/tunnel-stream'
import { notePassing } from '../../core/external-buffers.ts'
import { trailersOf } from './request-head.ts'

const lastChunk = Buffer.from('0\r\n\r\n')
const lineEnd = Buffer.from('\r\n')

type Watch = {
  /** Where the body goes; null once it goes nowhere. */
  stream: () => TunnelStream | null
  onPiece: (piece: Buffer) => void
  onSent: () => void
}

/** True while some of the body may still be on its way. Node calls no request complete before it has been looked at, not even one without a body. */
export function isArriving({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0')
}

/** Begins to send; `onDrain` of the stream's listener has to resume the request. */
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

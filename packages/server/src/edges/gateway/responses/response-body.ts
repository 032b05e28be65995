// Writes the body of a response to the public client.
import type { ServerResponse } from 'node:http'
import { BufferedBytes, smallChunkBytesMax } from './buffered-bytes.ts'
import { limitReading } from './limit-reading.ts'

/** Bytes up to which copying a chunk next to its head is cheaper than a separate write. */
const joinedBytesMax = 8 * 1024

export class AnswerBody {
  readonly #response: ServerResponse
  /** Small chunks that arrived while the public client did not read. */
  readonly #buffered = new BufferedBytes()
  /** Writes the head. Null once it has been written. */
  #head: (() => void) | null = null
  /** True once the head has been sent, alone or with the first bytes. */
  #isFlushed = false

  constructor(response: ServerResponse) {
    this.#response = response
  }

  /** True once something of the response was written, so that it cannot be replaced by another. */
  get isBegun(): boolean {
    return this.#isFlushed
  }

  /** Takes the head. `writeHead` is called with the first bytes, so that a response which turns out to be invalid is not begun. */
  start(writeHead: () => void): void {
    this.#head = writeHead
  }

  #begin(): void {
    this.#head?.()
    this.#head = null
  }

  /** Writes a chunk of the body. `isLast` marks the final one. */
  write(piece: Buffer, isLast: boolean): void {
    this.#begin()
    if (!isLast && piece.length <= smallChunkBytesMax && this.#response.writableNeedDrain) {
      this.#buffered.add(piece)
      return
    }
    this.#writeBuffered()
    // As text, a small body is sent in one write with its head.
    if (isLast && !this.#isFlushed && piece.length <= joinedBytesMax) this.#response.end(piece.toString('latin1'), 'latin1')
    else if (isLast) this.#response.end(piece)
    else this.#response.write(piece)
    this.#isFlushed = true
  }

  /** Sends the head, unless a write has already sent it. */
  flush(): void {
    if (this.#isFlushed) return
    this.#begin()
    this.#isFlushed = true
    this.#response.flushHeaders()
  }

  /** Closes the connection after the bytes that were written. */
  cut(): void {
    const { socket } = this.#response
    // Node gathers the writes of one turn, and would discard them.
    while (socket !== null && socket.writableCorked > 0) socket.uncork()
    this.#response.destroy()
  }

  /** Writes the buffered chunks after a drain. Returns true when the socket has room for more. */
  resume(): boolean {
    this.#writeBuffered()
    return !this.#response.writableNeedDrain
  }

  end(trailers: [string, string][]): void {
    this.#writeBuffered()
    if (this.#response.writableEnded) {
      limitReading(this.#response)
      return
    }
    this.#begin()
    if (trailers.length > 0) this.#response.addTrailers(trailers)
    this.#response.end()
    limitReading(this.#response)
  }

  #writeBuffered(): void {
    if (this.#buffered.size > 0 && !this.#response.writableEnded) this.#response.write(this.#buffered.take())
  }
}

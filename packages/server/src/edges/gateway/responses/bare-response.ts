// Writes HTTP/1.1 responses (RFC 9112) to the bare socket of a public connection, for requests that were read without Node's HTTP server.
import type { Socket } from 'node:net'
import { joinedBytesMax, type PublicConnectionEvents, type PublicResponse } from './public-response.ts'

/** Advertised in Keep-Alive. Idle connections are kept slightly longer. */
export const keepAliveSeconds = 65
const stayLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n\r\n`
const closeLines = 'Connection: close\r\n\r\n'

export class BareResponse implements PublicResponse {
  readonly socket: Socket
  shouldKeepAlive: boolean
  headersSent = false
  writableEnded = false
  /** Notified when the public client disconnects or its socket drains. */
  events: PublicConnectionEvents | null = null
  isGone = false
  readonly #method: string
  readonly #onEnded: (isLast: boolean) => void
  /** The head, until the first bytes of the body are written. */
  #head = ''
  #hasBody = false
  #isChunked = false
  #isLast = false
  #trailers = ''

  /** `onEnded` is called when the response has been handed to the socket. With `isLast`, nothing may follow it. */
  constructor(socket: Socket, method: string, shouldKeepAlive: boolean, onEnded: (isLast: boolean) => void) {
    this.socket = socket
    this.#method = method
    this.shouldKeepAlive = shouldKeepAlive
    this.#onEnded = onEnded
  }

  get writableNeedDrain(): boolean {
    return this.socket.writableNeedDrain
  }

  writeHead(status: number, reason: string, headers: string[]): void {
    let text = `HTTP/1.1 ${status} ${reason}\r\n`
    let hasLength = false
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i] as string
      text += `${name}: ${headers[i + 1]}\r\n`
      if (name.length === 14 && name.toLowerCase() === 'content-length') hasLength = true
    }
    this.#hasBody = this.#method !== 'HEAD' && status !== 204 && status !== 304
    this.#isChunked = this.#hasBody && !hasLength
    if (this.#isChunked) text += 'Transfer-Encoding: chunked\r\n'
    this.#isLast = !this.shouldKeepAlive
    this.#head = text + (this.#isLast ? closeLines : stayLines)
    this.headersSent = true
  }

  flushHeaders(): void {
    if (this.#head !== '') this.socket.write(this.#takeHead(), 'latin1')
  }

  write(bytes: Buffer): boolean {
    if (!this.#hasBody || bytes.length === 0) return true
    return this.#send(bytes, this.#isChunked ? '\r\n' : '')
  }

  end(last?: Buffer | string): void {
    if (this.writableEnded) return
    this.writableEnded = true
    const ending = this.#isChunked ? `0\r\n${this.#trailers}\r\n` : ''
    if (last === undefined || last.length === 0 || !this.#hasBody) {
      const text = this.#takeHead() + ending
      if (text !== '') this.socket.write(text, 'latin1')
    } else this.#send(last, this.#isChunked ? `\r\n${ending}` : '')
    this.#onEnded(this.#isLast)
  }

  /** Writes bytes of the body after the head and the chunk size, if they are due. Text holds one character per byte. */
  #send(bytes: Buffer | string, after: string): boolean {
    const before = this.#takeHead() + (this.#isChunked ? `${bytes.length.toString(16)}\r\n` : '')
    const { socket } = this
    if (typeof bytes === 'string') return socket.write(before + bytes + after, 'latin1')
    if (before === '' && after === '') return socket.write(bytes)
    if (bytes.length <= joinedBytesMax) return socket.write(before + bytes.toString('latin1') + after, 'latin1')
    socket.cork()
    if (before !== '') socket.write(before, 'latin1')
    const hasRoom = socket.write(bytes)
    if (after !== '') socket.write(after, 'latin1')
    socket.uncork()
    return hasRoom
  }

  #takeHead(): string {
    const head = this.#head
    this.#head = ''
    return head
  }

  addTrailers(trailers: [string, string][]): void {
    for (const [name, value] of trailers) this.#trailers += `${name}: ${value}\r\n`
  }

  writeContinue(): void {
    this.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1')
  }

  destroy(): void {
    this.socket.destroy()
  }
}

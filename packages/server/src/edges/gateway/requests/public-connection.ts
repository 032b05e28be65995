// A public connection read by the gateway itself, as long as its requests are simple. Such requests cost half of their price through Node's
// server.
import type { Socket } from 'node:net'
import { BareResponse, keepAliveSeconds } from '../responses/bare-response.ts'
import type { PublicClient } from './forwarding.ts'
import { stalledMsMax } from './proxied-request-host.ts'
import type { RequestHead } from './request-head.ts'
import { SimpleRequestReader } from './simple-request.ts'

/** The gateway as its public connections see it. */
export type PublicConnectionHost = {
  publicClientOf(socket: Socket): PublicClient
  /** The handle of the tunnel that a host name stands for, or null. */
  findHandle(host: string): string | null
  /** False when the next response is the last on its connection. */
  mayStay(): boolean
  serve(handle: string, head: RequestHead, response: BareResponse): void
}

/** Milliseconds after which a new connection without a request is closed, as in Node's server. */
const silentMsMax = 20_000
/** One second more than Keep-Alive advertises, for a request that is on its way when the time is up. */
const idleMsMax = (keepAliveSeconds + 1) * 1000
/** Limit for requests and unread responses that wait on the connection. Reading pauses above it. */
const waitingBytesMax = 64 * 1024

export class PublicConnection {
  readonly #socket: Socket
  readonly #host: PublicConnectionHost
  readonly #handOver: (socket: Socket, method: string | null) => void
  readonly #onOver: (connection: PublicConnection) => void
  readonly #reader: SimpleRequestReader
  #response: BareResponse | null = null
  /** Received and unread bytes, from `#at` on, with one character per byte. */
  #text = ''
  #at = 0
  #isReading = false
  #hasServed = false
  #idleSinceMs = performance.now()

  /**
   * `handOver` gets the socket, with all unread bytes, when anything but a simple request to a tunnel arrives. `method` is the real method
   * of the first request in them if Node does not know it, and POST stands in its place. Otherwise it is null.
   * `onOver` is called at the end in either case.
   */
  constructor(
    socket: Socket,
    host: PublicConnectionHost,
    handOver: (socket: Socket, method: string | null) => void,
    onOver: (connection: PublicConnection) => void,
  ) {
    this.#socket = socket
    this.#host = host
    this.#handOver = handOver
    this.#onOver = onOver
    this.#reader = new SimpleRequestReader({ findPublicClient: () => host.publicClientOf(socket), findHandle: host.findHandle })
    socket.on('data', this.#onData)
    socket.on('drain', this.#onDrain)
    socket.on('end', this.#onEnd)
    socket.on('timeout', this.#onStalled)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
  }

  /** Closes a connection without a request in flight. */
  closeIfIdle(): void {
    if (this.#response === null && this.#socket.writable) this.#socket.destroySoon()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Closes the connection when it has waited too long for the next request. */
  check(nowMs: number): void {
    if (this.#response !== null) return
    // Responses are still being read. `#onStalled` limits their time.
    if (this.#socket.writableLength > 0) this.#idleSinceMs = nowMs
    else if (nowMs - this.#idleSinceMs > (this.#hasServed ? idleMsMax : silentMsMax)) this.#socket.destroy()
  }

  /** One response at a time, and only while the client reads. Otherwise responses would accumulate in memory. */
  get #mayServe(): boolean {
    return this.#response === null && !this.#socket.writableNeedDrain
  }

  #onData = (bytes: Buffer): void => {
    // The connection is closing, so requests after the last response are ignored (RFC 9112 section 9.6).
    if (!this.#socket.writable) return
    const text = bytes.toString('latin1')
    if (this.#at === this.#text.length) this.#text = text
    else this.#text = this.#text.slice(this.#at) + text
    this.#at = 0
    if (this.#mayServe) this.#read()
    else if (this.#text.length > waitingBytesMax) this.#socket.pause()
  }

  /** Serves the received requests in order. A response may be complete before `serve` returns. */
  #read(): void {
    this.#isReading = true
    while (this.#mayServe && this.#at < this.#text.length && this.#socket.writable) {
      const request = this.#reader.read(this.#text, this.#at)
      if (!request) {
        const unknown = this.#reader.readUnknownMethod(this.#text, this.#at)
        // `check` limits the time that the rest of the head may take.
        if (unknown?.isWhole === false) break
        this.#leave(unknown?.method ?? null)
        return
      }
      this.#at = request.end
      this.#hasServed = true
      const { handle, head } = request
      const response = new BareResponse(this.#socket, head.method, request.shouldKeepAlive && this.#host.mayStay(), this.#onAnswered)
      this.#response = response
      this.#host.serve(handle, head, response)
    }
    this.#isReading = false
    if (this.#at === this.#text.length) this.#forget()
    if (this.#socket.isPaused() && this.#text.length - this.#at <= waitingBytesMax) this.#socket.resume()
  }

  #onAnswered = (isLast: boolean): void => {
    this.#response = null
    this.#idleSinceMs = performance.now()
    if (this.#socket.writableLength > 0) this.#socket.setTimeout(stalledMsMax)
    if (isLast) {
      this.#forget()
      this.#socket.destroySoon()
    } else if (!this.#isReading && this.#at < this.#text.length) {
      // The code that ended the response still has to free its slot and its stream at the client, which the next request may need.
      queueMicrotask(this.#readOn)
    }
  }

  /** Drops text that was read, because an idle connection may stay open for minutes. */
  #forget(): void {
    this.#text = ''
    this.#at = 0
  }

  #onDrain = (): void => {
    if (this.#response) this.#response.events?.onPublicDrain()
    else this.#readOn()
  }

  #readOn = (): void => {
    if (this.#at < this.#text.length) this.#read()
  }

  /** The client has not read its response for too long. Proxied requests have their own limit. */
  #onStalled = (): void => {
    if (this.#response === null) this.#socket.destroy()
  }

  /** A client that ends its side does not get a response, as in Node's server. */
  #onEnd = (): void => {
    this.#socket.destroySoon()
  }

  /** A close event follows. */
  #onError = (): void => {}

  #onClose = (): void => {
    const response = this.#response
    this.#onOver(this)
    if (!response) return
    response.isGone = true
    response.events?.onPublicClose()
  }

  /** Hands the socket over with all bytes after the last response unread, and POST in place of `method` before them. */
  #leave(method: string | null): void {
    const socket = this.#socket
    socket.off('data', this.#onData)
    socket.off('drain', this.#onDrain)
    socket.off('end', this.#onEnd)
    socket.off('timeout', this.#onStalled)
    socket.off('error', this.#onError)
    socket.off('close', this.#onClose)
    socket.setTimeout(0)
    // Without a pause the socket would lose bytes until the next listener is added.
    socket.pause()
    const text = method === null ? this.#text.slice(this.#at) : `POST${this.#text.slice(this.#at + method.length)}`
    socket.unshift(Buffer.from(text, 'latin1'))
    this.#forget()
    this.#onOver(this)
    this.#handOver(socket, method)
    socket.resume()
  }
}

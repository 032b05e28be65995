// A connection of visitors that we read ourselves, for as long as what comes over it is simple: what most visitors ask costs half of what it costs through Node's server.
import type { Socket } from 'node:net'
import { BareResponse, keepAliveSeconds } from './bare-response.ts'
import type { Visitor } from './forwarding.ts'
import { stalledMsMax } from './proxied-request-host.ts'
import type { RequestHead } from './request-head.ts'
import { SimpleRequestReader } from './simple-request.ts'

/** What a connection asks of the gateway. */
export type VisitorHost = {
  visitorOf(socket: Socket): Visitor
  /** The handle of the tunnel that a name stands for; null when it is none's. */
  findHandle(host: string): string | null
  /** False: the next answer is the last on its connection. */
  mayStay(): boolean
  serve(handle: string, head: RequestHead, response: BareResponse): void
}

/** A new connection that says nothing is closed after this time, as Node's server does. */
const silentMsMax = 20_000
/** A second more than visitors are told, for a request that is on its way when their time is up. */
const idleMsMax = (keepAliveSeconds + 1) * 1000
/** Of requests that wait behind the one that is being answered, or for answers to be taken; their visitor is not read from beyond it. */
const waitingBytesMax = 64 * 1024

export class VisitorConnection {
  readonly #socket: Socket
  readonly #host: VisitorHost
  readonly #handOver: (socket: Socket) => void
  readonly #onOver: (connection: VisitorConnection) => void
  readonly #reader: SimpleRequestReader
  #response: BareResponse | null = null
  /** What has come and has not been read, from `#at` on: a character for each byte. */
  #text = ''
  #at = 0
  #isReading = false
  #hasServed = false
  #idleSinceMs = performance.now()

  /** `handOver` gets the socket, with all that has not been read, when something else comes than a simple request to a tunnel. `onOver` follows on either end. */
  constructor(socket: Socket, host: VisitorHost, handOver: (socket: Socket) => void, onOver: (connection: VisitorConnection) => void) {
    this.#socket = socket
    this.#host = host
    this.#handOver = handOver
    this.#onOver = onOver
    this.#reader = new SimpleRequestReader({ findVisitor: () => host.visitorOf(socket), findHandle: host.findHandle })
    socket.on('data', this.#onData)
    socket.on('drain', this.#onDrain)
    socket.on('end', this.#onEnd)
    socket.on('timeout', this.#onStalled)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
  }

  /** Ends a connection on which nothing is under way. */
  closeIfIdle(): void {
    if (this.#response === null && this.#socket.writable) this.#socket.destroySoon()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Looks whether the next request has been waited for long enough. */
  check(nowMs: number): void {
    if (this.#response !== null) return
    // Answers are still being taken; `#onStalled` watches over that.
    if (this.#socket.writableLength > 0) this.#idleSinceMs = nowMs
    else if (nowMs - this.#idleSinceMs > (this.#hasServed ? idleMsMax : silentMsMax)) this.#socket.destroy()
  }

  /** One answer at a time, and none to who does not take those there are: they would pile up here. */
  get #mayServe(): boolean {
    return this.#response === null && !this.#socket.writableNeedDrain
  }

  #onData = (bytes: Buffer): void => {
    // The connection is being closed: what comes behind the last answer is not to be acted upon (RFC 9112 section 9.6).
    if (!this.#socket.writable) return
    const text = bytes.toString('latin1')
    if (this.#at === this.#text.length) this.#text = text
    else this.#text = this.#text.slice(this.#at) + text
    this.#at = 0
    if (this.#mayServe) this.#read()
    else if (this.#text.length > waitingBytesMax) this.#socket.pause()
  }

  /** Serves what has come, one request after the other. An answer may be complete before `serve` returns. */
  #read(): void {
    this.#isReading = true
    while (this.#mayServe && this.#at < this.#text.length && this.#socket.writable) {
      const request = this.#reader.read(this.#text, this.#at)
      if (!request) {
        this.#leave()
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
      // Whoever has answered is not done yet: its place at the client, and its stream, may be what the next needs.
      queueMicrotask(this.#readOn)
    }
  }

  /** Keeps nothing of what has been read: an idle connection may stay for long. */
  #forget(): void {
    this.#text = ''
    this.#at = 0
  }

  #onDrain = (): void => {
    if (this.#response) this.#response.events?.visitorReady()
    else this.#readOn()
  }

  #readOn = (): void => {
    if (this.#at < this.#text.length) this.#read()
  }

  /** The visitor has taken nothing of its answers for long. Exchanges watch over their own. */
  #onStalled = (): void => {
    if (this.#response === null) this.#socket.destroy()
  }

  /** As Node's server takes it: who says no more wants no answer either. */
  #onEnd = (): void => {
    this.#socket.destroySoon()
  }

  /** It is followed by the end. */
  #onError = (): void => {}

  #onClose = (): void => {
    const response = this.#response
    this.#onOver(this)
    if (!response) return
    response.isGone = true
    response.events?.visitorGone()
  }

  /** Gives the socket away as if nothing had been read of it since the last answer. */
  #leave(): void {
    const socket = this.#socket
    socket.off('data', this.#onData)
    socket.off('drain', this.#onDrain)
    socket.off('end', this.#onEnd)
    socket.off('timeout', this.#onStalled)
    socket.off('error', this.#onError)
    socket.off('close', this.#onClose)
    socket.setTimeout(0)
    // Without this it would go on reading, to nobody, until the next listener comes.
    socket.pause()
    socket.unshift(Buffer.from(this.#text.slice(this.#at), 'latin1'))
    this.#forget()
    this.#onOver(this)
    this.#handOver(socket)
    socket.resume()
  }
}

// One request of a visitor: finds a client, sends the request over a stream, and gives back what comes, both ways at the pace of the slower side.
import type { IncomingMessage } from 'node:http'
import { dataBytesMax, resetCodes } from '@callsign/contract/tunnel-frames'
import type { StreamListener, TunnelStream } from '@callsign/contract/tunnel-stream'
import type { TunnelRoute } from '../../features/tunnels/model.ts'
import type { Carrier } from './client-session.ts'
import { type Failure, refusalOf, troubleOfReset, writeRefusal } from './error-response.ts'
import type { UnderWay } from './in-flight.ts'
import { type ExchangeHost, stalledMsMax } from './proxied-request-host.ts'
import { ExchangeNote } from './proxied-request-record.ts'
import type { VisitorEvents, VisitorResponse } from './public-response.ts'
import { sendBody } from './request-body.ts'
import type { RequestHead } from './request-head.ts'
import { AnswerBody } from './response-body.ts'
import { noteBadAnswer, writeAnswerHead } from './response-head.ts'
import { type AnswerEvents, type AnswerHead, AnswerReader, BadAnswer } from './response-reader.ts'

const attemptsMax = 4
/** How long what is left of a body may still come after the answer is complete. */
const leftoverMs = 2000

/** What becomes of a stream that no exchange needs any more: what still comes is dropped. */
const dropping: StreamListener = {
  onData: (bytes, stream) => stream.taken(bytes.length),
  onEnd: (stream) => stream.end(),
  onReset() {},
  onDrain() {},
}

export class Exchange implements UnderWay, StreamListener, AnswerEvents, VisitorEvents {
  place = 0
  readonly #host: ExchangeHost
  readonly #route: TunnelRoute
  readonly #head: RequestHead
  /** Whose body is to be sent; null when it has none. */
  readonly #request: IncomingMessage | null
  readonly #response: VisitorResponse
  readonly #body: AnswerBody
  readonly #note: ExchangeNote
  readonly #tried = new Set<string>()
  readonly #isSafe: boolean
  #attempts = 0
  #carrier: Carrier | null = null
  #stream: TunnelStream | null = null
  #lastStream: TunnelStream | null = null
  #reader: AnswerReader | null = null
  #isReused = false
  #isBodySent: boolean
  #isAnswered = false
  #isOver = false
  /** Bytes of the answer that the visitor has not taken yet. */
  #held = 0
  #waitingSinceMs: number
  #failure: Failure = 'tunnel_offline'

  /** What happens to the visitor's connection is to be told to `visitorGone` and `visitorReady`. */
  constructor(
    host: ExchangeHost,
    route: TunnelRoute,
    head: RequestHead,
    request: IncomingMessage | null,
    response: VisitorResponse,
    replayOf: string | null = null,
  ) {
    this.#host = host
    this.#route = route
    this.#head = head
    this.#response = response
    this.#body = new AnswerBody(response)
    const { method } = head
    this.#request = head.fields.body === 'none' ? null : request
    this.#isSafe = this.#request === null && (method === 'GET' || method === 'HEAD' || method === 'OPTIONS')
    this.#isBodySent = this.#request === null
    this.#waitingSinceMs = performance.now()
    this.#note = new ExchangeNote(route, head, replayOf)
  }

  start(): void {
    this.#host.exchanges.add(this)
    this.#attempt()
  }

  /** Looks whether anybody has waited too long. */
  check(nowMs: number): void {
    const waitedMs = nowMs - this.#waitingSinceMs
    if (!this.#isAnswered && this.#isBodySent && waitedMs > this.#host.answerMsMax) {
      this.#fail('target_timeout', resetCodes.idle)
      return
    }
    const isStalled = this.#held > 0 || !this.#isBodySent
    if (isStalled && waitedMs > stalledMsMax) this.#isAnswered ? this.#cut(resetCodes.idle) : this.#fail('target_timeout', resetCodes.idle)
  }

  /** The process stops: nothing more is waited for. */
  abort(): void {
    this.#fail('tunnel_lost', resetCodes.cancelled)
  }

  /** Tells the visitor to come back on another connection. */
  closeAfter(): void {
    if (!this.#response.headersSent) this.#response.shouldKeepAlive = false
  }

  #attempt(): void {
    if (this.#isOver) return
    if (this.#attempts++ === attemptsMax) {
      this.#refuse(this.#failure)
      return
    }
    const picked = this.#host.pick(this.#route.id, this.#tried)
    if (picked === null) this.#refuse(this.#failure)
    else if (picked instanceof Promise) {
      picked.then(
        (carrier) => {
          if (this.#isOver) return
          if (carrier) this.#send(carrier)
          else this.#refuse(this.#failure)
        },
        () => this.#refuse('unavailable'),
      )
    } else this.#send(picked)
  }

  #send(carrier: Carrier): void {
    if (carrier.load >= this.#host.streamsMax || carrier.isChoked) {
      this.#refuse('tunnel_busy')
      return
    }
    const bytes = this.#head.toBytes(carrier.hostHeader)
    if (bytes.length > dataBytesMax) {
      this.#refuse('bad_answer')
      return
    }
    this.#carrier = carrier
    // A connection that was used before may be about to close: only what may be asked twice goes over it.
    const kept = this.#isSafe ? carrier.reuse() : null
    this.#isReused = kept !== null
    const stream = kept ?? carrier.open(bytes)
    this.#stream = stream
    this.#lastStream = stream
    this.#reader = new AnswerReader(this.#head.method, carrier.heads, this)
    stream.listener = this
    if (kept) kept.write(bytes)
    if (!this.#isBodySent) this.#sendBody()
  }

  #sendBody(): void {
    sendBody(this.#request as IncomingMessage, this.#head.fields.body === 'chunked', {
      stream: () => (this.#isOver ? null : this.#stream),
      onPiece: (piece) => {
        this.#waitingSinceMs = performance.now()
        this.#note.addRequestBody(piece)
      },
      onSent: () => {
        this.#isBodySent = true
        this.#note.requestEnded()
        this.#waitingSinceMs = performance.now()
      },
    })
  }

  onData(bytes: Uint8Array, stream: TunnelStream): void {
    const piece = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    try {
      const rest = this.#reader?.push(piece)
      // More than one answer to one request: whose would the next be?
      if (rest && !stream.isClosed) stream.reset(resetCodes.protocolError)
    } catch (error) {
      noteBadAnswer(this.#host.log, this.#route.id, error)
      this.#fail('bad_answer', resetCodes.protocolError)
      return
    }
    if (this.#isAnswered && !this.#isOver) this.#body.flush()
    if (this.#isOver || !this.#response.writableNeedDrain) stream.taken(piece.length)
    else {
      if (this.#held === 0) this.#waitingSinceMs = performance.now()
      this.#held += piece.length
    }
  }

  onDrain(): void {
    this.#waitingSinceMs = performance.now()
    this.#request?.resume()
  }

  /** The visitor takes more. */
  visitorReady(): void {
    this.#waitingSinceMs = performance.now()
    if (!this.#body.resume()) return
    const held = this.#held
    this.#held = 0
    if (held > 0) this.#stream?.taken(held)
  }

  onInformation(head: AnswerHead): void {
    const response = this.#response
    if (head.status === 100) {
      if (this.#head.fields.expectsContinue) response.writeContinue()
      return
    }
    // Without a socket of its own yet, the answer stands behind another on the same connection; a hint that comes late is none.
    if (this.#head.versionMinor === 0 || !response.socket || response.headersSent) return
    let text = `HTTP/1.1 ${head.status} ${head.reason}\r\n`
    for (let i = 0; i < head.headers.length; i += 2) text += `${head.headers[i]}: ${head.headers[i + 1]}\r\n`
    response.socket.write(`${text}\r\n`, 'latin1')
  }

  onHead(head: AnswerHead): void {
    if (head.status === 101) throw new BadAnswer('an upgrade that nobody asked for')
    this.#isAnswered = true
    this.#note.answered(head)
    // A target that answers before it has the whole request may never take the rest.
    if (!this.#isBodySent && head.status >= 400) this.#response.shouldKeepAlive = false
    writeAnswerHead(this.#response, this.#head, head)
  }

  onBody(piece: Buffer, isLast: boolean): void {
    this.#note.addResponseBody(piece)
    this.#body.write(piece, isLast)
  }

  onComplete(trailers: [string, string][], mayReuse: boolean): void {
    const stream = this.#stream as TunnelStream
    const carrier = this.#carrier as Carrier
    this.#body.end(trailers)
    this.#finish(null)
    if (mayReuse && this.#isBodySent && !stream.isRemoteEnded && !stream.isClosed && !carrier.isDraining) {
      // What was held has been handed to the visitor's socket by now.
      if (this.#held > 0) stream.taken(this.#held)
      this.#held = 0
      carrier.keep(stream, performance.now())
    } else {
      carrier.release()
      stream.listener = dropping
      if (this.#isBodySent) stream.end()
      else stream.reset(resetCodes.cancelled)
    }
    if (!this.#isBodySent) this.#dropLeftover()
  }

  /** The visitor still sends a body that nobody reads any more: it gets a moment to read its answer. */
  #dropLeftover(): void {
    const request = this.#request as IncomingMessage
    request.resume()
    const timer = setTimeout(() => {
      if (!request.complete) request.destroy()
    }, leftoverMs)
    timer.unref()
  }

  onEnd(): void {
    const reader = this.#reader as AnswerReader
    try {
      reader.finish()
    } catch {
      this.onReset(resetCodes.targetLost)
    }
  }

  /** The stream is gone, or ended before the answer did. */
  onReset(code: number): void {
    if (this.#isOver) return
    if (this.#reader?.isStarted) {
      if (this.#isAnswered) {
        this.#cut(resetCodes.cancelled)
        return
      }
      this.#fail('target_lost', resetCodes.cancelled)
      return
    }
    const carrier = this.#carrier as Carrier
    const isUntouched = code === resetCodes.refused || code === resetCodes.notHere || code === resetCodes.targetUnreachable
    this.#failure = troubleOfReset(code, carrier.isOpen)
    this.#release()
    if (code === resetCodes.notHere) this.#host.forget(carrier)
    // The same client once more over a fresh connection, when it was the kept one that had closed.
    if (!this.#isReused || !carrier.isOpen) this.#tried.add(carrier.id)
    if (this.#isSafe || (isUntouched && this.#request === null)) {
      this.#attempt()
      return
    }
    this.#refuse(this.#failure)
  }

  #release(): void {
    const stream = this.#stream
    if (!stream) return
    this.#carrier?.release()
    stream.listener = dropping
    if (stream.isRemoteEnded) stream.end()
    this.#stream = null
  }

  /** The visitor's connection is closed. */
  visitorGone(): void {
    if (this.#isOver) return
    const stream = this.#stream
    this.#finish('visitor_gone')
    this.#release()
    stream?.reset(resetCodes.cancelled)
  }

  /** No answer has begun: the visitor is told why; one has: it is cut off, so that nobody takes it for whole. */
  #fail(failure: Failure, code: number): void {
    if (this.#isOver) return
    if (this.#isAnswered) {
      this.#cut(code)
      return
    }
    const stream = this.#stream
    this.#release()
    stream?.reset(code)
    this.#refuse(failure)
  }

  #cut(code: number): void {
    const stream = this.#stream
    this.#finish('target_lost')
    this.#release()
    stream?.reset(code)
    this.#response.destroy()
  }

  #refuse(failure: Failure): void {
    if (this.#isOver) return
    const refusal = refusalOf(failure)
    this.#note.refused(refusal.status)
    this.#finish(failure)
    if (!this.#isBodySent) this.#response.shouldKeepAlive = false
    writeRefusal(this.#response, this.#head.method, refusal)
    if (!this.#isBodySent) this.#dropLeftover()
  }

  #finish(error: string | null): void {
    this.#isOver = true
    this.#host.exchanges.delete(this)
    const record = this.#note.finish(error)
    const carrier = this.#carrier
    if (carrier?.wantsReports && this.#lastStream && carrier.isOpen) carrier.report(this.#lastStream, this.#note.report(record))
    this.#host.record(record)
  }
}

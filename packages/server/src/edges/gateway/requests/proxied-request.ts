// One proxied request: picks a client, sends the request over a stream, and returns the response, with backpressure in both directions.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dataBytesMax, resetCodes } from '@callsign/contract/tunnel-frames'
import type { StreamListener, TunnelStream } from '@callsign/contract/tunnel-stream'
import type { RequestRecord, TunnelRoute } from '../../../features/tunnels/model.ts'
import { ClientChoice } from '../clients/client-choice.ts'
import type { ClientSession } from '../clients/client-session.ts'
import { ProxiedRequestRecorder } from '../inspector/proxied-request-record.ts'
import { type Failure, refusalOf, writeRefusal } from '../responses/error-response.ts'
import { stalledMsMax } from '../responses/limit-reading.ts'
import { AnswerBody } from '../responses/response-body.ts'
import { answerHeadText, noteBadAnswer, writeAnswerHead } from '../responses/response-head.ts'
import { type AnswerEvents, type AnswerHead, AnswerReader, BadAnswer } from '../responses/response-reader.ts'
import type { InFlight } from './in-flight.ts'
import type { ProxiedRequestHost } from './proxied-request-host.ts'
import { dropRestOfBody, sendBody } from './request-body.ts'
import type { RequestHead } from './request-head.ts'

export class ProxiedRequest implements InFlight, StreamListener, AnswerEvents {
  place = 0
  readonly #host: ProxiedRequestHost
  readonly #route: TunnelRoute
  readonly #head: RequestHead
  /** Source of the request body, or null without one. */
  readonly #request: IncomingMessage | null
  readonly #response: ServerResponse
  readonly #body: AnswerBody
  readonly #note: ProxiedRequestRecorder
  readonly #choice: ClientChoice
  readonly #isSafe: boolean
  #clientSession: ClientSession | null = null
  #stream: TunnelStream | null = null
  #lastStream: TunnelStream | null = null
  #reader: AnswerReader | null = null
  #isReused = false
  #isBodySent: boolean
  #isAnswered = false
  #isOver = false
  #record: RequestRecord | null = null
  #onAttemptOver: (record: RequestRecord | null) => void = () => {}
  /** Bytes of the response that the public client has not read yet. */
  #held = 0
  #waitingSinceMs: number

  constructor(host: ProxiedRequestHost, route: TunnelRoute, head: RequestHead, request: IncomingMessage, response: ServerResponse) {
    this.#host = host
    this.#route = route
    this.#head = head
    this.#response = response
    this.#body = new AnswerBody(response)
    this.#request = head.fields.body === 'none' ? null : request
    this.#isSafe = this.#request === null && ['GET', 'HEAD', 'OPTIONS'].includes(head.method)
    this.#isBodySent = this.#request === null
    this.#waitingSinceMs = performance.now()
    this.#choice = new ClientChoice(host, route.id)
    this.#note = new ProxiedRequestRecorder(route, head, host.replayOf)
    response.sendDate = false
    response.on('close', () => this.#onPublicClose())
    response.on('drain', () => this.#onPublicDrain())
    response.on('error', () => {})
    request.on('error', () => {})
    host.proxiedRequests.add(this)
  }

  /** A client that was not tried yet, or the reason why there is none. */
  chooseClient(): Promise<ClientSession | Failure> {
    return this.#choice.next()
  }

  /** Ends a request that has waited too long. */
  check(nowMs: number): void {
    const waitedMs = nowMs - this.#waitingSinceMs
    if (!this.#isAnswered && this.#isBodySent && waitedMs > this.#host.answerMsMax) {
      this.#fail('target_timeout', resetCodes.idle)
      return
    }
    const isStalled = this.#held > 0 || !this.#isBodySent
    if (isStalled && waitedMs > stalledMsMax) this.#isAnswered ? this.#cut(resetCodes.idle) : this.#fail('target_timeout', resetCodes.idle)
  }

  /** Ends the request because the process stops. */
  abort(): void {
    this.#fail('tunnel_lost', resetCodes.cancelled)
  }

  /** Asks the public client to use another connection for its next request. */
  closeAfter(): void {
    if (!this.#response.headersSent) this.#response.shouldKeepAlive = false
  }

  /**
   * Sends the request to this client and the response back. Resolves with the record of the request, or with null when the client was lost
   * and another one may be tried.
   */
  send(clientSession: ClientSession): Promise<RequestRecord | null> {
    return new Promise((resolve) => {
      this.#onAttemptOver = resolve
      if (this.#record) resolve(this.#record)
      else this.#send(clientSession)
    })
  }

  #send(clientSession: ClientSession): void {
    const bytes = this.#head.toBytes(clientSession.target)
    if (bytes.length > dataBytesMax) {
      this.refuse('bad_answer')
      return
    }
    this.#clientSession = clientSession
    // The target may be about to close an idle connection. Only requests that may be repeated are sent over one.
    const kept = this.#isSafe ? clientSession.reuse() : null
    this.#isReused = kept !== null
    const stream = kept ?? clientSession.open(bytes)
    this.#stream = stream
    this.#lastStream = stream
    this.#reader = new AnswerReader(this.#head.method, clientSession.heads, this)
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
      // Bytes after the response would be taken for the response to another request.
      if (rest && !stream.isClosed) stream.reset(resetCodes.protocolError)
      if (this.#isAnswered && !this.#isOver) this.#body.flush()
    } catch (error) {
      noteBadAnswer(this.#host.log, this.#route.id, error)
      this.#fail('bad_answer', resetCodes.protocolError)
      return
    }
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

  /** The public client reads again. */
  #onPublicDrain(): void {
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
    // The response has no socket while it waits behind another on the same connection. A 1xx that arrives after the head is too late.
    if (this.#head.versionMinor === 0 || !response.socket || response.headersSent) return
    response.socket.write(answerHeadText(head, this.#head, this.#clientSession?.target ?? null), 'latin1')
  }

  onHead(head: AnswerHead): void {
    if (head.status === 101) throw new BadAnswer('an upgrade that was not requested')
    this.#isAnswered = true
    this.#note.answered(head)
    // A target that responds before it has the whole request may never read the rest.
    if (!this.#isBodySent && head.status >= 400) this.#response.shouldKeepAlive = false
    this.#body.start(() => writeAnswerHead(this.#response, this.#head, this.#clientSession?.target ?? null, head))
  }

  onBody(piece: Buffer, isLast: boolean): void {
    this.#note.addResponseBody(piece)
    this.#body.write(piece, isLast)
  }

  onComplete(trailers: [string, string][], mayReuse: boolean): void {
    const stream = this.#stream as TunnelStream
    const clientSession = this.#clientSession as ClientSession
    this.#body.end(trailers)
    this.#finish(null)
    if (mayReuse && this.#isBodySent && !stream.isRemoteEnded && !stream.isClosed && !clientSession.isDraining) {
      // All of these bytes have been handed to the public socket by now.
      if (this.#held > 0) stream.taken(this.#held)
      this.#held = 0
      clientSession.keep(stream, performance.now())
    } else {
      clientSession.release(stream)
      if (this.#isBodySent) stream.end()
      else stream.reset(resetCodes.cancelled)
    }
    if (!this.#isBodySent) dropRestOfBody(this.#request as IncomingMessage)
  }

  onEnd(): void {
    const reader = this.#reader as AnswerReader
    try {
      reader.finish()
    } catch {
      this.onReset(resetCodes.targetLost)
    }
  }

  /** The stream was reset, or ended before the response did. */
  onReset(code: number): void {
    if (this.#isOver) return
    if (this.#reader?.isStarted) {
      this.#fail('target_lost', resetCodes.cancelled)
      return
    }
    const clientSession = this.#clientSession as ClientSession
    const isUntouched = code === resetCodes.refused || code === resetCodes.notHere || code === resetCodes.targetUnreachable
    // The same client is tried again over a new stream when only the reused one had closed.
    const failure = this.#choice.lost(clientSession, code, this.#isReused)
    this.#release()
    if (this.#isSafe || (isUntouched && this.#request === null)) this.#onAttemptOver(null)
    else this.refuse(failure)
  }

  #release(): void {
    const stream = this.#stream
    if (!stream) return
    this.#clientSession?.release(stream)
    if (stream.isRemoteEnded) stream.end()
    this.#stream = null
  }

  /** The public connection is closed. */
  #onPublicClose(): void {
    if (this.#isOver) return
    const stream = this.#stream
    this.#finish('request_aborted')
    this.#release()
    stream?.reset(resetCodes.cancelled)
  }

  /**
   * Sends the failure as a response. If one has started, the connection is cut, so that the truncated response is not taken for complete.
   */
  #fail(failure: Failure, code: number): void {
    if (this.#isOver) return
    if (this.#isAnswered && this.#body.isBegun) {
      this.#cut(code, failure === 'bad_answer' ? failure : 'target_lost')
      return
    }
    const stream = this.#stream
    this.#release()
    stream?.reset(code)
    this.refuse(failure)
  }

  #cut(code: number, failure: Failure = 'target_lost'): void {
    const stream = this.#stream
    this.#finish(failure)
    this.#release()
    stream?.reset(code)
    this.#body.cut()
  }

  /** Ends the request, unless it is over, with a response of the gateway. Returns its record. */
  refuse(failure: Failure): RequestRecord | null {
    if (this.#isOver) return this.#record
    const refusal = refusalOf(failure)
    this.#note.refused(refusal.status)
    this.#finish(failure)
    if (!this.#isBodySent) this.#response.shouldKeepAlive = false
    writeRefusal(this.#response, { method: this.#head.method, wantsPage: this.#head.fields.wantsPage }, refusal)
    if (!this.#isBodySent) dropRestOfBody(this.#request as IncomingMessage)
    return this.#record
  }

  #finish(error: string | null): void {
    this.#isOver = true
    this.#host.proxiedRequests.delete(this)
    const record = this.#note.finish(error)
    const clientSession = this.#clientSession
    if (clientSession?.wantsReports && this.#lastStream && clientSession.isOpen)
      clientSession.report(this.#lastStream, this.#note.report(record))
    this.#record = record
    this.#onAttemptOver(record)
  }
}

// A proxied WebSocket: the opening is sent over a stream like any request. After the target's 101, bytes are relayed unchanged in both
// directions.
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { resetCodes } from '@callsign/contract/tunnel-frames'
import type { TunnelStream } from '@callsign/contract/tunnel-stream'
import type { TunnelRoute } from '../../../features/tunnels/model.ts'
import { ClientChoice } from '../clients/client-choice.ts'
import type { ClientSession } from '../clients/client-session.ts'
import { ProxiedRequestRecorder } from '../inspector/proxied-request-record.ts'
import { BufferedBytes, smallChunkBytesMax } from '../responses/buffered-bytes.ts'
import { type Failure, refusalOf, refusalText } from '../responses/error-response.ts'
import { stalledMsMax } from '../responses/limit-reading.ts'
import { answerHeadText, noteBadAnswer, writeAnswerHead } from '../responses/response-head.ts'
import { type AnswerHead, AnswerReader, BadAnswer } from '../responses/response-reader.ts'
import type { InFlight } from './in-flight.ts'
import type { ProxiedRequestHost } from './proxied-request-host.ts'
import type { RequestHead } from './request-head.ts'

const keepAliveMs = 30_000
const lingerMs = 2000

export class ProxiedUpgrade implements InFlight {
  place = 0
  readonly #host: ProxiedRequestHost
  readonly #route: TunnelRoute
  readonly #head: RequestHead
  readonly #request: IncomingMessage
  readonly #socket: Socket
  readonly #early: Buffer
  readonly #note: ProxiedRequestRecorder
  readonly #choice: ClientChoice
  readonly #startedMs = performance.now()
  #clientSession: ClientSession | null = null
  #stream: TunnelStream | null = null
  /** Set when the target has refused the upgrade with an ordinary response. */
  #response: ServerResponse | null = null
  /** An ordinary response of which nothing was written yet. */
  #pendingHead: AnswerHead | null = null
  #isAnswered = false
  /** True once something of the response was written. */
  #isBegun = false
  #isUpgraded = false
  #isOver = false
  #held = 0
  /** Small chunks held for the public client. */
  readonly #buffered = new BufferedBytes()
  #heldSinceMs = 0

  constructor(host: ProxiedRequestHost, route: TunnelRoute, head: RequestHead, request: IncomingMessage, socket: Socket, early: Buffer) {
    this.#host = host
    this.#route = route
    this.#head = head
    this.#request = request
    this.#socket = socket
    this.#early = early
    this.#choice = new ClientChoice(host, route.id)
    this.#note = new ProxiedRequestRecorder(route, head)
  }

  start(): void {
    const socket = this.#socket
    socket.setNoDelay(true)
    // TCP keepalive detects a public client that has lost its network.
    socket.setKeepAlive(true, keepAliveMs)
    socket.setTimeout(0)
    socket.on('error', () => {})
    socket.on('close', () => this.#end('request_aborted', resetCodes.cancelled))
    socket.on('drain', () => {
      this.#writeBuffered()
      if (socket.writableNeedDrain) return
      const held = this.#held
      this.#held = 0
      if (held > 0) this.#stream?.taken(held)
    })
    this.#host.proxiedRequests.add(this)
    void this.#next()
  }

  check(nowMs: number): void {
    if (!this.#isAnswered && nowMs - this.#startedMs > this.#host.answerMsMax) this.#refuse('target_timeout')
    if (this.#response && this.#held > 0 && nowMs - this.#heldSinceMs > stalledMsMax) this.#cut()
  }
  abort(): void {
    if (this.#isAnswered) this.#cut()
    else this.#refuse('tunnel_lost')
  }
  closeAfter(): void {}

  async #next(): Promise<void> {
    const client = await this.#choice.next()
    if (typeof client === 'string') this.#refuse(client)
    else if (!this.#isOver) this.#send(client)
  }

  /** Sends the opening to this client. */
  #send(clientSession: ClientSession): void {
    this.#clientSession = clientSession
    const stream = clientSession.open(this.#head.toBytes(clientSession.target))
    this.#stream = stream
    const reader = new AnswerReader('GET', clientSession.heads, {
      onInformation: () => {},
      onHead: (head) => this.#onHead(head),
      onBody: (piece) => this.#toPublicClient(piece),
      onComplete: () => {
        this.#beginAnswer()
        this.#writeBuffered()
        this.#response?.end()
        this.#end(null, resetCodes.cancelled)
      },
    })
    stream.listener = {
      onData: (bytes) => {
        const piece = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
        if (this.#isUpgraded) return this.#toPublicClient(piece)
        try {
          const rest = reader.push(piece)
          this.#beginAnswer()
          this.#passedOn(piece.length - (rest?.length ?? 0))
          if (rest && this.#isUpgraded) this.#toPublicClient(rest)
        } catch (error) {
          noteBadAnswer(this.#host.log, this.#route.id, error)
          this.#pendingHead = null
          this.#isBegun ? this.#cut('bad_answer') : this.#refuse('bad_answer')
        }
      },
      onEnd: () => {
        if (this.#isUpgraded) {
          this.#writeBuffered()
          return void this.#socket.end()
        }
        try {
          reader.finish()
        } catch {
          this.#onLost(resetCodes.targetLost)
        }
      },
      onReset: (code) => this.#onLost(code),
      onDrain: () => void this.#socket.resume(),
    }
  }

  #onHead(head: AnswerHead): void {
    if (head.status === 101 && head.upgrade?.toLowerCase() !== 'websocket') throw new BadAnswer('an upgrade to something else')
    this.#isAnswered = true
    this.#note.answered(head)
    const socket = this.#socket
    if (head.status !== 101) {
      this.#pendingHead = head
      return
    }
    this.#isBegun = true
    this.#isUpgraded = true
    socket.write(
      answerHeadText(head, this.#head, this.#clientSession?.target ?? null, 'Upgrade: websocket\r\nConnection: Upgrade\r\n'),
      'latin1',
    )
    const stream = this.#stream as TunnelStream
    const fromPublicClient = (piece: Buffer) => {
      this.#note.addRequestBody(piece)
      if (!stream.write(piece)) socket.pause()
    }
    if (this.#early.length > 0) fromPublicClient(this.#early)
    socket.on('data', fromPublicClient)
    socket.on('end', () => stream.end())
    socket.resume()
  }

  /** Begins an ordinary response with its first bytes, so that one which turns out to be invalid is not begun. */
  #beginAnswer(): void {
    const head = this.#pendingHead
    if (!head) return
    this.#pendingHead = null
    this.#isBegun = true
    const response = new ServerResponse(this.#request)
    response.shouldKeepAlive = false
    response.sendDate = false
    response.assignSocket(this.#socket)
    response.on('error', () => {})
    response.on('finish', () => this.#hangUp())
    writeAnswerHead(response, this.#head, this.#clientSession?.target ?? null, head)
    this.#response = response
  }

  /** After an ordinary response, reads on for a while, so that the public client can read the response and close. */
  #hangUp(): void {
    const socket = this.#socket
    socket.end()
    socket.resume()
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    timer.unref()
    socket.once('close', () => clearTimeout(timer))
  }

  #toPublicClient(piece: Buffer): void {
    this.#beginAnswer()
    this.#note.addResponseBody(piece)
    if (piece.length <= smallChunkBytesMax && this.#socket.writableNeedDrain) this.#buffered.add(piece)
    else {
      this.#writeBuffered()
      if (this.#response) this.#response.write(piece)
      else this.#socket.write(piece)
    }
    if (this.#isUpgraded) this.#passedOn(piece.length)
  }

  #writeBuffered(): void {
    if (this.#buffered.size === 0) return
    const to = this.#response ?? this.#socket
    to.write(this.#buffered.take())
  }

  /** Grants the target more bytes, or waits while the public client's socket is full. */
  #passedOn(bytes: number): void {
    if (!this.#socket.writableNeedDrain) {
      this.#stream?.taken(bytes)
      return
    }
    if (this.#held === 0) this.#heldSinceMs = performance.now()
    this.#held += bytes
  }

  #onLost(code: number): void {
    if (this.#isOver) return
    if (this.#isAnswered) {
      this.#cut()
      return
    }
    const clientSession = this.#clientSession as ClientSession
    this.#choice.lost(clientSession, code, false)
    clientSession.release(this.#stream)
    this.#clientSession = null
    this.#stream = null
    // A WebSocket opening is a GET without a body, so it may be repeated.
    void this.#next()
  }

  #refuse(failure: Failure): void {
    if (this.#isOver) return
    const answer = refusalOf(failure)
    this.#note.refused(answer.status)
    const socket = this.#socket
    this.#end(failure, resetCodes.cancelled)
    socket.end(refusalText(answer), () => socket.destroy())
  }

  #cut(failure: Failure = 'target_lost'): void {
    this.#end(failure, resetCodes.cancelled)
    this.#socket.destroy()
  }

  #end(error: string | null, code: number): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#host.proxiedRequests.delete(this)
    const [clientSession, stream] = [this.#clientSession, this.#stream]
    // The close of an upgraded connection is its normal end.
    const record = this.#note.finish(this.#isUpgraded && error === 'request_aborted' ? null : error)
    if (clientSession?.wantsReports && stream && clientSession.isOpen) clientSession.report(stream, this.#note.report(record))
    this.#host.record(record, this.#route, this.#head)
    clientSession?.release(stream)
    stream?.reset(code)
  }
}

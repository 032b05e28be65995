// A visitor's WebSocket: the opening goes over a stream like any request; once the target has said 101, bytes go both ways as they are.
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { resetCodes } from '@callsign/contract/tunnel-frames'
import type { TunnelStream } from '@callsign/contract/tunnel-stream'
import type { TunnelRoute } from '../../features/tunnels/model.ts'
import { crumbBytesMax, GatheredBytes } from './buffered-bytes.ts'
import type { Carrier } from './client-session.ts'
import { type Failure, refusalOf, refusalText, troubleOfReset } from './error-response.ts'
import type { UnderWay } from './in-flight.ts'
import { type ExchangeHost, stalledMsMax } from './proxied-request-host.ts'
import { ExchangeNote } from './proxied-request-record.ts'
import type { RequestHead } from './request-head.ts'
import { noteBadAnswer, writeAnswerHead } from './response-head.ts'
import { type AnswerHead, AnswerReader, BadAnswer } from './response-reader.ts'

const keepAliveMs = 30_000
const attemptsMax = 4
const lingerMs = 2000

export class UpgradeExchange implements UnderWay {
  place = 0
  readonly #host: ExchangeHost
  readonly #route: TunnelRoute
  readonly #head: RequestHead
  readonly #request: IncomingMessage
  readonly #socket: Socket
  readonly #early: Buffer
  readonly #note: ExchangeNote
  readonly #tried = new Set<string>()
  readonly #startedMs = performance.now()
  #attempts = 0
  #carrier: Carrier | null = null
  #stream: TunnelStream | null = null
  /** Set when the target has refused to upgrade: its answer is an ordinary one. */
  #response: ServerResponse | null = null
  #isAnswered = false
  #isUpgraded = false
  #isOver = false
  #held = 0
  /** The last of what is held, when it came in crumbs. */
  readonly #crumbs = new GatheredBytes()
  #heldSinceMs = 0

  constructor(host: ExchangeHost, route: TunnelRoute, head: RequestHead, request: IncomingMessage, socket: Socket, early: Buffer) {
    this.#host = host
    this.#route = route
    this.#head = head
    this.#request = request
    this.#socket = socket
    this.#early = early
    this.#note = new ExchangeNote(route, head)
  }

  start(): void {
    const socket = this.#socket
    socket.setNoDelay(true)
    // A visitor whose line is cut says nothing.
    socket.setKeepAlive(true, keepAliveMs)
    socket.setTimeout(0)
    socket.on('error', () => {})
    socket.on('close', () => this.#end('visitor_gone', resetCodes.cancelled))
    socket.on('drain', () => {
      this.#writeCrumbs()
      if (socket.writableNeedDrain) return
      const held = this.#held
      this.#held = 0
      if (held > 0) this.#stream?.taken(held)
    })
    this.#host.exchanges.add(this)
    void this.#attempt(null)
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

  async #attempt(failure: Failure | null): Promise<void> {
    if (this.#isOver) return
    const wrong = failure ?? 'tunnel_offline'
    if (this.#attempts++ === attemptsMax) return this.#refuse(wrong)
    let carrier: Carrier | null
    try {
      carrier = await this.#host.pick(this.#route.id, this.#tried)
    } catch {
      return this.#refuse('unavailable')
    }
    if (this.#isOver) return
    if (!carrier) return this.#refuse(wrong)
    if (carrier.load >= this.#host.streamsMax || carrier.isChoked) return this.#refuse('tunnel_busy')
    this.#carrier = carrier
    const stream = carrier.open(this.#head.toBytes(carrier.hostHeader))
    this.#stream = stream
    const reader = new AnswerReader('GET', carrier.heads, {
      onInformation: () => {},
      onHead: (head) => this.#onHead(head),
      onBody: (piece) => this.#toVisitor(piece),
      onComplete: () => {
        this.#writeCrumbs()
        this.#response?.end()
        this.#end(null, resetCodes.cancelled)
      },
    })
    stream.listener = {
      onData: (bytes) => {
        const piece = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
        if (this.#isUpgraded) return this.#toVisitor(piece)
        try {
          const rest = reader.push(piece)
          this.#passedOn(piece.length - (rest?.length ?? 0))
          if (rest && this.#isUpgraded) this.#toVisitor(rest)
        } catch (error) {
          noteBadAnswer(this.#host.log, this.#route.id, error)
          this.#isAnswered ? this.#cut() : this.#refuse('bad_answer')
        }
      },
      onEnd: () => {
        if (this.#isUpgraded) {
          this.#writeCrumbs()
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
      const response = new ServerResponse(this.#request)
      response.shouldKeepAlive = false
      response.sendDate = false
      response.assignSocket(socket)
      response.on('error', () => {})
      response.on('finish', () => this.#hangUp())
      writeAnswerHead(response, this.#head, head)
      this.#response = response
      return
    }
    this.#isUpgraded = true
    let text = `HTTP/1.1 101 ${head.reason}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`
    for (let i = 0; i < head.headers.length; i += 2) text += `${head.headers[i]}: ${head.headers[i + 1]}\r\n`
    socket.write(`${text}\r\n`, 'latin1')
    const stream = this.#stream as TunnelStream
    const fromVisitor = (piece: Buffer) => {
      this.#note.addRequestBody(piece)
      if (!stream.write(piece)) socket.pause()
    }
    if (this.#early.length > 0) fromVisitor(this.#early)
    socket.on('data', fromVisitor)
    socket.on('end', () => stream.end())
    socket.resume()
  }

  /** After an ordinary answer: the visitor gets a moment to read it, and what it still sends has to be read for its end to be seen. */
  #hangUp(): void {
    const socket = this.#socket
    socket.end()
    socket.resume()
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    timer.unref()
    socket.once('close', () => clearTimeout(timer))
  }

  #toVisitor(piece: Buffer): void {
    this.#note.addResponseBody(piece)
    if (piece.length <= crumbBytesMax && this.#socket.writableNeedDrain) this.#crumbs.add(piece)
    else {
      this.#writeCrumbs()
      if (this.#response) this.#response.write(piece)
      else this.#socket.write(piece)
    }
    if (this.#isUpgraded) this.#passedOn(piece.length)
  }

  #writeCrumbs(): void {
    if (this.#crumbs.size === 0) return
    const to = this.#response ?? this.#socket
    to.write(this.#crumbs.take())
  }

  /** Bytes of the target have been handed to the visitor's socket, which may have enough for now. */
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
    const carrier = this.#carrier as Carrier
    this.#tried.add(carrier.id)
    carrier.release()
    this.#carrier = null
    this.#stream = null
    if (code === resetCodes.notHere) this.#host.forget(carrier)
    // An opening of a WebSocket is a GET without a body: it may be asked again.
    void this.#attempt(troubleOfReset(code, carrier.isOpen))
  }

  #refuse(failure: Failure): void {
    if (this.#isOver) return
    const answer = refusalOf(failure)
    this.#note.refused(answer.status)
    const socket = this.#socket
    this.#end(failure, resetCodes.cancelled)
    socket.end(refusalText(answer), () => socket.destroy())
  }

  #cut(): void {
    this.#end('target_lost', resetCodes.cancelled)
    this.#socket.destroy()
  }

  #end(error: string | null, code: number): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#host.exchanges.delete(this)
    const [carrier, stream] = [this.#carrier, this.#stream]
    // An upgraded connection that was closed has done what it was for.
    const record = this.#note.finish(this.#isUpgraded && error === 'visitor_gone' ? null : error)
    if (carrier?.wantsReports && stream && carrier.isOpen) carrier.report(stream, this.#note.report(record))
    this.#host.record(record)
    carrier?.release()
    stream?.reset(code)
  }
}

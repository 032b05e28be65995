// One connection with a checked peer for posts, one after the other: writes requests and reads their answers.
import type { Socket } from 'node:net'
import { AnswerReader, type PostAnswer } from './answer-reader.ts'
import { lost, timedOut, unusable } from './failures.ts'

/** Larger requests are written as two pieces, without a copy of their body. */
const copiedBytesMax = 16 * 1024

type Exchange = { reader: AnswerReader; resolve: (answer: PostAnswer) => void; reject: (error: unknown) => void; timer: NodeJS.Timeout }

export class PostLine {
  readonly openedMs = performance.now()
  readonly #socket: Socket
  #exchange: Exchange | null = null
  #bytesRead = 0
  /** Called once when the connection ends. */
  onClose: (() => void) | null = null

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (bytes) => this.#read(bytes))
    socket.on('end', () => this.#end(lost()))
    socket.on('error', (error) => this.#end(failureOf(error)))
    socket.on('close', () => {
      this.#end(lost())
      this.onClose?.()
    })
  }

  /** False for a connection that has ended, or that still sends an earlier request. */
  get isUsable(): boolean {
    return !this.#socket.destroyed && this.#socket.writable && this.#socket.writableLength === 0
  }

  /** True when the request in flight, or the last one, has got a byte of its answer. */
  get isAnswered(): boolean {
    return this.#bytesRead > 0
  }

  /**
   * Sends a request whose head ends with an empty line. Resolves when its answer is complete, or has broken off behind its head. Rejects with
   * FetchRefused. After `timeoutMs` the connection is closed.
   */
  post(head: string, body: Buffer, snippetBytesMax: number, timeoutMs: number): Promise<PostAnswer> {
    if (this.#socket.destroyed) return Promise.reject(lost())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#end(timedOut()), timeoutMs)
      this.#exchange = { reader: new AnswerReader(snippetBytesMax), resolve, reject, timer }
      this.#bytesRead = 0
      if (head.length + body.length <= copiedBytesMax) {
        this.#socket.write(head + body.toString('latin1'), 'latin1')
        return
      }
      this.#socket.cork()
      this.#socket.write(head, 'latin1')
      this.#socket.write(body)
      this.#socket.uncork()
    })
  }

  /** Closes the connection, with the request in flight on it. */
  close(): void {
    this.#end(lost())
  }

  #read(bytes: Buffer): void {
    const exchange = this.#exchange
    if (!exchange) {
      // Bytes without a request could be taken for the answer to the next one.
      this.close()
      return
    }
    this.#bytesRead += bytes.length
    try {
      const answer = exchange.reader.read(bytes)
      if (!answer) return
      this.#over(exchange)
      if (answer.keptMs === null) this.#socket.destroy()
      exchange.resolve(answer)
    } catch (error) {
      this.#end(error)
    }
  }

  /** The status decides, so a body that breaks off does not change the result. */
  #end(error: unknown): void {
    this.#socket.destroy()
    const exchange = this.#exchange
    if (!exchange) return
    this.#over(exchange)
    if (exchange.reader.hasStatus) exchange.resolve(exchange.reader.finish())
    else exchange.reject(error)
  }

  #over({ timer }: Exchange): void {
    clearTimeout(timer)
    this.#exchange = null
  }
}

const lostPattern = /^(ECONNRESET|EPIPE|ETIMEDOUT|ECONNABORTED|ERR_STREAM_DESTROYED|ERR_STREAM_WRITE_AFTER_END)$/

function failureOf(error: Error): Error {
  const code = 'code' in error ? String(error.code) : ''
  return lostPattern.test(code) ? lost() : unusable()
}

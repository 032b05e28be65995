// Reads the answer to one POST as its bytes arrive. Keeps the status and the first bytes of the body.
import { isAscii } from 'node:buffer'
import { type AnswerHead, readAnswerHead } from './answer-head.ts'
import { BoundedBytes } from './bounded-bytes.ts'
import { notHttp, tooLargeHead } from './failures.ts'

const headBytesMax = 16 * 1024
/** Bytes that are read of a body, so that an ordinary receiver can send it completely. */
const bodyBytesMax = 64 * 1024
const headEnd = '\r\n\r\n'
const headStart = 'HTTP/1.'
const none = Buffer.alloc(0)

/** Limit of a line with a chunk's size and extensions, and of all trailers together. */
const linesBytesMax = 16 * 1024
const sizePattern = /^([0-9a-fA-F]{1,8})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/
const trailerPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/

/** Chunks that do not follow the grammar. */
class BadChunks extends Error {
  override name = 'BadChunks'
}

/** Decodes the chunked transfer coding as its bytes arrive (RFC 9112 §7.1). */
class ChunkReader {
  #next: 'size' | 'data' | 'data-end' | 'trailer' | 'end' = 'size'
  #line = ''
  #left = 0
  #trailerBytes = 0

  /** Reads from an offset, and gives the data to `take`. Returns the offset behind the last trailer, or null before it. Throws BadChunks. */
  read(bytes: Buffer, from: number, take: (data: Buffer) => void): number | null {
    let at = from
    while (at < bytes.length) {
      if (this.#next === 'data') {
        const end = Math.min(bytes.length, at + this.#left)
        take(bytes.subarray(at, end))
        this.#left -= end - at
        at = end
        if (this.#left === 0) this.#next = 'data-end'
        continue
      }
      const feed = bytes.indexOf(10, at)
      const end = feed < 0 ? bytes.length : feed + 1
      if (this.#line.length + end - at > linesBytesMax) throw new BadChunks('A line of the chunks is too long.')
      this.#line += bytes.toString('latin1', at, end)
      at = end
      if (feed < 0) break
      this.#endLine()
      if (this.#next === 'end') return at
    }
    return null
  }

  #endLine(): void {
    if (!this.#line.endsWith('\r\n')) throw new BadChunks('A line of the chunks does not end with CRLF.')
    const line = this.#line.slice(0, -2)
    this.#line = ''
    if (this.#next === 'size') {
      const size = sizePattern.exec(line)?.[1]
      if (size === undefined) throw new BadChunks('The size of a chunk is not hexadecimal.')
      this.#left = Number.parseInt(size, 16)
      this.#next = this.#left === 0 ? 'trailer' : 'data'
    } else if (this.#next === 'data-end') {
      if (line !== '') throw new BadChunks('A chunk is longer than its size.')
      this.#next = 'size'
    } else if (line === '') this.#next = 'end'
    else {
      this.#trailerBytes += line.length
      if (!trailerPattern.test(line) || this.#trailerBytes > linesBytesMax) throw new BadChunks('A trailer is not a field.')
    }
  }
}

/** An answer. `keptMs` is the time for which its server keeps the idle connection, null when the connection cannot be used again. */
export type PostAnswer = { status: number; retryAfter: string | null; snippet: string; keptMs: number | null }

export class AnswerReader {
  readonly #snippetBytesMax: number
  #headText = ''
  #headBytes = 0
  #head: AnswerHead | null = null
  #chunks: ChunkReader | null = null
  #bodyBytes = 0
  #isWhole = false
  /** The only part of the body so far, which is copied when it has to outlive its read. */
  #part: Buffer = none
  #held: BoundedBytes | null = null

  constructor(snippetBytesMax: number) {
    this.#snippetBytesMax = snippetBytesMax
  }

  /** True once the head has arrived. A body that breaks off later does not change the result. */
  get hasStatus(): boolean {
    return this.#head !== null
  }

  /** Reads the next bytes, which may change afterwards. Returns the answer when it is complete or too long. Throws FetchRefused for a bad head. */
  read(bytes: Buffer): PostAnswer | null {
    const from = this.#head ? 0 : this.#readHead(bytes)
    if (from === null || this.#readBody(bytes, from)) return this.#head && this.finish()
    if (this.#part.length > 0) this.#hold()
    return null
  }

  /** The answer to a request whose connection has ended, or whose time is over. Call it only when `hasStatus`. */
  finish(): PostAnswer {
    const { status, retryAfter, isEncoded, isKept, keptMs } = this.#head as AnswerHead
    const bytes = (this.#held?.bytes ?? this.#part).subarray(0, this.#snippetBytesMax)
    const isReusable = this.#isWhole && isKept
    return { status, retryAfter, snippet: isEncoded ? '' : toText(bytes), keptMs: isReusable ? (keptMs ?? Number.POSITIVE_INFINITY) : null }
  }

  /** Returns the offset of the body, or null before it. Interim answers come first (RFC 9110 §15.2). */
  #readHead(bytes: Buffer): number | null {
    let at = 0
    while (!this.#head) {
      const before = this.#headText.length
      const text = this.#headText + bytes.toString('latin1', at, Math.min(bytes.length, at + headBytesMax + 1))
      const end = text.indexOf(headEnd, Math.max(0, before - headEnd.length + 1))
      if (!text.startsWith(headStart.slice(0, text.length))) throw notHttp()
      if (this.#headBytes + (end < 0 ? text.length : end) > headBytesMax) throw tooLargeHead()
      if (end < 0) {
        this.#headText = text
        return null
      }
      const head = readAnswerHead(text.slice(0, end + 2))
      at += end + headEnd.length - before
      this.#headText = ''
      this.#headBytes += end
      if (head.status === 101) throw notHttp()
      if (head.status < 200) continue
      this.#head = head
      if (head.body === 'chunked') this.#chunks = new ChunkReader()
    }
    return at
  }

  /** True when the body is complete, or is not read further. */
  #readBody(bytes: Buffer, from: number): boolean {
    const { body } = this.#head as AnswerHead
    let end: number | null = bytes.length
    if (this.#chunks) {
      try {
        end = this.#chunks.read(bytes, from, (data) => this.#take(data))
      } catch (error) {
        if (error instanceof BadChunks) return true
        throw error
      }
      // Bytes behind the answer do not belong to any request.
      this.#isWhole = end === bytes.length
    } else if (typeof body === 'number') {
      const left = body - this.#bodyBytes
      this.#take(bytes.subarray(from, from + left))
      this.#isWhole = bytes.length - from === left
      end = bytes.length - from >= left ? from + left : null
    } else {
      this.#take(bytes.subarray(from))
      end = null
    }
    if (this.#bodyBytes > bodyBytesMax) this.#isWhole = false
    return end !== null || this.#bodyBytes > bodyBytesMax
  }

  #take(data: Buffer): void {
    if (data.length === 0) return
    const isFirst = this.#bodyBytes === 0
    this.#bodyBytes += data.length
    if (isFirst) {
      this.#part = data
      return
    }
    this.#hold()
    this.#held?.append(data)
  }

  #hold(): void {
    this.#held ??= new BoundedBytes(this.#snippetBytesMax)
    if (this.#part.length > 0) this.#held.append(this.#part)
    this.#part = none
  }
}

/** `stream` drops a character that was cut in half. PostgreSQL text cannot contain NUL. */
const toText = (bytes: Buffer): string =>
  (isAscii(bytes) ? bytes.toString('latin1') : new TextDecoder().decode(bytes, { stream: true })).replaceAll('\0', '')

// Strict reader for HTTP/1.1 responses of targets (RFC 9112). A response that two parsers could read differently is refused.
import { readField } from './field-line.ts'
import { filterField, namesDomain, withoutNamed } from './response-filter.ts'

/** The target's bytes are not a response that can be passed on. */
export class BadAnswer extends Error {
  override name = 'BadAnswer'
}

export type AnswerHead = {
  status: number
  reason: string
  /** Alternating names and values, as received, without hop-by-hop headers. */
  headers: string[]
  /** True when a header depends on the request: a cookie with a domain, or a Location. `headersFor` writes it. */
  dependsOnRequest: boolean
  /** Length of the body, or null when it is not announced. */
  length: number | null
  isChunked: boolean
  /** The value of Upgrade on a 101. */
  upgrade: string | null
  /** True when the target keeps its connection open. */
  mayReuse: boolean
}

export type AnswerEvents = {
  /** A 1xx other than 101. */
  onInformation(head: AnswerHead): void
  onHead(head: AnswerHead): void
  /** A chunk of the body. With `isLast` it completes the body, and only onComplete follows. */
  onBody(bytes: Buffer, isLast: boolean): void
  /** The response is complete. With `mayReuse` the stream can carry another request. */
  onComplete(trailers: [string, string][], mayReuse: boolean): void
}

/** Limit for the head with all 1xx heads before it, and for the trailers. */
const headBytesMax = 64 * 1024
const headersMax = 1000
const chunkLineBytesMax = 4096
/** A size with blanks after it and zeros before it, as some servers pad it. The gateway frames the chunk again for the public client. */
const chunkLinePattern = /^0*([0-9A-Fa-f]{1,13})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/
/** Begin of every status line. Anything else is not HTTP, such as the banner of an SSH server, which waits for an answer. */
const versionStart = 'HTTP/1.'
const statusLinePattern = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/

/** Hop-by-hop headers (RFC 9110 section 7.6.1). */
const hopByHop = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'proxy-authenticate', 'te'])

const nothing = Buffer.alloc(0)

/** Reads response heads and caches the last one, because a target repeats the same head often. */
export class AnswerHeads {
  #text = ''
  #head: AnswerHead | null = null

  /** `text` has one character per byte and ends before the empty line. Throws BadAnswer. */
  read(text: string): AnswerHead {
    if (this.#head !== null && this.#text === text) return this.#head
    this.#head = readHead(text)
    this.#text = text
    return this.#head
  }
}

type State = 'head' | 'length' | 'chunk-line' | 'chunk-data' | 'chunk-end' | 'trailers' | 'until-end' | 'done'

export class AnswerReader {
  readonly #method: string
  readonly #events: AnswerEvents
  readonly #heads: AnswerHeads
  #state: State = 'head'
  /** Starts with `#keptBytes` of an incomplete head or line. */
  #buffered: Buffer = nothing
  #keptBytes = 0
  /** Number of bytes already searched for the end of the head or line. */
  #searchedBytes = 0
  #headBytes = 0
  #left = 0
  #mayReuse = false
  #trailers: [string, string][] = []
  #isStarted = false

  constructor(method: string, heads: AnswerHeads, events: AnswerEvents) {
    this.#method = method
    this.#heads = heads
    this.#events = events
  }

  get isDone(): boolean {
    return this.#state === 'done'
  }
  /** True once a byte has arrived. */
  get isStarted(): boolean {
    return this.#isStarted
  }

  /** Reads bytes of the stream. Returns those after the response, which only a 101 may have. Throws BadAnswer. */
  push(bytes: Buffer): Buffer | null {
    this.#isStarted = true
    let rest: Buffer | null = this.#keptBytes > 0 ? this.#append(bytes) : bytes
    while (rest && rest.length > 0 && this.#state !== 'done') rest = this.#step(rest)
    return rest && rest.length > 0 ? rest : null
  }

  /** The stream has ended. Throws BadAnswer when the response is incomplete. */
  finish(): void {
    if (this.#state === 'until-end') {
      this.#end(false)
      return
    }
    if (this.#state !== 'done') throw new BadAnswer('the answer ended too early')
  }

  #step(bytes: Buffer): Buffer | null {
    switch (this.#state) {
      case 'head': {
        const start = bytes.toString('latin1', 0, versionStart.length)
        if (!versionStart.startsWith(start)) throw new BadAnswer('the response does not start with a status line')
        const end = this.#find(bytes, '\r\n\r\n')
        if (end < 0) return this.#keep(bytes, headBytesMax - this.#headBytes)
        this.#countHead(end)
        return this.#takeHead(this.#heads.read(bytes.toString('latin1', 0, end)), bytes.subarray(end + 4))
      }
      case 'length':
      case 'chunk-data': {
        const piece = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes
        this.#left -= piece.length
        const isLast = this.#left === 0 && this.#state === 'length'
        this.#events.onBody(piece, isLast)
        if (this.#left === 0) {
          if (isLast) this.#end(this.#mayReuse)
          else this.#state = 'chunk-end'
        }
        return bytes.subarray(piece.length)
      }
      case 'until-end':
        this.#events.onBody(bytes, false)
        return null
      case 'chunk-end': {
        if (bytes.length < 2) return this.#keep(bytes, 2)
        if (bytes[0] !== 13 || bytes[1] !== 10) throw new BadAnswer('a chunk does not end with CRLF')
        this.#state = 'chunk-line'
        return bytes.subarray(2)
      }
      case 'chunk-line': {
        const end = this.#find(bytes, '\r\n')
        if (end < 0) return this.#keep(bytes, chunkLineBytesMax)
        const line = bytes.toString('latin1', 0, end)
        const size = chunkLinePattern.exec(line)?.[1]
        if (size === undefined) throw new BadAnswer('a chunk has no valid size')
        this.#left = Number.parseInt(size, 16)
        this.#state = this.#left === 0 ? 'trailers' : 'chunk-data'
        return bytes.subarray(end + 2)
      }
      default: {
        const end = this.#find(bytes, '\r\n')
        if (end < 0) return this.#keep(bytes, headBytesMax - this.#headBytes)
        this.#countHead(end)
        const line = bytes.toString('latin1', 0, end)
        if (line === '') this.#end(this.#mayReuse)
        else {
          if (this.#trailers.length >= headersMax) throw new BadAnswer('too many trailers')
          const [name, value] = fieldOf(line)
          if (isTrailer(name.toLowerCase(), value)) this.#trailers.push([name, value])
        }
        return bytes.subarray(end + 2)
      }
    }
  }

  #find(bytes: Buffer, end: string): number {
    const from = this.#searchedBytes
    this.#searchedBytes = 0
    return bytes.indexOf(end, from)
  }

  #countHead(bytes: number): void {
    this.#headBytes += bytes
    if (this.#headBytes > headBytesMax) throw new BadAnswer('the headers of the response are too long')
  }

  /** Keeps a copy of an incomplete head or line. The bytes are part of a larger buffer, which they would keep in memory. */
  #keep(bytes: Buffer, bytesMax: number): null {
    if (bytes.length > bytesMax + 4) throw new BadAnswer('a line or the headers of the response are too long')
    if (bytes.buffer !== this.#buffered.buffer || bytes.byteOffset !== this.#buffered.byteOffset) {
      this.#buffered = Buffer.allocUnsafe(Math.max(256, 2 * bytes.length))
      bytes.copy(this.#buffered)
    }
    this.#keptBytes = bytes.length
    return null
  }

  /** Appends to the kept bytes in a buffer that doubles, because a target may send a head byte by byte. */
  #append(bytes: Buffer): Buffer {
    const kept = this.#keptBytes
    this.#keptBytes = 0
    if (kept + bytes.length > this.#buffered.length) {
      const larger = Buffer.allocUnsafe(2 * (kept + bytes.length))
      this.#buffered.copy(larger, 0, 0, kept)
      this.#buffered = larger
    }
    bytes.copy(this.#buffered, kept)
    // The end may be split between two chunks.
    this.#searchedBytes = Math.max(0, kept - 3)
    return this.#buffered.subarray(0, kept + bytes.length)
  }

  #takeHead(head: AnswerHead, rest: Buffer): Buffer | null {
    const { status, length, isChunked } = head
    this.#mayReuse = head.mayReuse
    if (status < 200 && status !== 101) {
      this.#events.onInformation(head)
      return rest
    }
    if (status === 101) {
      this.#state = 'done'
      this.#events.onHead(head)
      return rest
    }
    this.#events.onHead(head)
    if (this.#method === 'HEAD' || status === 204 || status === 304 || length === 0) this.#end(this.#mayReuse)
    else if (isChunked) this.#state = 'chunk-line'
    else if (length !== null) {
      this.#left = length
      this.#state = 'length'
    } else {
      this.#mayReuse = false
      this.#state = 'until-end'
    }
    return rest
  }

  #end(mayReuse: boolean): void {
    this.#state = 'done'
    this.#events.onComplete(this.#trailers, mayReuse)
  }
}

/** Throws BadAnswer. */
function readHead(text: string): AnswerHead {
  const lines = text.split('\r\n')
  const start = statusLinePattern.exec(lines[0] as string)
  if (!start) throw new BadAnswer('the response does not start with a status line')
  if (lines.length > headersMax) throw new BadAnswer('too many headers')
  const status = Number(start[2])
  const headers: string[] = []
  let connection = ''
  let coding: string | null = null
  let length: string | null = null
  let upgrade: string | null = null
  let dependsOnRequest = false
  for (let i = 1; i < lines.length; i++) {
    const [name, value] = fieldOf(lines[i] as string)
    const lower = name.toLowerCase()
    if (lower === 'connection') connection += `,${value.toLowerCase()}`
    else if (lower === 'transfer-encoding') coding = coding === null ? value.toLowerCase() : `${coding},${value.toLowerCase()}`
    else if (lower === 'content-length') {
      if (!/^\d{1,15}$/.test(value) || (length !== null && length !== value)) throw new BadAnswer('the length of the response is ambiguous')
      // These responses have no body (RFC 9110 section 8.6). A reader that trusts the length would take the next response for one.
      if (length === null && status >= 200 && status !== 204) headers.push(name, value)
      length = value
    } else if (lower === 'upgrade') upgrade = value
    else if (!hopByHop.has(lower)) {
      const kept = filterField(lower, value)
      if (kept !== null) headers.push(name, kept)
      dependsOnRequest ||= lower === 'location' || (lower === 'set-cookie' && namesDomain(value))
    }
  }
  if (coding !== null && (length !== null || coding !== 'chunked' || start[1] === '0'))
    throw new BadAnswer('the length of the response is ambiguous')
  const named = new Set(connection.split(',').map((name) => name.trim()))
  const isChunked = coding !== null
  return {
    status,
    reason: start[3] ?? '',
    headers: named.size > 1 ? withoutNamed(headers, named) : headers,
    dependsOnRequest,
    length: length === null ? null : Number(length),
    isChunked,
    upgrade,
    mayReuse: start[1] === '1' && !named.has('close'),
  }
}

/** A cookie in a trailer has no effect in browsers, but a proxy may merge trailers into the headers (RFC 9110 section 6.5.1). */
const isTrailer = (lower: string, value: string): boolean =>
  !hopByHop.has(lower) && lower !== 'content-length' && lower !== 'set-cookie' && filterField(lower, value) === value

function fieldOf(line: string): [string, string] {
  const field = readField(line)
  if (!field) throw new BadAnswer('a header of the response is malformed')
  return field
}

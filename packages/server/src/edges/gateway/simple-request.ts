// Reads the requests that nobody can read in two ways: GET and HEAD of HTTP/1.1 without a body. All others are Node's parser's to read or refuse.
import { readField } from './field-line.ts'
import type { Visitor } from './forwarding.ts'
import { BadRequest, type RequestFields, RequestHead, readFields } from './request-head.ts'

const startLinePattern = /^(GET|HEAD) (\/[!"$-~]*) HTTP\/1\.1$/
/** They say that something follows, or ask for more than an answer. */
const notSimple = new Set(['content-length', 'transfer-encoding', 'upgrade', 'expect'])
const headBytesMax = 16 * 1024

export type SimpleRequest = {
  /** Of the tunnel that Host names. */
  handle: string
  head: RequestHead
  shouldKeepAlive: boolean
  /** Where the next request begins. */
  end: number
}

type Block = { text: string; handle: string; fields: RequestFields; shouldKeepAlive: boolean }

/** Who the visitor is, asked once a request has come; and the handle of the tunnel that a name stands for, or null. */
type Surroundings = { findVisitor(): Visitor; findHandle(host: string): string | null }

/** Reads the requests of one connection; what a visitor sends with each of them is looked at once. */
export class SimpleRequestReader {
  readonly #surroundings: Surroundings
  #visitor: Visitor | null = null
  #last: Block | null = null

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  /** The request that begins at `at` of this text, a character for each byte; null when it is not simple, not whole, for no tunnel, or to be refused. */
  read(text: string, at: number): SimpleRequest | null {
    const end = text.indexOf('\r\n\r\n', at)
    if (end < 0 || end - at > headBytesMax) return null
    const lineEnd = text.indexOf('\r\n', at)
    const start = startLinePattern.exec(text.slice(at, lineEnd))
    if (!start || lineEnd === end) return null
    const lines = text.slice(lineEnd + 2, end)
    if (this.#last?.text !== lines) {
      const block = this.#readBlock(lines)
      if (!block) return null
      this.#last = block
    }
    const { handle, fields, shouldKeepAlive } = this.#last as Block
    return { handle, head: new RequestHead(start[1] as string, start[2] as string, 1, fields), shouldKeepAlive, end: end + 4 }
  }

  #readBlock(lines: string): Block | null {
    // A copy: parts of a string keep all of it, and this stays for as long as the connection.
    const text = Buffer.from(lines, 'latin1').toString('latin1')
    const headers: Record<string, string> = Object.create(null)
    const rawHeaders: string[] = []
    for (const line of text.split('\r\n')) {
      const field = readField(line)
      if (!field) return null
      const [name, value] = field
      const lower = name.toLowerCase()
      // What is there twice is put together by Node, each name by its own rule.
      if (notSimple.has(lower) || lower in headers) return null
      headers[lower] = value
      rawHeaders.push(name, value)
    }
    const connection = headers.connection?.toLowerCase()
    if (connection !== undefined && connection !== 'keep-alive' && connection !== 'close') return null
    try {
      const handle = headers.host === undefined ? null : this.#surroundings.findHandle(headers.host)
      if (handle === null) return null
      this.#visitor ??= this.#surroundings.findVisitor()
      const fields = readFields({ headers, rawHeaders, httpVersionMinor: 1 }, this.#visitor, false)
      return { text, handle, fields, shouldKeepAlive: connection !== 'close' }
    } catch (error) {
      if (error instanceof BadRequest) return null
      throw error
    }
  }
}

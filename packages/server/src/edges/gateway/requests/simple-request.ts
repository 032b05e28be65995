// Reads requests that are unambiguous: GET, HEAD and methods that Node does not know, of HTTP/1.1 without a body. Node's parser reads or
// refuses all others, and gets those with an unknown method and a body as POST.
import { METHODS } from 'node:http'
import { readField } from '../responses/field-line.ts'
import type { PublicClient } from './forwarding.ts'
import { BadRequest, isRefusedMethod, type RequestFields, RequestHead, readFields } from './request-head.ts'

const startLinePattern = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) (\/[!"$-~]*) HTTP\/1\.1$/
const methodPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32} /
const known = new Set(METHODS)
/** Methods of which Node's parser knows more. */
const others = new Set(METHODS.filter((method) => method !== 'GET' && method !== 'HEAD'))
/** These headers announce a body or ask for more than a response. */
const notSimple = new Set(['content-length', 'transfer-encoding', 'upgrade', 'expect'])
const headBytesMax = 16 * 1024

export type SimpleRequest = {
  /** Handle of the tunnel that Host names. */
  handle: string
  head: RequestHead
  shouldKeepAlive: boolean
  /** Index at which the next request starts. */
  end: number
}

type Block = { text: string; handle: string; fields: RequestFields; shouldKeepAlive: boolean }

/**
 * `findPublicClient` is called once a request has arrived. `findHandle` returns the handle of the tunnel that a host name stands for, or
 * null.
 */
type Surroundings = { findPublicClient(): PublicClient; findHandle(host: string): string | null }

/** Reads the requests of one connection. Header lines that repeat are parsed once. */
export class SimpleRequestReader {
  readonly #surroundings: Surroundings
  #publicClient: PublicClient | null = null
  #last: Block | null = null

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  /**
   * Reads the request that starts at `at`, with one character per byte.
   * Returns null when it is not simple, incomplete, not for a tunnel, or to be refused.
   */
  read(text: string, at: number): SimpleRequest | null {
    const end = text.indexOf('\r\n\r\n', at)
    if (end < 0 || end - at > headBytesMax) return null
    const lineEnd = text.indexOf('\r\n', at)
    const start = startLinePattern.exec(text.slice(at, lineEnd))
    if (!start || lineEnd === end || others.has(start[1] as string) || isRefusedMethod(start[1] as string)) return null
    const lines = text.slice(lineEnd + 2, end)
    if (this.#last?.text !== lines) {
      const block = this.#readBlock(lines)
      if (!block) return null
      this.#last = block
    }
    const { handle, fields, shouldKeepAlive } = this.#last as Block
    return { handle, head: new RequestHead(start[1] as string, start[2] as string, 1, fields), shouldKeepAlive, end: end + 4 }
  }

  /**
   * The method at `at` if Node's parser does not know it and the request is for a tunnel. Node then reads the request under another
   * method. `isWhole` is false when more of the head has to arrive. Null leaves the request to Node as it is.
   */
  readUnknownMethod(text: string, at: number): { method: string; isWhole: boolean } | null {
    const method = methodPattern.exec(text.slice(at, at + 34))?.[0].slice(0, -1)
    if (method === undefined || known.has(method) || isRefusedMethod(method)) return null
    const end = text.indexOf('\r\n\r\n', at)
    if (end < 0) return text.length - at > headBytesMax ? null : { method, isWhole: false }
    const [start, ...lines] = text.slice(at, end).split('\r\n')
    if (end - at > headBytesMax || !startLinePattern.test(start as string)) return null
    const fields = lines.map(readField)
    const hosts = fields.filter((field) => field?.[0].toLowerCase() === 'host')
    if (fields.includes(null) || hosts.length !== 1) return null
    return this.#surroundings.findHandle(hosts[0]?.[1] as string) === null ? null : { method, isWhole: true }
  }

  #readBlock(lines: string): Block | null {
    // A copy, because a substring keeps the whole string in memory, and this one lives as long as the connection.
    const text = Buffer.from(lines, 'latin1').toString('latin1')
    const headers: Record<string, string> = Object.create(null)
    const rawHeaders: string[] = []
    for (const line of text.split('\r\n')) {
      const field = readField(line)
      if (!field) return null
      const [name, value] = field
      const lower = name.toLowerCase()
      // Node merges repeated headers, with a rule per name.
      if (notSimple.has(lower) || lower in headers) return null
      headers[lower] = value
      rawHeaders.push(name, value)
    }
    const connection = headers.connection?.toLowerCase()
    if (connection !== undefined && connection !== 'keep-alive' && connection !== 'close') return null
    try {
      const handle = headers.host === undefined ? null : this.#surroundings.findHandle(headers.host)
      if (handle === null) return null
      this.#publicClient ??= this.#surroundings.findPublicClient()
      const fields = readFields({ headers, rawHeaders, httpVersionMinor: 1 }, this.#publicClient, false)
      return { text, handle, fields, shouldKeepAlive: connection !== 'close' }
    } catch (error) {
      if (error instanceof BadRequest) return null
      throw error
    }
  }
}

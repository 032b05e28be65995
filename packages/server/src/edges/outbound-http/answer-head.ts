// Reads the head of an HTTP/1 answer: its status, how its body ends, and whether its connection can be used again (RFC 9112).
import { notHttp } from './failures.ts'

export type AnswerHead = {
  status: number
  /** The length of the body in bytes, or how its end is found. */
  body: number | 'chunked' | 'until-close'
  /** Null when it is missing or repeated. */
  retryAfter: string | null
  /** The body is compressed, or encoded in another way. */
  isEncoded: boolean
  /** The server keeps the connection. */
  isKept: boolean
  /** Milliseconds for which the server keeps the idle connection. Null when it does not say so. */
  keptMs: number | null
}

const statusPattern = /HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/y
const fieldPattern = /([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)\r\n/y
const lengthPattern = /^\d{1,15}$/
const closePattern = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
const keepPattern = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i
const keptSecondsPattern = /(?:^|[,; \t])timeout=(\d{1,6})/i

/** `text` is Latin-1, and ends with the line break of its last field. Throws FetchRefused for anything that two readers could read differently. */
export function readAnswerHead(text: string): AnswerHead {
  statusPattern.lastIndex = 0
  const line = statusPattern.exec(text)
  if (!line) throw notHttp()
  const head: AnswerHead = {
    status: Number(line[2]),
    body: 'until-close',
    retryAfter: null,
    isEncoded: false,
    isKept: line[1] === '1',
    keptMs: null,
  }
  const lengths: string[] = []
  const codings: string[] = []
  const retries: string[] = []
  let isClosed = false
  for (let at = statusPattern.lastIndex; at < text.length; at = fieldPattern.lastIndex) {
    fieldPattern.lastIndex = at
    const field = fieldPattern.exec(text)
    if (!field) throw notHttp()
    const value = (field[2] as string).trimEnd()
    switch ((field[1] as string).toLowerCase()) {
      case 'content-length':
        lengths.push(...value.split(','))
        break
      case 'transfer-encoding':
        codings.push(value.toLowerCase())
        break
      case 'content-encoding':
        head.isEncoded ||= value !== 'identity'
        break
      case 'retry-after':
        retries.push(value)
        break
      case 'connection':
        isClosed ||= closePattern.test(value)
        head.isKept ||= keepPattern.test(value)
        break
      case 'keep-alive': {
        const seconds = keptSecondsPattern.exec(value)?.[1]
        if (seconds !== undefined) head.keptMs = Number(seconds) * 1000
      }
    }
  }
  if (retries.length === 1) head.retryAfter = retries[0] as string
  head.body = bodyOf(head.status, lengths, codings)
  // Repeated lengths, or a length beside a coding, are how a second answer is smuggled into the first. Nothing is read behind this one.
  head.isKept &&= !isClosed && head.body !== 'until-close' && lengths.length + codings.length <= 1
  return head
}

/** RFC 9112 §6.3: equal lengths are one length, different ones are an error, and a coding overrides a length. */
function bodyOf(status: number, lengths: string[], codings: string[]): AnswerHead['body'] {
  const [length, ...others] = lengths.map(readLength)
  if (others.some((other) => other !== length)) throw notHttp()
  if (status < 200 || status === 204 || status === 304) return 0
  if (codings.length > 0) return codings.length === 1 && codings[0] === 'chunked' ? 'chunked' : 'until-close'
  return length ?? 'until-close'
}

function readLength(text: string): number {
  const digits = text.trim()
  if (!lengthPattern.test(digits)) throw notHttp()
  return Number(digits)
}

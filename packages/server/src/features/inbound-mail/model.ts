// Mail that arrives: the envelope it came in, and the rows that it becomes.
import type { ParsedAddress } from './addresses.ts'
import type { ParsedMessage } from './parse.ts'

export { type ParsedAddress, parseAddresses } from './addresses.ts'
export { htmlToText } from './html-text.ts'

/** What inbound mail needs of an SMTP transaction, or of a hosted sender's. */
export type Arrival = {
  /** The return path, '' for the null sender. */
  from: string
  recipients: string[]
  /** CRLF line ends, without our trace fields. */
  raw: Buffer
  /** Our Received field, with its CRLF. */
  received: string
}

/** The trace fields that final delivery puts on top (RFC 5321 §4.4). */
export const withTrace = (arrival: Arrival): Buffer =>
  Buffer.concat([Buffer.from(`Return-Path: <${arrival.from.replace(/[\r\n<>]/g, '')}>\r\n${arrival.received}`), arrival.raw])

const headersCharactersMax = 65_536

/** Header fields as one object: names in lower case, repeated fields joined by a line feed, in order, up to 64 KB. */
export function headersOf(parsed: ParsedMessage): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  let size = 0
  for (const { name, value } of parsed.headers) {
    size += name.length + value.length
    if (size > headersCharactersMax) break
    const key = name.toLowerCase()
    const before = headers[key]
    headers[key] = before === undefined ? value : `${before}\n${value}`
  }
  return headers
}

export const addressesOf = (list: ParsedAddress[]): string[] => list.map((entry) => entry.address)

// Mail that arrives: the envelope it came in, and the rows that it becomes.
import type { ParsedAddress } from './addresses.ts'
import type { ParsedMessage } from './parse.ts'
import type { SmtpClient, Verdicts } from './sender-checks.ts'
import { renderResults, withoutForeignResults } from './trace-fields.ts'

export { type ParsedAddress, parseAddresses } from './addresses.ts'
export { isAutomatic } from './automatic-mail.ts'
export { findValue, type HeaderField } from './headers.ts'
export { htmlToText } from './html-text.ts'
export { parseMessage } from './parse.ts'
export { isPlainText, splitParts } from './parts.ts'
export { type ReadMail, readHeader, readMail } from './reading.ts'
export { checkSender, type SmtpClient, uncheckedVerdicts, type Verdicts } from './sender-checks.ts'
export { decodeBody } from './transfer-encoding.ts'

const roles = new Set(['postmaster', 'abuse'])

/**
 * The domain whose role address this is: postmaster or abuse, and for the bare word that every server takes the mail domain (RFC 5321 §4.5.1,
 * RFC 2142). Null for every other address. Nobody can take these handles.
 */
export function roleDomainOf(recipient: string, hostname: string): string | null {
  const at = recipient.lastIndexOf('@')
  if (at < 0) return recipient.toLowerCase() === 'postmaster' ? hostname : null
  return roles.has(recipient.slice(0, at).toLowerCase()) ? recipient.slice(at + 1).toLowerCase() : null
}

/** What inbound mail needs of an SMTP transaction, or of a hosted sender's. */
export type Arrival = {
  /** The return path, '' for the null sender. */
  from: string
  recipients: string[]
  /** CRLF line ends, without our trace fields. */
  raw: Buffer
  /** Our Received field, with its CRLF. */
  received: string
  /** Who handed it in over SMTP; null for mail of an agent on this server, whose key we have checked. */
  client: SmtpClient | null
}

/** The trace fields that final delivery puts on top (RFC 5321 §4.4, RFC 8601), and nothing below that pretends to be ours. */
export function withTrace(arrival: Arrival, verdicts: Verdicts, hostname: string, mailbox: string | null): Buffer {
  const returnPath = `Return-Path: <${arrival.from.replace(/[\r\n<>]/g, '')}>\r\n`
  // Named when there is one: naming more would tell on blind copies.
  const deliveredTo = mailbox === null ? '' : `Delivered-To: ${mailbox}\r\n`
  const trace = Buffer.from(`${returnPath}${deliveredTo}${renderResults(hostname, verdicts)}${arrival.received}`)
  return Buffer.concat([trace, withoutForeignResults(arrival.raw, hostname)])
}

/** Mail between agents here never leaves: its sender was checked by key, and its From is always the sender's own address. */
export const hostedVerdicts = (fromDomain: string | null): Verdicts => ({
  source: 'hosted',
  spf: null,
  dkim: null,
  dmarc: {
    result: 'pass',
    domain: fromDomain,
    policy_domain: null,
    policy: null,
    alignment: { spf: false, dkim: false },
    record: null,
    reason: 'sent by an agent on this server',
  },
  arc: null,
})

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

/** The sender that a message is stored under. A From that gives only a name leaves the address empty; then Sender or the envelope has to do. */
export const senderOf = (parsed: Pick<ParsedMessage, 'from' | 'sender'>, envelopeFrom: string): ParsedAddress =>
  [...parsed.from, ...(parsed.sender ? [parsed.sender] : [])].find((entry) => entry.address) ?? {
    name: parsed.from[0]?.name ?? '',
    address: envelopeFrom,
  }

const sendersMax = 50

/**
 * Whom a message says it is from: every address in From, and the one that it is stored under. Of more than any real message has the first are
 * taken, with an empty one that no rule allows for the rest.
 */
export function sendersOf(parsed: Pick<ParsedMessage, 'from'>, storedAddress: string): string[] {
  const distinct = [...new Set([...addressesOf(parsed.from), storedAddress].filter((address) => address !== ''))]
  return distinct.length > sendersMax ? [...distinct.slice(0, sendersMax), ''] : distinct
}

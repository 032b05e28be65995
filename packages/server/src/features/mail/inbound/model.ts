// Mail that arrives: the envelope it came in, and the rows that it becomes.
import { hash } from 'node:crypto'
import { openMessage } from '@callsign/mail/authentication/dkim/message-fields'
import { distinctAuthors } from '@callsign/mail/authentication/dmarc/author-domain'
import type { SmtpClient, Verdicts } from '@callsign/mail/authentication/sender-checks'
import { renderResults, withoutForeignResults } from '@callsign/mail/authentication/trace-fields'
import type { ParsedAddress } from '@callsign/mail/mime/addresses'
import type { ParsedMessage } from '@callsign/mail/mime/parse'

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

const authorsCharactersMax = 16_000

/** What is shown as the sender: the author; all authors, as a list of addresses, when there are several; nothing when there is none. */
export function shownAuthor({ from }: Pick<ParsedMessage, 'from'>, author: ParsedAddress | null): ParsedAddress {
  if (author) return author
  const addresses = addressesOf(distinctAuthors(from))
  if (addresses.length < 2) return { name: '', address: '' }
  let shown = ''
  for (const address of addresses) {
    if (shown.length + address.length > authorsCharactersMax) return { name: '', address: `${shown}, …` }
    shown += shown === '' ? address : `, ${address}`
  }
  return { name: '', address: shown }
}

/**
 * Whether the author of a message is proven, or nothing failed where the domain publishes no policy. In the name of a domain that has its mailboxes here
 * only a signature counts: nothing else of it passes for mail from outside.
 */
export function isAuthenticated({ source, spf, dkim, dmarc }: Verdicts, isHostedName: boolean): boolean {
  if (source === 'hosted') return true
  if (!dmarc) return false
  if (isHostedName) return dmarc.alignment.dkim
  if (dmarc.result === 'pass' || dmarc.alignment.spf || dmarc.alignment.dkim) return true
  if (dmarc.result !== 'none' || spf === null || dkim === null) return false
  const isOwn = isOwnDomain(dmarc.domain ?? '')
  return (
    (spf.result === 'pass' || spf.result === 'none' || spf.result === 'neutral') &&
    dkim.signatures.every(({ result, domain }) => result === 'pass' || (result === 'neutral' && !isOwn(domain)))
  )
}

/**
 * Names a message across the retries of its sender: the author's domain and the return path, with the Message-ID or, without one, the bytes. The domain is
 * in it because a return path and a Message-ID can be copied by another sender.
 */
export function deferralKey(author: string | null, envelopeFrom: string, raw: Buffer, sha256: Buffer): Buffer {
  const field = openMessage(raw).fields.find(({ key }) => key === 'message-id')
  return hash('sha256', [author, envelopeFrom, field?.text.replace(/\s+/g, '') ?? sha256.toString('hex')].join('\0'), 'buffer')
}

/** Whether a signature of the author's domain, or of one above or below it, or its SPF could not be checked: proof may come with the next try. */
const hasOwnTemperror = ({ spf, dkim, dmarc }: Verdicts): boolean => {
  const isOwn = isOwnDomain(dmarc?.domain ?? '')
  return (
    (spf?.result === 'temperror' && isOwn(spf.domain)) ||
    dkim?.signatures.some(({ result, domain }) => result === 'temperror' && isOwn(domain)) === true
  )
}

const isOwnDomain =
  (author: string) =>
  (domain: string | null): boolean =>
    domain !== null && (domain === author || author.endsWith(`.${domain}`) || domain.endsWith(`.${author}`))

/**
 * Whether the sender has to come again because DNS cannot say now who wrote a message. Where the domain asks for nothing (policy none, or no record), the
 * proof matters to mailboxes in allowlist mode only.
 */
export function isUndecided(verdicts: Verdicts, hasAllowlist: boolean): boolean {
  const { dmarc } = verdicts
  if (dmarc?.result === 'temperror') return dmarc.policy !== 'none' || hasAllowlist
  return dmarc?.result === 'none' && !dmarc.alignment.spf && !dmarc.alignment.dkim && hasAllowlist && hasOwnTemperror(verdicts)
}

/** Whether a stored message is proven to be its author's. That nothing failed is not enough to bring others into a conversation. */
export const isProven = (authentication: Verdicts | null): boolean =>
  authentication?.source === 'hosted' || authentication?.dmarc?.alignment.spf === true || authentication?.dmarc?.alignment.dkim === true

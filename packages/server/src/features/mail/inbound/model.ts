// Inbound mail: envelope, trace fields, stored headers, and the judgement of authentication results.
import { hash } from 'node:crypto'
import { openMessage } from '@callsign/mail/authentication/dkim/message-fields'
import { distinctAuthors } from '@callsign/mail/authentication/dmarc/author-domain'
import type { SmtpClient, Verdicts } from '@callsign/mail/authentication/sender-checks'
import { renderResults, withoutForeignResults } from '@callsign/mail/authentication/trace-fields'
import type { Flag } from '@callsign/mail/content/deception/flags'
import { addressDomain, type ParsedAddress } from '@callsign/mail/mime/addresses'
import type { ParsedMessage } from '@callsign/mail/mime/parse'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Guardrail } from '../rules/model.ts'
import type { Filing, NewRaw } from '../stored/mail-store.ts'

const roles = new Set(['postmaster', 'abuse'])

/**
 * The domain of a role address, postmaster or abuse (RFC 2142). Bare `postmaster` belongs to the mail domain (RFC 5321 §4.5.1). Null for
 * every other address. These handles are reserved.
 */
export function roleDomainOf(recipient: string, hostname: string): string | null {
  const at = recipient.lastIndexOf('@')
  if (at < 0) return recipient.toLowerCase() === 'postmaster' ? hostname : null
  return roles.has(recipient.slice(0, at).toLowerCase()) ? recipient.slice(at + 1).toLowerCase() : null
}

/** An incoming message with its envelope, from SMTP or from an agent on this server. */
export type Arrival = {
  /** The return path, '' for the null sender. */
  from: string
  recipients: string[]
  /** CRLF line ends, without our trace fields. */
  raw: Buffer
  /** Our Received field, with its CRLF. */
  received: string
  /** The SMTP client. Null for mail of an agent on this server, which was authenticated by its key. */
  client: SmtpClient | null
}

/** Why mail is refused or deferred. `edges/smtp/server/error-reply.ts` has the SMTP reply of each word. */
export type Refusal =
  | 'no-mailbox'
  | 'no-postmaster'
  | 'no-return-path'
  | 'full'
  | 'loop'
  | 'gone'
  | 'unverified'
  | 'no-report'
  | 'unsigned-report'
  | 'foreign-report'
  | 'unreadable-report'
  | 'undecided-report'
  | 'too-many-reports'
  | 'busy'

/** `domain` is the author's, where a failure of its DNS is the reason. */
export type Refused = { refused: Refusal; domain?: string | null }

/** One kind of address that takes mail. The SMTP server asks its intakes in their order. */
export interface MailIntake {
  /** The verdict on a recipient of a message of this announced size. Null for an address that another intake may take. */
  check(address: string, bytes: number): Promise<'accepted' | Refusal | null>
  /** Takes a message for its own addresses, and resolves when it is committed. `left` are the recipients for the intakes behind it. */
  take(mail: Arrival & { client: SmtpClient }): Promise<{ left: string[]; id?: string } | Refused>
}

/** Parsed and stored outside any transaction, ready to be filed. */
export type Prepared = { filings: Filing[]; raws: NewRaw[]; owners: MailboxOwner[]; author: Author }

/** Adds the trace fields of final delivery (RFC 5321 §4.4, RFC 8601), and removes forged ones in our name. */
export function withTrace(arrival: Arrival, verdicts: Verdicts, hostname: string, mailbox: string | null): Buffer {
  const returnPath = `Return-Path: <${arrival.from.replace(/[\r\n<>]/g, '')}>\r\n`
  // Only for a single mailbox. Several would disclose blind copies.
  const deliveredTo = mailbox === null ? '' : `Delivered-To: ${mailbox}\r\n`
  const trace = Buffer.from(`${returnPath}${deliveredTo}${renderResults(hostname, verdicts)}${arrival.received}`)
  return Buffer.concat([trace, withoutForeignResults(arrival.raw, hostname)])
}

/** Verdicts for mail between agents on this server. The sender was authenticated by its key, and From is always the sender's own address. */
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

/** The displayed sender: the author, or the addresses of several authors as a list. Empty without an author. */
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
 * True when the author of a message is authenticated, or when no check failed and the domain publishes no policy. Outside mail in the
 * name of a domain hosted here needs a DKIM signature.
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
 * Identifies a message across the retries of its sender, by the author's domain, the return path and the Message-ID, or the bytes without
 * one. The domain is included because another sender can copy a return path and a Message-ID.
 */
export function deferralKey(author: string | null, envelopeFrom: string, raw: Buffer, sha256: Buffer): Buffer {
  const field = openMessage(raw).fields.find(({ key }) => key === 'message-id')
  return hash('sha256', [author, envelopeFrom, field?.text.replace(/\s+/g, '') ?? sha256.toString('hex')].join('\0'), 'buffer')
}

/** True when SPF or a signature of the author's domain, or of one above or below it, had a temporary error. A retry may authenticate it. */
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
 * True when the message is deferred because a DNS failure leaves its author unknown. For a domain without an enforcing policy (none, or
 * no record) this matters only to mailboxes in allowlist mode.
 */
export function isUndecided(verdicts: Verdicts, hasAllowlist: boolean): boolean {
  const { dmarc } = verdicts
  if (dmarc?.result === 'temperror') return dmarc.policy !== 'none' || hasAllowlist
  return dmarc?.result === 'none' && !dmarc.alignment.spf && !dmarc.alignment.dkim && hasAllowlist && hasOwnTemperror(verdicts)
}

/** True when a stored message is authenticated by alignment. The absence of failures is not enough to add participants to a thread. */
export const isProven = (authentication: Verdicts | null): boolean =>
  authentication?.source === 'hosted' || authentication?.dmarc?.alignment.spf === true || authentication?.dmarc?.alignment.dkim === true

/** The author of a message: the address in From with its verdicts. The address is null without exactly one usable author. */
export type Author = { address: string | null; verdicts: Verdicts; isUnverified: boolean }

/** The domain of an outside author. Null for mail of an agent on this server. */
export const outsideDomain = ({ address, verdicts }: Author): string | null =>
  address === null || verdicts.source === 'hosted' ? null : (verdicts.dmarc?.domain ?? addressDomain(address).toLowerCase())

export function withForeignFlag(flags: Flag[], { reason }: Guardrail): Flag[] {
  const type = 'failed_authentication' as const
  return flags.some((flag) => flag.type === type) ? flags : [...flags, { type, reason, evidence: '' }]
}

// The public functions of @callsign/mail, which read, write, sign and verify mail. They open no socket and no file, and do not read the clock.
import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { Code } from '@callsign/contract/codes'
import type { DkimAlgorithm } from './authentication/dkim/key-publication.ts'
import { signMessage as signWithKeys } from './authentication/dkim/signing.ts'
import { authorOf } from './authentication/dmarc/author.ts'
import { checkSender, type SmtpClient, type Verdicts } from './authentication/sender-checks.ts'
import { composeMessage } from './compose/compose.ts'
import type { DraftAddress, DraftAttachment, MessageDraft } from './compose/message-draft.ts'
import { findCodes } from './content/codes/codes.ts'
import { type Flag, toFlags } from './content/deception/flags.ts'
import { findIndicators } from './content/deception/indicators.ts'
import { extractReplyText } from './content/replies/reply-text.ts'
import { compilePattern } from './content/secrets/patterns.ts'
import type { Secret, SecretType, TextMatcher } from './content/secrets/secret.ts'
import { findSecrets } from './content/secrets/secrets.ts'
import type { DnsAnswer, MxRecord, Resolver } from './dns.ts'
import { type DnsLookups, dnsResolver } from './dns-resolver.ts'
import type { ParsedAddress } from './mime/addresses.ts'
import { type Defect, type ParsedAttachment, type ParsedMessage, parseMessage as parseBytes } from './mime/parse.ts'
import { decodeAttachment } from './mime/transfer-encoding.ts'
import { type RawMessage, toBuffer } from './raw-message.ts'
import { readReport as readReportBytes } from './reports/report.ts'
import type { Report, ReportKind } from './reports/report-kinds.ts'

export type {
  Code,
  Defect,
  DnsAnswer,
  DnsLookups,
  DraftAddress,
  DraftAttachment,
  Flag,
  MessageDraft,
  MxRecord,
  ParsedAddress,
  ParsedAttachment,
  ParsedMessage,
  RawMessage,
  Report,
  ReportKind,
  Resolver,
  Secret,
  SecretType,
  SmtpClient,
  TextMatcher,
  Verdicts,
}
export { compilePattern, composeMessage, dnsResolver, findCodes, findSecrets }

/**
 * Parses a message (RFC 5322, MIME) in time linear in its size. Never throws: unreadable parts are left out and named in `defects`. Texts are
 * limited to 1,048,576 characters each. Attachments are byte ranges of `raw`, which `readAttachment` decodes.
 */
export const parseMessage = (raw: RawMessage): ParsedMessage => parseBytes(toBuffer(raw))

/** Decodes an attachment that `parseMessage` found in `raw`. Gives `sizeBytes` bytes. Never throws. */
export const readAttachment = (raw: RawMessage, { start, end, encoding }: ParsedAttachment): Buffer =>
  decodeAttachment(toBuffer(raw).subarray(start, end), encoding)

/** A received message and its SMTP client. `envelopeFrom` is the address in MAIL FROM, '' for the null sender. */
export type Arrival = { raw: RawMessage; envelopeFrom: string; client: SmtpClient }

/** Dependencies and limits of a verification. */
export type Verification = {
  /** Answers DNS questions. `dnsResolver` makes one from `node:dns/promises`. */
  resolver: Resolver
  /** The clock, in milliseconds since 1970: `Date.now`. Signatures expire. */
  nowMs: () => number
  /** Name of the receiving server, for SPF explanations (RFC 7208 §7.3). `unknown` by default. */
  hostname?: string
  /** Limit of all DNS questions together, in milliseconds. 8,000 by default. */
  limitMs?: number
}

/**
 * Verifies the sender of a message with SPF (RFC 7208), DKIM (RFC 6376, RFC 8301, RFC 8463), ARC (RFC 8617) and DMARC (RFC 9989). Never rejects:
 * a DNS failure or an answer after `limitMs` gives `temperror`.
 */
export function verifyMessage({ raw, envelopeFrom, client }: Arrival, verification: Verification): Promise<Verdicts> {
  return checkSender({ raw: toBuffer(raw), envelopeFrom, client }, { hostname: 'unknown', ...verification })
}

/** A DKIM key. The TXT record at `<selector>._domainkey.<domain>` publishes its public half. `privateKey` is RSA or Ed25519, as a key object or as PEM. */
export type SigningKey = { domain: string; selector: string; privateKey: KeyObject | string }

/**
 * Signs a message with DKIM (RFC 6376, RFC 8463) and gives the signed message, with one DKIM-Signature field per key at the top. `raw` must have
 * CRLF line ends and must be sent unchanged. `at` is the time of the signature. Rejects for a key that is neither RSA nor Ed25519.
 */
export async function signMessage(raw: RawMessage, keys: readonly SigningKey[], at: Date): Promise<Buffer> {
  return signWithKeys(toBuffer(raw), keys.map(withAlgorithm), at)
}

const algorithms: Record<string, DkimAlgorithm> = { rsa: 'rsa-sha256', ed25519: 'ed25519-sha256' }

function withAlgorithm({ domain, selector, privateKey }: SigningKey) {
  const key = typeof privateKey === 'string' ? createPrivateKey(privateKey) : privateKey
  const algorithm = algorithms[key.asymmetricKeyType ?? '']
  if (!algorithm) throw new TypeError(`\`privateKey\` of selector ${selector} must be RSA or Ed25519, not ${key.asymmetricKeyType}`)
  return { domain, selector, algorithm, privateKey: key }
}

/**
 * Reads mail that was returned to the return path of a sent message: a delivery report (RFC 3464), a bounce in prose, a complaint (RFC 5965) or an
 * automatic answer (RFC 3834). `envelopeFrom` is '' for the null sender. `recipient` is the recipient of the sent message: reports about other
 * recipients are ignored. Never throws. Reads at most the first 512 KiB.
 */
export const readReport = (raw: RawMessage, envelopeFrom: string, recipient: string): Report =>
  readReportBytes(toBuffer(raw), envelopeFrom, recipient)

/**
 * Extracts the new text of a reply: removes quotations, the lines that introduce them, and signatures. Gives the whole text when it quotes
 * nothing. Never throws. Linear in the length of the text.
 */
export const extractReply = (text: string): string => extractReplyText(text)

/** Facts about a message that its bytes do not hold. */
export type DeceptionContext = {
  /** The result of `verifyMessage`. Without it, no sender is authenticated, and forgeries are not flagged. */
  verdicts?: Verdicts
  /** Domains of the recipient's organization, so that lookalikes and forgeries of them are found. */
  ownDomains?: string[]
}

const unverified: Verdicts = { source: null, spf: null, dkim: null, dmarc: null, arc: null }

/**
 * Finds phishing and prompt-injection indicators: hidden text, instructions to language models, misleading links, lookalike domains, display-name
 * spoofing, diverted replies, several or forged authors. Gives at most one flag per type, each with evidence of at most 300 characters, which
 * is untrusted text of the sender. Never throws. Linear in the size of the message.
 */
export function findDeception(parsed: ParsedMessage, { verdicts = unverified, ownDomains = [] }: DeceptionContext = {}): Flag[] {
  const author = authorOf(parsed, verdicts)
  const { address, name } = author ?? parsed.from[0] ?? { address: '', name: '' }
  return toFlags(findIndicators(parsed), { parsed, address, name, verdicts, hasAuthor: author !== null, isUnverified: false, ownDomains })
}

// The public face of @callsign/mail: eight functions that read, write, sign and check mail. None opens a socket or a file, or reads the clock.
import type { Code } from '@callsign/contract/codes'
import { type SigningKey, signMessage } from './authentication/dkim/signing.ts'
import { checkSender, type SmtpClient, type Verdicts } from './authentication/sender-checks.ts'
import { composeMessage } from './compose/compose.ts'
import type { MessageDraft } from './compose/message-draft.ts'
import { findCodes } from './content/codes/codes.ts'
import { type Flag, findSigns, type Sender, toFlags } from './content/deception/flags.ts'
import { extractReplyText } from './content/replies/reply-text.ts'
import type { DnsAnswer, MxRecord, Resolver } from './dns.ts'
import { type ParsedMessage, parseMessage } from './mime/parse.ts'
import { readReport } from './reports/report.ts'
import type { Report, ReportKind } from './reports/report-kinds.ts'

export type {
  Code,
  DnsAnswer,
  Flag,
  MessageDraft,
  MxRecord,
  ParsedMessage,
  Report,
  ReportKind,
  Resolver,
  Sender,
  SigningKey,
  SmtpClient,
  Verdicts,
}

/** Deception is judged with the parsed message and what is known of its sender. */
export type DeceptionQuestion = Omit<Sender, 'parsed'> & { parsed: ParsedMessage }

/** A message as it arrived, and the SMTP client that handed it in. `envelopeFrom` is '' for the null sender. */
export type Arrival = { raw: Buffer; envelopeFrom: string; client: SmtpClient }

/**
 * How a message is verified. `resolver` answers DNS questions. `hostname` is the name of the receiving server. `nowMs` is the clock, in
 * milliseconds since 1970. `limitMs` bounds all DNS questions together, 8,000 unless set.
 */
export type Verification = { resolver: Resolver; hostname: string; nowMs: () => number; limitMs?: number }

/**
 * Verifies the sender of a message: SPF (RFC 7208), DKIM (RFC 6376, RFC 8301, RFC 8463), ARC (RFC 8617) and DMARC (RFC 9989). Never rejects: DNS
 * that fails or is late gives `temperror`. Takes `limitMs` at most, and the time of the signatures' arithmetic.
 */
export const verifyMessage = (arrival: Arrival, verification: Verification): Promise<Verdicts> => checkSender(arrival, verification)

/**
 * Finds what is new in a reply: the plain text without quotations, the lines that introduce them, and signatures. Returns the whole text where
 * nothing is quoted. Never throws. Linear in the length of the text.
 */
export const extractReply = (text: string): string => extractReplyText(text)

/**
 * Finds indicators of deception: hidden text, instructions to language models, links and domains that imitate others, senders that are not who they
 * say. At most one flag of each type, each with evidence of at most 300 characters. Never throws. Linear in the size of the message.
 */
export const findDeception = ({ parsed, ...sender }: DeceptionQuestion): Flag[] => toFlags(findSigns(parsed), { parsed, ...sender })

export { composeMessage, findCodes, parseMessage, readReport, signMessage }

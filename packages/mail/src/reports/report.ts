// Reads mail that was returned to a return path: a delivery report, a complaint, a bounce in prose, an automatic answer, or a new message.
import { findValue, type HeaderField } from '../mime/headers.ts'
import { parseMessage } from '../mime/parse.ts'
import { splitParts } from '../mime/parts.ts'
import { decodeBody } from '../mime/transfer-encoding.ts'
import { isFromMailSystem, kindOfWords, readBounceWords, refineStatus } from './bounce-words.ts'
import { readFeedback, readForwardedComplaint } from './complaint.ts'
import { readDeliveryStatus } from './delivery-status.ts'
import { reasonFor, wordCount } from './reply-search.ts'
import type { Report } from './report-kinds.ts'
import { ownText, reportTextMax } from './report-text.ts'
import { reasonOfStatus } from './status-texts.ts'

/** Bytes of a report that are read. Its own parts precede the enclosed message. */
const reportBytesMax = 512 * 1024
/** Bytes of a machine-readable part that are read. */
const partBytesMax = 128 * 1024

type Leaf = ReturnType<typeof splitParts>['leaves'][number]

/**
 * Reads the report about `recipient`, for whom the return path was made. `envelopeFrom` is '' for the null sender. Never throws. Linear in the
 * size of the mail, of which the first 512 KiB are read.
 */
export function readReport(whole: Buffer, envelopeFrom: string, recipient: string): Report {
  const raw = withoutPreface(whole).subarray(0, reportBytesMax)
  const { header, leaves } = splitParts(raw)
  const textOf = (leaf: Leaf): string => decodeBody(raw, leaf.start, leaf.end, leaf.encoding, partBytesMax).toString('utf8')
  const find = (pattern: RegExp): Leaf | undefined => leaves.find(({ contentType }) => pattern.test(contentType))
  const parsed = parseMessage(raw)
  const { subject } = parsed
  const text = parsed.text ?? ''
  const own = ownText(text)
  const status = find(/^message\/(?:global-)?delivery-status$/)
  const reported = readDeliveryStatus(status ? textOf(status) : statusFieldsIn(own), recipient, () => kindOfWords(subject, own, false))
  if (reported) return withReason(reported, own, recipient)
  const feedback = find(/^message\/feedback-report$/)
  if (feedback) return readFeedback(textOf(feedback))
  const enclosed = find(/^(?:message\/(?:rfc822|global)|text\/rfc822-headers|message\/(?:global-)?headers)$/)
  const author = parsed.from[0]?.address || parsed.from[0]?.name || ''
  const enclosedBytes = enclosed ? raw.subarray(enclosed.start, enclosed.end) : null
  const complaint = readForwardedComplaint({ fields: header.fields, author, envelopeFrom, subject, enclosed: enclosedBytes })
  if (complaint) return complaint
  const automatic: Report = { kind: 'automatic', enhancedStatus: null, answer: subject, host: null }
  const failedRecipients = findValue(header.fields, 'x-failed-recipients') !== null
  const isSystem = isFromMailSystem(author)
  // A vacation program uses the null sender too. Only its header fields distinguish it from a mail system.
  if (isAutomaticAnswer(header.fields) && !failedRecipients && !isSystem) return automatic
  if (failedRecipients || isSystem || envelopeFrom === '') {
    const hasEnclosed = isSystem && (enclosed !== undefined || own.length < Math.min(text.length, reportTextMax))
    const words = readBounceWords({ subject, ownText: own, recipient, failedRecipients, hasEnclosed })
    if (words) return words
  }
  return parsed.autoSubmitted ? automatic : { kind: 'letter', enhancedStatus: null, answer: subject, host: null }
}

/** Some relays write empty lines or an mbox line above the header. */
function withoutPreface(raw: Buffer): Buffer {
  const preface = /^(?:[ \t]*\r?\n|From [^\r\n]*\r?\n)+/.exec(raw.toString('latin1', 0, 1000))
  return preface ? raw.subarray(preface[0].length) : raw
}

/** The fields of a delivery status that a gateway moved into the text, or ''. */
const statusFieldsIn = (text: string): string => {
  const at = text.search(/^(?:reporting-mta|(?:final|original)-recipient)[ \t]*:/im)
  return at >= 0 && /^(?:action|status)[ \t]*:/im.test(text) ? text.slice(at) : ''
}

/** Completes a report whose diagnostic says nothing, and replaces a general code by the one that its text implies. */
function withReason(report: Report, own: string, recipient: string): Report {
  const told = wordCount(report.answer) >= 2 ? report.answer : (reasonFor(own, recipient, false) ?? report.answer)
  const enhancedStatus = report.kind === 'failed' ? refineStatus(report.enhancedStatus, told) : report.enhancedStatus
  return { ...report, enhancedStatus, answer: told || (reasonOfStatus(enhancedStatus) ?? '') }
}

/** The values that mark an automatic answer, in Auto-Submitted (RFC 3834 §5) and the older fields. */
const answeringFields = new Map([
  ['auto-submitted', /^auto-(?:replied|notified)\b/i],
  ['precedence', /^auto_reply\b/i],
  ...['x-autoreply', 'x-autorespond', 'x-autoresponse', 'x-mail-autoreply'].map((key) => [key, /^/] as const),
])

const isAutomaticAnswer = (fields: readonly HeaderField[]): boolean =>
  fields.some(({ key, value }) => answeringFields.get(key)?.test(value))

// Reads mail that was returned to a return path: a delivery report, a complaint, a bounce in prose, an automatic answer, or a new message.
import { findValue, type HeaderField } from '../mime/headers.ts'
import { parseMessage } from '../mime/parse.ts'
import { splitParts } from '../mime/parts.ts'
import { decodeBody } from '../mime/transfer-encoding.ts'
import { isFromMailSystem, readBounceWords, reasonFor, refineStatus } from './bounce-words.ts'
import { readDeliveryStatus } from './delivery-status.ts'
import type { Report } from './report-kinds.ts'

/** Bytes of a report that are read. Its own parts precede the enclosed message. */
const reportBytesMax = 512 * 1024
/** Bytes of a machine-readable part that are read. */
const partBytesMax = 128 * 1024

/** Feedback types that are not complaints (RFC 5965 §7.3, RFC 6430, RFC 6591). */
const noComplaint = new Set(['not-spam', 'auth-failure', 'dmarc'])

type Leaf = ReturnType<typeof splitParts>['leaves'][number]

/**
 * Reads the report about `recipient`, for whom the return path was made. `envelopeFrom` is '' for the null sender. Never throws. Linear in the
 * size of the mail, of which the first 512 KiB are read.
 */
export function readReport(whole: Buffer, envelopeFrom: string, recipient: string): Report {
  const raw = whole.subarray(0, reportBytesMax)
  const { header, leaves } = splitParts(raw)
  const textOf = (leaf: Leaf): string => decodeBody(raw, leaf.start, leaf.end, leaf.encoding, partBytesMax).toString('utf8')
  const status = leaves.find(({ contentType }) => /^message\/(?:global-)?delivery-status$/.test(contentType))
  const reported = status && readDeliveryStatus(textOf(status), recipient)
  const parsed = parseMessage(raw)
  const text = parsed.text ?? ''
  if (reported) return withReason(reported, reasonFor(text, recipient))
  const feedback = leaves.find(({ contentType }) => contentType === 'message/feedback-report')
  if (feedback) return readFeedback(textOf(feedback))
  const automatic: Report = { kind: 'automatic', enhancedStatus: null, answer: parsed.subject, host: null }
  const hasFailed = findValue(header.fields, 'x-failed-recipients') !== null
  const author = parsed.from[0]?.address || (parsed.from[0]?.name ?? '')
  // A vacation program uses the null sender too. Only its header fields distinguish it from a mail system.
  if (isAutomaticAnswer(header.fields) && !hasFailed && !isFromMailSystem('-', author)) return automatic
  if (hasFailed || isFromMailSystem(envelopeFrom, author)) {
    const words = readBounceWords(parsed.subject, text, recipient, hasFailed)
    if (words) return words
  }
  return parsed.autoSubmitted ? automatic : { kind: 'letter', enhancedStatus: null, answer: parsed.subject, host: null }
}

/** Completes a report without a diagnostic from its first part, and replaces a general code by the one that its text implies. */
function withReason(report: Report, reason: string | null): Report {
  const answer = report.answer || (reason ?? '')
  return {
    ...report,
    answer,
    enhancedStatus: report.kind === 'failed' ? refineStatus(report.enhancedStatus, answer) : report.enhancedStatus,
  }
}

const answeringFields = ['x-autoreply', 'x-autorespond', 'x-autoresponse', 'x-mail-autoreply']

/** True for an automatic answer, by Auto-Submitted (RFC 3834 §5) or by the older fields. */
const isAutomaticAnswer = (fields: readonly HeaderField[]): boolean =>
  /^auto-(?:replied|notified)\b/i.test((findValue(fields, 'auto-submitted') ?? '').trim()) ||
  /^auto_reply\b/i.test((findValue(fields, 'precedence') ?? '').trim()) ||
  answeringFields.some((key) => findValue(fields, key) !== null)

function readFeedback(text: string): Report {
  const field = (name: string): string | null => new RegExp(`^${name}:[ \\t]*([^\\r\\n]{1,300})`, 'im').exec(text)?.[1]?.trim() ?? null
  const type = (field('Feedback-Type') ?? 'other').toLowerCase()
  const by = field('User-Agent')
  const host = field('Reporting-MTA')?.replace(/^[^;]*;[ \t]*/, '') ?? null
  const answer = `A feedback report of the type ${type} came${by ? ` from ${by}` : ''}.`
  return { kind: noComplaint.has(type) ? 'feedback' : 'complaint', enhancedStatus: null, answer, host }
}

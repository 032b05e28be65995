// Recognises complaints, as feedback reports (RFC 5965) or as the forwarded messages of older feedback loops.
import { findValue, type HeaderField } from '../mime/headers.ts'
import type { Report } from './report-kinds.ts'

/** Feedback types that are not complaints (RFC 5965 §7.3, RFC 6430, RFC 6591). */
const noComplaint = new Set(['not-spam', 'auth-failure', 'dmarc'])

/** Reads the machine-readable part of a feedback report. */
export function readFeedback(text: string): Report {
  const field = (name: string): string | null => new RegExp(`^${name}:[ \\t]*([^\\r\\n]{1,300})`, 'im').exec(text)?.[1]?.trim() ?? null
  const type = (field('Feedback-Type') ?? 'other').toLowerCase()
  const by = field('User-Agent')
  const host = field('Reporting-MTA')?.replace(/^[^;]*;[ \t]*/, '') ?? null
  const answer = `A feedback report of the type ${type} came${by ? ` from ${by}` : ''}.`
  return { kind: noComplaint.has(type) ? 'feedback' : 'complaint', enhancedStatus: null, answer, host }
}

/** Bytes of an enclosed message in which the fields of a feedback loop are searched. */
const enclosedBytesMax = 32 * 1024
/** Fields that the feedback loops of Hotmail (JMRP) and AOL add to the message that they forward. */
const loopField = /^x-(?:hmxmroriginalrecipient|aol-inrly)[ \t]*:/im
const loopSubject =
  /^(?:complaint about message from\b|(?:e-?mail )?feedback (?:loop )?report\b|.{0,60}\babuse report\b|.{0,40}\b(?:spam|junk) (?:complaint|report)\b)/i
const loopAuthor =
  /^(?:staff@(?:hotmail|outlook|live|msn)\.|scomp@aol\.|(?:fbl|jmrp|feedback|feedbackloop|complaints?|spamreports?|abuse-?reports?)[@+-])/i

/** A message that a feedback loop forwards without a feedback part. `enclosed` is the body of its message/rfc822 part, or null. */
export type Forwarded = { fields: readonly HeaderField[]; author: string; envelopeFrom: string; subject: string; enclosed: Buffer | null }

/** Reads a complaint in the older form, which is the message with a field of the loop, or a mail of the loop that encloses it. Null for other mail. */
export function readForwardedComplaint({ fields, author, envelopeFrom, subject, enclosed }: Forwarded): Report | null {
  const isRedirected = findValue(fields, 'x-hmxmroriginalrecipient') !== null
  const inner = enclosed?.toString('latin1', 0, Math.min(enclosed.length, enclosedBytesMax)) ?? ''
  const header = inner.slice(0, inner.search(/\r?\n\r?\n/) >>> 0)
  const isFromLoop = loopAuthor.test(author) || loopAuthor.test(envelopeFrom)
  const isComplaint = isRedirected || (enclosed !== null && (loopField.test(header) || loopSubject.test(subject) || isFromLoop))
  if (!isComplaint) return null
  const by = isFromLoop && loopAuthor.test(author) ? author : envelopeFrom || author
  return { kind: 'complaint', enhancedStatus: null, answer: `A complaint came${by ? ` from ${by}` : ''}.`, host: null }
}

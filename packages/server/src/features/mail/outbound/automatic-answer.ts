// Automatic answers (RFC 3834): the messages that must not get one, its recipient, and the header that marks it.
import { autoSubmittedField } from '@callsign/mail/compose/custom-headers'
import { prefixedSubject } from '@callsign/mail/compose/reply'
import { isAutomatic } from '@callsign/mail/mime/automatic-mail'
import type { MessageRow } from '../stored/model.ts'

/** The `Auto-Submitted` value of a message that a program wrote: an answer or a notification. */
export type AutoSubmitted = 'auto-replied' | 'auto-generated'

/** The least time between two automatic answers from one mailbox to the same sender. */
export const automaticAnswerPauseMs = 24 * 3_600_000

/** The reason why a message must not get an automatic answer (RFC 3834 §2). Null when it may get one. */
export function automaticAnswerProblem(message: MessageRow): string | null {
  if (message.direction === 'outbound') return 'the agent wrote it itself'
  if (!message.envelope_from) return 'it came with the null return path, as reports and automatic answers do'
  const fields = Object.entries(message.headers).flatMap(([name, values]) =>
    values.split('\n').map((value) => ({ name, key: name.toLowerCase(), value })),
  )
  return isAutomatic(fields) ? 'it is automatic mail itself, or went to many' : null
}

/** The answer's recipient, which is the return path (RFC 3834 §4), and its subject, which marks it as automatic (§3.1.5). */
export const automaticAnswerTo = (message: MessageRow) => ({
  address: message.envelope_from ?? '',
  subject: prefixedSubject(message.subject, 'Auto:', /^auto:/i),
})

/** Splits the headers of a stored message into the caller's and ours. */
export function splitHeaders(headers: Record<string, string>): { custom: Record<string, string>; autoSubmitted: string | null } {
  const { [autoSubmittedField]: autoSubmitted, ...custom } = headers
  return { custom, autoSubmitted: autoSubmitted ?? null }
}

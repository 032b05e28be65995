// Answers that a program writes by itself (RFC 3834): what must not get one, to whom one goes, and what tells it from a letter.
import { autoSubmittedField } from '@callsign/mail/compose/custom-headers'
import { prefixedSubject } from '@callsign/mail/compose/reply'
import { isAutomatic } from '@callsign/mail/mime/automatic-mail'
import type { MessageRow } from '../messages/model.ts'

/** What its `Auto-Submitted` says of a message that no person or agent wrote for its reader: an answer, or a notification. */
export type AutoSubmitted = 'auto-replied' | 'auto-generated'

/** How long the sender of a message gets no second automatic answer from the same mailbox. */
export const automaticAnswerPauseMs = 24 * 3_600_000

/** Why a message must get no automatic answer (RFC 3834 §2); null when it may. */
export function automaticAnswerProblem(message: MessageRow): string | null {
  if (message.direction === 'outbound') return 'the agent wrote it itself'
  if (!message.envelope_from) return 'it came with the null return path, as reports and automatic answers do'
  const fields = Object.entries(message.headers).flatMap(([name, values]) =>
    values.split('\n').map((value) => ({ name, key: name.toLowerCase(), value })),
  )
  return isAutomatic(fields) ? 'it is automatic mail itself, or went to many' : null
}

/** Where the answer goes: the return path, which is who wants to hear of what becomes of the message (RFC 3834 §4). Its subject says what it is (§3.1.5). */
export const automaticAnswerTo = (message: MessageRow) => ({
  address: message.envelope_from ?? '',
  subject: prefixedSubject(message.subject, 'Auto:', /^auto:/i),
})

/** The headers of a stored message as those of the caller, and ours. */
export function splitHeaders(headers: Record<string, string>): { custom: Record<string, string>; autoSubmitted: string | null } {
  const { [autoSubmittedField]: autoSubmitted, ...custom } = headers
  return { custom, autoSubmitted: autoSubmitted ?? null }
}

// One delivery attempt per recipient: its outcome, the change to the recipient, and the entry in the delivery log.
import { firstId } from '@callsign/contract/ids'
import { isHardBounce } from '@callsign/mail/reports/hard-bounce'
import type { NewEvent } from '../../../core/event.ts'
import { nextAttemptMs } from '../../../core/schedule.ts'
import { marksOf } from '../messages/model.ts'
import { type LogEntry, type MessageRow, moved, type RecipientRow, type RecipientStatus } from '../stored/model.ts'
import type { NewSuppression } from '../suppressions/model.ts'
import type { DeliveryResult } from './provider.ts'

/** `isFiled`: filed in a mailbox here by the commit. `heldMs`: not tried, because two agents write to each other too fast. The recipient is due again after this time. */
export type Attempt = { recipient: RecipientRow; result: DeliveryResult; isHosted?: true; isFiled?: true; heldMs?: number }

/** The change to a recipient after an attempt. */
export type Change = {
  position: number
  status: RecipientStatus
  attempts: number
  lastAnswer: string | null
  diagnosticCode: string | null
  lastAttemptAt: Date | null
  nextAttemptAt: Date | null
  /** Null for an attempt that is not logged. */
  entry: LogEntry | null
}

const jitter = 0.2
/** The pause after a server was too busy for a connection, which does not count as an attempt. */
const postponedMs = 5_000
const answerCharactersMax = 1000

/** The outcome of a message that could not be composed. */
export const notComposed = {
  kind: 'refused',
  answer: 'The message could not be composed.',
  diagnosticCode: '5.6.0',
  failed: true,
} as const

/** The outcome for a hosted mailbox without room for the message. */
export const mailboxFull = {
  kind: 'retry',
  answer: '452 4.2.2 The storage quota of the mailbox is used up.',
  diagnosticCode: '4.2.2',
} as const

/** An answer in the form that rows and logs store. */
export const storedAnswer = (answer: string): string => answer.slice(0, answerCharactersMax).toWellFormed().replaceAll('\0', '')

/** The enhanced status code of an answer (RFC 2034). Positive answers have one, too. */
const enhancedIn = (answer: string): string | null => /^[245]\d\d[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(answer)?.[1] ?? null

/** The change after an attempt, by the schedule of delays in seconds. `current` is the recipient's latest row, which a report may have changed meanwhile. */
export function changeOf(
  { recipient, result, heldMs }: Attempt,
  current: RecipientRow,
  acceptedAt: Date,
  delays: readonly number[],
  at: Date,
): Change {
  const isTried = heldMs === undefined && !result.isPostponed
  const attempts = recipient.attempts + (isTried ? 1 : 0)
  const isLate = at.getTime() - acceptedAt.getTime() >= lifetimeMs(delays)
  const againMs = heldMs ?? (result.isPostponed ? postponedMs : nextAttemptMs(delays, attempts, jitter, Math.random()))
  const delayMs = isLate ? null : againMs
  const status = moved(current.status, nextStatus(result, delayMs !== null))
  // A postponed attempt repeats every few seconds and would push real attempts out of the log.
  const isSilent = result.isPostponed && status === 'queued'
  return {
    position: recipient.position,
    status,
    attempts,
    lastAnswer: isSilent ? recipient.last_answer : storedAnswer(result.answer),
    diagnosticCode: isSilent ? recipient.diagnostic_code : result.kind === 'delivered' ? null : result.diagnosticCode,
    lastAttemptAt: isTried ? at : recipient.last_attempt_at,
    nextAttemptAt: status === 'queued' ? new Date(at.getTime() + (delayMs as number)) : null,
    entry: isSilent
      ? null
      : {
          at: at.toISOString(),
          result: isTried ? results[result.kind] : 'held',
          host: result.hop?.host ?? null,
          tls: result.hop?.tls ?? null,
          answer: storedAnswer(result.answer),
          enhanced_status: (result.kind === 'delivered' ? null : result.diagnosticCode) ?? enhancedIn(result.answer),
        },
  }
}

/**
 * The time after acceptance during which a message is tried: its schedule, and 15 minutes for the attempts themselves. This also ends a
 * message that was held or postponed, which does not count as an attempt, or whose server was down.
 */
export const lifetimeMs = (delays: readonly number[]): number => delays.reduce((sum, seconds) => sum + seconds * 1000, attemptsMs)

const attemptsMs = 15 * 60_000

const results = { delivered: 'taken', retry: 'deferred', refused: 'refused' } as const

/** The status of a recipient after an attempt. A retry without a further attempt is a failure. */
function nextStatus(result: DeliveryResult, canRetry: boolean): RecipientStatus {
  if (result.kind === 'delivered') return result.final ? 'delivered' : 'sent'
  if (result.kind === 'retry') return canRetry ? 'queued' : 'failed'
  return result.failed ? 'failed' : 'bounced'
}

/** One event per kind of change, with its recipients. A delivered recipient also gets `email.sent`. */
export function eventsOf(
  row: MessageRow,
  identityId: string | null,
  attempts: Attempt[],
  statuses: Map<number, RecipientStatus>,
): NewEvent[] {
  const types = [
    ['email.sent', ['sent', 'delivered']],
    ['email.delivered', ['delivered']],
    ['email.bounced', ['bounced']],
    ['email.failed', ['failed']],
  ] as const
  return types.flatMap(([type, wanted]): NewEvent[] => {
    const concerned = attempts.filter(({ recipient }) => (wanted as readonly string[]).includes(statuses.get(recipient.position) ?? ''))
    if (concerned.length === 0) return []
    const recipients = concerned.map(({ recipient, result }) => ({ address: recipient.address, answer: result.answer.slice(0, 500) }))
    return [{ type, organizationId: row.organization_id, identityId, subjectId: row.id, data: { recipients, ...marksOf(row) } }]
  })
}

/** Outside recipients whose server reported a missing address. Hosted addresses are left out, since they come and go with agents. */
export const suppressionsOf = (row: MessageRow, attempts: Attempt[]): NewSuppression[] =>
  attempts.flatMap(({ recipient: { address }, result, isHosted }): NewSuppression[] =>
    result.kind === 'refused' && !isHosted && isHardBounce(result.diagnosticCode, result.answer)
      ? [{ organizationId: row.organization_id, address, source: 'bounce', reason: result.answer, messageId: row.id }]
      : [],
  )

/** The id from which messages count for the limit of an exchange: two days back, since a message may have waited that long. */
export const exchangeSince = (at: Date): string => firstId('message', at.getTime() - 2 * 86_400_000)

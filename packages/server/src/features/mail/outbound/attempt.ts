// One attempt to deliver a message, per recipient: its outcome, what it makes of the recipient, and the entry that the delivery log gets.
import { firstId } from '@callsign/contract/ids'
import { isHardBounce } from '@callsign/mail/reports/hard-bounce'
import type { NewEvent } from '../../../core/event.ts'
import { nextAttemptMs } from '../../../core/schedule.ts'
import { type LogEntry, type MessageRow, moved, type RecipientRow, type RecipientStatus } from '../messages/model.ts'
import type { NewSuppression } from '../suppressions/model.ts'
import type { Handover } from './provider.ts'

/** `heldMs`: not tried, because two agents write to each other too fast; tried again after so long. */
export type Attempt = { recipient: RecipientRow; handover: Handover; isHosted?: true; heldMs?: number }

/** What an attempt makes of its recipient; `status` is where the recipient stands afterwards. */
export type Change = {
  position: number
  status: RecipientStatus
  attempts: number
  lastAnswer: string | null
  diagnosticCode: string | null
  lastAttemptAt: Date | null
  nextAttemptAt: Date | null
  /** Null when there is nothing to tell. */
  entry: LogEntry | null
}

const jitter = 0.2
/** A server that was too busy to be asked is asked again soon, and it does not count as an attempt. */
const postponedMs = 5_000
const answerCharactersMax = 1000

/** The outcome of a message that could not be composed. */
export const notComposed = {
  kind: 'refused',
  answer: 'The message could not be composed.',
  diagnosticCode: '5.6.0',
  failed: true,
} as const

/** An answer as rows and logs keep it. */
export const storedAnswer = (answer: string): string => answer.slice(0, answerCharactersMax).toWellFormed().replaceAll('\0', '')

/** The enhanced status code of an answer (RFC 2034), which servers also give when all is well. */
const enhancedIn = (answer: string): string | null => /^[245]\d\d[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(answer)?.[1] ?? null

/** What comes of an attempt, by the schedule of delays. `current` is the recipient as it is by now: news may have come from elsewhere meanwhile. */
export function changeOf(
  { recipient, handover, heldMs }: Attempt,
  current: RecipientRow,
  acceptedAt: Date,
  delays: readonly number[],
  at: Date,
): Change {
  const isTried = heldMs === undefined && !handover.isPostponed
  const attempts = recipient.attempts + (isTried ? 1 : 0)
  const isLate = at.getTime() - acceptedAt.getTime() >= lifetimeMs(delays)
  const againMs = heldMs ?? (handover.isPostponed ? postponedMs : nextAttemptMs(delays, attempts, jitter, Math.random()))
  const delayMs = isLate ? null : againMs
  const status = moved(current.status, nextStatus(handover, delayMs !== null))
  // Put back every few seconds, it would push out what was really tried.
  const isSilent = handover.isPostponed && status === 'queued'
  return {
    position: recipient.position,
    status,
    attempts,
    lastAnswer: isSilent ? recipient.last_answer : storedAnswer(handover.answer),
    diagnosticCode: isSilent ? recipient.diagnostic_code : handover.kind === 'delivered' ? null : handover.diagnosticCode,
    lastAttemptAt: isTried ? at : recipient.last_attempt_at,
    nextAttemptAt: status === 'queued' ? new Date(at.getTime() + (delayMs as number)) : null,
    entry: isSilent
      ? null
      : {
          at: at.toISOString(),
          result: isTried ? results[handover.kind] : 'held',
          host: handover.hop?.host ?? null,
          tls: handover.hop?.tls ?? null,
          answer: storedAnswer(handover.answer),
          enhanced_status: (handover.kind === 'delivered' ? null : handover.diagnosticCode) ?? enhancedIn(handover.answer),
        },
  }
}

/**
 * How long after it was accepted a message is tried at all: as long as its schedule, and what the attempts of it may take themselves. A message that
 * was held or put back, which counts as no attempt, or whose server was down, ends by this.
 */
export const lifetimeMs = (delays: readonly number[]): number => delays.reduce((sum, seconds) => sum + seconds * 1000, attemptsMs)

const attemptsMs = 15 * 60_000

const results = { delivered: 'taken', retry: 'deferred', refused: 'refused' } as const

/** What a recipient becomes after an attempt; without another attempt to come, a retry is a failure. */
function nextStatus(handover: Handover, canRetry: boolean): RecipientStatus {
  if (handover.kind === 'delivered') return handover.final ? 'delivered' : 'sent'
  if (handover.kind === 'retry') return canRetry ? 'queued' : 'failed'
  return handover.failed ? 'failed' : 'bounced'
}

/** One event a kind of change, naming the recipients that it concerns. What is delivered was sent first. */
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
    const recipients = concerned.map(({ recipient, handover }) => ({ address: recipient.address, answer: handover.answer.slice(0, 500) }))
    return [{ type, organizationId: row.organization_id, identityId, subjectId: row.id, data: { recipients } }]
  })
}

/** Outside recipients whose server said that there is no such address. Names that are ours come and go with agents. */
export const suppressionsOf = (row: MessageRow, attempts: Attempt[]): NewSuppression[] =>
  attempts.flatMap(({ recipient: { address }, handover, isHosted }): NewSuppression[] =>
    handover.kind === 'refused' && !isHosted && isHardBounce(handover.diagnosticCode, handover.answer)
      ? [{ organizationId: row.organization_id, address, source: 'bounce', reason: handover.answer, messageId: row.id }]
      : [],
  )

/** The id from which on messages count for the hold of an exchange: a message may have waited for days. */
export const exchangeSince = (at: Date): string => firstId('message', at.getTime() - 2 * 86_400_000)

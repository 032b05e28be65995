// Commits what attempts came to, several messages a transaction: filings, recipients, statuses, events, and the jobs' ends or next runs.
import { groupCommit } from '../../../core/batch.ts'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { now } from '../../../core/clock.ts'
import type { Emit } from '../../../core/event.ts'
import type { Finish, Job } from '../../../core/job.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { InboundMail, Prepared } from '../inbound/operations.ts'
import { type MessageRow, type RecipientRow, worstStatus } from '../messages/model.ts'
import type { Messages } from '../messages/operations.ts'
import type { Suppressions } from '../suppressions/operations.ts'
import { type Attempt, type Change, changeOf, eventsOf, suppressionsOf } from './attempt.ts'

type Parts = {
  db: Database
  messages: Messages
  inboundMail: InboundMail
  suppressions: Suppressions
  emit: Emit
  retrySeconds: number[]
  businessEvents: BusinessEvents
}

/** One run of a delivery job. */
export type Delivered = {
  job: Job
  finish: Finish
  row: MessageRow
  sender: MailboxOwner | null
  attempts: Attempt[]
  /** Recipients that are still to be tried, and were not due. */
  others: RecipientRow[]
  /** What is filed for hosted recipients. */
  prepared: Prepared | null
}

type Settling = Delivered & { at: Date; drawn: Change[]; retryInMs: number | null }

/** The least pause before a job runs again. */
const pauseMsMin = 5
/** What was handed over and is not yet committed would be handed over again after a crash: a result waits for at most two commits under way. */
const groups = { groupMax: 16, inFlightMax: 2, besideFrom: 16, gatherMs: 5 }

/** A function that commits what an attempt came to. Throws LeaseLost, and nothing of the attempt stays, when another worker holds its job. */
export function createSettle({ db, messages, inboundMail, suppressions, emit, retrySeconds, businessEvents }: Parts) {
  const settleTogether = groupCommit((group: Settling[]) => db.transact((tx) => settleAll(tx, group)), groups)

  async function settleAll(tx: Tx, group: Settling[]): Promise<undefined[]> {
    const [current] = await Promise.all([
      messages.lockRecipients(
        tx,
        group.map(({ row }) => row.id),
      ),
      ...group.map(({ finish, retryInMs }) => finish(tx, retryInMs === null ? { done: true } : { done: false, retryInMs })),
    ])
    const results = group.map((one) => resultOf(one, current.get(one.row.id) ?? []))
    const prepared = group.flatMap((one) => one.prepared ?? [])
    await Promise.all([
      prepared.length > 0 ? inboundMail.file(tx, prepared) : null,
      messages.updateDeliveries(
        tx,
        results.map((result) => result.delivery),
        now(),
      ),
      emit(
        tx,
        results.flatMap((result) => result.events),
      ),
      suppressions.suppress(
        tx,
        group.flatMap(({ row, attempts }) => suppressionsOf(row, attempts)),
      ),
    ])
    return group.map(() => undefined)
  }

  /** What an attempt makes of a message whose recipients stand so by now. */
  function resultOf({ row, sender, attempts, drawn, at }: Settling, current: RecipientRow[]) {
    const before = new Map(current.map((recipient) => [recipient.position, recipient]))
    const changes = attempts.flatMap((attempt, index): Change[] => {
      const recipient = before.get(attempt.recipient.position)
      if (!recipient) return []
      // A report may have come before the answer to the message that it is about; it stays, and the attempt is only noted.
      return recipient.status === 'queued' ? [drawn[index] as Change] : [changeOf(attempt, recipient, row.created_at, retrySeconds, at)]
    })
    const statuses = new Map(changes.map((change) => [change.position, change.status]))
    const fresh = new Map([...statuses].filter(([position, status]) => before.get(position)?.status !== status))
    const status = worstStatus(current.map((recipient) => statuses.get(recipient.position) ?? recipient.status))
    return {
      delivery: { messageId: row.id, changes, status },
      events: eventsOf(row, sender?.identityId ?? null, attempts, fresh),
    }
  }

  return async (delivered: Delivered): Promise<void> => {
    const { job, row, attempts, others } = delivered
    const at = now()
    // Decided once: the transaction may run again.
    const drawn = attempts.map((attempt) => changeOf(attempt, attempt.recipient, row.created_at, retrySeconds, at))
    const waiting = drawn.flatMap(({ nextAttemptAt }) => (nextAttemptAt ? [{ next_attempt_at: nextAttemptAt }] : []))
    const open = [...waiting, ...others]
    await settleTogether({ ...delivered, at, drawn, retryInMs: open.length > 0 ? pauseMs(open, at) : null })
    for (const outcome of ['delivered', 'retry', 'refused'] as const) {
      const recipients = attempts.filter(
        ({ handover, heldMs }) => handover.kind === outcome && heldMs === undefined && !handover.isPostponed,
      ).length
      const { organization_id, id: message_id } = row
      if (recipients > 0) businessEvents.deliveryTried({ organization_id, message_id, outcome, recipients, attempt: job.attempts })
    }
  }
}

/** Until the first of these recipients is due. */
export const pauseMs = (recipients: { next_attempt_at: Date | null }[], at: Date): number =>
  Math.max(pauseMsMin, Math.min(...recipients.map(({ next_attempt_at: next }) => (next?.getTime() ?? 0) - at.getTime())))

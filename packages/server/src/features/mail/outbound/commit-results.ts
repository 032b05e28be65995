// Commits the results of attempts, several messages per transaction: filings, recipients, statuses, events, and the jobs' ends or next runs.
import { groupCommit } from '../../../core/batch.ts'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { now } from '../../../core/clock.ts'
import type { Emit } from '../../../core/event.ts'
import type { Finish, Job } from '../../../core/job.ts'
import { recorded } from '../../../core/recorded.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Prepared } from '../inbound/model.ts'
import type { InboundMail } from '../inbound/operations.ts'
import type { Messages } from '../messages/operations.ts'
import { StorageFull } from '../storage/model.ts'
import { type MessageRow, type RecipientRow, worstStatus } from '../stored/model.ts'
import type { Suppressions } from '../suppressions/operations.ts'
import { countedOf } from '../usage/model.ts'
import { countMail } from '../usage/operations.ts'
import { type Attempt, type Change, changeOf, eventsOf, mailboxFull, suppressionsOf } from './attempt.ts'

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
  /** Open recipients that were not due. */
  others: RecipientRow[]
  /** The filings for hosted recipients. */
  prepared: Prepared | null
}

type Result = Delivered & { at: Date; planned: Change[]; retryInMs: number | null }

/** The shortest pause before a job runs again. */
const pauseMsMin = 5
/** A crash before the commit repeats a delivery, so a result waits for at most two commits in flight. */
const groups = { groupMax: 16, inFlightMax: 2, besideFrom: 16, gatherMs: 5 }

/** A function that commits the results of an attempt. Throws LeaseLost and commits nothing when another worker holds the job. */
export function createCommitResults({ db, messages, inboundMail, suppressions, emit, retrySeconds, businessEvents }: Parts) {
  const commitTogether = groupCommit((group: Result[]) => recorded(() => db.transact((tx) => commitAll(tx, group))), groups)

  async function commitAll(tx: Tx, group: Result[]): Promise<undefined[]> {
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
      countMail(
        tx,
        results.flatMap((result) => result.counted),
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

  /** The changes to a message, given the current rows of its recipients. */
  function resultOf({ row, sender, attempts, planned, at }: Result, current: RecipientRow[]) {
    const before = new Map(current.map((recipient) => [recipient.position, recipient]))
    const changes = attempts.flatMap((attempt, index): Change[] => {
      const recipient = before.get(attempt.recipient.position)
      if (!recipient) return []
      // A report may arrive before the answer to its own message. Then its status stays, and the attempt is only logged.
      return recipient.status === 'queued' ? [planned[index] as Change] : [changeOf(attempt, recipient, row.created_at, retrySeconds, at)]
    })
    const statuses = new Map(changes.map((change) => [change.position, change.status]))
    const fresh = new Map([...statuses].filter(([position, status]) => before.get(position)?.status !== status))
    const status = worstStatus(current.map((recipient) => statuses.get(recipient.position) ?? recipient.status))
    return {
      delivery: { messageId: row.id, changes, status },
      // The recipients are locked, so each change of the message's status is counted once.
      counted:
        sender && current.length > 0 && status !== worstStatus(current.map((recipient) => recipient.status))
          ? [countedOf(row, sender, status, at)]
          : [],
      events: eventsOf(row, sender?.identityId ?? null, attempts, fresh),
    }
  }

  return async function commitResults(delivered: Delivered): Promise<void> {
    const { job, row, attempts, others } = delivered
    const at = now()
    // Computed once, because the transaction may run again.
    const planned = attempts.map((attempt) => changeOf(attempt, attempt.recipient, row.created_at, retrySeconds, at))
    const waiting = planned.flatMap(({ nextAttemptAt }) => (nextAttemptAt ? [{ next_attempt_at: nextAttemptAt }] : []))
    const open = [...waiting, ...others]
    try {
      await commitTogether({ ...delivered, at, planned, retryInMs: open.length > 0 ? pauseMs(open, at) : null })
    } catch (error) {
      if (!(error instanceof StorageFull)) throw error
      // A mailbox was filled by other mail meanwhile. The results for recipients elsewhere are kept, and nothing is filed.
      const full = attempts.map((attempt) => (attempt.isFiled ? { recipient: attempt.recipient, result: mailboxFull } : attempt))
      return commitResults({ ...delivered, attempts: full, prepared: null })
    }
    for (const outcome of ['delivered', 'retry', 'refused'] as const) {
      const recipients = attempts.filter(
        ({ result, heldMs }) => result.kind === outcome && heldMs === undefined && !result.isPostponed,
      ).length
      const { organization_id, id: message_id } = row
      if (recipients > 0) businessEvents.deliveryTried({ organization_id, message_id, outcome, recipients, attempt: job.attempts })
    }
  }
}

/** The time until the first of these recipients is due. */
export const pauseMs = (recipients: { next_attempt_at: Date | null }[], at: Date): number =>
  Math.max(pauseMsMin, Math.min(...recipients.map(({ next_attempt_at: next }) => (next?.getTime() ?? 0) - at.getTime())))

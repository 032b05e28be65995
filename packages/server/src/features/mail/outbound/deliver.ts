// Delivers one queued message to the recipients that are due.
import { now } from '../../../core/clock.ts'
import type { Finish, IsHeld, Job, JobEnd } from '../../../core/job.ts'
import type { Outcome } from '../../../core/outcome.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Prepared } from '../inbound/model.ts'
import type { MessageRow, RecipientRow } from '../stored/model.ts'
import { type Attempt, notComposed } from './attempt.ts'
import { type Delivered, pauseMs } from './commit-results.ts'

/** Recipients that are due within this time are included. */
const dueSoonMs = 100

/** The parts of the server that take a step each. */
export type DeliverSteps = {
  findMessage(id: string): Promise<MessageRow | null>
  findRecipients(messageId: string): Promise<RecipientRow[]>
  findSender(row: MessageRow): Promise<MailboxOwner | null>
  /** The addresses among these whose mail this server files or refuses. */
  findHosted(addresses: string[]): Promise<Set<string>>
  /** The signed bytes, or the outcome of a failed composition. */
  compose(row: MessageRow): Promise<Buffer | Outcome>
  /** Returns the job to the queue while its organization has paused sending. False when the pause is over. */
  hold(row: MessageRow, finish: Finish): Promise<boolean>
  /** Attempts for hosted recipients, and what is filed for them with the results. */
  prepareLocal(row: MessageRow, raw: Buffer, hosted: RecipientRow[]): Promise<{ attempts: Attempt[]; prepared: Prepared | null }>
  /** Sends one envelope per recipient. */
  attemptRemote(row: MessageRow, raw: Buffer, outside: RecipientRow[], isHeld: IsHeld): Promise<Attempt[]>
  /** Commits statuses, filings, events and the next attempt, if the job still has its lease. */
  commit(delivered: Delivered): Promise<void>
  /** Ends the job without a result. */
  end(finish: Finish, end: JobEnd): Promise<void>
}

/** Runs the job of a message. Each recipient gets one result, which is committed once. */
export async function deliver(job: Job, finish: Finish, isHeld: IsHeld, steps: DeliverSteps): Promise<void> {
  const row = await steps.findMessage(job.subject)
  if (!row) return steps.end(finish, { done: true })
  const [recipients, sender, hostedAddresses, composed] = await Promise.all([
    steps.findRecipients(row.id),
    steps.findSender(row),
    steps.findHosted([...row.to_addresses, ...row.cc_addresses, ...row.bcc_addresses]),
    steps.compose(row),
  ])
  if (sender?.isPaused) return (await steps.hold(row, finish)) ? undefined : deliver(job, finish, isHeld, steps)
  const open = recipients.filter((recipient) => recipient.status === 'queued')
  if (open.length === 0) return steps.end(finish, { done: true })
  const at = now()
  const due = open.filter(({ next_attempt_at: next }) => next === null || next.getTime() <= at.getTime() + dueSoonMs)
  const others = open.filter((recipient) => !due.includes(recipient))
  if (due.length === 0) return steps.end(finish, { done: false, retryInMs: pauseMs(others, at) })
  const raw = sender === null ? notComposed : composed
  const run = { job, finish, row, sender, others }
  if (!Buffer.isBuffer(raw)) {
    return steps.commit({ ...run, attempts: due.map((recipient) => ({ recipient, result: raw })), prepared: null })
  }
  const hosted = due.filter(({ address }) => hostedAddresses.has(address))
  const outside = due.filter((recipient) => !hosted.includes(recipient))
  // One after the other, because a failure of the first would forget that the second has sent the message.
  const local = await steps.prepareLocal(row, raw, hosted)
  const remote = await steps.attemptRemote(row, raw, outside, isHeld)
  await steps.commit({ ...run, attempts: [...local.attempts, ...remote], prepared: local.prepared })
}

// Delivers queued messages: hosted recipients by filing, the others through the transport; one Outcome decides what each becomes.
import { BlobMissing } from '../../core/blobs.ts'
import { now } from '../../core/clock.ts'
import type { Emit } from '../../core/event.ts'
import type { Finish, Job, JobHandler } from '../../core/job.ts'
import type { Journal } from '../../core/journal.ts'
import type { Log } from '../../core/log.ts'
import type { Outcome } from '../../core/outcome.ts'
import { type Database, DatabaseUnavailable } from '../../core/sql.ts'
import type { MailboxOwner } from '../identities/model.ts'
import type { Identities } from '../identities/operations.ts'
import type { InboundMail, Prepared } from '../inbound-mail/operations.ts'
import { type MessageRow, type RecipientRow, worstStatus } from '../messages/model.ts'
import type { Messages } from '../messages/operations.ts'
import type { Suppressions } from '../suppressions/operations.ts'
import { findHoldMs, type LoopRule } from './agent-loop.ts'
import { type Attempt, changeOf, eventsOf, exchangeSince, notComposed, suppressionsOf } from './attempt.ts'
import { deliverJob } from './model.ts'
import type { Handover, MailTransport } from './provider.ts'
import type { ReturnPaths } from './return-path.ts'

type Parts = {
  db: Database
  identities: Identities
  messages: Messages
  inboundMail: InboundMail
  suppressions: Suppressions
  transport: MailTransport
  returnPaths: ReturnPaths
  compose: (message: MessageRow) => Promise<Buffer>
  emit: Emit
  retrySeconds: number[]
  loopRule: LoopRule
  mailDomain: string
  journal: Journal
  log: Log
}

/** What a process that died had under way waits this long on other nodes. */
const leaseMs = 30_000
/** Longer than the transport's own timeouts, so that a slow receiver does not have its message sent twice. */
const runMsMax = 15 * 60_000
const concurrency = 16
/** Recipients that are due this soon are tried along. */
const alongMs = 100
/** The least pause before a job runs again. */
const pauseMsMin = 5

export function createDelivery(parts: Parts): JobHandler {
  const {
    db,
    identities,
    messages,
    inboundMail,
    suppressions,
    transport,
    returnPaths,
    compose,
    emit,
    retrySeconds,
    loopRule,
    mailDomain,
    journal,
    log,
  } = parts

  async function deliver(job: Job, finish: Finish): Promise<void> {
    const found = await messages.findForDelivery(job.subject)
    const open = found?.recipients.filter((recipient) => recipient.status === 'queued') ?? []
    if (!found || open.length === 0) return db.transact((tx) => finish(tx, { done: true }))
    const { row } = found
    const at = now()
    const due = open.filter(({ next_attempt_at: next }) => next === null || next.getTime() <= at.getTime() + alongMs)
    const others = open.filter((recipient) => !due.includes(recipient))
    if (due.length === 0) return db.transact((tx) => finish(tx, { done: false, retryInMs: pauseMs(others, at) }))
    const sender = await identities.findSender(row.mailbox_id, row.from_address)
    const raw = sender === null ? notComposed : await tryCompose(row)
    if (!Buffer.isBuffer(raw)) {
      const attempts = due.map((recipient) => ({ recipient, handover: raw }))
      return settle(job, finish, found, sender, attempts, others, null)
    }
    const isHosted = await Promise.all(due.map((recipient) => identities.isHostedRecipient(recipient.address)))
    const hosted = due.filter((_, index) => isHosted[index])
    const outside = due.filter((recipient) => !hosted.includes(recipient))
    const [local, remote] = await Promise.all([prepareLocal(row, raw, hosted), attemptRemote(row, raw, outside)])
    await settle(job, finish, found, sender, [...local.attempts, ...remote], others, local.prepared)
  }

  /** The bytes, or why there are none. Rejects when the database is away: nothing is known of the message then. */
  async function tryCompose(row: MessageRow): Promise<Buffer | Outcome> {
    try {
      return await compose(row)
    } catch (err) {
      if (err instanceof DatabaseUnavailable) throw err
      log.error({ err, message: row.id }, 'a message could not be composed')
      // What is missing stays missing. Any other trouble may be a disk's or a blob store's, and pass: the schedule decides.
      return err instanceof BlobMissing ? notComposed : { kind: 'retry', answer: notComposed.answer, diagnosticCode: '4.3.0' }
    }
  }

  /** Hosted recipients: what to file when the outcome is committed, who has no mailbox here, and who is held because two agents are in a loop. */
  async function prepareLocal(
    row: MessageRow,
    raw: Buffer,
    hosted: RecipientRow[],
  ): Promise<{ attempts: Attempt[]; prepared: Prepared | null }> {
    if (hosted.length === 0) return { attempts: [], prepared: null }
    const owners = await Promise.all(hosted.map((recipient) => inboundMail.findRecipient(recipient.address)))
    const attempts = await Promise.all(
      hosted.map(async (recipient, index): Promise<Attempt> => {
        const owner = owners[index]
        if (!owner) return { recipient, handover: noMailbox, isHosted: true }
        const heldMs = await findHold(row, owner)
        return heldMs === null ? { recipient, handover: filed(mailDomain) } : { recipient, handover: held, heldMs }
      }),
    )
    const kept = attempts.flatMap(({ heldMs }, index) => (owners[index] && heldMs === undefined ? [index] : []))
    if (kept.length === 0) return { attempts, prepared: null }
    const received = `Received: by ${mailDomain} with HTTP id ${row.id}; ${row.created_at.toUTCString().replace('GMT', '+0000')}\r\n`
    const recipients = kept.map((index) => (hosted[index] as RecipientRow).address)
    const arrival = { from: row.envelope_from ?? '', recipients, raw, received, client: null }
    const present = kept.map((index) => owners[index] as MailboxOwner)
    return { attempts, prepared: await inboundMail.prepare(arrival, present) }
  }

  async function findHold(row: MessageRow, owner: MailboxOwner): Promise<number | null> {
    if (loopRule.windowMs === 0 || owner.mailboxId === row.mailbox_id) return null
    const at = now()
    const exchange = { threadId: row.thread_id, address: owner.address, beforeId: row.id, sinceId: exchangeSince(at) }
    return findHoldMs(await messages.findExchange(exchange), at.getTime(), loopRule)
  }

  /** Each recipient has a return path of its own, so each is an envelope of its own: nobody can bounce for another. */
  async function attemptRemote(row: MessageRow, raw: Buffer, outside: RecipientRow[]): Promise<Attempt[]> {
    return Promise.all(
      outside.map(async (recipient): Promise<Attempt> => {
        const { address, position } = recipient
        const smtputf8 = /[^\x20-\x7e]/.test(address.slice(0, address.lastIndexOf('@')))
        const from = returnPaths.make({ messageId: row.id, position })
        const [handover] = await transport.deliver({ from, recipients: [address], smtputf8, eightBit: false }, raw)
        return { recipient, handover: handover as Handover }
      }),
    )
  }

  /** Commits what this attempt did: filings, recipients, status, events, and the job's end or next run. */
  async function settle(
    job: Job,
    finish: Finish,
    found: { row: MessageRow },
    sender: MailboxOwner | null,
    attempts: Attempt[],
    others: RecipientRow[],
    prepared: Prepared | null,
  ): Promise<void> {
    const { row } = found
    const at = now()
    // Decided once: the transaction may run again.
    const drawn = attempts.map((attempt) => changeOf(attempt, attempt.recipient, retrySeconds, at))
    const waiting = drawn.flatMap(({ nextAttemptAt }) => (nextAttemptAt ? [{ next_attempt_at: nextAttemptAt }] : []))
    const isDone = waiting.length + others.length === 0
    await db.transact(async (tx) => {
      // The job first: when its lease is lost, nothing else of this attempt may stay.
      const end = isDone ? { done: true as const } : { done: false as const, retryInMs: pauseMs([...waiting, ...others], at) }
      const [, current] = await Promise.all([finish(tx, end), messages.lockRecipients(tx, row.id)])
      const before = new Map(current.map((recipient) => [recipient.position, recipient]))
      const changes = attempts.flatMap((attempt, index) => {
        const now = before.get(attempt.recipient.position)
        // A report may have come before the answer to the message that it is about; it stays, and the attempt is only noted.
        if (!now) return []
        return now.status === 'queued' ? [drawn[index] as (typeof drawn)[number]] : [changeOf(attempt, now, retrySeconds, at)]
      })
      const byPosition = new Map(changes.map((change) => [change.position, change.status]))
      const fresh = new Map([...byPosition].filter(([position, status]) => before.get(position)?.status !== status))
      const status = worstStatus(current.map((recipient) => byPosition.get(recipient.position) ?? recipient.status))
      await Promise.all([
        prepared ? inboundMail.file(tx, prepared) : null,
        messages.updateDelivery(tx, row.id, changes, status, at),
        emit(tx, eventsOf(row, sender?.identityId ?? null, attempts, fresh)),
        suppressions.suppress(tx, suppressionsOf(row, attempts)),
      ])
    })
    for (const outcome of ['delivered', 'retry', 'refused'] as const) {
      const recipients = attempts.filter(
        ({ handover, heldMs }) => handover.kind === outcome && heldMs === undefined && !handover.isPostponed,
      ).length
      const { organization_id, id: message_id } = row
      if (recipients > 0) journal.deliveryTried({ organization_id, message_id, outcome, recipients, attempt: job.attempts })
    }
  }

  return { kind: deliverJob, leaseMs, runMsMax, concurrency, run: deliver }
}

const noMailbox: Handover = { kind: 'refused', answer: '550 5.1.1 No such mailbox here.', diagnosticCode: '5.1.1' }
const filed = (host: string): Handover => ({
  kind: 'delivered',
  answer: '250 2.0.0 Filed in the mailbox.',
  final: true,
  hop: { host, tls: null },
})
const held: Handover = {
  kind: 'retry',
  answer: 'Held: the two agents wrote more than 20 messages on this thread in a short time; it is delivered when that has passed.',
  diagnosticCode: '4.7.28',
}

/** Until the first of these recipients is due. */
const pauseMs = (recipients: { next_attempt_at: Date | null }[], at: Date): number =>
  Math.max(pauseMsMin, Math.min(...recipients.map(({ next_attempt_at: next }) => (next?.getTime() ?? 0) - at.getTime())))

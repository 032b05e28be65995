// Delivers queued messages: hosted recipients by filing, the others through the transport; one Outcome decides what each becomes.
import { BlobMissing } from '../../core/blobs.ts'
import { inMs, now } from '../../core/clock.ts'
import type { Emit, NewEvent } from '../../core/event.ts'
import type { Finish, Job, JobHandler } from '../../core/job.ts'
import type { Journal } from '../../core/journal.ts'
import type { Log } from '../../core/log.ts'
import type { Outcome } from '../../core/outcome.ts'
import { nextAttemptMs } from '../../core/schedule.ts'
import { type Database, DatabaseUnavailable } from '../../core/sql.ts'
import type { MailboxOwner } from '../identities/model.ts'
import type { Identities } from '../identities/operations.ts'
import type { InboundMail, Prepared } from '../inbound-mail/operations.ts'
import { canMove, type MessageRow, type RecipientRow, type RecipientStatus, worstStatus } from '../messages/model.ts'
import type { Messages } from '../messages/operations.ts'
import { deliverJob } from './model.ts'
import type { MailTransport } from './provider.ts'

type Parts = {
  db: Database
  identities: Identities
  messages: Messages
  inboundMail: InboundMail
  transport: MailTransport
  compose: (message: MessageRow) => Promise<Buffer>
  emit: Emit
  retrySeconds: number[]
  mailDomain: string
  journal: Journal
  log: Log
}

const jitter = 0.2
/** What a process that died had under way waits this long on other nodes. */
const leaseMs = 30_000
/** Longer than the transport's own timeouts, so that a slow receiver does not have its message sent twice. */
const runMsMax = 15 * 60_000
const concurrency = 16

const notComposed = { kind: 'refused', answer: 'The message could not be composed.', diagnosticCode: '5.6.0', failed: true } as const

type Attempt = { recipient: RecipientRow; outcome: Outcome }

export function createDelivery(parts: Parts): JobHandler {
  const { db, identities, messages, inboundMail, transport, compose, emit, retrySeconds, mailDomain, journal, log } = parts

  async function deliver(job: Job, finish: Finish): Promise<void> {
    const found = await messages.findForDelivery(job.subject)
    const open = found?.recipients.filter((recipient) => recipient.status === 'queued') ?? []
    if (!found || open.length === 0) return db.transact((tx) => finish(tx, { done: true }))
    const { row } = found
    const sender = await identities.findHosted(row.from_address)
    const raw = sender === null ? notComposed : await tryCompose(row)
    if (!Buffer.isBuffer(raw)) {
      const outcome = raw
      return settle(
        job,
        finish,
        found,
        sender,
        open.map((recipient) => ({ recipient, outcome })),
        null,
      )
    }
    const isHosted = await Promise.all(open.map((recipient) => identities.isHostedRecipient(recipient.address)))
    const hosted = open.filter((_, index) => isHosted[index])
    const outside = open.filter((recipient) => !hosted.includes(recipient))
    const [local, remote] = await Promise.all([prepareLocal(row, raw, hosted), attemptRemote(row, raw, outside)])
    await settle(job, finish, found, sender, [...local.attempts, ...remote], local.prepared)
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

  /** Hosted recipients: what to file when the outcome is committed, and who has no mailbox here. */
  async function prepareLocal(
    row: MessageRow,
    raw: Buffer,
    hosted: RecipientRow[],
  ): Promise<{ attempts: Attempt[]; prepared: Prepared | null }> {
    if (hosted.length === 0) return { attempts: [], prepared: null }
    const owners = await Promise.all(hosted.map((recipient) => inboundMail.findRecipient(recipient.address)))
    const attempts = hosted.map((recipient, index): Attempt => {
      const outcome: Outcome = owners[index]
        ? { kind: 'delivered', answer: '250 2.0.0 Filed in the mailbox.', final: true }
        : { kind: 'refused', answer: '550 5.1.1 No such mailbox here.', diagnosticCode: '5.1.1' }
      return { recipient, outcome }
    })
    const present = owners.flatMap((owner): MailboxOwner[] => (owner ? [owner] : []))
    if (present.length === 0) return { attempts, prepared: null }
    const received = `Received: by ${mailDomain} with HTTP id ${row.id}; ${row.created_at.toUTCString().replace('GMT', '+0000')}\r\n`
    const arrival = { from: row.envelope_from ?? '', recipients: hosted.map((recipient) => recipient.address), raw, received, client: null }
    return { attempts, prepared: await inboundMail.prepare(arrival, present) }
  }

  async function attemptRemote(row: MessageRow, raw: Buffer, outside: RecipientRow[]): Promise<Attempt[]> {
    if (outside.length === 0) return []
    const recipients = outside.map((recipient) => recipient.address)
    const needsUtf8 = recipients.some((address) => /[^\x20-\x7e]/.test(address.slice(0, address.lastIndexOf('@'))))
    const envelope = { from: row.envelope_from ?? '', recipients, smtputf8: needsUtf8, eightBit: false }
    const outcomes = await transport.deliver(envelope, raw)
    return outside.map((recipient, index) => ({ recipient, outcome: outcomes[index] as Outcome }))
  }

  /** Commits what this attempt did: filings, recipients, status, events, and the job's end or next run. */
  async function settle(
    job: Job,
    finish: Finish,
    found: { row: MessageRow; recipients: RecipientRow[] },
    sender: MailboxOwner | null,
    attempts: Attempt[],
    prepared: Prepared | null,
  ): Promise<void> {
    const at = now()
    const delayMs = nextAttemptMs(retrySeconds, job.attempts, jitter, Math.random())
    const changes = attempts.map(({ recipient, outcome }) => {
      const status = nextStatus(outcome, delayMs !== null)
      if (status !== 'queued' && !canMove(recipient.status, status))
        throw new Error(`recipient ${recipient.position} may not move to ${status}`)
      return {
        position: recipient.position,
        status,
        attempts: recipient.attempts + 1,
        lastAnswer: outcome.answer.slice(0, 1000).toWellFormed().replaceAll('\0', ''),
        diagnosticCode: outcome.kind === 'delivered' ? null : outcome.diagnosticCode,
        lastAttemptAt: at,
        nextAttemptAt: status === 'queued' ? inMs(delayMs as number) : null,
      }
    })
    const byPosition = new Map(changes.map((change) => [change.position, change.status]))
    const status = worstStatus(found.recipients.map((recipient) => byPosition.get(recipient.position) ?? recipient.status))
    const isDone = changes.every((change) => change.status !== 'queued')
    const events = eventsOf(found.row, sender, attempts, byPosition)
    await db.transact(async (tx) => {
      // The job first: when its lease is lost, nothing else of this attempt may stay.
      await finish(tx, isDone ? { done: true } : { done: false, retryInMs: delayMs as number })
      await Promise.all([
        prepared ? inboundMail.file(tx, prepared) : null,
        messages.updateDelivery(tx, found.row.id, changes, status, at),
        emit(tx, events),
      ])
    })
    for (const outcome of ['delivered', 'retry', 'refused'] as const) {
      const recipients = attempts.filter((attempt) => attempt.outcome.kind === outcome).length
      const { organization_id, id: message_id } = found.row
      if (recipients > 0) journal.deliveryTried({ organization_id, message_id, outcome, recipients, attempt: job.attempts })
    }
  }

  return { kind: deliverJob, leaseMs, runMsMax, concurrency, run: deliver }
}

/** What a recipient becomes after an attempt; without another attempt to come, a retry is a failure. */
function nextStatus(outcome: Outcome, canRetry: boolean): RecipientStatus {
  if (outcome.kind === 'delivered') return outcome.final ? 'delivered' : 'sent'
  if (outcome.kind === 'retry') return canRetry ? 'queued' : 'failed'
  return outcome.failed ? 'failed' : 'bounced'
}

/** One event a kind of change, naming the recipients that it concerns. What is delivered was sent first. */
function eventsOf(row: MessageRow, sender: MailboxOwner | null, attempts: Attempt[], statuses: Map<number, RecipientStatus>): NewEvent[] {
  const types = [
    ['email.sent', ['sent', 'delivered']],
    ['email.delivered', ['delivered']],
    ['email.bounced', ['bounced']],
    ['email.failed', ['failed']],
  ] as const
  return types.flatMap(([type, wanted]): NewEvent[] => {
    const concerned = attempts.filter(({ recipient }) => (wanted as readonly string[]).includes(statuses.get(recipient.position) ?? ''))
    if (concerned.length === 0) return []
    const recipients = concerned.map(({ recipient, outcome }) => ({ address: recipient.address, answer: outcome.answer.slice(0, 500) }))
    return [{ type, organizationId: row.organization_id, identityId: sender?.identityId ?? null, subjectId: row.id, data: { recipients } }]
  })
}

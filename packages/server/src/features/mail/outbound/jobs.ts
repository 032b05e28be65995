// The job that delivers a message: its attempts for hosted recipients, and over the transport for others.
import { BlobMissing } from '../../../core/blobs.ts'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { now } from '../../../core/clock.ts'
import type { Emit } from '../../../core/event.ts'
import type { Finish, IsHeld, JobHandler } from '../../../core/job.ts'
import type { Log } from '../../../core/log.ts'
import type { Outcome } from '../../../core/outcome.ts'
import { type Database, DatabaseUnavailable } from '../../../core/sql.ts'
import { type MailboxOwner, mailboxAddressOf } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { Prepared } from '../inbound/model.ts'
import type { InboundMail } from '../inbound/operations.ts'
import type { Messages } from '../messages/operations.ts'
import { learnRelayedIds } from '../stored/mail-store.ts'
import type { MessageRow, RecipientRow } from '../stored/model.ts'
import type { Suppressions } from '../suppressions/operations.ts'
import { findHoldMs, type LoopRule } from './agent-loop.ts'
import { type Attempt, exchangeSince, mailboxFull, notComposed } from './attempt.ts'
import { createCommitResults } from './commit-results.ts'
import { type DeliverSteps, deliver } from './deliver.ts'
import type { ReturnPaths } from './model.ts'
import { deliverJob } from './model.ts'
import type { DeliveryResult, Envelope, MailTransport } from './provider.ts'

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
  /** Returns a job to the queue while its organization has paused sending. False when the pause is over. */
  holdJob: (organizationId: string, finish: Finish) => Promise<boolean>
  mailDomain: string
  businessEvents: BusinessEvents
  log: Log
}

/** Other nodes take over the jobs of a dead process after this time. */
const leaseMs = 30_000
/** Longer than the transport's own timeouts, so that a slow receiver does not get its message twice. */
const runMsMax = 15 * 60_000
const concurrency = 16

export function createDelivery(parts: Parts): JobHandler {
  const { db, identities, messages, inboundMail, transport, returnPaths, compose, loopRule, holdJob, mailDomain, log } = parts

  /** The addresses among these whose mail this server files or refuses. */
  async function findHosted(addresses: string[]): Promise<Set<string>> {
    const isHosted = await Promise.all(addresses.map((address) => identities.isHostedRecipient(address)))
    return new Set(addresses.filter((_, index) => isHosted[index]))
  }

  /** The bytes, or the outcome of a failed composition. Rejects when the database is unavailable. */
  async function tryCompose(row: MessageRow): Promise<Buffer | Outcome> {
    try {
      return await compose(row)
    } catch (err) {
      if (err instanceof DatabaseUnavailable) throw err
      log.error({ err, message: row.id }, 'composing a message failed')
      // A missing blob is permanent. Any other failure, as of a disk or blob store, may pass and is retried.
      return err instanceof BlobMissing ? notComposed : { kind: 'retry', answer: notComposed.answer, diagnosticCode: '4.3.0' }
    }
  }

  /** Attempts for hosted recipients, and their filings for the commit. Covers missing mailboxes, and exchanges over the agent loop limit. */
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
        if (!owner) return { recipient, result: noMailbox, isHosted: true }
        if (!(await inboundMail.hasRoom(owner, raw.length))) return { recipient, result: mailboxFull, isHosted: true }
        const heldMs = await findHold(row, owner, recipient)
        return heldMs === null ? { recipient, result: filed(mailDomain), isFiled: true } : { recipient, result: held, heldMs }
      }),
    )
    const filable = attempts.flatMap(({ isFiled }, index) => (isFiled ? [index] : []))
    if (filable.length === 0) return { attempts, prepared: null }
    const received = `Received: by ${mailDomain} with HTTP id ${row.id}; ${row.created_at.toUTCString().replace('GMT', '+0000')}\r\n`
    const recipients = filable.map((index) => (hosted[index] as RecipientRow).address)
    const arrival = { from: row.envelope_from ?? '', recipients, raw, received, client: null }
    const present = filable.map((index) => owners[index] as MailboxOwner)
    return { attempts, prepared: await inboundMail.prepare(arrival, present) }
  }

  async function findHold(row: MessageRow, owner: MailboxOwner, recipient: RecipientRow): Promise<number | null> {
    if (loopRule.windowMs === 0 || owner.mailboxId === row.mailbox_id) return null
    const at = now()
    const addresses = [owner.address, mailboxAddressOf(recipient.address) ?? owner.address]
    const exchange = { threadId: row.thread_id, addresses, beforeId: row.id, sinceId: exchangeSince(at) }
    const exchanged = await messages.findExchange(exchange)
    return findHoldMs(
      exchanged.map((one) => one.at),
      at.getTime(),
      loopRule,
    )
  }

  /** Sends one envelope per recipient, because each has its own return path. So no recipient can bounce for another. */
  async function attemptRemote(row: MessageRow, raw: Buffer, outside: RecipientRow[], isHeld: IsHeld): Promise<Attempt[]> {
    const attempts = await Promise.all(
      outside.map(async (recipient): Promise<Attempt> => {
        const { address, position } = recipient
        const smtputf8 = /[^\x20-\x7e]/.test(address.slice(0, address.lastIndexOf('@')))
        // An automatic answer has the null return path, so that it cannot bounce (RFC 3834 §3.3).
        const from = row.envelope_from === '' ? '' : returnPaths.make({ messageId: row.id, position })
        const envelope = { from, recipients: [address], smtputf8, eightBit: false, mayEnd: isHeld }
        return { recipient, result: await tryTransport(envelope, raw) }
      }),
    )
    if (transport.name === 'relay') await learnIds(row, attempts)
    return attempts
  }

  /** Records the ids by which a relay may have replaced the Message-ID. Never rejects, so that the results of the attempts are recorded. */
  async function learnIds(row: MessageRow, attempts: Attempt[]): Promise<void> {
    const answers = attempts.flatMap(({ result }) => (result.kind === 'delivered' ? [result.answer] : []))
    await learnRelayedIds(db, row.id, answers).catch((err) => log.error({ err }, 'the ids of a relay could not be recorded'))
  }

  /** Never rejects, so that the results of the other recipients are recorded. */
  async function tryTransport(envelope: Envelope, raw: Buffer): Promise<DeliveryResult> {
    try {
      const [result] = await transport.deliver(envelope, raw)
      return result as DeliveryResult
    } catch (err) {
      log.error({ err }, 'the mail transport failed')
      return { kind: 'retry', answer: 'The attempt failed on this server.', diagnosticCode: '4.3.0' }
    }
  }

  const steps: DeliverSteps = {
    findMessage: messages.findMessage,
    findRecipients: messages.findRecipients,
    findSender: (row) => identities.findSender(row.mailbox_id, row.from_address),
    findHosted,
    compose: tryCompose,
    hold: (row, finish) => holdJob(row.organization_id, finish),
    prepareLocal,
    attemptRemote,
    commit: createCommitResults(parts),
    end: (finish, end) => db.transact((tx) => finish(tx, end)),
  }
  const run: JobHandler['run'] = (job, finish, isHeld) => deliver(job, finish, isHeld, steps)
  return { kind: deliverJob, leaseMs, runMsMax, concurrency, startsWhereMade: true, run }
}

const noMailbox: DeliveryResult = { kind: 'refused', answer: '550 5.1.1 No such mailbox here.', diagnosticCode: '5.1.1' }
const filed = (host: string): DeliveryResult => ({
  kind: 'delivered',
  answer: '250 2.0.0 Filed in the mailbox.',
  final: true,
  hop: { host, tls: null },
})
const held: DeliveryResult = {
  kind: 'retry',
  answer: 'Held: the two agents exceeded 20 messages in this thread within a short time. It is delivered after that time.',
  diagnosticCode: '4.7.28',
}

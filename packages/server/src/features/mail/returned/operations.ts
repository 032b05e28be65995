// Takes mail that comes back: what an authenticated return path reports moves its recipient; everything else is a letter to the agent.
import { isHardBounce } from '@callsign/mail/reports/hard-bounce'
import { readReport } from '@callsign/mail/reports/report'
import { type Report, statusOf } from '@callsign/mail/reports/report-kinds'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { now } from '../../../core/clock.ts'
import type { Emit, NewEvent } from '../../../core/event.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { Identities } from '../../account/identities/operations.ts'
import { type LogEntry, type MessageRow, moved, type RecipientRow, worstStatus } from '../messages/model.ts'
import type { Messages } from '../messages/operations.ts'
import type { ReturnAddressee, ReturnPaths } from '../outbound/model.ts'
import type { Suppressions } from '../suppressions/operations.ts'

export type ReturnedMail = ReturnType<typeof createReturnedMail>

type Parts = {
  db: Database
  messages: Messages
  identities: Identities
  suppressions: Suppressions
  returnPaths: ReturnPaths
  emit: Emit
  businessEvents: BusinessEvents
  mailDomain: string
}

/** `letterTo`: not a report, or one that a person wants to see; it belongs into this mailbox. `unknown`: about no message of ours. */
export type Taken = { kind: 'recorded' } | { kind: 'letter'; letterTo: string } | { kind: 'unknown' }

const answerCharactersMax = 1000
/** How far, and how often, a report at the common address is searched: anybody may write there. */
const quotedBytesMax = 256 * 1024
const quotedMax = 20

export function createReturnedMail({ db, messages, identities, suppressions, returnPaths, emit, businessEvents, mailDomain }: Parts) {
  /** Where feedback loops send their reports: the return path that a report is about stands inside it. */
  const reportAddress = `bounce@${mailDomain}`

  async function find({ messageId, position }: ReturnAddressee): Promise<{ row: MessageRow; recipient: RecipientRow } | null> {
    const found = await messages.findForDelivery(messageId)
    const recipient = found?.recipients.find((one) => one.position === position)
    return found && recipient ? { row: found.row, recipient } : null
  }

  /** The return path that a report at the common address quotes: of its Original-Mail-From, or of the message that it encloses. */
  function quotedAddressee(raw: Buffer): ReturnAddressee | null {
    const text = raw.toString('latin1', 0, quotedBytesMax).replace(/=\r\n/g, '')
    let left = quotedMax
    for (const [address] of text.matchAll(/\bbounce(?:\+|=2B)[0-9a-z]{26}-\d{1,3}-[0-9a-z]{20}@[a-z0-9.-]{1,253}/gi)) {
      const addressee = returnPaths.read(address.replace(/=2B/i, '+'))
      if (addressee) return addressee
      if (--left === 0) break
    }
    return null
  }

  async function record(row: MessageRow, position: number, report: Report): Promise<void> {
    const owner = await identities.findHosted(row.from_address)
    const at = now()
    const answer = report.answer
      .slice(0, answerCharactersMax)
      .toWellFormed()
      .replace(/\p{Cc}/gu, ' ')
    const entry: LogEntry = {
      at: at.toISOString(),
      result: 'report',
      host:
        report.host
          ?.slice(0, 255)
          .toWellFormed()
          .replace(/\p{Cc}/gu, '') ?? null,
      tls: null,
      answer: wordsFor(report, answer),
      enhanced_status: report.enhancedStatus,
    }
    await db.transact(async (tx) => {
      const current = (await messages.lockRecipients(tx, [row.id])).get(row.id) ?? []
      const recipient = current.find((one) => one.position === position)
      // The same report again: its sender lost our answer, or sends one a day.
      if (!recipient || recipient.log.some((known) => isSame(known, entry))) return
      const wanted = statusOf(report, recipient.status)
      const status = wanted === null ? recipient.status : moved(recipient.status, wanted)
      const hasMoved = status !== recipient.status
      const change = {
        position,
        status,
        attempts: recipient.attempts,
        lastAnswer: hasMoved ? entry.answer : recipient.last_answer,
        diagnosticCode: hasMoved && status !== 'delivered' ? report.enhancedStatus : recipient.diagnostic_code,
        lastAttemptAt: recipient.last_attempt_at,
        nextAttemptAt: status === 'queued' ? recipient.next_attempt_at : null,
        entry,
      }
      const worst = worstStatus(current.map((one) => (one === recipient ? status : one.status)))
      await messages.updateDeliveries(tx, [{ messageId: row.id, changes: [change], status: worst }], at)
      const types = [
        ...(hasMoved ? [eventTypes[status as keyof typeof eventTypes]] : []),
        ...(report.kind === 'complaint' ? [complained] : []),
      ]
      await emit(
        tx,
        types.map((type) => toEvent(type, row, owner?.identityId ?? null, recipient, entry)),
      )
      await suppress(tx, row, recipient, report, entry)
    })
    businessEvents.returnTaken({
      organization_id: row.organization_id,
      message_id: row.id,
      kind: report.kind as Exclude<Report['kind'], 'letter'>,
    })
  }

  async function suppress(tx: Tx, row: MessageRow, recipient: RecipientRow, report: Report, entry: LogEntry): Promise<void> {
    const isBounce = report.kind === 'failed' && isHardBounce(report.enhancedStatus, entry.answer)
    if (!isBounce && report.kind !== 'complaint') return
    const source = isBounce ? 'bounce' : 'complaint'
    await suppressions.suppress(tx, [
      { organizationId: row.organization_id, address: recipient.address, source, reason: entry.answer, messageId: row.id },
    ])
  }

  return {
    /** True for addresses that belong to us and not to a mailbox. */
    isReturnAddress: (address: string): boolean => returnPaths.isReturnPath(address) || address.toLowerCase() === reportAddress,

    /** Whether mail to such an address is taken: a return path that we made, for a message that is still here. */
    async isTaken(address: string): Promise<boolean> {
      if (address.toLowerCase() === reportAddress) return true
      const addressee = returnPaths.read(address)
      return addressee !== null && (await find(addressee)) !== null
    },

    /** Takes mail to such an address. Resolves once what it reports is committed. */
    async take(address: string, envelopeFrom: string, raw: Buffer): Promise<Taken> {
      const isDirect = address.toLowerCase() !== reportAddress
      const addressee = isDirect ? returnPaths.read(address) : quotedAddressee(raw)
      const found = addressee && (await find(addressee))
      if (!found) return { kind: 'unknown' }
      const report = readReport(raw, envelopeFrom, found.recipient.address)
      const isLetter = report.kind === 'letter'
      // What comes to the common address and is no report was written by somebody who has seen a return path: it is about nothing.
      if (isLetter && !isDirect) return { kind: 'unknown' }
      if (!isLetter) await record(found.row, found.recipient.position, report)
      return isLetter || report.kind === 'automatic' ? { kind: 'letter', letterTo: found.row.from_address } : { kind: 'recorded' }
    },
  }
}

const complained = 'email.complained' as const
const eventTypes = { delivered: 'email.delivered', bounced: 'email.bounced', failed: 'email.failed' } as const

const isSame = (a: LogEntry, b: LogEntry): boolean =>
  a.result === 'report' && a.answer === b.answer && a.enhanced_status === b.enhanced_status && a.host === b.host

/** What the log says: a report's own words, with what it is in front where they do not say so themselves. */
function wordsFor(report: Report, answer: string): string {
  switch (report.kind) {
    case 'automatic':
      return `An automatic answer came back: ${answer}`
    case 'delayed':
      return `Delayed: ${answer || 'the next server is still trying.'}`
    case 'delivered':
      return answer || 'Delivered, says a delivery report.'
    case 'passed-on':
      return `Passed on: ${answer || 'to a system that does not report.'}`
    default:
      return answer || 'A delivery report says that it failed, without a reason.'
  }
}

const toEvent = (
  type: NewEvent['type'],
  row: MessageRow,
  identityId: string | null,
  recipient: RecipientRow,
  entry: LogEntry,
): NewEvent => ({
  type,
  organizationId: row.organization_id,
  identityId,
  subjectId: row.id,
  data: { recipients: [{ address: recipient.address, answer: entry.answer.slice(0, 500) }] },
})

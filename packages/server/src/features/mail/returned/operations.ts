// Takes mail to return paths: a report updates its recipient, and other mail goes to the agent's mailbox.
import { isHardBounce } from '@callsign/mail/reports/hard-bounce'
import { readReport } from '@callsign/mail/reports/report'
import { type Report, statusOf } from '@callsign/mail/reports/report-kinds'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { now } from '../../../core/clock.ts'
import type { Emit, NewEvent } from '../../../core/event.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { MailIntake } from '../inbound/model.ts'
import { marksOf } from '../messages/model.ts'
import type { Messages } from '../messages/operations.ts'
import type { ReturnAddressee, ReturnPaths } from '../outbound/model.ts'
import { type LogEntry, type MessageRow, moved, type RecipientRow, worstStatus } from '../stored/model.ts'
import type { Suppressions } from '../suppressions/operations.ts'
import { countedOf } from '../usage/model.ts'
import { countMail } from '../usage/operations.ts'

/** Mail to return paths: bounces, delivery reports and complaints. */
export interface ReturnedMail {
  /** True for the addresses of this server that do not belong to a mailbox. */
  isReturnAddress(address: string): boolean
  /** True when mail to a return address is accepted: it is a genuine return path of a message that still exists. */
  isTaken(address: string): Promise<boolean>
  /** Takes mail to a return address. Resolves once its report is committed. */
  take(address: string, envelopeFrom: string, raw: Buffer): Promise<Taken>
}

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

/** `message`: not a report, or an automatic answer that a reader should see, for the mailbox `to`. `unknown`: not about a message of this server. */
export type Taken = { kind: 'recorded' } | { kind: 'message'; to: string } | { kind: 'unknown' }

const answerCharactersMax = 1000
/** Limits of the search in a report to the common address, since anyone may write there. */
const quotedBytesMax = 256 * 1024
const quotedMax = 20

export function createReturnedMail({
  db,
  messages,
  identities,
  suppressions,
  returnPaths,
  emit,
  businessEvents,
  mailDomain,
}: Parts): ReturnedMail {
  /** The address that feedback loops report to. Their reports quote the return path that they are about. */
  const reportAddress = `bounce@${mailDomain}`

  async function find({ messageId, position }: ReturnAddressee): Promise<{ row: MessageRow; recipient: RecipientRow } | null> {
    const found = await messages.findForDelivery(messageId)
    const recipient = found?.recipients.find((one) => one.position === position)
    return found && recipient ? { row: found.row, recipient } : null
  }

  /** The recipient of the return path that a report quotes, in its Original-Mail-From or in the enclosed message. */
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
    const owner = await identities.findOwner(row.mailbox_id)
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
      // A repeated report: its sender lost our answer, or sends one per day.
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
      const hasMessageMoved = worst !== worstStatus(current.map((one) => one.status))
      const counts = [...(hasMessageMoved ? [worst] : []), ...(report.kind === 'complaint' ? (['complained'] as const) : [])]
      const counted = owner ? counts.map((name) => countedOf(row, owner, name, at)) : []
      await countMail(tx, counted)
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
    isReturnAddress: (address) => returnPaths.isReturnPath(address) || address.toLowerCase() === reportAddress,

    async isTaken(address) {
      if (address.toLowerCase() === reportAddress) return true
      const addressee = returnPaths.read(address)
      return addressee !== null && (await find(addressee)) !== null
    },

    async take(address, envelopeFrom, raw) {
      const isDirect = address.toLowerCase() !== reportAddress
      const addressee = isDirect ? returnPaths.read(address) : quotedAddressee(raw)
      const found = addressee && (await find(addressee))
      if (!found) return { kind: 'unknown' }
      const report = readReport(raw, envelopeFrom, found.recipient.address)
      const isMessage = report.kind === 'letter'
      // Mail to the common return path that is not a report comes from a person with a copy of the address. It does not belong to a message.
      if (isMessage && !isDirect) return { kind: 'unknown' }
      if (!isMessage) await record(found.row, found.recipient.position, report)
      return isMessage || report.kind === 'automatic' ? { kind: 'message', to: found.row.from_address } : { kind: 'recorded' }
    },
  }
}

const complained = 'email.complained' as const
const eventTypes = { delivered: 'email.delivered', bounced: 'email.bounced', failed: 'email.failed' } as const

const isSame = (a: LogEntry, b: LogEntry): boolean =>
  a.result === 'report' && a.answer === b.answer && a.enhanced_status === b.enhanced_status && a.host === b.host

/** The text for the delivery log: the report's own, after its kind where the text does not say so. */
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
  data: { recipients: [{ address: recipient.address, answer: entry.answer.slice(0, 500) }], ...marksOf(row) },
})

export const createReturnIntake = (returnedMail: ReturnedMail): MailIntake => ({
  async check(address) {
    if (!returnedMail.isReturnAddress(address)) return null
    return (await returnedMail.isTaken(address)) ? 'accepted' : 'no-return-path'
  },

  /** Other mail, such as a reader's answer, is left for the mailbox that sent. */
  async take({ from, recipients, raw }) {
    const returns = recipients.filter(returnedMail.isReturnAddress)
    const left = recipients.filter((address) => !returns.includes(address))
    let isRecorded = false
    for (const address of returns) {
      const taken = await returnedMail.take(address, from, raw)
      if (taken.kind === 'message' && !left.includes(taken.to)) left.push(taken.to)
      isRecorded ||= taken.kind === 'recorded'
    }
    // The reports are recorded by now. When the client tries again for the recipients that are left, they are recognized.
    return left.length > 0 || isRecorded ? { left } : { refused: 'no-report' }
  },
})

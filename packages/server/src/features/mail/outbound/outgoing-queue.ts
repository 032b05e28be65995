// Queues outgoing messages: checks their recipients, then files each message with its delivery job in one transaction.
import { messageBytesMax } from '@callsign/contract/attachments'
import { groupCommit } from '../../../core/batch.ts'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { nowMs } from '../../../core/clock.ts'
import { ApiError } from '../../../core/errors.ts'
import type { Enqueue } from '../../../core/job.ts'
import type { Call } from '../../../core/route.ts'
import { type Database, isOutcomeUnknown, type Sql, TryAgain, type Tx } from '../../../core/sql.ts'
import { shareThread } from '../../../core/turn.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { LimitDefaults } from '../../account/organizations/model.ts'
import { type AttachmentInput, bytesOf } from '../attachments/model.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { ContentWriter, Messages } from '../messages/operations.ts'
import type { Guardrail } from '../rules/model.ts'
import type { MailRules } from '../rules/operations.ts'
import type { Storage } from '../storage/operations.ts'
import { fileMessages, findThreads } from '../stored/mail-store.ts'
import type { MessageRow } from '../stored/model.ts'
import type { Suppressions } from '../suppressions/operations.ts'
import type { LoopRule } from './agent-loop.ts'
import { answerSubject, answersIn } from './answers.ts'
import { type Addressed, toCounted, toFiling } from './filing.ts'
import { createHolds } from './holds.ts'
import * as limitStore from './limit-store.ts'
import {
  deliverJob,
  forwardedIsGone,
  HeldForApproval,
  type Inspected,
  type Inspection,
  isHeldForApproval,
  type OutgoingMessage,
  orGone,
  type PreparedContent,
  type Queued,
  toRecipientRows,
} from './model.ts'
import type { SecretSearcher } from './provider.ts'
import { replyAddressesOf } from './reply-addresses.ts'
import { type Charge, chargesOf, countReached, recipientsRefusal } from './sending-limits.ts'

type Parts = {
  db: Database
  identities: Identities
  messages: Messages
  loopRule: LoopRule
  attachments: Attachments
  mailRules: MailRules
  storage: Storage
  suppressions: Suppressions
  enqueue: Enqueue
  limitDefaults: LimitDefaults
  mailDomain: string
  content: ContentWriter
  businessEvents: BusinessEvents
  secrets: SecretSearcher
}

/** The way of every outgoing message into its mailbox and the queue of deliveries. */
export interface OutgoingQueue {
  /** Searches a message or draft for reasons to hold it. May take seconds, so never within a transaction. */
  inspect(owner: MailboxOwner, message: Inspected): Promise<Inspection>
  /** Refuses forbidden recipients of a message before anything is stored for it. */
  judgeAddresses(owner: MailboxOwner, outgoing: Addressing): Promise<void>
  /** Stores the attachments of a request. Refuses forbidden recipients before it fetches or stores anything. */
  takeFiles(
    owner: MailboxOwner,
    outgoing: Addressing,
    inputs: AttachmentInput[] | undefined,
    otherBytes: number,
  ): Promise<OutgoingMessage['attachments']>
  /** Makes the text of a message and inspects it, before the transaction that files it: both may wait for a thread. */
  prepareContent(owner: MailboxOwner, message: Inspected): Promise<PreparedContent>
  /** `prepareContent` for a message with all its files. */
  prepareWhole(owner: MailboxOwner, outgoing: OutgoingMessage): Promise<Addressed>
  /**
   * Judges, files and queues a message as the one effect of a call. With an Idempotency-Key it happens once: the key's row is in the call's own
   * transaction. Without a key, concurrent messages share a transaction.
   */
  queue<R>(call: Call, message: Addressed, answer: (queued: Queued) => R): Promise<R>
  /** The same in the caller's transaction. */
  queueMessage(tx: Tx, message: Addressed): Promise<Queued>
  /** For each inspected message of a batch the guardrail that allows it, or the error that refuses it. */
  judgeBatch(sql: Sql, messages: Addressed[]): Promise<(Guardrail | ApiError)[]>
  /** Queues messages that `judgeBatch` has allowed in the same transaction. Tries again when others have sent answers meanwhile. */
  queueJudged(tx: Tx, messages: Addressed[], guardrails: Guardrail[]): Promise<Queued[]>
  /** The attachments of a message for its forward. Throws 409 when the message was deleted meanwhile, and 413 above a message's limit. */
  shareAttachments(tx: Tx, message: MessageRow, otherBytes: number): Promise<OutgoingMessage['attachments']>
}

/** The parts of a message that name addresses. */
type Addressing = Pick<OutgoingMessage, 'from' | 'recipients' | 'replyTo' | 'headers'>

type Judged = { owner: MailboxOwner; outgoing: Addressing }

export function createOutgoingQueue(parts: Parts): OutgoingQueue {
  const { db, attachments, mailRules, storage, suppressions, enqueue, limitDefaults, loopRule, mailDomain, businessEvents, content } = parts
  const holds = createHolds({
    ...parts,
    findAnswers: (owner, correspondents, sql = db) =>
      limitStore.findCounts(sql, owner.organizationId, answerSubject(owner.identityId), correspondents),
  })

  /** Checks rules and suppressions for the addresses of messages. Resolves with the guardrail that allows each, or its refusal. */
  async function judgeEach(sql: Sql, messages: Judged[]): Promise<(Guardrail | ApiError)[]> {
    const asked = messages.map(toAsked)
    const [judged, suppressed] = await Promise.all([mailRules.judgeOutgoing(sql, asked), suppressions.judgeRecipients(sql, asked)])
    return judged.map((one, index) => (one instanceof ApiError ? one : (suppressed[index] ?? one)))
  }

  /** `judgeEach` before anything is written. Every send passes here, unless it was judged already. Throws 403 for the first refused message. */
  async function judge(sql: Sql, messages: Judged[]): Promise<Guardrail[]> {
    return (await judgeEach(sql, messages)).map((one) => {
      if (one instanceof ApiError) throw one
      return one
    })
  }

  async function prepareContent(owner: MailboxOwner, message: Inspected): Promise<PreparedContent> {
    // Readers without HTML, search and threads need a text.
    const text = message.text.trim() === '' ? await content.toText(owner.organizationId, message.html) : message.text
    return { text, inspection: await holds.inspect(owner, message) }
  }

  async function prepareWhole(owner: MailboxOwner, outgoing: OutgoingMessage): Promise<Addressed> {
    const files = outgoing.attachments
    const searched = outgoing.submitted?.searched ?? {
      fileBytes: bytesOf(files),
      readFiles: (bytesMax: number) => attachments.readHeads(files, bytesMax),
    }
    return { owner, outgoing, ...(await prepareContent(owner, { ...outgoing, files, searched })) }
  }

  /** Files messages as queued, with their jobs, in the caller's transaction. */
  const queueAll = (tx: Tx, messages: Addressed[]): Promise<Queued[]> => fileAll(tx, messages, () => judge(tx, messages))

  const queueJudged = (tx: Tx, messages: Addressed[], guardrails: Guardrail[]): Promise<Queued[]> =>
    fileAll(tx, messages, async () => guardrails).catch((error) => {
      throw isHeldForApproval(error) ? new TryAgain('the answers to a correspondent have reached their limit meanwhile') : error
    })

  async function fileAll(tx: Tx, messages: Addressed[], findGuardrails: () => Promise<Guardrail[]>): Promise<Queued[]> {
    const counted = messages.map(toCounted)
    for (const message of counted) {
      const refusal = recipientsRefusal(message, limitDefaults)
      if (refusal !== null) throw refusal
    }
    const guardrails = await findGuardrails()
    for (const { outgoing, inspection } of messages)
      if (inspection.isHeld && !outgoing.isApproved) throw new HeldForApproval(inspection.reasons)
    const filings: ReturnType<typeof toFiling>[] = []
    for (const [index, one] of messages.entries()) {
      const filing = await shareThread(one.owner.organizationId, () => toFiling(one, guardrails[index] as Guardrail, mailDomain))
      filings.push(filing)
    }
    await storage.reserve(
      tx,
      filings.map(({ message, owner }, index) => ({
        owner,
        // Attachments of a draft are stored already.
        bytes: message.size_bytes - (messages[index]?.outgoing.moved?.sizeBytes ?? 0),
      })),
    )
    const known = await findThreads(tx, filings)
    const charges = chargesOf(counted, limitDefaults)
    const answers = answersIn(messages, loopRule)
    const raws = messages.flatMap(({ outgoing }) => outgoing.submitted?.raw ?? [])
    const filed = await fileMessages(tx, filings, known, raws, async () => {
      const jobs = filings.map(({ message }) => ({ kind: deliverJob, organizationId: message.organization_id, subject: message.id }))
      await enqueue(tx, jobs)
    })
    // Last, because other senders of the same subjects wait from here to the commit.
    if (charges.length > 0) await checkCounts(tx, charges)
    if (answers.length > 0) {
      const counts = await limitStore.add(tx, answers)
      const above = answers.filter((_, index) => (counts[index] ?? 0) > loopRule.messagesMax).map(({ name }) => name)
      await holds.refuseAnswers(above, tx)
    }
    tx.afterCommit(() => {
      for (const { message, recipients } of filings)
        businessEvents.messageQueued({ organization_id: message.organization_id, message_id: message.id, recipients: recipients.length })
    })
    return filings.map(({ message }, index) => ({ id: message.id, threadId: filed[index]?.threadId as string, at: message.created_at }))
  }

  const queueOne = async (tx: Tx, message: Addressed): Promise<Queued> => (await queueAll(tx, [message]))[0] as Queued

  const queueTogether = groupCommit((messages: Addressed[]) => db.transact((tx) => queueAll(tx, messages)), {
    groupMax: 16,
    inFlightMax: 2,
    // Below half of a group, so that sixteen clients form two groups: one is prepared while PostgreSQL writes the other.
    besideFrom: 6,
    gatherMs: 5,
    // Messages that may have been committed are not sent again.
    isFinal: isOutcomeUnknown,
  })

  const queue = async <R>(call: Call, message: Addressed, answer: (queued: Queued) => R): Promise<R> => {
    if (message.inspection.isHeld) throw new HeldForApproval(message.inspection.reasons)
    try {
      return call.hasKey ? await call.transact(async (tx) => answer(await queueOne(tx, message))) : answer(await queueTogether(message))
    } catch (error) {
      return storage.orAnnounce(error).catch(orGone)
    }
  }

  async function shareAttachments(tx: Tx, message: MessageRow, otherBytes: number): Promise<OutgoingMessage['attachments']> {
    if (message.attachment_count === 0) return []
    const shared = await attachments.share(tx, message.id)
    if (shared.length !== message.attachment_count) throw forwardedIsGone()
    if (otherBytes + shared.reduce((sum, row) => sum + row.size_bytes, 0) > messageBytesMax)
      throw new ApiError('payload_too_large', 'The forwarded message would exceed 25 MB. Forward it without attachments.')
    return shared
  }

  async function takeFiles(owner: MailboxOwner, outgoing: Addressing, inputs: AttachmentInput[] | undefined, otherBytes: number) {
    if (inputs !== undefined && inputs.length > 0) await judgeAddresses(owner, outgoing)
    return attachments.keep(owner.organizationId, await attachments.load(inputs, otherBytes))
  }

  async function judgeBatch(sql: Sql, messages: Addressed[]): Promise<(Guardrail | ApiError)[]> {
    const judged = await judgeEach(sql, messages)
    const decided = messages.map((message, index) => {
      const one = judged[index] as Guardrail | ApiError
      if (one instanceof ApiError) return one
      const { isHeld, reasons } = message.inspection
      return (
        recipientsRefusal(toCounted(message), limitDefaults) ??
        (isHeld && !message.outgoing.isApproved ? new HeldForApproval(reasons) : one)
      )
    })
    const allowed = messages.filter((_, index) => !(decided[index] instanceof ApiError))
    const refusals = await holds.judgeAnswers(allowed, sql)
    return decided.map((one, index) => refusals.get(messages[index] as Addressed) ?? one)
  }

  const judgeAddresses = async (owner: MailboxOwner, outgoing: Addressing): Promise<void> => void (await judge(db, [{ owner, outgoing }]))

  return {
    inspect: holds.inspect,
    judgeAddresses,
    prepareContent,
    prepareWhole,
    judgeBatch,
    queue,
    queueJudged,
    queueMessage: queueOne,
    shareAttachments,
    takeFiles,
  }
}

/** Counts the messages. Throws for the first counter above its limit. */
async function checkCounts(tx: Tx, charges: Charge[]): Promise<void> {
  const counts = await limitStore.count(tx, charges)
  const over = counts.find(({ count, max }) => count > max)
  if (over !== undefined) throw countReached(over, (await limitStore.freeAt(tx, over)) ?? new Date(nowMs()), nowMs())
}

const toAsked = ({ owner, outgoing }: Judged) => ({
  owner,
  organizationId: owner.organizationId,
  addressees: toRecipientRows(outgoing.recipients),
  replyAddresses: replyAddressesOf(outgoing, [owner.address, outgoing.from.address]),
})

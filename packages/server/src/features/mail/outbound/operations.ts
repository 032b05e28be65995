// Sends mail: a new message, a reply or a forward, queued with its delivery job in one transaction.

import type * as batches from '@callsign/contract/batches'
import type { BodyOf, ReplyOf } from '@callsign/contract/operation'
import type * as contract from '@callsign/contract/outbound-mail'
import { type ForwardBodies, forwardSubject } from '@callsign/mail/compose/reply'
import { BlobMissing, type Blobs } from '../../../core/blobs.ts'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { keyIdOf } from '../../../core/caller.ts'
import { inMs } from '../../../core/clock.ts'
import { ApiError, invalid } from '../../../core/errors.ts'
import type { Enqueue } from '../../../core/job.ts'
import { readMarks } from '../../../core/metadata.ts'
import type { Call } from '../../../core/route.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { LimitDefaults } from '../../account/organizations/model.ts'
import { bytesOf } from '../attachments/model.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { ContentWriter, Messages } from '../messages/operations.ts'
import type { MailRules } from '../rules/operations.ts'
import type { Storage } from '../storage/operations.ts'
import type { MessageRow } from '../stored/model.ts'
import type { Suppressions } from '../suppressions/operations.ts'
import type { LoopRule } from './agent-loop.ts'
import { type Authors, createAuthors } from './author.ts'
import { automaticAnswerPauseMs, automaticAnswerProblem, automaticAnswerTo } from './automatic-answer.ts'
import { createBatchSend } from './batch.ts'
import type { Addressed } from './filing.ts'
import * as limitStore from './limit-store.ts'
import {
  answerTo,
  asList,
  type Bodies,
  bodyBytes,
  checkHeaders,
  checkRecipients,
  checkSubject,
  forwardedIsGone,
  forwardSourceOf,
  type Inspected,
  type Inspection,
  type OutgoingMessage,
  orGone,
  type PreparedContent,
  parentOf,
  type Queued,
  readAddresses,
} from './model.ts'
import { createOutgoingQueue } from './outgoing-queue.ts'
import type { SecretSearcher } from './provider.ts'
import { send } from './send.ts'
import { createSubmit, type Submissions, type Submit } from './submission.ts'

export { composedFields } from './composed-message.ts'
export { replyAddressesOf } from './reply-addresses.ts'
export { findPlace } from './thread-place.ts'

type SendBody = BodyOf<typeof contract.sendMessage>
type ReplyBody = BodyOf<typeof contract.replyToMessage>
type ForwardBody = BodyOf<typeof contract.forwardMessage>

/** Sends mail: every operation files the message as queued, with its delivery job. */
export interface OutboundMail extends Authors {
  /** `POST /mail/send`. */
  sendMail(call: Call, body: SendBody & { agent: string }): Promise<ReplyOf<typeof contract.sendMail>>
  /** `POST /mail/batch`: all or nothing, or with a result per message. */
  sendBatch(call: Call, body: BodyOf<typeof batches.sendBatch>): Promise<ReplyOf<typeof batches.sendBatch>>
  /** `POST …/messages`. */
  sendMessage(call: Call, mailbox: string, body: SendBody): Promise<ReplyOf<typeof contract.sendMessage>>
  /** `POST …/messages/{message_id}/reply`. */
  replyToMessage(call: Call, mailbox: string, messageId: string, body: ReplyBody): Promise<ReplyOf<typeof contract.replyToMessage>>
  /** `POST …/messages/{message_id}/forward`: starts a thread, quotes the original and includes its attachments by default. */
  forwardMessage(call: Call, mailbox: string, messageId: string, body: ForwardBody): Promise<ReplyOf<typeof contract.forwardMessage>>

  /** Sends a message that a program has composed. */
  submit: Submit
  /** The bodies of a forward of a message, made on a thread when they are large. */
  quote(message: MessageRow, intro: Bodies): Promise<ForwardBodies>
  /** Makes the text of a message and inspects it, which may take seconds, so never within a transaction. */
  prepareContent(owner: MailboxOwner, message: Inspected): Promise<PreparedContent>
  /** Queues a prepared message in the caller's transaction. */
  queueMessage(tx: Tx, message: Addressed): Promise<Queued>
  /**
   * The attachments of a message for its forward. Throws 409 when the message was deleted meanwhile, and 413 when they and `otherBytes`
   * exceed a message's limit.
   */
  shareAttachments(tx: Tx, message: MessageRow, otherBytes: number): Promise<OutgoingMessage['attachments']>
  /** Searches a draft that is being written for reasons to hold it, which may take seconds, so never within a transaction. */
  inspect(owner: MailboxOwner, message: Inspected): Promise<Inspection>
  /** Deletes counts that no window includes any more. */
  sweepCounts(): Promise<void>
  /** Deletes the recipients that an identity has written to, in the transaction that deletes it. */
  forgetRecipients(tx: Tx, identityId: string): Promise<void>
}

type Parts = {
  db: Database
  blobs: Blobs
  identities: Identities
  attachments: Attachments
  messages: Messages
  mailRules: MailRules
  storage: Storage
  suppressions: Suppressions
  enqueue: Enqueue
  limitDefaults: LimitDefaults
  loopRule: LoopRule
  mailDomain: string
  content: ContentWriter
  businessEvents: BusinessEvents
  secrets: SecretSearcher
  submissions: Submissions
}

export function createOutboundMail(parts: Parts): OutboundMail {
  const { attachments, identities, messages } = parts
  const authors = createAuthors(identities)
  const { chooseAuthor } = authors
  const outgoingQueue = createOutgoingQueue(parts)
  const { inspect, prepareContent, prepareWhole, queue, queueMessage, shareAttachments, takeFiles } = outgoingQueue

  /** The heads of a forwarded message's files, which may be deleted meanwhile. */
  const readShared = (messageId: string, bytesMax: number) =>
    attachments.readHeadsOf(messageId, bytesMax).catch(async (error: unknown) => {
      if (error instanceof BlobMissing && !(await messages.findMessage(messageId))) throw forwardedIsGone()
      throw error
    })

  /** Sends an automatic answer: to the sender alone, never to automatic mail, and at most one per day (RFC 3834 §2, §4). */
  async function answerAutomatically(call: Call, owner: MailboxOwner, message: MessageRow, body: ReplyBody) {
    for (const field of ['to', 'cc', 'bcc', 'reply_all'] as const)
      if (body[field] !== undefined && body[field] !== false)
        throw invalid(`/${field}`, 'an automatic answer goes to the sender only: omit this field')
    const headers = checkHeaders(body.headers)
    const marks = readMarks(body)
    const problem = automaticAnswerProblem(message)
    if (problem !== null) throw new ApiError('conflict', `This message gets no automatic answer: ${problem}.`)
    const { address, subject } = automaticAnswerTo(message)
    const from = await chooseAuthor(owner, body.from, message.envelope_to)
    const recipients = checkRecipients({ to: readAddresses('to', [address]), cc: [], bcc: [] })
    const replyTo = readAddresses('reply_to', asList(body.reply_to))
    const files = await takeFiles(owner, { from, recipients, replyTo, headers }, body.attachments, bodyBytes(body))
    const outgoing: OutgoingMessage = {
      from,
      recipients,
      replyTo,
      subject,
      text: body.text ?? '',
      html: body.html ?? '',
      headers,
      ...marks,
      autoSubmitted: 'auto-replied',
      attachments: files,
      isApproved: false,
      keyId: keyIdOf(call),
      parent: parentOf(message),
      threadId: message.thread_id,
    }
    const prepared = await prepareWhole(owner, outgoing)
    return call
      .transact(async (tx) => {
        if (await messages.hasAutomaticAnswer(tx, message, address, inMs(-automaticAnswerPauseMs)))
          throw new ApiError('conflict', 'This message gets no automatic answer: its sender has had one within a day.')
        const { id, threadId } = await queueMessage(tx, prepared)
        return { id, thread_id: threadId }
      })
      .catch(orGone)
  }

  const quote = (message: MessageRow, intro: Bodies): Promise<ForwardBodies> =>
    parts.content.toForward(message.organization_id, forwardSourceOf(message, intro))

  const steps = { ...outgoingQueue, messages, chooseAuthor }
  const sendBatch = createBatchSend({ ...steps, requireSender: identities.requireSender })

  return {
    ...authors,

    async sendMail(call, { agent, ...body }) {
      return send(call, await identities.requireSender(call.caller, agent), body, steps)
    },

    async sendMessage(call, mailbox, body) {
      return send(call, await identities.requireSender(call.caller, mailbox), body, steps)
    },

    async replyToMessage(call, mailbox, messageId, body) {
      const owner = await identities.requireSender(call.caller, mailbox)
      const message = await messages.requireAnswerable(call.caller, mailbox, messageId)
      if (!body.text && !body.html) throw invalid('/text', 'text or html is required')
      if (body.automatic) return answerAutomatically(call, owner, message, body)
      const headers = checkHeaders(body.headers)
      const marks = readMarks(body)
      const from = await chooseAuthor(owner, body.from, message.envelope_to)
      const answer = answerTo(message, await authors.findOwnAddresses(owner, message), body.reply_all ?? false)
      const recipients = checkRecipients({
        to: body.to === undefined ? answer.to : readAddresses('to', asList(body.to)),
        cc: body.cc === undefined ? answer.cc : readAddresses('cc', asList(body.cc)),
        bcc: readAddresses('bcc', asList(body.bcc)),
      })
      const replyTo = readAddresses('reply_to', asList(body.reply_to))
      const files = await takeFiles(owner, { from, recipients, replyTo, headers }, body.attachments, bodyBytes(body))
      const outgoing: OutgoingMessage = {
        from,
        recipients,
        replyTo,
        subject: answer.subject,
        text: body.text ?? '',
        html: body.html ?? '',
        headers,
        ...marks,
        autoSubmitted: null,
        attachments: files,
        isApproved: false,
        keyId: keyIdOf(call),
        parent: answer.parent,
        threadId: message.thread_id,
      }
      return queue(call, await prepareWhole(owner, outgoing), ({ id, threadId }) => ({ id, thread_id: threadId }))
    },

    async forwardMessage(call, mailbox, messageId, body) {
      const owner = await identities.requireSender(call.caller, mailbox)
      const message = await messages.requireAnswerable(call.caller, mailbox, messageId)
      const recipients = checkRecipients({
        to: readAddresses('to', asList(body.to)),
        cc: readAddresses('cc', asList(body.cc)),
        bcc: readAddresses('bcc', asList(body.bcc)),
      })
      const replyTo = readAddresses('reply_to', asList(body.reply_to))
      const from = await chooseAuthor(owner, body.from, message.envelope_to)
      const headers = checkHeaders(body.headers)
      const marks = readMarks(body)
      if (body.subject !== undefined) checkSubject(body.subject)
      const quoted = await quote(message, body)
      const own = await takeFiles(owner, { from, recipients, replyTo, headers }, body.attachments, bodyBytes(quoted))
      const ownBytes = bodyBytes(quoted) + own.reduce((sum, row) => sum + row.size_bytes, 0)
      const isWithFiles = body.forward_attachments !== false
      const outgoing: OutgoingMessage = {
        from,
        recipients,
        replyTo,
        subject: body.subject ?? forwardSubject(message.subject),
        text: quoted.text,
        html: quoted.html,
        headers,
        ...marks,
        autoSubmitted: null,
        attachments: own,
        isApproved: false,
        keyId: keyIdOf(call),
        parent: null,
        threadId: null,
      }
      const shared = isWithFiles ? await attachments.filesOf(message) : []
      const prepared = await prepareContent(owner, {
        ...outgoing,
        files: [...own, ...shared],
        searched: {
          fileBytes: bytesOf([...own, ...shared]),
          readFiles: async (bytesMax) => [
            ...(await attachments.readHeads(own, bytesMax)),
            ...(shared.length > 0 ? await readShared(message.id, bytesMax) : []),
          ],
        },
      })
      return call
        .transact(async (tx) => {
          const files = isWithFiles ? await shareAttachments(tx, message, ownBytes) : []
          const whole = { ...outgoing, attachments: [...files, ...own] }
          const { id, threadId } = await queueMessage(tx, { owner, outgoing: whole, ...prepared })
          return { id, thread_id: threadId }
        })
        .catch(orGone)
    },

    submit: createSubmit({ ...parts, authors, outgoingQueue }),
    inspect,
    quote,
    prepareContent,
    sendBatch,
    queueMessage,
    shareAttachments,
    sweepCounts: () => limitStore.sweepCounts(parts.db),
    forgetRecipients: limitStore.forgetRecipients,
  }
}

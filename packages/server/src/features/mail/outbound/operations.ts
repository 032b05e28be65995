// Mail out: a new message, a reply, a forward. Each records the message as queued and its delivery job in one transaction.

import { messageBytesMax } from '@callsign/contract/attachments'
import type { forwardMessage, replyToMessage, sendMessage } from '@callsign/contract/outbound-mail'
import type { Static } from 'typebox'
import { groupCommit } from '../../../core/batch.ts'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { inMs } from '../../../core/clock.ts'
import { ApiError, invalid, notFound } from '../../../core/errors.ts'
import type { Enqueue } from '../../../core/job.ts'
import type { Call } from '../../../core/route.ts'
import { type Database, isForeignKeyViolation, type Sql, type Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { AttachmentInput } from '../attachments/model.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { MessageRow } from '../messages/model.ts'
import { fileMessages, findThreads, type Messages } from '../messages/operations.ts'
import type { Guardrail } from '../rules/model.ts'
import type { MailRules } from '../rules/operations.ts'
import type { Suppressions } from '../suppressions/operations.ts'
import { automaticAnswerPauseMs, automaticAnswerProblem, automaticAnswerTo } from './automatic-answer.ts'
import { type Addressed, toFiling } from './filing.ts'
import type { FreshLetters } from './message-cache.ts'
import {
  answerTo,
  asList,
  bodyBytes,
  checkHeaders,
  checkRecipients,
  checkSubject,
  deliverJob,
  forwardOf,
  type Letter,
  parentOf,
  type Recipients,
  readAddresses,
  toRecipientRows,
} from './model.ts'

export type OutboundMail = ReturnType<typeof createOutboundMail>

type SendBody = Static<NonNullable<typeof sendMessage.body>>
type ReplyBody = Static<NonNullable<typeof replyToMessage.body>>
type ForwardBody = Static<NonNullable<typeof forwardMessage.body>>

type Parts = {
  db: Database
  identities: Identities
  attachments: Attachments
  messages: Messages
  mailRules: MailRules
  suppressions: Suppressions
  enqueue: Enqueue
  mailDomain: string
  /** Null in a process that delivers nothing. */
  freshLetters: FreshLetters | null
  businessEvents: BusinessEvents
}

type Queued = { id: string; threadId: string; at: Date }

export function createOutboundMail({
  db,
  identities,
  attachments,
  messages,
  mailRules,
  suppressions,
  enqueue,
  mailDomain,
  freshLetters,
  businessEvents,
}: Parts) {
  /** What a call has when it came without an Idempotency-Key. */
  const { transact } = db

  /**
   * Asks whether letters may go to whom they name: everything that sends comes through here, and nothing is written before it. Throws 403
   * for the first letter that may not; resolves with what let each of them go.
   */
  async function judge(sql: Sql, letters: { owner: MailboxOwner; recipients: Recipients }[]): Promise<Guardrail[]> {
    const asked = letters.map(({ owner, recipients }) => ({
      owner,
      organizationId: owner.organizationId,
      addressees: toRecipientRows(recipients),
    }))
    const [guardrails] = await Promise.all([mailRules.judgeLetters(sql, asked), suppressions.requireUnsuppressed(sql, asked)])
    return guardrails
  }

  /** Records letters as queued, with their jobs, in the caller's transaction. */
  async function queueLetters(tx: Tx, letters: Addressed[]): Promise<Queued[]> {
    const guardrails = await judge(
      tx,
      letters.map(({ owner, letter }) => ({ owner, recipients: letter.recipients })),
    )
    const filings = letters.map((one, index) => toFiling(one, guardrails[index] as Guardrail, mailDomain))
    const known = await findThreads(tx, filings)
    const [filed] = await Promise.all([
      fileMessages(tx, filings, known, []),
      enqueue(
        tx,
        filings.map(({ message }) => ({ kind: deliverJob, organizationId: message.organization_id, subject: message.id })),
      ),
    ])
    tx.afterCommit(() => {
      for (const [index, { message, recipients, thread }] of filings.entries()) {
        businessEvents.messageQueued({ organization_id: message.organization_id, message_id: message.id, recipients: recipients.length })
        const inReplyTo = 'known' in thread ? thread.known.inReplyToMessageId : null
        freshLetters?.keep({ ...message, thread_id: filed[index]?.threadId as string, in_reply_to_message_id: inReplyTo })
      }
    })
    return filings.map(({ message }, index) => ({ id: message.id, threadId: filed[index]?.threadId as string, at: message.created_at }))
  }

  const queueLetter = async (tx: Tx, owner: MailboxOwner, letter: Letter): Promise<Queued> =>
    (await queueLetters(tx, [{ owner, letter }]))[0] as Queued

  const queueTogether = groupCommit((letters: Addressed[]) => transact((tx) => queueLetters(tx, letters)), {
    groupMax: 16,
    inFlightMax: 2,
    besideFrom: 16,
    gatherMs: 5,
  })

  /**
   * The same as the one effect of a call, so it happens once for an Idempotency-Key, whose row is in the call's own transaction. Without
   * a key, letters that come at the same time share one.
   */
  const queue = async <R>(call: Call, owner: MailboxOwner, letter: Letter, answer: (message: Queued) => R): Promise<R> => {
    try {
      return call.transact === transact
        ? answer(await queueTogether({ owner, letter }))
        : await call.transact(async (tx) => answer(await queueLetter(tx, owner, letter)))
    } catch (error) {
      return orGone(error)
    }
  }

  /**
   * The attachments of a message for its forward, and a check that everything together stays within a message's limit. Throws 409 when the
   * message is deleted meanwhile.
   */
  async function shareAttachments(tx: Tx, message: MessageRow, otherBytes: number): Promise<Letter['attachments']> {
    if (message.attachment_count === 0) return []
    const along = await attachments.share(tx, message.id)
    if (along.length !== message.attachment_count) throw forwardedIsGone()
    if (otherBytes + along.reduce((sum, row) => sum + row.size_bytes, 0) > messageBytesMax)
      throw new ApiError('payload_too_large', 'The forwarded message would be larger than 25 MB; leave its attachments out.')
    return along
  }

  /** The attachments of a request. Who may not send to these recipients is told so before anything is fetched or stored. */
  async function takeFiles(owner: MailboxOwner, recipients: Recipients, inputs: AttachmentInput[] | undefined, otherBytes: number) {
    if (inputs !== undefined && inputs.length > 0) await judge(db, [{ owner, recipients }])
    return attachments.keep(owner.organizationId, await attachments.load(inputs, otherBytes))
  }

  /** An answer that a program wrote by itself: to the sender alone, never to automatic mail, and one a day (RFC 3834 §2, §4). */
  async function answerAutomatically(call: Call, owner: MailboxOwner, message: MessageRow, body: ReplyBody) {
    for (const field of ['to', 'cc', 'bcc', 'reply_all'] as const)
      if (body[field] !== undefined && body[field] !== false) throw invalid(`/${field}`, 'an automatic answer goes to the sender alone')
    const headers = checkHeaders(body.headers)
    const problem = automaticAnswerProblem(message)
    if (problem !== null) throw new ApiError('conflict', `This message gets no automatic answer: ${problem}.`)
    const { address, subject } = automaticAnswerTo(message)
    const recipients = checkRecipients({ to: readAddresses('to', [address]), cc: [], bcc: [] })
    const files = await takeFiles(owner, recipients, body.attachments, bodyBytes(body))
    const letter: Letter = {
      recipients,
      replyTo: [],
      subject,
      text: body.text ?? '',
      html: body.html ?? '',
      headers,
      autoSubmitted: 'auto-replied',
      attachments: files,
      parent: parentOf(message),
      threadId: message.thread_id,
    }
    return call
      .transact(async (tx) => {
        if (await messages.hasAutomaticAnswer(tx, message, address, inMs(-automaticAnswerPauseMs)))
          throw new ApiError('conflict', 'This message gets no automatic answer: its sender has had one within a day.')
        const { id, threadId } = await queueLetter(tx, owner, letter)
        return { id, thread_id: threadId }
      })
      .catch(orGone)
  }

  const queued = (message: Queued) => ({
    id: message.id,
    thread_id: message.threadId,
    status: 'queued' as const,
    created_at: message.at.toISOString(),
  })

  async function send(call: Call, owner: MailboxOwner, body: SendBody) {
    const recipients = checkRecipients({
      to: readAddresses('to', body.to),
      cc: readAddresses('cc', body.cc ?? []),
      bcc: readAddresses('bcc', body.bcc ?? []),
    })
    const replyTo = readAddresses('reply_to', asList(body.reply_to))
    const headers = checkHeaders(body.headers)
    checkSubject(body.subject)
    const thread = body.thread_id === undefined ? null : await messages.requireThread(owner.mailboxId, owner.organizationId, body.thread_id)
    const files = await takeFiles(owner, recipients, body.attachments, bodyBytes(body))
    const letter: Letter = {
      recipients,
      replyTo,
      subject: body.subject,
      text: body.text,
      html: body.html ?? '',
      headers,
      autoSubmitted: body.automatic ? 'auto-generated' : null,
      attachments: files,
      parent: thread?.latest ? parentOf(thread.latest) : null,
      threadId: thread?.threadId ?? null,
    }
    return queue(call, owner, letter, queued)
  }

  return {
    /** `POST /mail/send`. */
    async sendMail(call: Call, { agent, ...body }: SendBody & { agent: string }) {
      return send(call, await identities.requireSender(call.caller, agent), body)
    },

    /** `POST …/messages`. */
    async sendMessage(call: Call, mailbox: string, body: SendBody) {
      return send(call, await identities.requireSender(call.caller, mailbox), body)
    },

    /** `POST …/messages/{message_id}/reply`. */
    async replyToMessage(call: Call, mailbox: string, messageId: string, body: ReplyBody) {
      const owner = await identities.requireSender(call.caller, mailbox)
      const message = await messages.requireAnswerable(call.caller, mailbox, messageId)
      if (!body.text && !body.html) throw invalid('/text', 'a reply needs text or html')
      if (body.automatic) return answerAutomatically(call, owner, message, body)
      const headers = checkHeaders(body.headers)
      const answer = answerTo(message, owner.address, body.reply_all ?? false)
      const recipients = checkRecipients({
        to: body.to === undefined ? answer.to : readAddresses('to', asList(body.to)),
        cc: body.cc === undefined ? answer.cc : readAddresses('cc', asList(body.cc)),
        bcc: readAddresses('bcc', asList(body.bcc)),
      })
      const files = await takeFiles(owner, recipients, body.attachments, bodyBytes(body))
      const letter: Letter = {
        recipients,
        replyTo: [],
        subject: answer.subject,
        text: body.text ?? '',
        html: body.html ?? '',
        headers,
        autoSubmitted: null,
        attachments: files,
        parent: answer.parent,
        threadId: message.thread_id,
      }
      return queue(call, owner, letter, ({ id, threadId }) => ({ id, thread_id: threadId }))
    },

    /** `POST …/messages/{message_id}/forward`: a thread of its own, the original quoted, its attachments along unless told otherwise. */
    async forwardMessage(call: Call, mailbox: string, messageId: string, body: ForwardBody) {
      const owner = await identities.requireSender(call.caller, mailbox)
      const message = await messages.requireAnswerable(call.caller, mailbox, messageId)
      const recipients = checkRecipients({
        to: readAddresses('to', asList(body.to)),
        cc: readAddresses('cc', asList(body.cc)),
        bcc: readAddresses('bcc', asList(body.bcc)),
      })
      const headers = checkHeaders(body.headers)
      if (body.subject !== undefined) checkSubject(body.subject)
      const quoted = forwardOf(message, body)
      const own = await takeFiles(owner, recipients, body.attachments, bodyBytes(quoted))
      const ownBytes = bodyBytes(quoted) + own.reduce((sum, row) => sum + row.size_bytes, 0)
      return call
        .transact(async (tx) => {
          const along = body.forward_attachments === false ? [] : await shareAttachments(tx, message, ownBytes)
          const { id, threadId } = await queueLetter(tx, owner, {
            recipients,
            replyTo: [],
            subject: body.subject ?? quoted.subject,
            text: quoted.text,
            html: quoted.html,
            headers,
            autoSubmitted: null,
            attachments: [...along, ...own],
            parent: null,
            threadId: null,
          })
          return { id, thread_id: threadId }
        })
        .catch(orGone)
    },

    queueLetter,
    shareAttachments,
  }
}

/** 409: what was to be forwarded is not there any more. */
export const forwardedIsGone = (): ApiError => new ApiError('conflict', 'The message to forward has been deleted.')

/** For an effect that failed: 404 when its mailbox was deleted meanwhile. */
export const orGone = (error: unknown): never => {
  throw isForeignKeyViolation(error) ? notFound('mailbox') : error
}

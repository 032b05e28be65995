// Jobs of iMessage. They send the pieces of a chat to the provider in order and at most once, and fetch the files of received messages.
import type { BusinessEvents } from '../../core/business-events.ts'
import { inMs, now, nowMs } from '../../core/clock.ts'
import type { Emit } from '../../core/event.ts'
import { newId } from '../../core/ids.ts'
import type { Enqueue, Finish, Job, JobHandler } from '../../core/job.ts'
import type { Log } from '../../core/log.ts'
import { nextAttemptMs } from '../../core/schedule.ts'
import type { Database, Tx } from '../../core/sql.ts'
import type { Attachments } from '../mail/attachments/operations.ts'
import * as history from './history-store.ts'
import { type ChatRow, chatJob, cleanType, type MediaRow, mediaJob, type SendRow } from './model.ts'
import { type Finding, type ImessageProvider, MediaGone, type Piece, type SendOutcome } from './provider.ts'
import * as sending from './sending-store.ts'
import * as store from './store.ts'

type Parts = {
  db: Database
  attachments: Attachments
  provider: ImessageProvider
  enqueue: Enqueue
  emit: Emit
  retrySeconds: number[]
  /** Reads and applies the pause of an organization. */
  pause: { isPaused(organizationId: string): Promise<boolean>; holdJob(organizationId: string, finish: Finish): Promise<boolean> }
  businessEvents: BusinessEvents
  log: Log
}

const leaseMs = 30_000
/** Exceeds the slowest upload of a file, so that no second run looks up the piece of a call that is still running. */
const sendRunMsMax = 30 * 60_000
const sendConcurrency = 16
const jitter = 0.2
/** A piece whose outcome is still unknown after this time has failed with `outcome_unknown`. */
const unknownMsMax = 48 * 3_600_000
/** Exponential backoff between lookups of a piece with an unknown outcome. */
const lookMsMin = 250
const lookMsMax = 60_000
/** Recheck interval for chats of a provider that is not configured. */
const idleMs = 60_000
/** Messages sent more than this before the first attempt at a piece are not that piece. */
const otherIdsMs = 3_600_000

const mediaBytesMax = 25 * 1024 * 1024
const mediaRetrySeconds = [2, 10, 60, 600, 3600]
const detailCharactersMax = 500

type Ending = { kind: 'sent'; providerMessageId: string; chatRef: string | null } | { kind: 'failed'; code: string; detail: string }

export function createImessageJobs({
  db,
  attachments,
  provider,
  enqueue,
  emit,
  retrySeconds,
  pause,
  businessEvents,
  log,
}: Parts): JobHandler[] {
  /** Builds the piece for the provider. Null when its file is missing. */
  async function toPiece(chat: ChatRow, send: SendRow): Promise<Piece | null> {
    const media = send.media_id === null ? null : await history.findMedia(db, send.media_id)
    if (send.media_id !== null && media?.state !== 'stored') return null
    return {
      key: send.id,
      organizationId: send.organization_id,
      line: chat.line,
      recipient: chat.participant,
      chatRef: chat.chat_ref,
      text: send.text,
      media: media && (await toFile(send, media)),
    }
  }

  async function toFile(send: SendRow, media: MediaRow) {
    const extension = media.filename.slice(media.filename.lastIndexOf('.'))
    // Named by the piece's id, so that the file can be recognized at the provider.
    return { id: media.id, filename: `${send.id}${extension}`, contentType: media.content_type, bytes: await attachments.readFile(media) }
  }

  async function runChat(job: Job, finish: Finish): Promise<void> {
    if ((await pause.isPaused(job.organizationId)) && (await pause.holdJob(job.organizationId, finish))) return
    const chat = await store.findChat(db, job.subject)
    if (!chat) return db.transact((tx) => finish(tx, { done: true }))
    if (chat.provider !== provider.name) return db.transact((tx) => finish(tx, { done: false, retryInMs: idleMs }))
    const send = await sending.findNextSend(db, chat.id)
    if (!send) return db.transact((tx) => continueOrFinish(tx, job, finish, chat.id))
    const piece = await toPiece(chat, send)
    if (!piece)
      return end(job, finish, chat, send, { kind: 'failed', code: 'media_missing', detail: 'The file of the message was deleted.' })
    if (send.state === 'sending') return judgeFinding(job, finish, chat, send, await find(chat, send, piece))
    // Committed before the call, so that after a crash the state shows that the piece may have been sent.
    if (!(await db.transact((tx) => sending.beginSend(tx, send.id, now())))) {
      return db.transact((tx) => finish(tx, { done: false, retryInMs: 0 }))
    }
    return judgeOutcome(job, finish, chat, send, await provider.send(piece))
  }

  async function find(chat: ChatRow, send: SendRow, piece: Piece): Promise<Finding> {
    const firstAt = send.first_tried_at as Date
    const otherIds = await sending.findProviderIds(db, chat.id, new Date(firstAt.getTime() - otherIdsMs))
    return provider.find(piece, { firstAt, lastAt: send.last_tried_at as Date, otherIds })
  }

  function judgeOutcome(job: Job, finish: Finish, chat: ChatRow, send: SendRow, outcome: SendOutcome): Promise<void> {
    const { organizationId: organization_id } = job
    businessEvents.imessageTried({ organization_id, chat_id: chat.id, outcome: outcome.kind, attempt: send.attempts + 1 })
    switch (outcome.kind) {
      case 'accepted':
        return end(job, finish, chat, send, { ...outcome, kind: 'sent' })
      case 'refused':
        return end(job, finish, chat, send, { kind: 'failed', code: outcome.code, detail: outcome.detail })
      case 'unknown':
        // The provider's detail is not logged because it may hold a phone number.
        log.warn({ send: send.id }, 'the outcome of an iMessage is unknown')
        return db.transact((tx) => finish(tx, { done: false, retryInMs: lookMsMin }))
      case 'retry': {
        const delayMs = nextAttemptMs(retrySeconds, send.attempts + 1, jitter, Math.random())
        if (delayMs === null) return end(job, finish, chat, send, { kind: 'failed', code: 'provider_unavailable', detail: outcome.detail })
        return db.transact(async (tx) => {
          await finish(tx, { done: false, retryInMs: Math.max(delayMs, outcome.retryAfterMs ?? 0) })
          await sending.returnSend(tx, send.id)
        })
      }
    }
  }

  function judgeFinding(job: Job, finish: Finish, chat: ChatRow, send: SendRow, finding: Finding): Promise<void> {
    switch (finding.kind) {
      case 'found':
        return end(
          job,
          finish,
          chat,
          send,
          finding.failure
            ? { kind: 'failed', ...finding.failure }
            : { kind: 'sent', providerMessageId: finding.providerMessageId, chatRef: null },
        )
      case 'repeatable':
        return db.transact(async (tx) => {
          await finish(tx, { done: false, retryInMs: 0 })
          await sending.returnSend(tx, send.id)
        })
      case 'unknown': {
        if (nowMs() - (send.first_tried_at as Date).getTime() > unknownMsMax) {
          const detail = `The provider did not confirm whether the message was sent: ${finding.detail}`
          return end(job, finish, chat, send, { kind: 'failed', code: 'outcome_unknown', detail })
        }
        const retryInMs = Math.min(lookMsMax, lookMsMin * 2 ** Math.min(job.attempts, 20))
        return db.transact((tx) => finish(tx, { done: false, retryInMs }))
      }
    }
  }

  /** Commits the result of a piece, the status of its message and the next job of the chat. */
  async function end(job: Job, finish: Finish, chat: ChatRow, send: SendRow, ending: Ending): Promise<void> {
    const at = now()
    await db.transact(async (tx) => {
      await store.holdChat(tx, chat.id)
      const to =
        ending.kind === 'sent' ? ({ state: 'sent', providerMessageId: ending.providerMessageId } as const) : ({ state: 'failed' } as const)
      const isRecorded = await sending.recordSendResult(tx, send.id, to, at)
      if (ending.kind === 'sent' && ending.chatRef !== null && chat.chat_ref === null)
        await store.updateChat(tx, chat.id, { chatRef: ending.chatRef })
      if (isRecorded && send.message_id !== null) await recordMessageResult(tx, send.message_id, ending, at)
      await continueOrFinish(tx, job, finish, chat.id)
    })
  }

  async function recordMessageResult(tx: Tx, messageId: string, ending: Ending, at: Date): Promise<void> {
    if (ending.kind === 'sent' && (await sending.countUnsent(tx, messageId)) > 0) return
    if (ending.kind === 'failed') await sending.dropWaiting(tx, { messageId }, at)
    const detail = ending.kind === 'failed' ? ending.detail.slice(0, detailCharactersMax) : ''
    const to = ending.kind === 'sent' ? ({ status: 'sent', at } as const) : ({ status: 'failed', code: ending.code, detail } as const)
    const row = await history.recordResult(tx, messageId, to)
    if (row) await emit(tx, [resultEvent(row)])
  }

  /** Ends the job. Enqueues a new one, which starts counting attempts from 0, when the chat has more pieces to send. */
  async function continueOrFinish(tx: Tx, job: Job, finish: Finish, chatId: string): Promise<void> {
    await store.holdChat(tx, chatId)
    const next = await sending.findNextSend(tx, chatId)
    await finish(tx, { done: true })
    if (next) await enqueue(tx, [{ id: newId('job'), kind: chatJob, organizationId: job.organizationId, subject: chatId }])
    else await store.updateChat(tx, chatId, { isSending: false })
  }

  async function runMedia(job: Job, finish: Finish): Promise<void> {
    const message = (await history.findMessages(db, [job.subject])).get(job.subject)
    if (!message) return db.transact((tx) => finish(tx, { done: true }))
    const pending = ((await history.findMediaOf(db, [message.id])).get(message.id) ?? []).filter((one) => one.state === 'pending')
    const delayMs = nextAttemptMs(mediaRetrySeconds, job.attempts, jitter, Math.random())
    const fetched: { id: string; file: Parameters<typeof history.recordMediaResult>[2] }[] = []
    for (const one of pending) {
      try {
        const ref = { ref: one.provider_ref as string, filename: one.filename, contentType: one.content_type }
        const { bytes, contentType } = await provider.fetchMedia(ref, mediaBytesMax)
        const kept = await attachments.keepBytes(message.organization_id, one.id, bytes)
        fetched.push({ id: one.id, file: { contentType: cleanType(contentType), sizeBytes: bytes.length, ...kept } })
      } catch (err) {
        if (err instanceof MediaGone || delayMs === null) fetched.push({ id: one.id, file: null })
        else log.warn({ err, media: one.id }, 'fetching a file of an iMessage failed and is retried')
      }
    }
    const isDone = fetched.length === pending.length
    await db.transact(async (tx) => {
      await finish(tx, isDone ? { done: true } : { done: false, retryInMs: delayMs as number })
      for (const { id, file } of fetched) await history.recordMediaResult(tx, id, file)
      if (isDone) await emit(tx, [receivedEvent(message)])
    })
  }

  return [
    { kind: chatJob, leaseMs, runMsMax: sendRunMsMax, concurrency: sendConcurrency, run: runChat },
    { kind: mediaJob, leaseMs, runMsMax: 10 * 60_000, concurrency: 4, run: runMedia },
  ]
}

type Subject = { id: string; organization_id: string; identity_id: string }

/** The event of a received message with all its files. */
export const receivedEvent = (row: Subject) =>
  ({
    type: 'imessage.received',
    organizationId: row.organization_id,
    identityId: row.identity_id,
    subjectId: row.id,
    data: { status: 'received' },
  }) as const

/** The event of a message that was sent or failed. */
export function resultEvent(
  row: Subject & { status: string; sent_at: Date | null; error_code: string | null; error_detail: string | null },
) {
  const { organization_id: organizationId, identity_id: identityId, id: subjectId } = row
  const isFailed = row.status === 'failed'
  const facts = isFailed ? { error: { code: row.error_code, message: row.error_detail } } : { sent_at: row.sent_at?.toISOString() ?? null }
  const type = isFailed ? ('imessage.failed' as const) : ('imessage.sent' as const)
  return { type, organizationId, identityId, subjectId, data: { status: row.status, ...facts } }
}

/** Records of messages received before this time may be deleted. */
export const receivedRetention = (): Date => inMs(-30 * 24 * 3_600_000)

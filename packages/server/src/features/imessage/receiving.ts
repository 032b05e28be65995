// Receives iMessages from callbacks and the provider's list, files each one once, and runs the commands that people text to the router.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { BusinessEvents } from '../../core/business-events.ts'
import { now, nowMs } from '../../core/clock.ts'
import { forbidden, notFound } from '../../core/errors.ts'
import type { Emit, NewEvent } from '../../core/event.ts'
import { newId } from '../../core/ids.ts'
import type { Enqueue } from '../../core/job.ts'
import type { Log } from '../../core/log.ts'
import type { RawRequest } from '../../core/route.ts'
import { type Database, DatabaseUnavailable, isForeignKeyViolation, type Tx } from '../../core/sql.ts'
import type { MailboxOwner } from '../account/identities/model.ts'
import type { Identities } from '../account/identities/operations.ts'
import * as history from './history-store.ts'
import { receivedEvent, receivedRetention, resultEvent } from './jobs.ts'
import {
  type ArchivedReason,
  type ChatRow,
  type Command,
  type ConversationRow,
  callbackPath,
  cleanFilename,
  cleanText,
  cleanType,
  helpIntervalMs,
  mediaJob,
  normalizeParticipant,
  readCommand,
  routerTexts,
} from './model.ts'
import type { Outbox } from './outbox.ts'
import type { ImessageProvider, InboundMessage, ProviderEvent } from './provider.ts'
import * as sending from './sending-store.ts'
import * as store from './store.ts'

export interface Receiving {
  /** Archives a conversation. False when it was archived before. */
  archive(tx: Tx, conversation: ConversationRow, reason: ArchivedReason): Promise<boolean>
  /** Files a message from the provider once, and runs the command in it. */
  receive(message: InboundMessage): Promise<Filed>
  /** `POST /hooks/imessage/{provider}/{route_token}`: 404 for a wrong token, 403 for a wrong signature, 200 after the commit. */
  callback(name: string, token: string, request: RawRequest): Promise<{ received: true; filed: Filed[] }>
  /** Polls the provider when a poll is due. One node polls at a time. */
  poll(): Promise<void>
  /** Deletes old records of received messages. */
  sweep(): Promise<number>
}

type Parts = {
  db: Database
  identities: Identities
  provider: ImessageProvider
  outbox: Outbox
  enqueue: Enqueue
  emit: Emit
  routeToken: string
  publicUrl: () => string
  /** Poll interval from the settings; null for the provider's default. */
  pollMs: number | null
  businessEvents: BusinessEvents
  log: Log
}

/** The effect of a received message. Ids belong to the organization of the connected agent. */
export type Filed = {
  effect: 'filed' | 'connected' | 'disconnected' | 'helped' | 'ignored'
  conversation: { id: string; organizationId: string } | null
  messageId: string | null
}

const ignored: Filed = { effect: 'ignored', conversation: null, messageId: null }

/** One poll in this many reads a whole day, because a message may reach the provider late and keeps the time at which it was written. */
const pollsPerWidePoll = 30
const prepareMs = 3_600_000
/** Tolerated lag of the provider's clock. */
const clockSkewMs = 120_000

export function createReceiving(parts: Parts): Receiving {
  const { db, identities, provider, outbox, enqueue, emit, routeToken, publicUrl, pollMs, businessEvents, log } = parts
  let polls = 0
  let preparedMs = 0
  let isUnreachable = false

  /** Archives a conversation and fails its waiting messages. False when it was archived before. */
  async function archive(tx: Tx, conversation: ConversationRow, reason: ArchivedReason): Promise<boolean> {
    const at = now()
    if (!(await store.archiveConversation(tx, conversation.id, reason, at))) return false
    const { id, organization_id: organizationId, identity_id: identityId } = conversation
    const events: NewEvent[] = [
      { type: 'imessage.disconnected', organizationId, identityId, subjectId: id, data: { status: 'archived', archived_reason: reason } },
    ]
    for (const messageId of await sending.dropWaiting(tx, { conversationId: id }, at)) {
      const detail = 'The conversation ended before the message was sent.'
      const row = await history.recordResult(tx, messageId, { status: 'failed', code: 'conversation_archived', detail })
      if (row) events.push(resultEvent(row))
    }
    await emit(tx, events)
    return true
  }

  async function connect(
    tx: Tx,
    chat: ChatRow,
    active: ConversationRow | null,
    handle: string,
    agent: MailboxOwner | null,
  ): Promise<Filed> {
    if (!agent) return help(tx, chat, routerTexts.unknownAgent(handle))
    if (active?.identity_id === agent.identityId) {
      await outbox.say(tx, chat, [{ organization_id: active.organization_id, text: routerTexts.connectedAlready(handle) }])
      return { effect: 'connected', conversation: { id: active.id, organizationId: active.organization_id }, messageId: null }
    }
    if (active) await archive(tx, active, 'replaced')
    const { organizationId, identityId } = agent
    const id = newId('conversation')
    await store.insertConversation(tx, { id, organizationId, identityId, chatId: chat.id, at: now() })
    await emit(tx, [{ type: 'imessage.connected', organizationId, identityId, subjectId: id, data: { status: 'active' } }])
    await outbox.say(tx, chat, [{ organization_id: organizationId, text: routerTexts.connected(handle, agent.displayName) }])
    return { effect: 'connected', conversation: { id, organizationId }, messageId: null }
  }

  /** Sends usage instructions, at most once per `helpIntervalMs` and chat. */
  async function help(tx: Tx, chat: ChatRow, text: string): Promise<Filed> {
    const at = now()
    if (chat.helped_at && at.getTime() - chat.helped_at.getTime() < helpIntervalMs) return ignored
    await store.updateChat(tx, chat.id, { helpedAt: at })
    await outbox.say(tx, chat, [{ text }])
    return { ...ignored, effect: 'helped' }
  }

  async function fileInto(tx: Tx, conversation: ConversationRow, message: InboundMessage, sender: string): Promise<Filed> {
    const { id: conversationId, organization_id: organizationId } = conversation
    const id = newId('imessage')
    // The provider's clock may be wrong. The time is clamped between the start of the conversation and now.
    const at = new Date(Math.min(nowMs(), Math.max(conversation.created_at.getTime(), message.sentAt.getTime())))
    await history.insertMessage(tx, {
      id,
      organization_id: organizationId,
      conversation_id: conversationId,
      direction: 'inbound',
      status: 'received',
      sender,
      text: cleanText(message.text),
      sent_at: at,
      error_code: null,
      error_detail: null,
      created_at: at,
    })
    if (message.media.length > 0) {
      const media = message.media.map((one, position) => ({
        id: newId('attachment'),
        organization_id: organizationId,
        message_id: id,
        position,
        state: 'pending' as const,
        filename: cleanFilename(one.filename, `file-${position + 1}`),
        content_type: cleanType(one.contentType),
        size_bytes: 0,
        provider_ref: one.ref,
        blob_key: null,
        bytes: null,
      }))
      await history.insertMedia(tx, media)
      await enqueue(tx, [{ kind: mediaJob, organizationId, subject: id }])
    } else {
      await emit(tx, [receivedEvent({ id, organization_id: organizationId, identity_id: conversation.identity_id })])
    }
    tx.afterCommit(() =>
      businessEvents.imessageReceived({ organization_id: organizationId, conversation_id: conversationId, message_id: id }),
    )
    return { effect: 'filed', conversation: { id: conversationId, organizationId }, messageId: id }
  }

  /** Files a message or runs its command. Repeated messages are ignored. */
  async function receive(message: InboundMessage): Promise<Filed> {
    const participant = normalizeParticipant(message.sender)
    const line = message.line ?? (await provider.lines())[0]
    if (participant === null || line === undefined) return ignored
    const command = message.media.length === 0 ? readCommand(message.text) : null
    // Before the transaction, because a lookup inside it would wait for a second connection while holding one.
    const agent = command?.kind === 'connect' ? await identities.findByHandle(command.handle) : null
    try {
      return await file(message, { participant, line, command, agent })
    } catch (error) {
      // The agent was deleted in the meantime.
      if (agent && isForeignKeyViolation(error)) return file(message, { participant, line, command, agent: null })
      throw error
    }
  }

  function file(
    message: InboundMessage,
    { participant, line, command, agent }: { participant: string; line: string; command: Command | null; agent: MailboxOwner | null },
  ): Promise<Filed> {
    return db.transact(async (tx) => {
      const at = now()
      if (!(await sending.noteReceived(tx, provider.name, message.providerMessageId, message.sentAt, at))) return ignored
      const chat = await store.holdChatOf(tx, {
        id: newId('imessageChat'),
        provider: provider.name,
        line,
        participant,
        chatRef: message.chatRef,
        at,
      })
      const active = await store.findActive(tx, chat.id)
      if (command?.kind === 'connect') return connect(tx, chat, active, command.handle, agent)
      if (command?.kind === 'disconnect') {
        // `stop` from a person without a connection gets no reply.
        if (!active) return ignored
        await archive(tx, active, 'disconnected_by_user')
        return { effect: 'disconnected', conversation: { id: active.id, organizationId: active.organization_id }, messageId: null }
      }
      return active ? fileInto(tx, active, message, participant) : help(tx, chat, routerTexts.help)
    })
  }

  async function handle(event: ProviderEvent): Promise<Filed> {
    if (event.kind === 'message') return receive(event.message)
    if (event.kind === 'hint') {
      await sending.noteHint(db, provider.name)
      return ignored
    }
    await db.transact(async (tx) => {
      const messageId = await sending.findMessageOf(tx, provider.name, event.providerMessageId)
      const to = { status: 'failed', code: event.code, detail: event.detail } as const
      const row = messageId === null ? null : await history.recordResult(tx, messageId, to)
      if (row) await emit(tx, [resultEvent(row)])
    })
    return ignored
  }

  async function read(claimed: sending.Position): Promise<void> {
    const { backfill } = provider
    if (!backfill) return
    if (nowMs() - preparedMs > prepareMs) {
      await provider.prepare(`${publicUrl()}${callbackPath(provider.name, routeToken)}`)
      preparedMs = nowMs()
    }
    const isWide = polls++ % pollsPerWidePoll === 0
    const { events, upTo } = await backfill.read(claimed.position, isWide)
    for (const event of events) {
      // Messages from before the first poll are not filed.
      if (event.kind === 'message' && event.message.sentAt.getTime() < claimed.started_at.getTime() - clockSkewMs) continue
      try {
        await handle(event)
      } catch (err) {
        if (err instanceof DatabaseUnavailable) throw err
        // A message that cannot be filed must not block the others.
        log.error({ err }, 'filing an iMessage failed')
      }
    }
    await sending.finishPoll(db, provider.name, claimed, upTo)
  }

  return {
    archive,
    receive,

    async callback(name, token, request) {
      if (name !== provider.name || !isSame(token, routeToken)) throw notFound('callback address')
      if (!provider.verify(request, nowMs())) {
        businessEvents.imessageCallbackRefused({ provider: provider.name })
        throw forbidden('The signature of the callback is wrong: check the secret of the provider.')
      }
      const filed: Filed[] = []
      for (const event of provider.parse(request)) filed.push(await handle(event))
      return { received: true, filed }
    },

    async poll() {
      if (!provider.backfill) return
      const claimed = await sending.claimPoll(db, provider.name, now(), pollMs ?? provider.backfill.everyMs)
      if (!claimed) return
      try {
        await read(claimed)
        isUnreachable = false
      } catch (err) {
        if (!isUnreachable) log.warn({ err, provider: provider.name }, 'polling the iMessage provider failed')
        isUnreachable = true
      }
    },

    sweep: () => sending.sweepReceived(db, receivedRetention()),
  }
}

/** Compares in constant time, for any lengths. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

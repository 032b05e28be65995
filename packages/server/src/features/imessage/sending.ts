// Sends an agent's iMessage: chooses or begins the conversation, and queues the message in one transaction.
import { type ImessageSent, imessageMediaBytesMax, type sendImessage } from '@callsign/contract/imessage'
import type { Static } from 'typebox'
import { type Caller, onlyAgentOf } from '../../core/caller.ts'
import { now } from '../../core/clock.ts'
import { ApiError, invalid } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { Call } from '../../core/route.ts'
import type { Database, Tx } from '../../core/sql.ts'
import { FetchRefused, type Web } from '../../core/web.ts'
import type { Attachments } from '../mail/attachments/operations.ts'
import * as history from './history-store.ts'
import { type ConversationRow, type MediaRow, type MessageRow, sniffMedia, toSent } from './model.ts'
import type { Outbox } from './outbox.ts'
import type { ImessageProvider } from './provider.ts'
import * as store from './store.ts'

export type SendBody = Static<NonNullable<typeof sendImessage.body>>

/** An agent as conversations know it. */
export type Agent = { id: string; handle: string; displayName: string }

export interface Sending {
  /** `POST /imessage/messages`. One transaction stores the message and its pieces. A job sends the pieces to the provider. */
  send(call: Call, body: SendBody): Promise<Static<typeof ImessageSent>>
}

type Parts = {
  db: Database
  attachments: Attachments
  web: Web
  provider: ImessageProvider
  outbox: Outbox
  allowCold: boolean
  requireAgent: (caller: Caller, reference: string) => Promise<Agent>
  requireConversation: (caller: Caller, id: string) => Promise<ConversationRow>
  /** The provider's lines. Throws `upstream_provider_error` without any. */
  requireLines: () => Promise<[string, ...string[]]>
}

const fetchTimeoutMs = 15_000

export function createSending(parts: Parts): Sending {
  const { db, attachments, web, provider, outbox, allowCold, requireAgent, requireConversation, requireLines } = parts

  const archived = () => new ApiError('conversation_archived', 'This conversation has ended. The person must connect again.')
  const notConnected = (to: string) =>
    new ApiError(
      'recipient_not_connected',
      `${to} is not connected to the agent. The person must first text the connect_prompt of GET /imessage/router.`,
    )

  /** The conversation for a message. Null for a cold message, to a person without one. */
  async function chooseConversation(caller: Caller, body: SendBody, agent: Agent | null): Promise<ConversationRow | null> {
    if (body.conversation_id !== undefined) {
      const row = await requireConversation(caller, body.conversation_id)
      if (body.to !== undefined && body.to !== row.participant)
        throw invalid('/to', 'to is not the participant of this conversation: send conversation_id only')
      if (agent && agent.id !== row.identity_id)
        throw invalid('/identity_id', 'this conversation belongs to another agent: omit identity_id')
      if (row.status === 'archived') throw archived()
      if (row.provider !== provider.name)
        throw new ApiError(
          'conflict',
          `This conversation uses ${row.provider}, and the server now uses ${provider.name}. Start a new one with to.`,
        )
      return row
    }
    const to = body.to as string
    const [first, ...more] = await store.findActiveWith(db, caller.organizationId, provider.name, to, agent?.id ?? null)
    if (first && agent === null && more.some((one) => one.identity_id !== first.identity_id))
      throw invalid('/identity_id', 'identity_id is required: this number is connected to several agents')
    if (first) return first
    if (!allowCold) throw notConnected(to)
    if (!agent) throw invalid('/identity_id', 'identity_id is required: this number is not connected to an agent')
    return null
  }

  /** Fetches the file of a message once. Throws 400 for a file that cannot be sent. */
  async function fetchMedia(url: string): Promise<{ filename: string; contentType: string; bytes: Buffer }> {
    const { bytes } = await web.fetchFile(url, { bytesMax: imessageMediaBytesMax, timeoutMs: fetchTimeoutMs }).catch((error: unknown) => {
      throw error instanceof FetchRefused ? invalid('/media_url', error.message) : error
    })
    const kind = sniffMedia(bytes)
    if (!kind) {
      const details = [{ path: '/media_url', message: 'must lead to a PNG, JPEG, GIF or PDF, recognized by the first bytes of the file' }]
      throw new ApiError('unsupported_media_type', 'media_url must lead to a PNG, JPEG, GIF or PDF.', { details, status: 400 })
    }
    return { filename: `${nameOf(url)}.${kind.extension}`, contentType: kind.contentType, bytes }
  }

  /** Begins a conversation without a connection, on the first line where the person is not connected to another agent. */
  async function beginCold(tx: Tx, organizationId: string, agent: Agent, to: string, ours: string[]) {
    for (const line of ours) {
      const at = now()
      const chat = await store.holdChatOf(tx, {
        id: newId('imessageChat'),
        provider: provider.name,
        line,
        participant: to,
        chatRef: null,
        at,
      })
      const active = await store.findActive(tx, chat.id)
      if (active && active.identity_id !== agent.id) continue
      const id = active?.id ?? newId('conversation')
      if (!active) await store.insertConversation(tx, { id, organizationId, identityId: agent.id, chatId: chat.id, at })
      return { chat, conversationId: id }
    }
    throw new ApiError('conflict', 'This number is connected to another agent on every line. The person must disconnect first.')
  }

  /** Locks the chat of an existing conversation. Throws 409 when the conversation has ended meanwhile. */
  async function holdConversation(tx: Tx, row: ConversationRow) {
    const chat = await store.holdChat(tx, row.chat_id)
    const active = chat && (await store.findActive(tx, chat.id))
    if (!chat || active?.id !== row.id) throw archived()
    return { chat, conversationId: row.id }
  }

  return {
    async send(call, body) {
      const { caller } = call
      if (body.conversation_id === undefined && body.to === undefined)
        throw invalid('/conversation_id', 'conversation_id or to is required')
      const isUnnamed = body.identity_id === undefined && body.conversation_id === undefined
      if (isUnnamed && caller.agents && !onlyAgentOf(caller))
        throw invalid('/identity_id', 'identity_id is required: this key has several agents')
      const named = body.identity_id ?? (isUnnamed ? onlyAgentOf(caller)?.handle : undefined)
      const agent = named === undefined ? null : await requireAgent(caller, named)
      const chosen = await chooseConversation(caller, body, agent)
      const ours = chosen ? [] : await requireLines()
      const file = body.media_url === undefined ? null : await fetchMedia(body.media_url)
      const { organizationId } = caller
      const [id, mediaId] = [newId('imessage'), newId('attachment')]
      const kept = file && (await attachments.keepBytes(organizationId, mediaId, file.bytes))
      return call.transact(async (tx) => {
        const { chat, conversationId } = chosen
          ? await holdConversation(tx, chosen)
          : await beginCold(tx, organizationId, agent as Agent, body.to as string, ours)
        const row: MessageRow = {
          id,
          organization_id: organizationId,
          conversation_id: conversationId,
          direction: 'outbound',
          status: 'queued',
          sender: chosen?.agent_handle ?? (agent as Agent).handle,
          text: body.text,
          sent_at: null,
          error_code: null,
          error_detail: null,
          created_at: now(),
        }
        await history.insertMessage(tx, row)
        if (file && kept) await history.insertMedia(tx, [toMediaRow(row, mediaId, file, kept)])
        const piece = { organization_id: organizationId, message_id: id }
        const media = file ? mediaId : null
        await outbox.say(
          tx,
          chat,
          media !== null && provider.sendsFilesApart
            ? [
                { ...piece, part: 0, text: body.text },
                { ...piece, part: 1, text: null, media_id: media },
              ]
            : [{ ...piece, part: 0, text: body.text, media_id: media }],
        )
        return toSent(row)
      })
    },
  }
}

/** The last part of a URL's path without its extension, as a file's name. */
function nameOf(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  const name = last.replace(/\.[A-Za-z0-9]{1,8}$/, '').replace(/[^A-Za-z0-9_-]/g, '_')
  return name.slice(0, 100) || 'file'
}

function toMediaRow(
  message: MessageRow,
  id: string,
  file: { filename: string; contentType: string; bytes: Buffer },
  kept: Pick<MediaRow, 'bytes' | 'blob_key'>,
): MediaRow {
  return {
    id,
    organization_id: message.organization_id,
    message_id: message.id,
    position: 0,
    state: 'stored',
    filename: file.filename,
    content_type: file.contentType,
    size_bytes: file.bytes.length,
    provider_ref: null,
    ...kept,
  }
}

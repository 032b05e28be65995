// Operations on iMessage: the router that pairs people with agents, conversations, sending and the history.
import { imessageMediaBytesMax, type sendImessage, type simulateImessage } from '@callsign/contract/imessage'
import type { Static } from 'typebox'
import type { Caller } from '../../core/caller.ts'
import { now } from '../../core/clock.ts'
import { ApiError, forbidden, invalid, notFound } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { Log } from '../../core/log.ts'
import { readPage, toPage } from '../../core/page.ts'
import type { Call } from '../../core/route.ts'
import type { Database, Tx } from '../../core/sql.ts'
import { FetchRefused, type Web } from '../../core/web.ts'
import type { Identities } from '../account/identities/operations.ts'
import type { AttachmentSource, Attachments } from '../mail/attachments/operations.ts'
import {
  type ConversationRow,
  connectPrompt,
  describeConversation,
  describeMessage,
  type MediaRow,
  type MessageRow,
  normalizeParticipant,
  readCommand,
  sniffMedia,
  toConversation,
  toItem,
  toSent,
} from './model.ts'
import type { Outbox } from './outbox.ts'
import type { ImessageProvider } from './provider.ts'
import { qrPng } from './qr-code.ts'
import type { Filed, Receiving } from './receiving.ts'
import type { SimulatedFile } from './simulation.ts'
import * as store from './store.ts'

export type Imessage = ReturnType<typeof createImessage>

type SendBody = Static<NonNullable<typeof sendImessage.body>>
type SimulateBody = Static<NonNullable<typeof simulateImessage.body>>

/** What an agent is in this feature. */
type Agent = { id: string; handle: string; displayName: string }

type Parts = {
  db: Database
  identities: Identities
  attachments: Attachments
  web: Web
  provider: ImessageProvider
  outbox: Outbox
  receiving: Receiving
  /** Delivers what a phone would have sent, by a callback; null unless the provider is the simulator. */
  simulate:
    | ((organizationId: string, from: string, text: string, files: SimulatedFile[]) => Promise<{ id: string; filed: Filed | null }>)
    | null
  displayName: string
  allowCold: boolean
  log: Log
}

const fetchTimeoutMs = 15_000

export function createImessage(parts: Parts) {
  const { db, identities, attachments, web, provider, outbox, receiving, simulate, displayName, allowCold, log } = parts

  async function requireAgent(caller: Caller, reference: string): Promise<Agent> {
    const identity = await identities.getIdentity(caller, reference)
    return { id: identity.id, handle: identity.agent_handle, displayName: identity.display_name }
  }

  async function lines(): Promise<[string, ...string[]]> {
    const found = await provider.lines().catch((err: unknown) => {
      log.warn({ err, provider: provider.name }, 'the lines of the iMessage provider cannot be had')
      throw new ApiError('upstream_provider_error', 'The iMessage provider did not tell its lines. Try again in a moment.')
    })
    if (found.length === 0) throw new ApiError('upstream_provider_error', 'The iMessage provider has no line.')
    return found as [string, ...string[]]
  }

  /** The conversation with this id, if the caller may see it: another organization's, or another agent's, is 404. */
  async function requireConversation(caller: Caller, id: string): Promise<ConversationRow> {
    const row = (await store.findConversations(db, [id])).get(id)
    if (!row || row.organization_id !== caller.organizationId || (caller.agent && caller.agent.identityId !== row.identity_id))
      throw notFound('conversation')
    return row
  }

  const archived = () => new ApiError('conversation_archived', 'This conversation is over; the person has to connect again.')
  const notConnected = (to: string) =>
    new ApiError(
      'recipient_not_connected',
      `Nobody with the number ${to} is connected to the agent: they text the connect prompt of GET /imessage/router first.`,
    )

  /** Which conversation a send goes into; null when one has to be begun with somebody who never wrote. */
  async function chooseConversation(caller: Caller, body: SendBody, agent: Agent | null): Promise<ConversationRow | null> {
    if (body.conversation_id !== undefined) {
      const row = await requireConversation(caller, body.conversation_id)
      if (body.to !== undefined && body.to !== row.participant)
        throw invalid('/to', 'to is not who this conversation is with: give one of the two')
      if (agent && agent.id !== row.identity_id) throw invalid('/identity_id', 'this conversation is with another agent')
      if (row.status === 'archived') throw archived()
      if (row.provider !== provider.name)
        throw new ApiError('conflict', `This conversation is on ${row.provider}, and this server is connected to ${provider.name} now.`)
      return row
    }
    const to = body.to as string
    const [first, ...more] = await store.findActiveWith(db, caller.organizationId, provider.name, to, agent?.id ?? null)
    if (first && agent === null && more.some((one) => one.identity_id !== first.identity_id))
      throw invalid('/identity_id', 'this number is connected to several agents: say which one sends')
    if (first) return first
    if (!allowCold) throw notConnected(to)
    if (!agent) throw invalid('/identity_id', 'who sends has to be said when nobody with this number is connected')
    return null
  }

  /** The file of a send, fetched once; 400 when it is none that may be sent. */
  async function fetchMedia(url: string): Promise<{ filename: string; contentType: string; bytes: Buffer }> {
    const { bytes } = await web.fetchFile(url, { bytesMax: imessageMediaBytesMax, timeoutMs: fetchTimeoutMs }).catch((error: unknown) => {
      throw error instanceof FetchRefused ? invalid('/media_url', error.message) : error
    })
    const kind = sniffMedia(bytes)
    if (!kind) {
      const details = [
        { path: '/media_url', message: 'must lead to a PNG, JPEG, GIF or PDF; the first bytes of the file are of none of them' },
      ]
      throw new ApiError('unsupported_media_type', 'media_url must lead to a PNG, JPEG, GIF or PDF.', { details, status: 400 })
    }
    return { filename: `${nameOf(url)}.${kind.extension}`, contentType: kind.contentType, bytes }
  }

  /** Begins a conversation with somebody who never wrote, on the first line where they talk to nobody. */
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
    throw new ApiError('conflict', 'Somebody with this number is talking to another agent on every line.')
  }

  /** The same of a conversation that is there; 409 when it ended meanwhile. */
  async function holdConversation(tx: Tx, row: ConversationRow) {
    const chat = await store.holdChat(tx, row.chat_id)
    const active = chat && (await store.findActive(tx, chat.id))
    if (!chat || active?.id !== row.id) throw archived()
    return { chat, conversationId: row.id }
  }

  const describeItems = async (rows: MessageRow[]) => {
    const media = await store.findMediaOf(
      db,
      rows.map((row) => row.id),
    )
    return rows.map((row) => toItem(row, media.get(row.id) ?? [], attachments.linkTo))
  }

  return {
    /** `GET /imessage/router`. */
    async getRouter(caller: Caller, query: { agent?: string; phone?: string; user_phone?: string }) {
      const reference = query.agent ?? caller.agent?.handle
      if (reference === undefined) throw invalid('/agent', 'is missing: it names the agent that the user will be connected to')
      const given = query.phone ?? query.user_phone
      const phone = given === undefined ? null : normalizeParticipant(given)
      if (given !== undefined && phone === null) throw invalid('/phone', 'must be a phone number in E.164, such as +12015550123')
      const agent = await requireAgent(caller, reference)
      const ours = await lines()
      const line = (phone === null ? null : await store.findLineOf(db, provider.name, phone, ours)) ?? ours[0]
      const prompt = connectPrompt(agent.handle)
      const url = `imessage://${line}?body=${encodeURIComponent(prompt)}`
      return {
        phone_number: line,
        display_name: displayName,
        connect_prompt: prompt,
        url,
        sms_url: `sms:${line}?body=${encodeURIComponent(prompt)}`,
        qr_code: `data:image/png;base64,${qrPng(url).toString('base64')}`,
        provider: provider.name,
      }
    },

    /** `POST /imessage/messages`: the message and its way to the provider are one transaction; what follows is the worker's. */
    async send(call: Call, body: SendBody) {
      const { caller } = call
      if (body.conversation_id === undefined && body.to === undefined)
        throw invalid('/conversation_id', 'give conversation_id or to: one of them says who the message is for')
      const named = body.identity_id ?? (body.conversation_id === undefined ? caller.agent?.handle : undefined)
      const agent = named === undefined ? null : await requireAgent(caller, named)
      const chosen = await chooseConversation(caller, body, agent)
      const ours = chosen ? [] : await lines()
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
        await store.insertMessage(tx, row)
        if (file && kept) await store.insertMedia(tx, [toMediaRow(row, mediaId, file, kept)])
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

    /** `GET /imessage/messages`: oldest first. */
    async listMessages(caller: Caller, query: { conversation_id?: string; limit?: number; cursor?: string }) {
      const page = readPage(query, 'imessage')
      const { organizationId } = caller
      const rows =
        query.conversation_id === undefined
          ? await store.listOfOrganization(db, organizationId, caller.agent?.identityId ?? null, page)
          : await store.listOfConversation(db, organizationId, (await requireConversation(caller, query.conversation_id)).id, page)
      const { data, next_cursor } = toPage(
        rows,
        page.limit,
        (row) => row.id,
        (row) => row,
      )
      return { messages: await describeItems(data), next_cursor }
    },

    /** `GET /imessage/conversations`: newest first. */
    async listConversations(caller: Caller, query: { agent?: string; status?: 'active' | 'archived'; limit?: number; cursor?: string }) {
      const page = readPage(query, 'conversation')
      const identityId = query.agent === undefined ? (caller.agent?.identityId ?? null) : (await requireAgent(caller, query.agent)).id
      const filter = { organizationId: caller.organizationId, identityId, status: query.status ?? null }
      return toPage(await store.listConversations(db, filter, page), page.limit, (row) => row.id, toConversation)
    },

    /** `GET /imessage/conversations/{id}`. */
    getConversation: async (caller: Caller, id: string) => toConversation(await requireConversation(caller, id)),

    /** `POST /imessage/conversations/{id}/disconnect`: idempotent. */
    async disconnect(call: Call, id: string) {
      const row = await requireConversation(call.caller, id)
      return call.transact(async (tx) => {
        await store.holdChat(tx, row.chat_id)
        await receiving.archive(tx, row, 'disconnected_by_agent')
        const after = (await store.findConversations(tx, [id])).get(id)
        if (!after) throw notFound('conversation')
        return toConversation(after)
      })
    },

    /** `POST /simulator/imessage`: a phone writes to the line, by a callback like any other. */
    async simulate(caller: Caller, body: SimulateBody) {
      if (!simulate) throw notFound('simulator')
      const from = normalizeParticipant(body.from)
      if (from === null) throw invalid('/from', 'must be a phone number in E.164, such as +12015550123, or an Apple ID')
      if (body.text === undefined && (body.media ?? []).length === 0) throw invalid('/text', 'give text, media, or both')
      await checkOwnPhone(caller, from, body.text ?? '')
      const loaded = await attachments.load(
        (body.media ?? []).map((one, i) => ({ filename: `file-${i + 1}`, ...one })),
        0,
        'media',
      )
      const files = loaded.map(({ contentType, bytes }) => ({ contentType: sniffMedia(bytes)?.contentType ?? contentType, bytes }))
      const { id, filed } = await simulate(caller.organizationId, from, body.text ?? '', files)
      const isOurs = filed?.conversation?.organizationId === caller.organizationId
      return {
        provider_message_id: id,
        conversation_id: isOurs ? (filed?.conversation?.id ?? null) : null,
        message_id: isOurs ? (filed?.messageId ?? null) : null,
        effect: filed?.effect ?? ('dropped' as const),
      }
    },

    /** How events tell of messages and conversations. */
    async describeMessages(ids: string[]) {
      const [rows, media] = await Promise.all([store.findMessages(db, ids), store.findMediaOf(db, ids)])
      return new Map([...rows].map(([id, row]) => [id, describeMessage(row, row.participant, media.get(id) ?? [])]))
    },
    async describeConversations(ids: string[]) {
      const rows = await store.findConversations(db, ids)
      return new Map([...rows].map(([id, row]) => [id, describeConversation(row)]))
    },

    /** Where downloads and the sweep find the files of messages. */
    attachmentSource: {
      findFile: async (id) => {
        const row = await store.findMedia(db, id)
        return row?.state === 'stored' ? row : null
      },
      findNamedBlobs: (keys) => store.findNamedBlobs(db, keys),
    } satisfies AttachmentSource,
  }

  /** A simulated phone may not speak for somebody who talks to another organization's agent, nor connect to one. */
  async function checkOwnPhone(caller: Caller, from: string, text: string): Promise<void> {
    const command = readCommand(text)
    const agent = command?.kind === 'connect' ? await identities.findByHandle(command.handle) : null
    const isForeign = await store.isTalkingElsewhere(db, provider.name, from, caller.organizationId)
    if (isForeign || (agent && agent.organizationId !== caller.organizationId))
      throw forbidden("A simulated phone writes to your organization's agents only.")
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

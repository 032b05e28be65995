// Operations on iMessage: the router that connects people with agents, conversations and the history.
import type { ImessageConversation, ImessageItem, ImessageRouter, simulateImessage } from '@callsign/contract/imessage'
import type { Static } from 'typebox'
import { type Caller, identityIdsOf, mayActFor, onlyAgentOf } from '../../core/caller.ts'
import { ApiError, forbidden, invalid, notFound } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import { type ListOrder, type Page, type PageQuery, readPage, toPage } from '../../core/page.ts'
import type { Call } from '../../core/route.ts'
import type { Database } from '../../core/sql.ts'
import type { Web } from '../../core/web.ts'
import type { Identities } from '../account/identities/operations.ts'
import type { AttachmentSource, Attachments } from '../mail/attachments/operations.ts'
import * as history from './history-store.ts'
import {
  type ConversationRow,
  connectPrompt,
  describeConversation,
  describeMessage,
  type MessageRow,
  normalizeParticipant,
  readCommand,
  sniffMedia,
  toConversation,
  toItem,
} from './model.ts'
import type { Outbox } from './outbox.ts'
import type { ImessageProvider } from './provider.ts'
import { qrPng } from './qr-code.ts'
import type { Filed, Receiving } from './receiving.ts'
import { type Agent, createSending, type Sending } from './sending.ts'
import type { SimulatedFile } from './simulation.ts'
import * as store from './store.ts'

export interface Imessage extends Sending {
  /** `GET /imessage/router`. */
  getRouter(caller: Caller, query: { agent?: string; phone?: string; user_phone?: string }): Promise<Static<typeof ImessageRouter>>
  /** `GET /imessage/messages`: oldest first. */
  listMessages(
    caller: Caller,
    query: PageQuery & { conversation_id?: string; order?: ListOrder },
  ): Promise<Page<Static<typeof ImessageItem>> & { messages: Static<typeof ImessageItem>[] }>
  /** `GET /imessage/conversations`: newest first. */
  listConversations(caller: Caller, query: PageQuery & { agent?: string; status?: 'active' | 'archived' }): Promise<Page<Conversation>>
  /** `GET /imessage/conversations/{id}`. */
  getConversation(caller: Caller, id: string): Promise<Conversation>
  /** `POST /imessage/conversations/{id}/disconnect`: idempotent. */
  disconnect(call: Call, id: string): Promise<Conversation>
  /** `POST /simulator/imessage`: delivers a message of a simulated phone through the same callback as a real one. */
  simulate(
    caller: Caller,
    body: SimulateBody,
  ): Promise<{
    provider_message_id: string
    conversation_id: string | null
    message_id: string | null
    effect: Filed['effect'] | 'dropped'
  }>
  /** Messages in events. */
  describeMessages(ids: string[]): Promise<Map<string, Record<string, unknown>>>
  /** Conversations in events. */
  describeConversations(ids: string[]): Promise<Map<string, Record<string, unknown>>>
  /** The files of messages, for downloads and for the sweep of blobs. */
  attachmentSource: AttachmentSource
}

type Conversation = Static<typeof ImessageConversation>
type SimulateBody = Static<NonNullable<typeof simulateImessage.body>>

type Parts = {
  db: Database
  identities: Identities
  attachments: Attachments
  web: Web
  provider: ImessageProvider
  outbox: Outbox
  receiving: Receiving
  /** Delivers the message of a simulated phone by a callback; null unless the provider is the simulator. */
  simulate:
    | ((organizationId: string, from: string, text: string, files: SimulatedFile[]) => Promise<{ id: string; filed: Filed | null }>)
    | null
  displayName: string
  allowCold: boolean
  log: Log
}

export function createImessage(parts: Parts): Imessage {
  const { db, identities, attachments, web, provider, outbox, receiving, simulate, displayName, allowCold, log } = parts

  async function requireAgent(caller: Caller, reference: string): Promise<Agent> {
    const identity = await identities.getIdentity(caller, reference)
    return { id: identity.id, handle: identity.agent_handle, displayName: identity.display_name }
  }

  async function requireLines(): Promise<[string, ...string[]]> {
    const found = await provider.lines().catch((err: unknown) => {
      log.warn({ err, provider: provider.name }, "listing the iMessage provider's lines failed")
      throw new ApiError('upstream_provider_error', 'Listing the lines of the iMessage provider failed. Retry in a moment.')
    })
    if (found.length === 0) throw new ApiError('upstream_provider_error', 'The iMessage provider has no line: add one at the provider.')
    return found as [string, ...string[]]
  }

  /** The conversation with this id. Throws 404 for those of other organizations and, for an agent key, of other agents. */
  async function requireConversation(caller: Caller, id: string): Promise<ConversationRow> {
    const row = (await store.findConversations(db, [id])).get(id)
    if (!row || row.organization_id !== caller.organizationId || !mayActFor(caller, row.identity_id)) throw notFound('conversation')
    return row
  }

  const describeItems = async (rows: MessageRow[]) => {
    const media = await history.findMediaOf(
      db,
      rows.map((row) => row.id),
    )
    return rows.map((row) => toItem(row, media.get(row.id) ?? [], attachments.linkTo))
  }

  return {
    ...createSending({ db, attachments, web, provider, outbox, allowCold, requireAgent, requireConversation, requireLines }),

    async getRouter(caller, query) {
      const reference = query.agent ?? onlyAgentOf(caller)?.handle
      if (reference === undefined) throw invalid('/agent', 'agent is required: name the agent that the user connects to')
      const given = query.phone ?? query.user_phone
      const phone = given === undefined ? null : normalizeParticipant(given)
      if (given !== undefined && phone === null) throw invalid('/phone', 'must be a phone number in E.164, such as +12015550123')
      const agent = await requireAgent(caller, reference)
      const ours = await requireLines()
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

    async listMessages(caller, query) {
      const page = readPage(query, 'imessage')
      const { organizationId } = caller
      const order = query.order ?? 'asc'
      const rows =
        query.conversation_id === undefined
          ? await history.listOfOrganization(db.reads, organizationId, identityIdsOf(caller), page, order)
          : await history.listOfConversation(
              db.reads,
              organizationId,
              (await requireConversation(caller, query.conversation_id)).id,
              page,
              order,
            )
      const { data: listed, ...envelope } = toPage(
        rows,
        page.limit,
        (row) => row.id,
        (row) => row,
      )
      const data = await describeItems(listed)
      return { messages: data, data, ...envelope }
    },

    async listConversations(caller, query) {
      const page = readPage(query, 'conversation')
      const identityIds = query.agent === undefined ? identityIdsOf(caller) : [(await requireAgent(caller, query.agent)).id]
      const filter = { organizationId: caller.organizationId, identityIds, status: query.status ?? null }
      return toPage(await store.listConversations(db.reads, filter, page), page.limit, (row) => row.id, toConversation)
    },

    getConversation: async (caller, id) => toConversation(await requireConversation(caller, id)),

    async disconnect(call, id) {
      const row = await requireConversation(call.caller, id)
      return call.transact(async (tx) => {
        await store.holdChat(tx, row.chat_id)
        await receiving.archive(tx, row, 'disconnected_by_agent')
        const after = (await store.findConversations(tx, [id])).get(id)
        if (!after) throw notFound('conversation')
        return toConversation(after)
      })
    },

    async simulate(caller, body) {
      if (!simulate) throw notFound('simulator')
      const from = normalizeParticipant(body.from)
      if (from === null) throw invalid('/from', 'must be a phone number in E.164, such as +12015550123, or an Apple ID')
      if (body.text === undefined && (body.media ?? []).length === 0) throw invalid('/text', 'text or media is required')
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

    async describeMessages(ids) {
      const [rows, media] = await Promise.all([history.findMessages(db, ids), history.findMediaOf(db, ids)])
      return new Map([...rows].map(([id, row]) => [id, describeMessage(row, row.participant, media.get(id) ?? [])]))
    },
    async describeConversations(ids) {
      const rows = await store.findConversations(db, ids)
      return new Map([...rows].map(([id, row]) => [id, describeConversation(row)]))
    },

    attachmentSource: {
      findFile: async (id) => {
        const row = await history.findMedia(db, id)
        return row?.state === 'stored' ? row : null
      },
      findNamedBlobs: (keys) => history.findNamedBlobs(db, keys),
    },
  }

  /** Throws 403 for a simulated phone that is connected, or connects, to an agent of another organization. */
  async function checkOwnPhone(caller: Caller, from: string, text: string): Promise<void> {
    const command = readCommand(text)
    const agent = command?.kind === 'connect' ? await identities.findByHandle(command.handle) : null
    const isForeign = await store.isTalkingElsewhere(db, provider.name, from, caller.organizationId)
    if (isForeign || (agent && agent.organizationId !== caller.organizationId))
      throw forbidden("This simulated phone is connected to another organization's agent: use another number in from.")
  }
}

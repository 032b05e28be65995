// Messages of an inbox: lists, search, labels, files, and what is sent.
import { attachmentBodyBytesMax } from '@callsign/contract/attachments'
import { getMessages, updateMessages } from '@callsign/contract/batches'
import type { Message } from '@callsign/contract/message-views'
import { deleteMessage, getMessage, releaseMessage, searchMessages } from '@callsign/contract/messages'
import { forwardMessage, replyToMessage, sendMessage } from '@callsign/contract/outbound-mail'
import { updateThread } from '@callsign/contract/threads'
import type { Static } from 'typebox'
import type { ApiCall } from '../../../core/api-call.ts'
import { mailboxOf } from './inboxes.ts'
import {
  contentOf,
  downloadOf,
  type LabelChange,
  labelChangeOf,
  labelsOf,
  toDownload,
  toItem,
  toMessage,
  toSent,
} from './message-fields.ts'
import { listMerged, messageFilterOf } from './message-lists.ts'
import {
  type AgentMailRequest,
  type AgentMailRoute,
  byId,
  listOf,
  notThere,
  optionalList,
  optionalText,
  pageOf,
  parameter,
  present,
  queryValue,
  readList,
  wrongValue,
} from './route.ts'

type Whole = Static<typeof Message>

const messagePath = '/inboxes/:inbox_id/messages/:message_id'
const updatedMax = 50

const pathOf = (request: AgentMailRequest) => ({
  email_address: parameter(request, 'inbox_id'),
  message_id: parameter(request, 'message_id'),
})

const find = (request: AgentMailRequest): Promise<Whole> => request.call(getMessage, { params: pathOf(request) })

/** The messages of one inbox with these ids, in their order. */
async function findAll(call: ApiCall, mailboxId: string, ids: string[]): Promise<Whole[]> {
  const found: Whole[] = []
  for (let rest = ids.filter((id) => /^msg_\w{1,40}$/.test(id)); rest.length > 0; ) {
    const { data, left } = await call(getMessages, { body: { ids: rest } }).catch(emptyWhenMissing)
    found.push(...data.filter(({ mailbox_id }) => mailbox_id === mailboxId))
    rest = left
  }
  return found
}

/** Our API answers 404 when none of the messages is there. */
function emptyWhenMissing(error: unknown): { data: Whole[]; left: string[] } {
  if ((error as { code?: unknown }).code === 'not_found') return { data: [], left: [] }
  throw error
}

function idsOf(request: AgentMailRequest, max: number): string[] {
  const ids = optionalList(request, 'message_ids') ?? []
  if (ids.length === 0 || ids.length > max || new Set(ids).size < ids.length)
    throw wrongValue(`\`message_ids\` must be a list of 1 to ${max} different ids.`)
  return ids
}

/** Makes the change, and returns the messages with their new labels. */
async function relabel(request: AgentMailRequest, messages: Whole[], change: LabelChange, mailboxId: string) {
  const { call } = request
  const email_address = parameter(request, 'inbox_id')
  const { isReleased, isSpam, ...flags } = change
  const ids = messages.map(({ id }) => id)
  for (const { id, status } of messages)
    if (isReleased && status === 'quarantined') await call(releaseMessage, { params: { email_address, message_id: id } })
  if (isSpam !== undefined)
    for (const thread_id of new Set(messages.map((message) => message.thread_id)))
      await call(updateThread, { params: { thread_id }, body: { folder: isSpam ? 'spam' : 'inbox' } })
  if (Object.keys(flags).length > 0 && ids.length > 0) await call(updateMessages, { body: { ids, ...flags } })
  return (await findAll(call, mailboxId, ids)).map((message) => ({ message_id: message.id, labels: labelsOf(message) }))
}

const recipientsOf = (request: AgentMailRequest) =>
  present({
    cc: optionalList(request, 'cc'),
    bcc: optionalList(request, 'bcc'),
    reply_to: optionalList(request, 'reply_to'),
  })

const reply = async (request: AgentMailRequest, isToAll: boolean) =>
  toSent(
    await request.call(replyToMessage, {
      params: pathOf(request),
      body: {
        ...contentOf(request).content,
        ...recipientsOf(request),
        ...present({ to: optionalList(request, 'to') }),
        ...((isToAll || request.body.reply_all === true) && { reply_all: true }),
      },
    }),
  )

const sendingRoutes: AgentMailRoute[] = [
  {
    method: 'POST',
    path: '/inboxes/:inbox_id/messages/send',
    bodyBytesMax: attachmentBodyBytesMax,
    run: async (request) => {
      const { content, references } = contentOf(request)
      return toSent(
        await request.call(sendMessage, {
          params: { email_address: parameter(request, 'inbox_id') },
          body: {
            ...content,
            ...(references.length > 0 && { references }),
            ...recipientsOf(request),
            to: optionalList(request, 'to') ?? [],
            subject: optionalText(request, 'subject') ?? '',
          },
        }),
      )
    },
  },
  { method: 'POST', path: `${messagePath}/reply`, bodyBytesMax: attachmentBodyBytesMax, run: (request) => reply(request, false) },
  { method: 'POST', path: `${messagePath}/reply-all`, bodyBytesMax: attachmentBodyBytesMax, run: (request) => reply(request, true) },
  {
    method: 'POST',
    path: `${messagePath}/forward`,
    bodyBytesMax: attachmentBodyBytesMax,
    run: async (request) =>
      toSent(
        await request.call(forwardMessage, {
          params: pathOf(request),
          body: {
            ...contentOf(request).content,
            ...recipientsOf(request),
            to: optionalList(request, 'to') ?? [],
            ...present({ subject: optionalText(request, 'subject') }),
          },
        }),
      ),
  },
]

async function search(request: AgentMailRequest) {
  const { limit, cursor } = pageOf(request)
  const query = { q: queryValue(request, 'q') ?? '', view: 'full' as const, limit, ...present({ cursor }) }
  const [after, before] = ['after', 'before'].map((name) => queryValue(request, name))
  const email_address = parameter(request, 'inbox_id')
  const [{ data, next_cursor }, inbox] = await Promise.all([
    request.call(searchMessages, { params: { email_address }, query }),
    mailboxOf(request),
  ])
  const isWithin = (at: string): boolean =>
    (after === undefined || Date.parse(at) > Date.parse(after)) && (before === undefined || Date.parse(at) < Date.parse(before))
  const hits = data
    .filter(({ created_at }) => isWithin(created_at))
    .map((hit) => {
      const { subject, text } = hit.highlights
      const highlights = present({
        subject: subject === null ? undefined : [toMarked(subject)],
        text: text === null ? undefined : [toMarked(text)],
      })
      return { ...toItem(hit, inbox.email_address), highlights }
    })
  return listOf('messages', hits, limit, next_cursor)
}

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }

/** A fragment with its marks as AgentMail writes them. */
const toMarked = (html: string): string =>
  html.replace(/<\/?mark>/g, '**').replace(/&(lt|gt|quot|#39|amp);/g, (text) => entities[text] ?? text)

export const messageRoutes: AgentMailRoute[] = [
  {
    method: 'GET',
    path: '/inboxes/:inbox_id/messages',
    async run(request) {
      const { email_address } = await mailboxOf(request)
      const filter = messageFilterOf(request)
      const { data, limit, next } = await readList(request, {
        kind: 'message',
        positionOf: byId,
        read: (page) => listMerged(request.call, email_address, filter, page),
      })
      return listOf(
        'messages',
        data.map((item) => toItem(item, email_address)),
        limit,
        next,
      )
    },
  },
  { method: 'GET', path: '/inboxes/:inbox_id/messages/search', run: search },
  {
    method: 'POST',
    path: '/inboxes/:inbox_id/messages/batch-get',
    async run(request) {
      const ids = idsOf(request, 500)
      const { id, email_address } = await mailboxOf(request)
      const found = await findAll(request.call, id, ids)
      return { limit: ids.length, count: found.length, messages: found.map((message) => toItem(message, email_address)) }
    },
  },
  {
    method: 'POST',
    path: '/inboxes/:inbox_id/messages/batch-update',
    async run(request) {
      const [ids, change] = [idsOf(request, updatedMax), labelChangeOf(request)]
      const { id } = await mailboxOf(request)
      const updates = await relabel(request, await findAll(request.call, id, ids), change, id)
      return { limit: ids.length, count: updates.length, updates }
    },
  },
  ...sendingRoutes,
  {
    method: 'GET',
    path: messagePath,
    async run(request) {
      const [message, { email_address }] = await Promise.all([find(request), mailboxOf(request)])
      return toMessage(message, email_address)
    },
  },
  {
    method: 'PATCH',
    path: messagePath,
    async run(request) {
      const change = labelChangeOf(request)
      const message = await find(request)
      const [updated] = await relabel(request, [message], change, message.mailbox_id)
      if (!updated) throw notThere('Message')
      return updated
    },
  },
  {
    method: 'DELETE',
    path: messagePath,
    async run(request) {
      await request.call(deleteMessage, { params: pathOf(request) })
    },
  },
  {
    method: 'GET',
    path: `${messagePath}/attachments/:attachment_id`,
    async run(request) {
      const file = (await find(request)).attachments.find(({ id }) => id === parameter(request, 'attachment_id'))
      if (!file) throw notThere('Attachment')
      return toDownload(file)
    },
  },
  {
    method: 'GET',
    path: `${messagePath}/raw`,
    async run(request) {
      const { id, size_bytes, raw_url } = await find(request)
      if (raw_url === null) throw notThere('Raw message')
      return { message_id: id, size: size_bytes, ...downloadOf(raw_url) }
    },
  },
]

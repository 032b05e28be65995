// Threads, of one inbox and of all.

import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import { deleteThread, getThread, getThreadById, listAllThreads, listThreads, type Thread, updateThread } from '@callsign/contract/threads'
import type { Static } from 'typebox'
import { inboxIdsOf } from './inboxes.ts'
import { labelChangeOf, toAttachment, toDownload, toMessage } from './message-fields.ts'
import {
  type AgentMailRequest,
  type AgentMailRoute,
  isSet,
  listOf,
  notOffered,
  notThere,
  pageLimitMax,
  pageOf,
  parameter,
  present,
  queryList,
  queryValue,
  readList,
  wrongValue,
} from './route.ts'
import { threadLabelsOf, toThreadItem } from './thread-fields.ts'

type Listed = Static<typeof Thread>
type Whole = ReplyOf<typeof getThreadById>
type Query = Partial<NonNullable<QueryOf<typeof listThreads>>>
type ThreadPage = ReplyOf<typeof listThreads>

type ThreadFilter = { sources: Query[]; keep: (thread: Listed) => boolean }

/** Pages that one request reads while few threads pass the filter. */
const roundsMax = 10

/** The filters of a list, as our lists take them, and the conditions that they do not have. */
function filterOf(request: AgentMailRequest): ThreadFilter {
  const labels = queryList(request, 'labels').map((label) => label.toLowerCase())
  const parts = {
    senders: queryList(request, 'senders'),
    recipients: queryList(request, 'recipients'),
    subject: queryList(request, 'subject'),
  }
  const own = labels.find((label) => !['received', 'sent', 'unread', 'spam', 'trash', 'archive'].includes(label))
  const query: Query = present({
    label: own,
    is_unread: labels.includes('unread') || undefined,
    subject: parts.subject[0],
    after: queryValue(request, 'after'),
    before: queryValue(request, 'before'),
  })
  const folders = (['spam', 'trash'] as const).filter((folder) => labels.includes(folder) || isSet(request, `include_${folder}`))
  const isOnlyFolder = labels.includes('spam') || labels.includes('trash')
  const isIn = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase())
  return {
    sources: [...(isOnlyFolder ? [] : [query]), ...folders.map((folder) => ({ ...query, folder }))],
    keep: (thread) => {
      const ownLabels = threadLabelsOf(thread)
      return (
        labels.every((label) => ownLabels.includes(label)) &&
        parts.senders.every((part) => thread.senders.some((address) => isIn(address, part))) &&
        parts.recipients.every((part) => thread.recipients.some((address) => isIn(address, part))) &&
        parts.subject.every((part) => isIn(thread.subject, part))
      )
    },
  }
}

/** Threads of the inbox in the path, or of all. */
const fetchPage = (request: AgentMailRequest, query: Query): Promise<ThreadPage> =>
  request.params.inbox_id === undefined
    ? request.call(listAllThreads, { query })
    : request.call(listThreads, { params: { email_address: parameter(request, 'inbox_id') }, query })

async function list(request: AgentMailRequest) {
  const filter = filterOf(request)
  const { data, limit, next } = await readList(request, {
    kind: 'message',
    positionOf: ({ last_message_id }: Listed) => last_message_id,
    read: (page) => listMerged(request, filter, page),
  })
  return listOf('threads', await shown(request, data), limit, next)
}

async function listMerged(request: AgentMailRequest, { sources, keep }: ThreadFilter, page: { limit: number; cursor?: string }) {
  // Positions of threads are the ids of their latest messages, by which every list is in order.
  const threads: Listed[] = []
  let [cursor, next]: [string | undefined, string | null] = [page.cursor, null]
  for (let round = 0; round < roundsMax; round++) {
    const limit = round === 0 ? page.limit : pageLimitMax
    const pages = await Promise.all(sources.map((query) => fetchPage(request, { ...query, limit, ...present({ cursor }) })))
    const bound = pages.reduce((last, { next_cursor }) => (next_cursor !== null && next_cursor > last ? next_cursor : last), '')
    const known = pages.flatMap(({ data }) => data.filter(({ last_message_id }) => last_message_id >= bound))
    const sorted = known.toSorted((a, b) => (a.last_message_id < b.last_message_id ? 1 : -1))
    const room = page.limit - threads.length
    const kept = sorted.filter(keep)
    threads.push(...kept.slice(0, room))
    next = kept.length > room ? (threads.at(-1)?.last_message_id ?? null) : bound === '' ? null : bound
    if (threads.length === page.limit || next === null) break
    cursor = next
  }
  return { data: threads, next_cursor: next }
}

async function shown(request: AgentMailRequest, threads: Listed[]) {
  const inboxIds = await inboxIdsOf(
    request.call,
    threads.map(({ mailbox_id }) => mailbox_id),
  )
  return threads.map((thread) => toThreadItem(thread, inboxIds.get(thread.mailbox_id) ?? ''))
}

async function search(request: AgentMailRequest) {
  const page = pageOf(request)
  const q = queryValue(request, 'q')
  if (q === undefined || q === '') throw wrongValue('`q` is required.')
  const times = present({ after: queryValue(request, 'after'), before: queryValue(request, 'before') })
  const { data, next_cursor } = await fetchPage(request, { q, ...page, ...times })
  return listOf('threads', await shown(request, data), page.limit, next_cursor)
}

const find = (request: AgentMailRequest): Promise<Whole> => {
  const thread_id = parameter(request, 'thread_id')
  if (request.params.inbox_id === undefined) return request.call(getThreadById, { params: { thread_id }, query: { view: 'full' } })
  return request.call(getThread, { params: { thread_id, email_address: parameter(request, 'inbox_id') }, query: { view: 'full' } })
}

/** A thread with its latest messages, oldest first. Earlier ones than the latest 100 are in the list of messages. */
async function show(request: AgentMailRequest) {
  const page = pageOf(request, pageLimitMax)
  const thread = await find(request)
  const inboxId = (await inboxIdsOf(request.call, [thread.mailbox_id])).get(thread.mailbox_id) ?? ''
  const until = thread.messages.filter(({ id }) => page.cursor === undefined || id < page.cursor)
  const messages = until.slice(-page.limit)
  const attachments = thread.messages.flatMap((message) => message.attachments)
  return {
    ...toThreadItem(thread, inboxId),
    ...(attachments.length > 0 && { attachments: attachments.map(toAttachment) }),
    ...listOf(
      'messages',
      messages.map((message) => toMessage(message, inboxId)),
      page.limit,
      until.length > messages.length ? (messages[0]?.id ?? null) : null,
    ),
  }
}

async function update(request: AgentMailRequest) {
  const { isReleased, isSpam, is_trashed, is_starred, ...flags } = labelChangeOf(request)
  if (isReleased || is_starred !== undefined) throw notOffered('A change of `starred`, `blocked` or `unauthenticated` of a thread')
  const { id } = await find(request)
  const folder = is_trashed ? 'trash' : isSpam ? 'spam' : is_trashed === false || isSpam === false ? 'inbox' : undefined
  const thread = await request.call(updateThread, { params: { thread_id: id }, body: { ...flags, ...present({ folder }) } })
  return { thread_id: thread.id, labels: threadLabelsOf(thread) }
}

export const threadRoutes: AgentMailRoute[] = (['', '/inboxes/:inbox_id'] as const).flatMap((scope): AgentMailRoute[] => {
  const isInPod = scope === ''
  const path = `${scope}/threads`
  return [
    { method: 'GET', path, isInPod, run: list },
    { method: 'GET', path: `${path}/search`, isInPod, run: search },
    { method: 'GET', path: `${path}/:thread_id`, isInPod, run: show },
    {
      method: 'GET',
      path: `${path}/:thread_id/attachments/:attachment_id`,
      isInPod,
      async run(request) {
        const files = (await find(request)).messages.flatMap(({ attachments }) => attachments)
        const file = files.find(({ id }) => id === parameter(request, 'attachment_id'))
        if (!file) throw notThere('Attachment')
        return toDownload(file)
      },
    },
    { method: 'PATCH', path: `${path}/:thread_id`, isInPod, run: update },
    {
      method: 'DELETE',
      path: `${path}/:thread_id`,
      isInPod,
      async run(request) {
        const { id } = await find(request)
        await request.call(deleteThread, { params: { thread_id: id }, query: { permanent: true } })
      },
    },
  ]
})

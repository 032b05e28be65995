// Threads of an inbox, with their emails and labels.

import { attachmentBodyBytesMax } from '@callsign/contract/attachments'
import { listDrafts } from '@callsign/contract/draft-lists'
import type { MessageItem } from '@callsign/contract/message-views'
import { getMessage, listMessages } from '@callsign/contract/messages'
import { forwardMessage, replyToMessage } from '@callsign/contract/outbound-mail'
import { deleteThread, getThread, listThreads, type Thread, updateThread } from '@callsign/contract/threads'
import type { Static } from 'typebox'
import type { ApiCall } from '../../../core/api-call.ts'
import { attachmentsOf, optionalText, threadedHeaders } from './composition.ts'
import { inboxOf } from './inboxes.ts'
import { type DefinedLabels, readLabels } from './labels.ts'
import { listFiltered, listPage, type ResendPage } from './pages.ts'
import { isGiven, listField, notOffered, ResendFailure, type ResendRequest, type ResendRoute } from './route.ts'

type Summary = Static<typeof Thread>
type Item = Static<typeof MessageItem>
type Fields = Record<string, unknown>

const toSummary = ({ id, subject, folder, labels, unread_count }: Summary, defined: DefinedLabels) => ({
  object: 'inbox_thread',
  id,
  subject,
  folder,
  labels: labels.map((name) => defined.show(name)),
  read: unread_count === 0,
})

const toEmail = (one: Item) => ({
  id: one.id,
  direction: one.direction,
  from: one.from,
  to: one.to,
  cc: one.cc,
  bcc: one.bcc,
  reply_to: one.reply_to,
  subject: one.subject,
  message_id: one.message_id,
  html: one.html || null,
  text: one.text || null,
  attachments: one.attachments.map(({ id, filename, size_bytes }) => ({ id, filename, size: size_bytes })),
  read: one.is_read,
  received_at: one.created_at,
})

/** The mailbox of a list of threads, the threads with a draft, and the defined labels. */
type ListParts = { call: ApiCall; mailbox: { email_address: string }; drafted: Set<string | null>; defined: DefinedLabels }

/** A thread with the addresses of its latest message. */
async function toThread({ call, mailbox, drafted, defined }: ListParts, thread: Summary) {
  const isTrashed = thread.folder === 'trash' ? { is_trashed: true } : {}
  const { data } = await call(listMessages, { params: mailbox, query: { thread_id: thread.id, limit: 1, ...isTrashed } })
  const [latest] = data
  return {
    id: thread.id,
    subject: thread.subject,
    from: latest?.from ?? null,
    to: latest?.to ?? [],
    cc: latest?.cc ?? [],
    bcc: latest?.bcc ?? [],
    labels: thread.labels.map((name) => defined.show(name)),
    email_count: thread.message_count,
    has_attachment: (latest?.attachments.length ?? 0) > 0,
    has_draft: drafted.has(thread.id),
    read: thread.unread_count === 0,
    received_at: thread.last_message_at,
    folder: thread.folder,
  }
}

/** One value of a list that our API takes one of. */
function single(text: string | undefined, name: string): string | undefined {
  if (text === undefined || text === '') return undefined
  if (text.includes(',')) throw notOffered(`A list of threads by several \`${name}\``)
  return text
}

/** Filters of both lists. Our threads have participants instead of authors and recipients. */
function filtersOf({ query }: ResendRequest, defined: DefinedLabels): Fields {
  if (query.has_attachment !== undefined) throw notOffered('A search by `has_attachment`')
  const people = ['from', 'to', 'cc', 'bcc'].flatMap((name) => single(query[name], name) ?? [])
  if (people.length > 1) throw notOffered('A search by several addresses')
  const label = single(query.labels, 'labels')
  const isRead = query.read === undefined ? undefined : query.read === 'true'
  const filters = {
    folder: single(query.folders, 'folders'),
    label: label === undefined ? undefined : defined.nameOf(label),
    is_unread: isRead === undefined ? undefined : !isRead,
    participant: people[0],
    q: query.query || undefined,
    after: query.start_date,
    before: query.end_date,
  }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}

/** Positions of our lists are the latest messages of threads, and pages of Resend are next to a thread. */
async function positionOf(request: ResendRequest): Promise<Record<string, string>> {
  const position: Record<string, string> = {}
  for (const name of ['after', 'before'] as const) {
    const thread_id = request.query[name]
    if (thread_id !== undefined)
      position[name] = (await request.call(getThread, { params: { ...inboxOf(request), thread_id } })).last_message_id
  }
  return position
}

async function list(request: ResendRequest): Promise<ResendPage<Awaited<ReturnType<typeof toThread>>>> {
  const { call } = request
  const params = inboxOf(request)
  const [position, { drafts }, defined] = await Promise.all([
    positionOf(request),
    call(listDrafts, { params, query: { limit: 100 } }),
    readLabels(request),
  ])
  const filters = filtersOf(request, defined)
  const drafted = new Set(drafts.map((draft) => draft.thread_id))
  return listFiltered(
    { query: { ...request.query, ...position } },
    (page) => call(listThreads, { params, query: { ...page, ...filters } as never }),
    () => true,
    (thread) => toThread({ call, mailbox: params, drafted, defined }, thread),
    ({ last_message_id }) => last_message_id,
  )
}

/** The thread, if it is in the inbox that the request names. */
const findThread = (request: ResendRequest): Promise<Summary> =>
  request.call(getThread, { params: { ...inboxOf(request), thread_id: request.params.thread as string } })

async function change(request: ResendRequest, body: Fields): Promise<Summary> {
  const { id } = await findThread(request)
  return request.call(updateThread, { params: { thread_id: id }, body: body as never })
}

/** Changes labels, which the request names by ids or names. */
async function changeLabels(request: ResendRequest, changeOf: (namesOf: (references: string[]) => string[]) => Fields): Promise<unknown> {
  const defined = await readLabels(request)
  const { labels } = await change(
    request,
    changeOf((references) => references.map((one) => defined.nameOf(one))),
  )
  return { object: 'list', data: labels.map((name) => defined.show(name)) }
}

/** An email, if it is in the thread and inbox that the request names. */
async function findEmail(request: ResendRequest) {
  const params = { ...inboxOf(request), message_id: request.params.email as string }
  const email = await request.call(getMessage, { params })
  if (email.thread_id !== request.params.thread) throw new ResendFailure(404, 'not_found', 'Email not found')
  return { email, params }
}

/** Recipients, bodies, attachments and headers of an answer. */
function answerOf(body: ResendRequest['body']): Fields {
  const fields = body as Fields
  const given = {
    to: listField(body, 'to'),
    cc: listField(body, 'cc'),
    bcc: listField(body, 'bcc'),
    text: optionalText(fields, 'text'),
    html: optionalText(fields, 'html'),
    headers: isGiven(fields.headers) ? threadedHeaders(fields.headers).headers : undefined,
    attachments: isGiven(fields.attachments)
      ? attachmentsOf(fields.attachments).map((one) => ({ content_type: 'application/octet-stream', ...one }))
      : undefined,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

async function reply(request: ResendRequest): Promise<{ id: string }> {
  const { subject, reply_all: isToAll } = request.body as Fields
  if (isGiven(subject)) throw notOffered('A reply with another `subject`')
  const { params } = await findEmail(request)
  const body = { ...answerOf(request.body), ...(isGiven(isToAll) && { reply_all: isToAll }) }
  return { id: (await request.call(replyToMessage, { params, body: body as never })).id }
}

async function forward(request: ResendRequest): Promise<{ id: string }> {
  const subject = optionalText(request.body as Fields, 'subject')
  const { params } = await findEmail(request)
  const body = { ...answerOf(request.body), ...(subject !== undefined && { subject }) }
  return { id: (await request.call(forwardMessage, { params, body: body as never })).id }
}

const threads = '/inboxes/:inbox/threads'
const thread = `${threads}/:thread`
const email = `${thread}/emails/:email`

export const threadRoutes: ResendRoute[] = [
  { method: 'GET', path: threads, run: list },
  {
    method: 'GET',
    path: `${threads}/search`,
    async run(request) {
      const page = await list(request)
      return { ...page, data: page.data.map((one) => ({ ...one, matched_email_id: null })) }
    },
  },
  { method: 'GET', path: thread, run: async (request) => toSummary(await findThread(request), await readLabels(request)) },
  {
    method: 'PATCH',
    path: thread,
    async run(request) {
      const { read, folder } = request.body as Fields
      const body = { ...(isGiven(read) && { is_read: read }), ...(isGiven(folder) && { folder }) }
      return toSummary(await change(request, body), await readLabels(request))
    },
  },
  {
    method: 'DELETE',
    path: thread,
    // The thread goes to the trash, where it stays for 30 days.
    async run(request) {
      const { id } = await findThread(request)
      await request.call(deleteThread, { params: { thread_id: id } })
      return { object: 'inbox_thread', id, deleted: true }
    },
  },
  {
    method: 'POST',
    path: `${thread}/labels`,
    run: (request) => changeLabels(request, (namesOf) => ({ add_labels: namesOf(listField(request.body, 'labels') ?? []) })),
  },
  {
    method: 'PUT',
    path: `${thread}/labels`,
    run: (request) => changeLabels(request, (namesOf) => ({ labels: namesOf(listField(request.body, 'labels') ?? []) })),
  },
  {
    method: 'DELETE',
    path: `${thread}/labels/:label`,
    run: (request) => changeLabels(request, (namesOf) => ({ remove_labels: namesOf([request.params.label as string]) })),
  },
  {
    method: 'GET',
    path: `${thread}/emails`,
    run(request) {
      const filter = { thread_id: request.params.thread as string }
      return listPage(request, (page) => request.call(listMessages, { params: inboxOf(request), query: { ...page, ...filter } }), toEmail)
    },
  },
  { method: 'GET', path: email, run: async (request) => toEmail((await findEmail(request)).email) },
  { method: 'POST', path: `${email}/reply`, status: 201, bodyBytesMax: attachmentBodyBytesMax, run: reply },
  { method: 'POST', path: `${email}/forward`, status: 201, bodyBytesMax: attachmentBodyBytesMax, run: forward },
]

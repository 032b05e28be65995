// Drafts, of one inbox and of all.
import { attachmentBodyBytesMax } from '@callsign/contract/attachments'
import { getDraftById, listAllDrafts } from '@callsign/contract/draft-lists'
import { createDraft, type Draft, deleteDraft, getDraft, sendDraft, updateDraft } from '@callsign/contract/drafts'
import type { ReplyOf } from '@callsign/contract/operation'
import type { Static } from 'typebox'
import { inboxIdsOf } from './inboxes.ts'
import { attachmentInputs, ownLabelsIn, toAttachment, toDownload, toSent } from './message-fields.ts'
import {
  type AgentMailRequest,
  type AgentMailRoute,
  byId,
  listOf,
  notOffered,
  notThere,
  optionalList,
  optionalText,
  pageLimitMax,
  parameter,
  present,
  queryList,
  queryValue,
  readList,
} from './route.ts'

type OwnDraft = Static<typeof Draft>

/** Pages that one request reads while few drafts pass the filter. */
const roundsMax = 10

const orUndefined = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined)

const labelsOf = ({ send_at, labels }: OwnDraft): string[] => ['draft', ...(send_at === null ? [] : ['scheduled']), ...labels]

const sendStatusOf = ({ send_at, send_error }: OwnDraft): string | undefined =>
  send_error !== null ? 'failed' : send_at !== null ? 'scheduled' : undefined

const toItem = (draft: OwnDraft, inboxId: string) => ({
  inbox_id: inboxId,
  draft_id: draft.id,
  labels: labelsOf(draft),
  ...present({
    to: orUndefined(draft.to),
    cc: orUndefined(draft.cc),
    bcc: orUndefined(draft.bcc),
    subject: draft.subject ?? undefined,
    preview: draft.snippet ?? undefined,
    attachments: orUndefined(draft.attachments.map(toAttachment)),
    in_reply_to: draft.in_reply_to_message_id ?? undefined,
    forward_of: draft.forward_of_message_id ?? undefined,
    send_status: sendStatusOf(draft),
    send_at: draft.send_at ?? undefined,
  }),
  updated_at: draft.updated_at,
})

async function toDraft({ call }: AgentMailRequest, draft: OwnDraft) {
  const inboxId = (await inboxIdsOf(call, [draft.mailbox_id])).get(draft.mailbox_id) ?? ''
  return {
    ...toItem(draft, inboxId),
    ...present({
      client_id: draft.client_id ?? undefined,
      reply_to: orUndefined(draft.reply_to),
      text: draft.text ?? undefined,
      html: draft.html ?? undefined,
    }),
    created_at: draft.created_at,
  }
}

const pathOf = (request: AgentMailRequest) => ({
  email_address: parameter(request, 'inbox_id'),
  draft_id: parameter(request, 'draft_id'),
})

const find = (request: AgentMailRequest): Promise<OwnDraft> =>
  request.params.inbox_id === undefined
    ? request.call(getDraftById, { params: { draft_id: parameter(request, 'draft_id') } })
    : request.call(getDraft, { params: pathOf(request) })

async function list(request: AgentMailRequest) {
  const labels = queryList(request, 'labels').map((label) => label.toLowerCase())
  const [after, before] = ['after', 'before'].map((name) => Date.parse(queryValue(request, name) ?? ''))
  const isWanted = (draft: OwnDraft): boolean => {
    const at = Date.parse(draft.created_at)
    return labels.every((label) => labelsOf(draft).includes(label)) && !(at <= (after as number)) && !(at >= (before as number))
  }
  const read = (page: { limit: number; cursor?: string }) => listFiltered(request, isWanted, page)
  const { data, limit, next } = await readList(request, { kind: 'draft', positionOf: byId, read })
  const inboxIds = await inboxIdsOf(
    request.call,
    data.map(({ mailbox_id }) => mailbox_id),
  )
  return listOf(
    'drafts',
    data.map((draft) => toItem(draft, inboxIds.get(draft.mailbox_id) ?? '')),
    limit,
    next,
  )
}

async function listFiltered(request: AgentMailRequest, isWanted: (draft: OwnDraft) => boolean, page: { limit: number; cursor?: string }) {
  const agent = request.params.inbox_id
  const drafts: OwnDraft[] = []
  let [cursor, next]: [string | undefined, string | null] = [page.cursor, null]
  for (let round = 0; round < roundsMax; round++) {
    const query = { limit: pageLimitMax, ...present({ agent, cursor }) }
    const { data, next_cursor }: ReplyOf<typeof listAllDrafts> = await request.call(listAllDrafts, { query })
    const kept = data.filter(isWanted)
    const room = page.limit - drafts.length
    drafts.push(...kept.slice(0, room))
    next = kept.length > room ? (drafts.at(-1)?.id ?? null) : next_cursor
    if (next === null || drafts.length === page.limit) break
    cursor = next
  }
  return { data: drafts, next_cursor: next }
}

/** The text of a field: undefined stays, null clears. */
const textChange = (request: AgentMailRequest, name: string): string | null | undefined =>
  request.body[name] === null ? null : optionalText(request, name)

const listChange = (request: AgentMailRequest, name: string): string[] | null | undefined =>
  request.body[name] === null ? null : optionalList(request, name)

/** The labels of the draft after the change, and its version. Undefined without a change. A label in both lists is removed. */
async function labelChange(request: AgentMailRequest, added: string[], removed: string[]) {
  if (added.length + removed.length === 0) return undefined
  const { labels, version } = await find(request)
  return { version, labels: [...new Set([...labels, ...added])].filter((label) => !removed.includes(label)) }
}

/** Draft attachments have their bytes in the request. */
function fileInputs(request: AgentMailRequest, name: string) {
  return attachmentInputs(request.body[name], name).map(({ content, url: _url, ...file }) => {
    if (content === undefined) throw notOffered('`url` of an attachment of a draft')
    return { ...file, content }
  })
}

async function create(request: AgentMailRequest) {
  const [{ reply_all }, labels] = [request.body, ownLabelsIn(request, 'labels')]
  const body = {
    ...present({
      ...Object.fromEntries(['to', 'cc', 'bcc', 'reply_to'].map((name) => [name, optionalList(request, name)])),
      ...Object.fromEntries(
        ['subject', 'text', 'html', 'in_reply_to', 'forward_of', 'send_at', 'client_id'].map((name) => [name, optionalText(request, name)]),
      ),
    }),
    ...(reply_all === true && { reply_all }),
    ...(labels.length > 0 && { labels }),
    attachments: fileInputs(request, 'attachments'),
  }
  return toDraft(request, await request.call(createDraft, { params: { email_address: parameter(request, 'inbox_id') }, body }))
}

async function update(request: AgentMailRequest) {
  const added = fileInputs(request, 'add_attachments')
  const body = present({
    ...(await labelChange(request, ownLabelsIn(request, 'add_labels'), ownLabelsIn(request, 'remove_labels'))),
    ...Object.fromEntries(['to', 'cc', 'bcc', 'reply_to'].map((name) => [name, listChange(request, name)])),
    ...Object.fromEntries(['subject', 'text', 'html', 'send_at'].map((name) => [name, textChange(request, name)])),
    add_attachments: orUndefined(added),
    remove_attachments: optionalList(request, 'remove_attachments'),
  })
  return toDraft(request, await request.call(updateDraft, { params: pathOf(request), body }))
}

/** Sends the draft, with the labels of the request in addition. A draft that was changed in between is not sent. */
async function send(request: AgentMailRequest) {
  const params = pathOf(request)
  const change = await labelChange(request, ownLabelsIn(request, 'add_labels'), ownLabelsIn(request, 'remove_labels'))
  const labelled = change && (await request.call(updateDraft, { params, body: change }))
  return toSent(await request.call(sendDraft, { params, body: present({ version: labelled?.version }) }))
}

export const draftRoutes: AgentMailRoute[] = [
  ...['', '/inboxes/:inbox_id'].flatMap((scope): AgentMailRoute[] => {
    const isInPod = scope === ''
    return [
      { method: 'GET', path: `${scope}/drafts`, isInPod, run: list },
      { method: 'GET', path: `${scope}/drafts/:draft_id`, isInPod, run: async (request) => toDraft(request, await find(request)) },
      {
        method: 'GET',
        path: `${scope}/drafts/:draft_id/attachments/:attachment_id`,
        isInPod,
        async run(request) {
          const file = (await find(request)).attachments.find(({ id }) => id === parameter(request, 'attachment_id'))
          if (!file) throw notThere('Attachment')
          return toDownload(file)
        },
      },
    ]
  }),
  { method: 'POST', path: '/inboxes/:inbox_id/drafts', bodyBytesMax: attachmentBodyBytesMax, run: create },
  { method: 'PATCH', path: '/inboxes/:inbox_id/drafts/:draft_id', bodyBytesMax: attachmentBodyBytesMax, run: update },
  {
    method: 'DELETE',
    path: '/inboxes/:inbox_id/drafts/:draft_id',
    async run(request) {
      await request.call(deleteDraft, { params: pathOf(request) })
    },
  },
  {
    method: 'POST',
    path: '/inboxes/:inbox_id/drafts/:draft_id/send',
    run: send,
  },
]

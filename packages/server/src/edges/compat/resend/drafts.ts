// Drafts of an inbox.
import { attachmentBodyBytesMax } from '@callsign/contract/attachments'
import { listAllDrafts } from '@callsign/contract/draft-lists'
import { createDraft, type Draft, deleteDraft, getDraft, sendDraft, updateDraft } from '@callsign/contract/drafts'
import type { Static } from 'typebox'
import { attachmentsOf, contentsOf } from './composition.ts'
import { inboxOf } from './inboxes.ts'
import { listPage } from './pages.ts'
import { isGiven, type ResendRequest, type ResendRoute } from './route.ts'

type View = Static<typeof Draft>
type Fields = Record<string, unknown>

const toItem = (draft: View) => ({
  id: draft.id,
  type: draft.in_reply_to_message_id === null ? 'standalone' : 'reply',
  to: draft.to.length > 0 ? draft.to : null,
  cc: draft.cc,
  bcc: draft.bcc,
  subject: draft.subject,
  thread_id: draft.thread_id,
  reply_to_email_id: draft.in_reply_to_message_id,
  updated_at: draft.updated_at,
  attachments: draft.attachments.map(({ id, filename, content_type, size_bytes }) => ({ id, filename, content_type, size: size_bytes })),
})

const toDraft = (draft: View) => ({
  object: 'inbox_draft',
  ...toItem(draft),
  html: draft.html,
  text: draft.text,
  email_id: null,
  created_at: draft.created_at,
})

const reference = ({ id }: { id: string }) => ({ object: 'inbox_draft', id })

const draftParams = (request: ResendRequest) => ({ ...inboxOf(request), draft_id: request.params.draft as string })

const names = ['to', 'cc', 'bcc', 'subject', 'text', 'html'] as const

/** The given fields. Our API checks them. Creation takes no null, and a change clears a field with it. */
const fieldsOf = (body: Fields, isNullKept: boolean): Fields =>
  Object.fromEntries(
    names.flatMap((name) => (body[name] === undefined || (body[name] === null && !isNullKept) ? [] : [[name, body[name]]])),
  )

const list = (request: ResendRequest) =>
  listPage(
    request,
    (page) => request.call(listAllDrafts, { query: { ...page, agent: inboxOf(request).email_address } }),
    (draft) => ({ ...toItem(draft), snippet: draft.snippet }),
  )

async function update(request: ResendRequest): Promise<unknown> {
  const fields = request.body as Fields
  const params = draftParams(request)
  const change = fieldsOf(fields, true)
  if (fields.attachments === undefined) return reference(await request.call(updateDraft, { params, body: change as never }))
  const { attachments, version } = await request.call(getDraft, { params })
  const body = {
    ...change,
    version,
    remove_attachments: attachments.map(({ id }) => id),
    add_attachments: contentsOf(attachmentsOf(fields.attachments ?? []), 'A draft with an attachment by `path`'),
  }
  return reference(await request.call(updateDraft, { params, body: body as never }))
}

const drafts = '/inboxes/:inbox/drafts'

export const draftRoutes: ResendRoute[] = [
  { method: 'GET', path: drafts, run: list },
  {
    method: 'POST',
    path: drafts,
    status: 201,
    bodyBytesMax: attachmentBodyBytesMax,
    async run(request) {
      const { attachments, reply_to_email_id: repliedTo } = request.body as Fields
      const body = {
        ...fieldsOf(request.body as Fields, false),
        ...(isGiven(repliedTo) && { in_reply_to: repliedTo }),
        ...(isGiven(attachments) && { attachments: contentsOf(attachmentsOf(attachments), 'A draft with an attachment by `path`') }),
      }
      return reference(await request.call(createDraft, { params: inboxOf(request), body: body as never }))
    },
  },
  {
    method: 'GET',
    path: `${drafts}/:draft`,
    run: async (request) => toDraft(await request.call(getDraft, { params: draftParams(request) })),
  },
  { method: 'PATCH', path: `${drafts}/:draft`, bodyBytesMax: attachmentBodyBytesMax, run: update },
  {
    method: 'DELETE',
    path: `${drafts}/:draft`,
    async run(request) {
      const { id, deleted } = await request.call(deleteDraft, { params: draftParams(request) })
      return { ...reference({ id }), deleted }
    },
  },
  {
    method: 'POST',
    path: `${drafts}/:draft/send`,
    status: 201,
    async run(request) {
      const { headers } = request.body as Fields
      const params = draftParams(request)
      if (isGiven(headers)) await request.call(updateDraft, { params, body: { headers: headers as Record<string, string> } })
      return { id: (await request.call(sendDraft, { params, body: {} })).id }
    },
  },
]

// Scheduled emails. Each is a draft with a time, and its id names the mailbox and the draft.
import { createDraft, type Draft, getDraft, getDraftMessage, updateDraft } from '@callsign/contract/drafts'
import type { Static } from 'typebox'
import type { ApiCall } from '../../../core/api-call.ts'
import { now } from '../../../core/clock.ts'
import { ApiError } from '../../../core/errors.ts'
import { type Composition, contentsOf, senderOf } from './composition.ts'
import { byAuthor } from './errors.ts'
import { ResendFailure, type ResendRequest, textField } from './route.ts'
import { readTime } from './schedule.ts'

type ScheduledDraft = Static<typeof Draft>
type DraftParams = { email_address: string; draft_id: string }

const idOf = (mailbox: string, draftId: string): string => `${draftId}.${mailbox}`

function paramsOf(id: string): DraftParams | null {
  const [, draftId, mailbox] = /^(drf_\w{1,40})\.(.+)$/.exec(id) ?? []
  return draftId === undefined || mailbox === undefined ? null : { email_address: mailbox, draft_id: draftId }
}

function timeOf(text: unknown): string {
  const at = readTime(textField({ scheduled_at: text }, 'scheduled_at'), now().getTime())
  if (at === null)
    throw new ResendFailure(422, 'validation_error', '`scheduled_at` must be a time in ISO 8601, or words such as `tomorrow at 9am`.')
  return at.toISOString()
}

export async function schedule(call: ApiCall, composition: Composition, at: unknown): Promise<{ id: string }> {
  const { attachments, ...fields } = composition
  const mailbox = senderOf(composition)
  const draft = {
    ...fields,
    ...(attachments && { attachments: contentsOf(attachments, 'A scheduled email with an attachment by `path`') }),
    send_at: timeOf(at),
  }
  const { id } = await byAuthor(mailbox, call(createDraft, { params: { email_address: mailbox }, body: draft }))
  return { id: idOf(mailbox, id) }
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not_found') return null
    throw error
  })
}

/** A scheduled email, or the message that it became. Null for an id of another kind. */
export async function findScheduled(call: ApiCall, id: string): Promise<{ email: unknown } | { messageId: string } | null> {
  const params = paramsOf(id)
  if (!params) return null
  const draft = await orNull(call(getDraft, { params }))
  if (draft) return { email: toEmail(id, draft) }
  const sent = await orNull(call(getDraftMessage, { params }))
  if (!sent) throw notFound()
  return { messageId: sent.message_id }
}

const notFound = (): ResendFailure => new ResendFailure(404, 'not_found', 'Email not found')

/** A draft without a time was canceled, or could not be sent. */
const eventOf = ({ send_at, send_error }: ScheduledDraft): string =>
  send_at !== null ? 'scheduled' : send_error !== null ? 'failed' : 'canceled'

const toEmail = (id: string, draft: ScheduledDraft) => ({
  object: 'email',
  id,
  from: draft.from ?? id.slice(id.indexOf('.') + 1),
  to: draft.to,
  cc: draft.cc.length > 0 ? draft.cc : null,
  bcc: draft.bcc.length > 0 ? draft.bcc : null,
  reply_to: draft.reply_to.length > 0 ? draft.reply_to : null,
  subject: draft.subject ?? '',
  message_id: '',
  created_at: draft.created_at,
  text: draft.text,
  html: draft.html,
  tags: draft.tags,
  topic_id: null,
  scheduled_at: draft.send_at,
  last_event: eventOf(draft),
})

/** Sets the time of an email that waits for it. */
async function change({ params, call }: ResendRequest, sendAt: string | null): Promise<{ object: 'email'; id: string }> {
  const { id = '' } = params
  const draft = paramsOf(id)
  if (!draft) throw notFound()
  const { send_at, version } = await call(getDraft, { params: draft })
  if (send_at === null)
    throw new ResendFailure(422, 'validation_error', 'The email is not scheduled: it was canceled, or could not be sent.')
  await call(updateDraft, { params: draft, body: { send_at: sendAt, version } })
  return { object: 'email', id }
}

export const reschedule = (request: ResendRequest) => change(request, timeOf((request.body as Record<string, unknown>).scheduled_at))

/** A canceled email stays among the drafts. */
export const cancel = (request: ResendRequest) => change(request, null)

// Emails that were sent and received.
import { attachmentBodyBytesMax } from '@callsign/contract/attachments'
import { getMessages, sendBatch, sendBatchMax } from '@callsign/contract/batches'
import { getMailbox } from '@callsign/contract/identities'
import { shareMessage } from '@callsign/contract/message-sharing'
import type { Message, MessageItem } from '@callsign/contract/message-views'
import { listMail } from '@callsign/contract/messages'
import { sendMessage } from '@callsign/contract/outbound-mail'
import type { Static } from 'typebox'
import type { ApiCall } from '../../../core/api-call.ts'
import { now } from '../../../core/clock.ts'
import { type Composition, compositionOf, isObject, optionalText, senderOf } from './composition.ts'
import { toAttachment, toEmail, toReceived, toReceivedItem, toSentItem } from './email-fields.ts'
import { byAuthor } from './errors.ts'
import { showMetrics } from './metrics.ts'
import { listPage } from './pages.ts'
import { isGiven, notOffered, ResendFailure, type ResendRequest, type ResendRoute } from './route.ts'
import { readTime } from './schedule.ts'
import { cancel, findScheduled, reschedule, schedule } from './scheduled.ts'
import { withTemplate, withTemplates } from './templates.ts'

type Email = Static<typeof Message>
type Item = Static<typeof MessageItem>

export const emailRoutes: ResendRoute[] = [
  {
    method: 'POST',
    path: '/emails',
    bodyBytesMax: attachmentBodyBytesMax,
    async run({ body, call }) {
      const email = await withTemplate(call, body)
      const composition = compositionOf(email)
      const { scheduled_at: at } = email
      if (isGiven(at)) return schedule(call, composition, at)
      const sender = senderOf(composition)
      const { id } = await byAuthor(sender, call(sendMessage, { params: { email_address: sender }, body: composition }))
      return { id }
    },
  },
  { method: 'POST', path: '/emails/batch', bodyBytesMax: attachmentBodyBytesMax, run: sendAll },
  // Named before the ids of emails.
  { method: 'GET', path: '/emails/metrics', run: showMetrics },
  { method: 'GET', path: '/emails', run: (request) => list(request, 'outbound', toSentItem) },
  { method: 'GET', path: '/emails/receiving', run: (request) => list(request, 'inbound', toReceivedItem) },
  { method: 'GET', path: '/emails/:id', run: show },
  { method: 'POST', path: '/emails/:id/share', run: share },
  { method: 'PATCH', path: '/emails/:id', run: reschedule },
  { method: 'POST', path: '/emails/:id/cancel', run: cancel },
  { method: 'GET', path: '/emails/receiving/:id', run: async (request) => toReceived(await findEmail(request, 'inbound')) },
  ...(['/emails', '/emails/receiving'] as const).flatMap((path): ResendRoute[] => {
    const direction = path === '/emails' ? 'outbound' : 'inbound'
    return [
      {
        method: 'GET',
        path: `${path}/:id/attachments`,
        run: async (request) => ({
          object: 'list',
          has_more: false,
          data: (await findEmail(request, direction)).attachments.map(toAttachment),
        }),
      },
      {
        method: 'GET',
        path: `${path}/:id/attachments/:attachment`,
        async run(request) {
          const found = (await findEmail(request, direction)).attachments.find(({ id }) => id === request.params.attachment)
          if (!found) throw new ResendFailure(404, 'not_found', 'Attachment not found')
          return { object: 'attachment', ...toAttachment(found) }
        },
      },
    ]
  }),
]

async function sendAll({ body, headers, call }: ResendRequest): Promise<unknown> {
  if (!Array.isArray(body) || body.length === 0 || body.length > sendBatchMax || !body.every(isObject))
    throw new ResendFailure(422, 'validation_error', `The body must be a list of 1 to ${sendBatchMax} emails.`)
  const isPermissive = headers['x-batch-validation'] === 'permissive'
  if (body.some((one) => isGiven(one.scheduled_at))) throw notOffered('`scheduled_at` in a batch')
  const compositions = (await withTemplates(call, body)).map(compositionOf)
  const agents = await agentsOf(call, compositions)
  const messages = compositions.map((composition) => ({
    agent: agents.get(senderOf(composition)) ?? senderOf(composition),
    ...composition,
  }))
  const { data } = await call(sendBatch, { body: { messages, mode: isPermissive ? 'permissive' : 'strict' } })
  const sent = data.flatMap(({ id }) => (id === null ? [] : [{ id }]))
  if (!isPermissive) return { data: sent }
  return { data: sent, errors: data.flatMap(({ index, error }) => (error ? [{ index, message: error.message }] : [])) }
}

/** The handle of the agent of each author. Our batches name agents, and Resend's name addresses. */
async function agentsOf(call: ApiCall, compositions: Composition[]): Promise<Map<string, string>> {
  const senders = [...new Set(compositions.map(senderOf))]
  const found = await Promise.all(senders.map((email_address) => byAuthor(email_address, call(getMailbox, { params: { email_address } }))))
  return new Map(found.map(({ agent_handle }, index) => [senders[index] as string, agent_handle]))
}

/** One page of the emails of every mailbox that the key can access. */
function list<T>(request: ResendRequest, direction: 'inbound' | 'outbound', view: (item: Item) => T): Promise<unknown> {
  const listOwn = async (page: { limit: number }) => {
    const { messages, next_cursor } = await request.call(listMail, { query: { ...page, direction } })
    return { data: messages, next_cursor }
  }
  return listPage(request, listOwn, view)
}

/** An email that was sent, is scheduled, or was scheduled and sent. */
async function show(request: ResendRequest): Promise<unknown> {
  const { id = '' } = request.params
  const scheduled = await findScheduled(request.call, id)
  if (!scheduled) return toEmail(await findEmail(request, 'outbound'))
  if ('email' in scheduled) return scheduled.email
  return { ...toEmail(await findEmail({ ...request, params: { id: scheduled.messageId } }, 'outbound')), id }
}

/** The link of Resend lasts as long as a text such as `24h` or `in 2 days` says. */
async function share(request: ResendRequest): Promise<unknown> {
  const { params, body, call } = request
  const { mailbox_id, id } = await findEmail(request, 'outbound')
  const text = optionalText(body as Record<string, unknown>, 'expires_in')
  const startMs = now().getTime()
  const until = text === undefined ? undefined : readTime(text, startMs)
  if (until === null) throw new ResendFailure(422, 'validation_error', '`expires_in` must be a duration such as `24h` or `in 2 days`.')
  const given = until && { expires_in_seconds: Math.round((until.getTime() - startMs) / 1000) }
  const { url } = await call(shareMessage, { params: { email_address: mailbox_id, message_id: id }, body: given ?? {} })
  return { object: 'email', id: params.id, url }
}

async function findEmail({ params, call }: ResendRequest, direction: 'inbound' | 'outbound'): Promise<Email> {
  const id = params.id as string
  const { data } = /^msg_\w{1,40}$/.test(id) ? await call(getMessages, { body: { ids: [id] } }) : { data: [] }
  const [found] = data
  if (found?.direction !== direction) throw new ResendFailure(404, 'not_found', 'Email not found')
  return found
}

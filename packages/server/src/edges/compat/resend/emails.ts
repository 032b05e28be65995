// Emails that were sent and received.
import { attachmentBodyBytesMax } from '@callsign/contract/attachments'
import { getMessages, sendBatch, sendBatchMax } from '@callsign/contract/batches'
import { getMailbox } from '@callsign/contract/identities'
import type { Message } from '@callsign/contract/messages'
import { sendMessage } from '@callsign/contract/outbound-mail'
import type { Static } from 'typebox'
import type { ApiCall } from '../api-calls.ts'
import { type Composition, compositionOf, isObject, senderOf } from './composition.ts'
import { byAuthor } from './errors.ts'
import { isGiven, notOffered, ResendFailure, type ResendRequest, type ResendRoute } from './route.ts'
import { cancel, findScheduled, reschedule, schedule } from './scheduled.ts'
import { withTemplate } from './templates.ts'

type Email = Static<typeof Message>

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
  ...['/emails/metrics', '/emails/receiving'].map(
    (path): ResendRoute => ({
      method: 'GET',
      path,
      async run() {
        throw notOffered(`GET ${path}`)
      },
    }),
  ),
  { method: 'GET', path: '/emails/:id', run: show },
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
  const compositions = (await Promise.all(body.map((one) => withTemplate(call, one)))).map(compositionOf)
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

/** An email that was sent, is scheduled, or was scheduled and sent. */
async function show(request: ResendRequest): Promise<unknown> {
  const { id = '' } = request.params
  const scheduled = await findScheduled(request.call, id)
  if (!scheduled) return toEmail(await findEmail(request, 'outbound'))
  if ('email' in scheduled) return scheduled.email
  return { ...toEmail(await findEmail({ ...request, params: { id: scheduled.messageId } }, 'outbound')), id }
}

async function findEmail({ params, call }: ResendRequest, direction: 'inbound' | 'outbound'): Promise<Email> {
  const id = params.id as string
  const { data } = /^msg_\w{1,40}$/.test(id) ? await call(getMessages, { body: { ids: [id] } }) : { data: [] }
  const [found] = data
  if (found?.direction !== direction) throw new ResendFailure(404, 'not_found', 'Email not found')
  return found
}

const orNull = <T>(list: T[]): T[] | null => (list.length > 0 ? list : null)

const addressing = (email: Email) => ({
  id: email.id,
  from: email.from,
  to: email.to,
  cc: orNull(email.cc),
  bcc: orNull(email.bcc),
  reply_to: orNull(email.reply_to),
  subject: email.subject,
  message_id: email.message_id ?? '',
  created_at: email.created_at,
  text: email.text || null,
  html: email.html || null,
})

/** `last_event` is our status: the worst of the recipients'. */
const toEmail = (email: Email) => ({
  object: 'email',
  ...addressing(email),
  tags: [],
  topic_id: null,
  scheduled_at: null,
  last_event: email.status,
})

const toReceived = (email: Email) => ({
  object: 'email',
  ...addressing(email),
  received_for: [email.headers['delivered-to'] ?? ''].filter(Boolean),
  headers: email.headers,
  raw: null,
  attachments: email.attachments.map(({ id, filename, size_bytes, content_type, content_id }) => ({
    id,
    filename,
    size: size_bytes,
    content_type,
    content_id,
    content_disposition: content_id === null ? 'attachment' : 'inline',
  })),
})

const toAttachment = ({ id, filename, size_bytes, content_type, content_id, url }: Email['attachments'][number]) => ({
  id,
  filename,
  size: size_bytes,
  content_type,
  content_disposition: content_id === null ? 'attachment' : 'inline',
  ...(content_id !== null && { content_id }),
  download_url: url,
  expires_at: expiryOf(url),
})

/** The end of a signed link, which is its parameter `expires` in seconds. */
function expiryOf(url: string | null): string | null {
  const seconds = url === null ? Number.NaN : Number(new URL(url, 'http://localhost').searchParams.get('expires'))
  return Number.isFinite(seconds) && seconds > 0 ? new Date(seconds * 1000).toISOString() : null
}

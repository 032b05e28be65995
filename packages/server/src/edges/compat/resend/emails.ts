// Emails that were sent and received.
import { attachmentBodyBytesMax } from '@callsign/contract/attachments'
import { getMessages, sendBatch } from '@callsign/contract/batches'
import { getMailbox } from '@callsign/contract/identities'
import type { Message } from '@callsign/contract/messages'
import type { BodyOf } from '@callsign/contract/operation'
import { sendMessage } from '@callsign/contract/outbound-mail'
import type { Static } from 'typebox'
import type { ApiCall } from '../api-calls.ts'
import { listField, notOffered, ResendFailure, type ResendRequest, type ResendRoute, textField } from './route.ts'

type Email = Static<typeof Message>
type Composition = BodyOf<typeof sendMessage>

export const emailRoutes: ResendRoute[] = [
  {
    method: 'POST',
    path: '/emails',
    bodyBytesMax: attachmentBodyBytesMax,
    async run({ body, call }) {
      const composition = compositionOf(body)
      const { id } = await call(sendMessage, { params: { email_address: senderOf(composition) }, body: composition })
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
  { method: 'GET', path: '/emails/:id', run: async (request) => toEmail(await findEmail(request, 'outbound')) },
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
  if (!Array.isArray(body)) throw new ResendFailure(422, 'validation_error', 'The body must be a list of emails.')
  const isPermissive = headers['x-batch-validation'] === 'permissive'
  const compositions = body.map((one) => compositionOf(one as Record<string, unknown>))
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
  const found = await Promise.all(senders.map((email_address) => call(getMailbox, { params: { email_address } })))
  return new Map(found.map(({ agent_handle }, index) => [senders[index] as string, agent_handle]))
}

/** The bare address of the author, in lower case. */
function senderOf({ from = '' }: Composition): string {
  return (/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from).trim().toLowerCase()
}

function compositionOf(body: Record<string, unknown> | unknown[]): Composition {
  const fields = body as Record<string, unknown>
  if (fields.template !== undefined && fields.template !== null) throw notOffered('Sending with a template')
  if (fields.topic_id !== undefined && fields.topic_id !== null) throw notOffered('Sending to a topic')
  if (fields.scheduled_at !== undefined && fields.scheduled_at !== null) throw notOffered('`scheduled_at`')
  if (Array.isArray(fields.tags) && fields.tags.length > 0) throw notOffered('`tags`')
  const [text, html] = [optionalText(fields, 'text'), optionalText(fields, 'html')]
  if (text === undefined && html === undefined) throw new ResendFailure(422, 'missing_required_field', 'Missing `html` or `text` field.')
  const to = listField(body, 'to')
  if (!to) throw new ResendFailure(422, 'missing_required_field', 'Missing `to` field.')
  const others = { cc: listField(body, 'cc'), bcc: listField(body, 'bcc'), reply_to: listField(body, 'reply_to') }
  return {
    from: textField(body, 'from'),
    to,
    subject: textField(body, 'subject'),
    ...(text !== undefined && { text }),
    ...(html !== undefined && { html }),
    ...(others.cc && { cc: others.cc }),
    ...(others.bcc && { bcc: others.bcc }),
    ...(others.reply_to && { reply_to: others.reply_to }),
    ...(isFilled(fields.headers) && { headers: fields.headers as Record<string, string> }),
    ...(Array.isArray(fields.attachments) && { attachments: fields.attachments.map(attachmentOf) }),
  }
}

const isFilled = (value: unknown): boolean => typeof value === 'object' && value !== null

function optionalText(fields: Record<string, unknown>, name: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new ResendFailure(422, 'validation_error', `The \`${name}\` field must be a string.`)
  return value
}

/** `content` is base64, or the list of bytes that JSON makes of a Buffer. `path` is a public URL. */
function attachmentOf(given: unknown): NonNullable<Composition['attachments']>[number] {
  const { content, filename, path, content_type: contentType, content_id: contentId } = (given ?? {}) as Record<string, unknown>
  const bytes = (content as { type?: unknown; data?: unknown } | null | undefined)?.data
  const base64 =
    typeof content === 'string' ? content : Array.isArray(bytes) ? Buffer.from(bytes as number[]).toString('base64') : undefined
  if (base64 === undefined && typeof path !== 'string')
    throw new ResendFailure(422, 'invalid_attachment', 'An attachment needs `content` or `path`.')
  const last = typeof path === 'string' && URL.canParse(path) ? new URL(path).pathname.split('/').at(-1) : undefined
  return {
    filename: typeof filename === 'string' && filename !== '' ? filename : last || 'attachment',
    ...(base64 === undefined ? { url: path as string } : { content: base64 }),
    ...(typeof contentType === 'string' && { content_type: contentType }),
    ...(typeof contentId === 'string' && { content_id: contentId }),
  }
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

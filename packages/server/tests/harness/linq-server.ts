// A small Linq server. It has the part of Partner API v3 that Callsign uses, with state, as @linqapp/sdk 0.28 expects it. Callbacks have version
// 2026-02-03.
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { type FakeAnswer, type FakeRequest, startFake } from './fake-http.ts'
import type { Callback, Fault } from './imessage-world.ts'

export const linqKey = 'linq-test-key'

type Part = { type: string; value?: string; attachment_id?: string }
type Stored = { id: string; chat: string; fromMe: boolean; parts: Part[]; at: string; status: string; key: string | null }

export type LinqServer = Awaited<ReturnType<typeof startLinqServer>>

export async function startLinqServer(line = '+12025550100') {
  const chats = new Map<string, { id: string; with: string; at: string }>()
  const messages: Stored[] = []
  const files = new Map<string, { filename: string; type: string; bytes: Buffer | null }>()
  const answersByKey = new Map<string, unknown>()
  const faults: Fault[] = []
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  let callbackUrl: string | null = null

  const handle = (address: string, isMe: boolean) => ({
    id: randomUUID(),
    handle: address,
    joined_at: new Date(0).toISOString(),
    service: 'iMessage',
    is_me: isMe,
  })
  const partView = (part: Part) => {
    if (part.type !== 'media') return { type: 'text', value: part.value ?? '', reactions: null }
    const file = files.get(part.attachment_id as string)
    const size = file?.bytes?.length ?? 0
    return {
      type: 'media',
      id: part.attachment_id,
      filename: file?.filename,
      mime_type: file?.type,
      size_bytes: size,
      url: `${fake.url}/files/${part.attachment_id}`,
      reactions: null,
    }
  }
  const messageView = (one: Stored) => ({
    id: one.id,
    chat_id: one.chat,
    created_at: one.at,
    updated_at: one.at,
    sent_at: one.at,
    delivery_status: one.status,
    is_from_me: one.fromMe,
    is_delivered: false,
    is_read: false,
    from_handle: handle(one.fromMe ? line : (chats.get(one.chat)?.with as string), one.fromMe),
    parts: one.parts.map(partView),
  })
  const chatView = (chat: { id: string; with: string; at: string }) => ({
    id: chat.id,
    created_at: chat.at,
    updated_at: messages.filter((one) => one.chat === chat.id).at(-1)?.at ?? chat.at,
    display_name: null,
    handles: [handle(line, true), handle(chat.with, false)],
    is_archived: false,
    is_group: false,
    service: 'iMessage',
    health_status: { doc_url: '', status: 'HEALTHY', updated_at: chat.at },
  })
  const chatWith = (address: string) => {
    const found = [...chats.values()].find((chat) => chat.with === address)
    if (found) return found
    const chat = { id: randomUUID(), with: address, at: new Date().toISOString() }
    chats.set(chat.id, chat)
    return chat
  }
  const failure = (status: number, message: string): FakeAnswer => ({
    status,
    json: { success: false, error: { status, code: status, message } },
  })

  function take(
    chatId: string,
    message: { parts: Part[]; idempotency_key?: string },
    view: (sent: Stored) => unknown,
    status: number,
  ): FakeAnswer {
    const key = message.idempotency_key ?? null
    const known = key === null ? undefined : answersByKey.get(key)
    if (known !== undefined) return { status, json: known }
    const fault = faults.shift()
    if (fault === 'lost_request') return 'cut'
    if (fault === 'error') return failure(429, 'slow down')
    if (fault === 'refused') return failure(400, 'not deliverable')
    if (message.parts.some((part) => part.type === 'media' && !files.get(part.attachment_id ?? '')?.bytes))
      return failure(400, 'no such attachment')
    const sent: Stored = {
      id: randomUUID(),
      chat: chatId,
      fromMe: true,
      parts: message.parts,
      at: new Date().toISOString(),
      status: 'queued',
      key,
    }
    messages.push(sent)
    const answer = view(sent)
    if (key !== null) answersByKey.set(key, answer)
    return fault === 'lost_answer' ? 'cut' : { status, json: answer }
  }

  const paged = (items: unknown[], name: string, { url }: FakeRequest): FakeAnswer => {
    const [start, limit] = [Number(url.searchParams.get('cursor') ?? 0), Number(url.searchParams.get('limit') ?? 20)]
    const end = start + limit
    return { status: 200, json: { [name]: items.slice(start, end), next_cursor: end < items.length ? String(end) : null } }
  }

  function answer(request: FakeRequest): FakeAnswer {
    const { method, url } = request
    const [, api, kind, id, more] = url.pathname.split('/')
    if (api === 'uploads' && method === 'PUT') {
      const file = files.get(kind as string)
      if (!file || request.headers['content-type'] !== file.type) return failure(403, 'the signature does not match')
      file.bytes = request.body
      return { status: 200 }
    }
    if (api === 'files') {
      const file = files.get(kind as string)
      return file?.bytes ? { status: 200, bytes: file.bytes, type: file.type } : failure(404, 'no such file')
    }
    if (request.headers.authorization !== `Bearer ${linqKey}`) return failure(401, 'Unauthorized')
    switch (`${method} ${kind}${id === undefined ? '' : ' id'}${more === undefined ? '' : ` ${more}`}`) {
      case 'GET phone_numbers':
        return { status: 200, json: { phone_numbers: [{ id: randomUUID(), phone_number: line, forwarding_number: null }] } }
      case 'GET chats': {
        const to = url.searchParams.get('to')
        const found = [...chats.values()].filter((chat) => url.searchParams.get('from') === line && (to === null || chat.with === to))
        return paged(found.map(chatView), 'chats', request)
      }
      case 'POST chats': {
        const { to, message } = request.json() as { to: string[]; message: { parts: Part[] } }
        const chat = chatWith(to[0] as string)
        return take(chat.id, message, (sent) => ({ chat: { ...chatView(chat), message: messageView(sent) } }), 201)
      }
      case 'GET chats id messages':
        if (!chats.has(id as string)) return failure(404, 'no such chat')
        return paged(
          messages
            .filter((one) => one.chat === id)
            .map(messageView)
            .reverse(),
          'messages',
          request,
        )
      case 'POST chats id messages': {
        if (!chats.has(id as string)) return failure(404, 'no such chat')
        const { message } = request.json() as { message: { parts: Part[] } }
        return take(id as string, message, (sent) => ({ chat_id: id, message: messageView(sent) }), 202)
      }
      case 'POST attachments': {
        const { filename, content_type: type } = request.json() as { filename: string; content_type: string }
        const file = randomUUID()
        files.set(file, { filename, type, bytes: null })
        const upload = { upload_url: `${fake.url}/uploads/${file}`, http_method: 'PUT', required_headers: { 'Content-Type': type } }
        return {
          status: 201,
          json: { attachment_id: file, download_url: `${fake.url}/files/${file}`, expires_at: new Date().toISOString(), ...upload },
        }
      }
      case 'GET attachments id': {
        const file = files.get(id as string)
        if (!file) return failure(404, 'no such attachment')
        return {
          status: 200,
          json: { id, filename: file.filename, content_type: file.type, status: 'complete', download_url: `${fake.url}/files/${id}` },
        }
      }
      case 'POST webhook-subscriptions': {
        const { target_url, subscribed_events } = request.json() as { target_url: string; subscribed_events: string[] }
        callbackUrl = target_url
        const at = new Date().toISOString()
        return {
          status: 201,
          json: {
            id: randomUUID(),
            target_url,
            subscribed_events,
            signing_secret: secret,
            is_active: true,
            created_at: at,
            updated_at: at,
          },
        }
      }
      default:
        return failure(404, 'no such endpoint')
    }
  }
  const fake = await startFake(answer)

  /** Signs a callback as Linq does, with Standard Webhooks over the exact bytes. */
  function sign(body: string, id: string = randomUUID(), seconds = Math.floor(Date.now() / 1000)): Record<string, string> {
    const digest = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`${id}.${seconds}.${body}`)
      .digest('base64')
    return {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': `v1,${digest}`,
    }
  }

  async function call(type: string, data: unknown, times: number): Promise<void> {
    if (callbackUrl === null) return
    const event = {
      api_version: 'v3',
      webhook_version: '2026-02-03',
      event_type: type,
      event_id: randomUUID(),
      created_at: new Date().toISOString(),
      trace_id: 't',
      partner_id: 'p',
      data,
    }
    const body = JSON.stringify(event)
    for (let i = 0; i < times; i++) {
      const { status } = await fetch(callbackUrl, { method: 'POST', headers: sign(body), body })
      if (status !== 200) throw new Error(`the callback was answered ${status}`)
    }
  }

  return {
    url: fake.url,
    line,
    secret,
    sign,
    faults,
    callTo: (url: string | null) => {
      callbackUrl = url
    },
    callbackUrl: () => callbackUrl,
    /** The idempotency keys of accepted pieces, one entry per acceptance. */
    takenKeys: () => messages.flatMap((one) => one.key ?? []),
    sentTo: (address: string) => {
      const chat = [...chats.values()].find((one) => one.with === address)
      return messages
        .filter((one) => one.fromMe && one.chat === chat?.id)
        .map((one) => ({
          text: one.parts.flatMap((part) => part.value ?? []).join(''),
          files: one.parts.flatMap((part) => {
            const file = part.attachment_id === undefined ? undefined : files.get(part.attachment_id)
            return file?.bytes ? [{ contentType: file.type, bytes: file.bytes.length }] : []
          }),
        }))
    },
    async write(from: string, text: string, file: Buffer | null, agoMs: number, callback: Callback): Promise<void> {
      const parts: Part[] = text === '' ? [] : [{ type: 'text', value: text }]
      if (file) {
        const id = randomUUID()
        files.set(id, { filename: 'photo.png', type: 'image/png', bytes: file })
        parts.push({ type: 'media', attachment_id: id })
      }
      const chat = chatWith(from)
      const at = new Date(Date.now() - agoMs).toISOString()
      const stored: Stored = { id: randomUUID(), chat: chat.id, fromMe: false, parts, at, status: 'received', key: null }
      messages.push(stored)
      messages.sort((a, b) => (a.at < b.at ? -1 : 1))
      const data = {
        id: stored.id,
        chat: { id: chat.id, is_group: false, owner_handle: handle(line, true), health_status: { status: 'HEALTHY' } },
        direction: 'inbound',
        sender_handle: handle(from, false),
        parts: parts.map(partView),
        service: 'iMessage',
        sent_at: at,
      }
      await call('message.received', data, { once: 1, twice: 2, never: 0 }[callback])
    },
    async failLater(text: string): Promise<void> {
      const one = messages.findLast((message) => message.fromMe && message.parts.some((part) => part.value === text)) as Stored
      one.status = 'failed'
      await call(
        'message.failed',
        { code: 4001, reason: 'Not delivered', failed_at: new Date().toISOString(), message_id: one.id, chat_id: one.chat },
        1,
      )
    },
    stop: fake.stop,
  }
}

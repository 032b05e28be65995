// A small BlueBubbles server. It has the routes of API v1 that Callsign uses, with state, as in the source of 1.9.9. Its callbacks are unsigned and
// are not repeated.
import { randomUUID } from 'node:crypto'
import { type FakeAnswer, type FakeRequest, startFake } from './fake-http.ts'
import type { Callback, Fault } from './imessage-world.ts'

export const blueBubblesPassword = 'bubble & squeak'

type Stored = {
  guid: string
  chat: string
  fromMe: boolean
  text: string | null
  files: { guid: string; name: string; type: string; bytes: Buffer }[]
  atMs: number
  error: number
}

export type BlueBubblesServer = Awaited<ReturnType<typeof startBlueBubblesServer>>

export async function startBlueBubblesServer() {
  const messages: Stored[] = []
  const chats = new Set<string>()
  const webhooks = new Map<number, { id: number; url: string; events: string[] }>()
  const faults: Fault[] = []
  /** Beginnings of chat names for which AppleScript fails before it sends, with its number. macOS 26 does so for `any;-;`. */
  const scriptErrors = new Map<string, number>()
  /** Pieces in flight. The same piece is refused meanwhile. */
  const queued = new Set<string>()
  const tempGuids: string[] = []
  let nextWebhook = 1

  const view = (one: Stored) => ({
    originalROWID: messages.indexOf(one) + 1,
    guid: one.guid,
    text: one.text ?? (one.files.length > 0 ? '\ufffc' : null),
    isFromMe: one.fromMe,
    handle: one.fromMe ? null : { address: one.chat.split(';-;')[1] },
    chats: [{ guid: one.chat, style: 45 }],
    attachments: one.files.map((file) => ({
      guid: file.guid,
      transferName: file.name,
      mimeType: file.type,
      totalBytes: file.bytes.length,
      hideAttachment: false,
    })),
    dateCreated: one.atMs,
    error: one.error,
    itemType: 0,
    associatedMessageGuid: null,
  })
  const ok = (data?: unknown): FakeAnswer => ({
    status: 200,
    json: { status: 200, message: 'Success', ...(data === undefined ? {} : { data }) },
  })
  const failure = (status: number, message: string, data?: unknown): FakeAnswer => ({
    status,
    json: { status, message: 'Failed', error: { type: 'Server Error', message }, ...(data === undefined ? {} : { data }) },
  })

  function send(
    chat: string,
    tempGuid: string,
    text: string | null,
    files: Stored['files'],
    answerOf: (sent: Stored) => unknown,
  ): FakeAnswer {
    if (!tempGuid) return failure(400, "A 'tempGuid' is required when sending via AppleScript")
    if (queued.has(tempGuid)) return failure(400, `Message is already queued to be sent! (Temp GUID: ${tempGuid})`)
    const scriptError = [...scriptErrors].find(([start]) => chat.startsWith(start))?.[1]
    if (scriptError) return failure(500, `Failed to send message! Messages got an error: ${'x'.repeat(220)} (${scriptError})`)
    const fault = faults.shift()
    if (fault === 'lost_request') return 'cut'
    tempGuids.push(tempGuid)
    const sent: Stored = {
      guid: randomUUID().toUpperCase(),
      chat,
      fromMe: true,
      text,
      files,
      atMs: Date.now(),
      error: fault === 'refused' ? 22 : 0,
    }
    messages.push(sent)
    if (fault === 'lost_answer') return 'cut'
    if (fault === 'refused') return failure(500, 'Failed to send message! See attached message error code.', view(sent))
    return ok(answerOf(sent))
  }

  function answer(request: FakeRequest): FakeAnswer {
    const { method, url } = request
    if (url.searchParams.get('password') !== blueBubblesPassword) return failure(401, 'Unauthorized')
    const path = url.pathname.split('/').slice(3).map(decodeURIComponent)
    switch (`${method} ${path[0]} ${path[0] === 'chat' && path[1] !== 'new' ? ':guid' : (path[1] ?? '')}`.trim()) {
      case 'POST message query': {
        const { after, sort, limit, offset = 0 } = request.json() as { after: number; sort: string; limit: number; offset?: number }
        if (limit > 1000 || sort !== 'ASC') return failure(400, 'bad query')
        const found = messages.filter((one) => one.atMs > after).sort((a, b) => a.atMs - b.atMs)
        return ok(found.slice(offset, offset + limit).map(view))
      }
      case 'POST message text': {
        const { chatGuid, tempGuid, message } = request.json() as Record<string, string>
        if (!message) return failure(400, "A 'message' is required when sending via AppleScript")
        return send(chatGuid as string, tempGuid as string, message, [], view)
      }
      case 'POST message attachment': {
        const { fields, file } = readMultipart(request)
        const stored = { guid: randomUUID(), name: fields.name as string, type: file.type, bytes: file.bytes }
        return send(fields.chatGuid as string, fields.tempGuid as string, null, [stored], view)
      }
      case 'POST chat new': {
        const { addresses, message, tempGuid } = request.json() as { addresses: string[]; message: string; tempGuid: string }
        const guid = `iMessage;-;${addresses[0]}`
        chats.add(guid)
        return send(guid, tempGuid, message, [], (sent) => ({ guid, participants: [], messages: [view(sent)] }))
      }
      case 'GET chat :guid':
        return chats.has(path[1] as string) ? ok({ guid: path[1] }) : failure(404, 'Chat does not exist!')
      case 'GET webhook':
        return ok([...webhooks.values()])
      case 'POST webhook': {
        const { url: target, events } = request.json() as { url: string; events: string[] }
        const known = [...webhooks.values()].find((one) => one.url === target)
        // As at the real server, the same address again changes nothing.
        if (known) return ok(known)
        const webhook = { id: nextWebhook++, url: target, events }
        webhooks.set(webhook.id, webhook)
        return ok(webhook)
      }
      case `DELETE webhook ${path[1]}`:
        return webhooks.delete(Number(path[1])) ? ok() : failure(404, 'Webhook does not exist!')
      case `GET attachment ${path[1]}`: {
        const file = messages.flatMap((one) => one.files).find((one) => one.guid === path[1])
        return file ? { status: 200, bytes: file.bytes, type: file.type } : failure(404, 'Attachment does not exist!')
      }
      default:
        return failure(404, 'no such route')
    }
  }
  const fake = await startFake(answer)

  async function call(type: string, data: unknown): Promise<void> {
    for (const { url, events } of webhooks.values()) {
      if (!events.includes(type)) continue
      await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type, data }) }).catch(
        () => {},
      )
    }
  }

  return {
    url: fake.url,
    faults,
    scriptErrors,
    webhooks: () => [...webhooks.values()],
    addWebhook: (url: string, events: string[]) => webhooks.set(nextWebhook, { id: nextWebhook++, url, events }),
    /** The accepted pieces by their tempGuid, one entry per acceptance. */
    takenKeys: () => tempGuids,
    sentTo: (address: string) =>
      messages
        .filter((one) => one.fromMe && one.error === 0 && one.chat.endsWith(`;-;${address}`))
        .map((one) => ({ text: one.text ?? '', files: one.files.map((file) => ({ contentType: file.type, bytes: file.bytes.length })) })),
    async write(from: string, text: string, file: Buffer | null, agoMs: number, callback: Callback): Promise<void> {
      const chat = `any;-;${from}`
      chats.add(chat)
      const files = file ? [{ guid: randomUUID(), name: 'photo.png', type: 'image/png', bytes: file }] : []
      const stored: Stored = {
        guid: randomUUID().toUpperCase(),
        chat,
        fromMe: false,
        text: text || null,
        files,
        atMs: Date.now() - agoMs,
        error: 0,
      }
      messages.push(stored)
      for (let i = { once: 1, twice: 2, never: 0 }[callback]; i > 0; i--) await call('new-message', view(stored))
    },
    async failLater(text: string): Promise<void> {
      const one = messages.findLast((message) => message.fromMe && message.text === text) as Stored
      one.error = 22
      await call('message-send-error', view(one))
    },
    stop: fake.stop,
  }
}

/** The fields and the one file of a multipart/form-data body, strictly by RFC 7578. */
function readMultipart({ headers, body }: FakeRequest): { fields: Record<string, string>; file: { type: string; bytes: Buffer } } {
  const boundary = /boundary=(.+)$/.exec(String(headers['content-type']))?.[1] as string
  const fields: Record<string, string> = {}
  let file = { type: '', bytes: Buffer.alloc(0) }
  for (const part of body.toString('latin1').split(`--${boundary}`).slice(1, -1)) {
    const end = part.indexOf('\r\n\r\n')
    const head = part.slice(0, end)
    const value = Buffer.from(part.slice(end + 4, -2), 'latin1')
    const name = / name="([^"]+)"/.exec(head)?.[1] as string
    if (name === 'attachment') file = { type: /Content-Type: (.+)/.exec(head)?.[1]?.trim() as string, bytes: value }
    else fields[name] = value.toString()
  }
  return { fields, file }
}

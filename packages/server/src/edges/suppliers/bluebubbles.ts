// BlueBubbles as an iMessage provider, which is a Mac's Messages behind HTTP. Its callbacks are unsigned and may be lost, so they are
// hints. Its message list is authoritative.
import { nowMs } from '../../core/clock.ts'
import { normalizeParticipant } from '../../features/imessage/model.ts'
import {
  type Finding,
  type ImessageProvider,
  MediaGone,
  type Piece,
  type ProviderEvent,
  type SendOutcome,
} from '../../features/imessage/provider.ts'
import { createImessageClient, type ImessageAnswer, type ImessageRequest } from './imessage-client.ts'
import { listMember, member, readJson, textMember } from './json-members.ts'

export type BlueBubblesOptions = {
  url: string
  /** The server's password. The server expects it in the query, so URLs are never logged. */
  password: string
  /** The number of the Mac's Apple Account, which the server does not report. */
  line: string
  method: 'apple-script' | 'private-api'
  /**
   * Milliseconds after a call during which the Mac may still send the message. The server waits two minutes for a text and twenty for a
   * file before it gives up. Until then a message missing from the list may still appear.
   */
  settleMs: { text: number; file: number }
  userAgent: string
}

/** Callbacks that trigger a query (the server's own names). */
const wantedEvents = ['new-message', 'updated-message', 'message-send-error']
const everyMs = 20_000
const overlapMs = 120_000
const wideMs = 24 * 3_600_000
/** Milliseconds that the Mac's clock may be behind when a sent message is looked up. */
const skewMs = 60_000
const pageSize = 1000
const pagesMax = 20
/** Share of the settle time that the server gets to answer, so that a call that has started may still finish in the rest. */
const callShare = 0.85

export function createBlueBubbles({ url, password, line, method, settleMs, userAgent }: BlueBubblesOptions): ImessageProvider {
  const client = createImessageClient(userAgent)

  function ask(
    verb: ImessageRequest['method'],
    path: string,
    more: Omit<ImessageRequest, 'method' | 'url'> & { query?: Record<string, string> } = {},
  ) {
    const { query = {}, ...rest } = more
    const target = new URL(`${url}/api/v1${path}`)
    for (const [name, value] of Object.entries({ ...query, password })) target.searchParams.set(name, value)
    return client.ask({ method: verb, url: target, ...rest })
  }

  /** The `data` of a read-only request. Rejects without a valid answer. */
  async function read(verb: ImessageRequest['method'], path: string, more: Parameters<typeof ask>[2] = {}): Promise<unknown> {
    const answer = await ask(verb, path, more)
    if (answer.kind === 'failed' || answer.status !== 200) throw new Error(`BlueBubbles: ${detailOf(answer)}`)
    return member(readJson(answer.bytes), 'data')
  }

  /** Messages since then, oldest first, by the Mac's clock. */
  async function query(afterMs: number): Promise<unknown[]> {
    const found: unknown[] = []
    for (let page = 0; page < pagesMax; page++) {
      const body = { after: Math.max(0, afterMs), sort: 'ASC', limit: pageSize, offset: page * pageSize, with: ['chat', 'attachment'] }
      const list = await read('POST', '/message/query', { json: body })
      if (!Array.isArray(list)) throw new Error('the answer of BlueBubbles is not a list of messages')
      found.push(...list)
      if (list.length < pageSize) break
    }
    return found
  }

  /**
   * The names of the chat in the order in which they are tried. macOS 26 names every chat `any;-;…`, which AppleScript cannot address. The
   * older name of the same chat works there.
   */
  const chatsOf = ({ chatRef, recipient }: Piece): string[] => {
    const older = `iMessage;-;${recipient}`
    if (chatRef === null) return [older]
    return chatRef.startsWith('any;-;') ? [chatRef, older] : [chatRef]
  }

  /** True when the Mac has the chat. The first message creates a new one. */
  async function hasChat(guid: string): Promise<boolean> {
    const answer = await ask('GET', `/chat/${encodeURIComponent(guid)}`)
    if (answer.kind === 'answered' && answer.status === 404) return false
    if (answer.kind === 'failed' || answer.status !== 200) throw new Error(`BlueBubbles: ${detailOf(answer)}`)
    return true
  }

  /** A chat that cannot be addressed has certainly received nothing, so that its next name may be tried. */
  async function send(piece: Piece): Promise<SendOutcome> {
    const [first = '', ...others] = chatsOf(piece)
    let outcome = await sendTo(first, piece)
    for (const chat of others) if (outcome.kind === 'refused' && outcome.code === unaddressable) outcome = await sendTo(chat, piece)
    return outcome
  }

  async function sendTo(chatGuid: string, piece: Piece): Promise<SendOutcome> {
    if (piece.media) {
      const { body, headers } = multipart({ chatGuid, tempGuid: piece.key, name: piece.media.filename, method }, piece.media)
      return judge(await ask('POST', '/message/attachment', { body, headers, timeoutMs: settleMs.file * callShare }))
    }
    const timeoutMs = settleMs.text * callShare
    if (piece.chatRef === null) {
      try {
        if (!(await hasChat(chatGuid))) {
          const json = { addresses: [piece.recipient], message: piece.text, service: 'iMessage', method, tempGuid: piece.key }
          return judge(await ask('POST', '/chat/new', { json, timeoutMs }))
        }
      } catch (error) {
        return { kind: 'retry', detail: (error as Error).message, retryAfterMs: null }
      }
    }
    return judge(await ask('POST', '/message/text', { json: { chatGuid, tempGuid: piece.key, message: piece.text, method }, timeoutMs }))
  }

  return {
    name: 'bluebubbles',
    sendsFilesApart: true,
    lines: async () => [line],
    send,

    async find(piece, { firstAt, lastAt, otherIds }): Promise<Finding> {
      try {
        for (const one of await query(firstAt.getTime() - skewMs)) {
          const guid = textMember(one, 'guid')
          if (guid === null || otherIds.has(guid) || member(one, 'isFromMe') !== true || participantOf(one) !== piece.recipient) continue
          if (!isPiece(one, piece)) continue
          return { kind: 'found', providerMessageId: guid, failure: failureOf(one) }
        }
      } catch (error) {
        return { kind: 'unknown', detail: (error as Error).message }
      }
      const untilMs = lastAt.getTime() + (piece.media ? settleMs.file : settleMs.text)
      if (nowMs() > untilMs) return { kind: 'repeatable' }
      return { kind: 'unknown', detail: 'the Mac may still be sending it' }
    },

    // The server can only send the token in the path. A hint changes nothing but the time of the next query.
    verify: () => true,
    parse(request) {
      const type = textMember(readJson(request.body), 'type')
      return type !== null && wantedEvents.includes(type) ? [{ kind: 'hint' }] : []
    },

    backfill: {
      everyMs,
      async read(since, isWide) {
        const events: ProviderEvent[] = []
        let upToMs = since.getTime()
        for (const one of await query(since.getTime() - (isWide ? wideMs : overlapMs))) {
          const atMs = Number(member(one, 'dateCreated'))
          // A Mac with a wrong clock must not move the position into the future, because everything before it would be skipped.
          if (atMs > upToMs) upToMs = Math.min(atMs, nowMs())
          const event = toEvent(one, line)
          if (event) events.push(event)
        }
        return { events, upTo: new Date(upToMs) }
      },
    },

    async prepare(callbackUrl) {
      const registered = await read('GET', '/webhook')
      let isThere = false
      for (const one of Array.isArray(registered) ? registered : []) {
        if (textMember(one, 'url') !== callbackUrl) continue
        // Registering an address again does not change its events.
        const events = listMember(one, 'events').map(String)
        if (!isThere && (events.includes('*') || wantedEvents.every((event) => events.includes(event)))) isThere = true
        else await read('DELETE', `/webhook/${encodeURIComponent(String(member(one, 'id')))}`)
      }
      if (!isThere) await read('POST', '/webhook', { json: { url: callbackUrl, events: wantedEvents } })
    },

    async fetchMedia({ ref, contentType }, bytesMax) {
      const path = `/attachment/${encodeURIComponent(ref)}/download`
      const answer = await ask('GET', path, { query: { original: 'true' }, timeoutMs: 120_000, bytesMax })
      if (answer.kind === 'failed' && answer.detail.startsWith('the answer is larger')) throw new MediaGone(answer.detail)
      if (answer.kind === 'answered' && answer.status === 404) throw new MediaGone('the Mac does not have the file')
      if (answer.kind === 'failed' || answer.status !== 200) throw new Error(`BlueBubbles: ${detailOf(answer)}`)
      return { bytes: answer.bytes, contentType: answer.contentType || contentType }
    },

    close: () => client.close(),
  }
}

const detailOf = (answer: ImessageAnswer): string => {
  if (answer.kind === 'failed') return answer.detail
  const said = readJson(answer.bytes)
  const why = textMember(said, 'error', 'message') ?? textMember(said, 'message')
  return `status ${answer.status}${why === null ? '' : `: ${why.slice(0, 200)}`}`
}

const unaddressable = 'chat_unaddressable'

/**
 * True for AppleScript's errors before anything is sent: a value of the wrong type (-1700), a chat that it cannot get (-1728), and a missing
 * permission to control Messages (-1743).
 */
function isUnaddressed(bytes: Buffer): boolean {
  return /(?:^|[^\d-])-17(?:00|28|43)(?!\d)/.test(textMember(readJson(bytes), 'error', 'message') ?? '')
}

/** The result of a send. A message is certainly not sent if the Mac marks it as failed, if its script cannot address the chat, or if the input is refused. */
function judge(answer: ImessageAnswer): SendOutcome {
  if (answer.kind === 'failed')
    return answer.isUnsent ? { kind: 'retry', detail: answer.detail, retryAfterMs: null } : { kind: 'unknown', detail: answer.detail }
  const data = member(readJson(answer.bytes), 'data')
  const detail = detailOf(answer)
  if (answer.status === 200) {
    // A new chat has its first message in a list.
    const guid = textMember(data, 'messages', 0, 'guid') ?? textMember(data, 'guid')
    if (guid === null || guid.includes(';-;')) return { kind: 'unknown', detail: 'the Mac did not tell which message it is' }
    return { kind: 'accepted', providerMessageId: guid, chatRef: null }
  }
  const failure = failureOf(data)
  if (failure) return { kind: 'refused', ...failure }
  if (isUnaddressed(answer.bytes)) return { kind: 'refused', code: unaddressable, detail }
  // "Message is already queued to be sent" means that the same piece is in flight.
  if (answer.status === 400 && /already queued/i.test(detail)) return { kind: 'unknown', detail }
  if (answer.status === 401 || answer.status === 403 || answer.status === 429) return { kind: 'retry', detail, retryAfterMs: null }
  if (answer.status >= 400 && answer.status < 500 && answer.status !== 408)
    return { kind: 'refused', code: `bluebubbles_${answer.status}`, detail }
  return { kind: 'unknown', detail }
}

/** The error of a sent message in Messages. */
function failureOf(one: unknown): { code: string; detail: string } | null {
  const error = member(one, 'error')
  if (typeof error !== 'number' || error === 0) return null
  return { code: `imessage_${error}`, detail: `Messages says that it was not delivered (error ${error}).` }
}

/** The other party in a chat of two, or null for a group. `iMessage;-;+1555…`, `SMS;-;…` and `any;-;…` are the same person. */
function participantOf(one: unknown): string | null {
  for (const chat of listMember(one, 'chats')) {
    const [, kind, address] = /^([^;]*;[-+];)(.+)$/.exec(textMember(chat, 'guid') ?? '') ?? []
    if (kind?.includes(';+;') || member(chat, 'style') === 43) return null
    if (address !== undefined) return normalizeParticipant(address)
  }
  const handle = textMember(one, 'handle', 'address')
  return handle === null ? null : normalizeParticipant(handle)
}

/** The placeholder for a file in the text of a message. */
const objectMark = /\ufffc/g

/** The text without differences that Messages may introduce in quotes, dashes and spaces. If nothing else is left, the text itself. */
function barePart(text: string): string {
  const bare = text.replace(/[^\p{L}\p{N}]+/gu, '')
  return bare === '' ? text.trim() : bare
}

function isPiece(one: unknown, piece: Piece): boolean {
  const files = listMember(one, 'attachments')
  if (piece.media) return files.some((file) => textMember(file, 'transferName') === piece.media?.filename)
  return files.length === 0 && barePart((textMember(one, 'text') ?? '').replace(objectMark, '')) === barePart(piece.text ?? '')
}

/** The event for a message in the list: a received one, a failed one, or null. */
function toEvent(one: unknown, line: string): ProviderEvent | null {
  const guid = textMember(one, 'guid')
  if (guid === null) return null
  if (member(one, 'isFromMe') === true) {
    const failure = failureOf(one)
    return failure && { kind: 'failed', providerMessageId: guid, ...failure }
  }
  const sender = participantOf(one)
  // Reactions to a message, and changes of a group, are messages in the list.
  const isTap = member(one, 'associatedMessageGuid') != null && member(one, 'associatedMessageGuid') !== ''
  const isService = typeof member(one, 'itemType') === 'number' && member(one, 'itemType') !== 0
  const atMs = Number(member(one, 'dateCreated'))
  if (sender === null || isTap || isService || !Number.isFinite(atMs) || atMs <= 0) return null
  const media = listMember(one, 'attachments').flatMap((file) => {
    const ref = textMember(file, 'guid')
    if (ref === null || member(file, 'hideAttachment') === true) return []
    return [{ ref, filename: textMember(file, 'transferName') ?? '', contentType: textMember(file, 'mimeType') ?? '' }]
  })
  const text = (textMember(one, 'text') ?? '').replace(objectMark, '').trim()
  if (text === '' && media.length === 0) return null
  const chatRef = listMember(one, 'chats').flatMap((chat) => textMember(chat, 'guid') ?? [])[0] ?? null
  return { kind: 'message', message: { providerMessageId: guid, line, sender, chatRef, text, media, sentAt: new Date(atMs) } }
}

/** multipart/form-data (RFC 7578) of some fields and the file `attachment`. */
function multipart(fields: Record<string, string>, file: { filename: string; contentType: string; bytes: Buffer }) {
  const boundary = `callsign-${fields.tempGuid}`
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="attachment"; filename="${file.filename}"\r\nContent-Type: ${file.contentType}\r\n\r\n`
  const body = Buffer.concat([Buffer.from(parts.join('') + head), file.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)])
  return { body, headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } }
}

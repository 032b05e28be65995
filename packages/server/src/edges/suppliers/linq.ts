// Linq as an iMessage provider, with its Partner API v3. Its messages have idempotency keys, and its callbacks are signed by Standard
// Webhooks.
import { nowMs } from '../../core/clock.ts'
import {
  type Finding,
  type ImessageProvider,
  MediaGone,
  type Piece,
  type ProviderEvent,
  type SendOutcome,
} from '../../features/imessage/provider.ts'
import { createImessageClient, type ImessageAnswer, type ImessageRequest, retryAfterMs } from './imessage-client.ts'
import { listMember, member, readJson, textMember } from './json-members.ts'
import { failureOf, listed, partsOf, readMessage, readRef, timeOf } from './linq-messages.ts'
import { isSignedBy } from './standard-signature.ts'

export type LinqOptions = {
  /** `https://api.linqapp.com/api/partner`, or the URL of a test server. */
  url: string
  apiKey: string
  /** With null all callbacks are refused, and received messages are found by polling. */
  webhookSecret: Buffer | null
  /** The line to use when the account has several. Null for its first. */
  line: string | null
  userAgent: string
  /** Time limit of one call. */
  timeoutMs?: number
}

/** Callbacks are retried for 25 minutes. Polling finds messages whose callbacks all failed. */
const backfillMs = 300_000
const overlapMs = 120_000
const wideMs = 24 * 3_600_000
const linesMs = 60_000
const pageSize = 100
const pagesMax = 20

const detailOf = (answer: ImessageAnswer): string =>
  answer.kind === 'failed'
    ? answer.detail
    : `status ${answer.status}${textMember(readJson(answer.bytes), 'error', 'message') ? `: ${textMember(readJson(answer.bytes), 'error', 'message')}` : ''}`

export function createLinq({ url, apiKey, webhookSecret, line, userAgent, timeoutMs = 30_000 }: LinqOptions): ImessageProvider {
  const client = createImessageClient(userAgent)
  let known: { lines: string[]; atMs: number } | null = null

  const ask = (method: ImessageRequest['method'], path: string, more: { json?: unknown; query?: Record<string, string> } = {}) => {
    const target = new URL(`${url}${path}`)
    for (const [name, value] of Object.entries(more.query ?? {})) target.searchParams.set(name, value)
    const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json' }
    return client.ask({ method, url: target, headers, timeoutMs, ...(more.json === undefined ? {} : { json: more.json }) })
  }

  /** The JSON answer to a read-only request. Rejects without a valid answer. */
  async function read(path: string, query: Record<string, string> = {}): Promise<unknown> {
    const answer = await ask('GET', path, { query })
    if (answer.kind === 'failed' || answer.status !== 200) throw new Error(`Linq: ${detailOf(answer)}`)
    return readJson(answer.bytes)
  }

  /** Every item of a list, page by page, until `isEnough` accepts a page or the page limit is reached. */
  async function readAll(
    path: string,
    name: string,
    query: Record<string, string>,
    isEnough: (items: unknown[]) => boolean,
  ): Promise<unknown[]> {
    const items: unknown[] = []
    let cursor: string | null = null
    for (let page = 0; page < pagesMax; page++) {
      const said: unknown = await read(path, { ...query, limit: String(pageSize), ...(cursor === null ? {} : { cursor }) })
      const found = listMember(said, name)
      items.push(...found)
      cursor = textMember(said, 'next_cursor')
      if (cursor === null || isEnough(found)) break
    }
    return items
  }

  async function lines(): Promise<string[]> {
    if (line !== null) return [line]
    if (known && nowMs() - known.atMs < linesMs) return known.lines
    const numbers = listMember(await read('/v3/phone_numbers'), 'phone_numbers').flatMap((one) => textMember(one, 'phone_number') ?? [])
    known = { lines: numbers, atMs: nowMs() }
    return numbers
  }

  /** Files are uploaded before the message. An upload sends nothing, so a failure can always be retried. */
  async function upload(media: NonNullable<Piece['media']>): Promise<string> {
    const { filename, contentType, bytes } = media
    const asked = await ask('POST', '/v3/attachments', { json: { content_type: contentType, filename, size_bytes: bytes.length } })
    if (asked.kind === 'failed' || asked.status >= 300) throw new Error(`the upload was not begun: ${detailOf(asked)}`)
    const said = readJson(asked.bytes)
    const [id, uploadUrl] = [textMember(said, 'attachment_id'), textMember(said, 'upload_url')]
    if (id === null || uploadUrl === null || !URL.canParse(uploadUrl))
      throw new Error('the answer to the upload request has no upload address')
    const required = member(said, 'required_headers')
    const headers = Object.fromEntries(
      Object.entries((typeof required === 'object' && required) || {}).filter(
        (pair): pair is [string, string] => typeof pair[1] === 'string',
      ),
    )
    const put = await client.ask({ method: 'PUT', url: new URL(uploadUrl), headers, body: bytes, timeoutMs: 10 * timeoutMs })
    if (put.kind === 'failed' || put.status >= 300) throw new Error(`the upload failed: ${detailOf(put)}`)
    return id
  }

  async function findChat(piece: Piece): Promise<string | null> {
    if (piece.chatRef !== null) return piece.chatRef
    const chats = listMember(await read('/v3/chats', { from: piece.line, to: piece.recipient, limit: '20' }), 'chats')
    const direct = chats.find((chat) => member(chat, 'is_group') !== true)
    return textMember(direct, 'id')
  }

  async function send(piece: Piece): Promise<SendOutcome> {
    const parts: unknown[] = piece.text === null ? [] : [{ type: 'text', value: piece.text }]
    let chatRef: string | null
    try {
      chatRef = await findChat(piece)
      if (piece.media) parts.push({ type: 'media', attachment_id: await upload(piece.media) })
    } catch (error) {
      return { kind: 'retry', detail: (error as Error).message, retryAfterMs: null }
    }
    const message = { parts, idempotency_key: piece.key }
    const answer =
      chatRef === null
        ? await ask('POST', '/v3/chats', { json: { from: piece.line, to: [piece.recipient], message } })
        : await ask('POST', `/v3/chats/${encodeURIComponent(chatRef)}/messages`, { json: { message } })
    return judge(answer)
  }

  const belongsTo = (piece: Piece, texts: string, files: unknown[]): boolean =>
    (piece.text ?? '') === texts && (piece.media ? 1 : 0) === files.length

  return {
    name: 'linq',
    sendsFilesApart: false,
    lines,
    send,

    async find(piece, { firstAt, otherIds }): Promise<Finding> {
      try {
        const chat = await findChat(piece)
        const sinceMs = firstAt.getTime() - overlapMs
        const list =
          chat === null ? [] : await readAll(`/v3/chats/${encodeURIComponent(chat)}/messages`, 'messages', {}, isAllBefore(sinceMs))
        for (const one of list) {
          const id = textMember(one, 'id')
          if (id === null || otherIds.has(id) || member(one, 'is_from_me') !== true || timeOf(one) < sinceMs) continue
          const { text, media } = partsOf(member(one, 'parts'))
          if (belongsTo(piece, text, media)) return { kind: 'found', providerMessageId: id, failure: failureOf(one) }
        }
      } catch (error) {
        return { kind: 'unknown', detail: (error as Error).message }
      }
      // Linq does not send twice under one key, so a retry is safe while a send is in flight. Long after that, its list is authoritative.
      return { kind: 'repeatable' }
    },

    verify: (request, atMs) => webhookSecret !== null && isSignedBy(webhookSecret, request, atMs),

    parse(request): ProviderEvent[] {
      const said = readJson(request.body)
      const type = textMember(said, 'event_type')
      const data = member(said, 'data')
      if (type === 'message.failed') {
        const id = textMember(data, 'message_id')
        const code = String(member(data, 'code') ?? 'failed')
        return id === null
          ? []
          : [
              {
                kind: 'failed',
                providerMessageId: id,
                code: `linq_${code}`,
                detail: textMember(data, 'reason') ?? 'Linq says that it failed.',
              },
            ]
      }
      if (type !== 'message.received') return []
      // A subscription of another version has another format. The message list has this one.
      if (member(data, 'direction') === undefined) return [{ kind: 'hint' }]
      const message = readMessage(data)
      return message ? [{ kind: 'message', message }] : []
    },

    backfill: {
      everyMs: backfillMs,
      async read(since, isWide) {
        const sinceMs = since.getTime() - (isWide ? wideMs : overlapMs)
        const found: { atMs: number; event: ProviderEvent }[] = []
        let upToMs = since.getTime()
        for (const own of await lines()) {
          const chats = await readAll('/v3/chats', 'chats', { from: own }, isAllBefore(sinceMs, 'updated_at'))
          for (const chat of chats) {
            const ref = textMember(chat, 'id')
            if (ref === null || member(chat, 'is_group') === true || timeOf(chat, 'updated_at') < sinceMs) continue
            for (const one of await readAll(`/v3/chats/${encodeURIComponent(ref)}/messages`, 'messages', {}, isAllBefore(sinceMs))) {
              const atMs = timeOf(one)
              if (atMs < sinceMs) continue
              upToMs = Math.max(upToMs, atMs)
              const event = listed(one, ref, own)
              if (event) found.push({ atMs, event })
            }
          }
        }
        found.sort((a, b) => a.atMs - b.atMs)
        return { events: found.map(({ event }) => event), upTo: new Date(upToMs) }
      },
    },

    // The secret is only shown when a subscription is created, so the operator creates it.
    prepare: async () => {},

    async fetchMedia({ ref }, bytesMax) {
      const { id, url: first } = readRef(ref)
      const get = (target: string) => client.ask({ method: 'GET', url: new URL(target), timeoutMs: 4 * timeoutMs, bytesMax })
      let answer = first !== null && URL.canParse(first) ? await get(first) : null
      if (answer?.kind !== 'answered' || answer.status !== 200) {
        // Links last an hour, and the file's own record has a new one.
        const record = await ask('GET', `/v3/attachments/${encodeURIComponent(id)}`)
        if (record.kind === 'answered' && record.status === 404) throw new MediaGone('Linq has the file no more')
        const fresh = record.kind === 'answered' ? textMember(readJson(record.bytes), 'download_url') : null
        if (fresh === null || !URL.canParse(fresh)) throw new Error(`Linq: ${detailOf(record)}`)
        answer = await get(fresh)
      }
      if (answer.kind === 'failed' && answer.detail.startsWith('the answer is larger')) throw new MediaGone(answer.detail)
      if (answer.kind === 'failed' || answer.status !== 200) throw new Error(`Linq: ${detailOf(answer)}`)
      return { bytes: answer.bytes, contentType: answer.contentType }
    },

    close: () => client.close(),
  }
}

/** The result of a send. Linq answers 202, or 201 for a new chat. A 4xx means that nothing was accepted. */
function judge(answer: ImessageAnswer): SendOutcome {
  if (answer.kind === 'failed')
    return answer.isUnsent ? { kind: 'retry', detail: answer.detail, retryAfterMs: null } : { kind: 'unknown', detail: answer.detail }
  const said = readJson(answer.bytes)
  if (answer.status >= 200 && answer.status < 300) {
    const chat = member(said, 'chat')
    const id = textMember(chat === undefined ? said : chat, 'message', 'id')
    if (id === null) return { kind: 'unknown', detail: 'Linq took it without telling its id' }
    return { kind: 'accepted', providerMessageId: id, chatRef: textMember(said, 'chat_id') ?? textMember(chat, 'id') }
  }
  const detail = detailOf(answer)
  if (answer.status === 429) return { kind: 'retry', detail, retryAfterMs: retryAfterMs(answer.retryAfter) }
  // The key of the account is wrong. The message waits until the operator has corrected it.
  if (answer.status === 401 || answer.status === 403) return { kind: 'retry', detail, retryAfterMs: null }
  if (answer.status === 408 || answer.status === 409 || answer.status >= 500) return { kind: 'unknown', detail }
  return { kind: 'refused', code: textMember(said, 'error', 'code') ?? `linq_${answer.status}`, detail }
}

/**
 * True for a page ordered from newer to older that has reached items that are too old. A page in any other order may be followed by newer
 * items.
 */
const isAllBefore =
  (ms: number, field = 'created_at') =>
  (items: unknown[]): boolean =>
    items.length > 0 &&
    items.every((item, i) => i === 0 || timeOf(item, field) <= timeOf(items[i - 1], field)) &&
    timeOf(items.at(-1), field) < ms

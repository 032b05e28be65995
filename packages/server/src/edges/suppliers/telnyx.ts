// Telnyx as a supplier of phone numbers, with its REST API v2 and Ed25519-signed callbacks.
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import {
  type Failure,
  type InboundText,
  type Order,
  type OrderAnswer,
  type OrderState,
  type PhoneEvent,
  type PhoneProvider,
  Unreadable,
} from '../../features/phone/provider.ts'
import { listMember, member, readJson, textMember } from './json-members.ts'
import { createSupplierClient, type SupplierAnswer } from './supplier-client.ts'

export type TelnyxOptions = {
  apiKey: string
  /** 32 bytes in base64, as shown by Mission Control. */
  publicKey: string
  /** A messaging profile used only by this server, which sets its callback address. */
  messagingProfileId: string
  apiUrl: string
  userAgent: string
  callbackUrl: () => string
  timeoutMs?: number
}

/** An accepted order is listed by its reference at once. A minute leaves a wide margin. */
const settleMs = 60_000
/** Maximum difference between a signed time and this clock, in either direction. */
const toleranceMs = 300_000
const pageSize = 50
const pagesMax = 200
/** Order error codes for a number that cannot be ordered: 85001 and 10015 unavailable or reserved, 85006 already ordered. */
const takenCodes = new Set(['85001', '85006', '10015'])

const detailOf = (answer: SupplierAnswer): string =>
  answer.kind === 'failed'
    ? answer.detail
    : `status ${answer.status}${textMember(answer.body, 'errors', 0, 'detail') ? `: ${textMember(answer.body, 'errors', 0, 'detail')}` : ''}`

const errorOf = (answer: SupplierAnswer): Failure => ({ kind: 'failure', detail: detailOf(answer) })
const isRefusal = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429

/** The status of an order. With `success` the number's id is not known yet. */
type OrderStatus = 'pending' | 'success' | 'failure'

/** The SubjectPublicKeyInfo of an Ed25519 key before its 32 bytes (RFC 8410 §4). */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex')

/** An Ed25519 public key from its 32 bytes in base64. Throws when they are malformed. */
export function readTelnyxKey(base64: string): KeyObject {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length !== 32) throw new Error('must be 32 bytes in base64, as Mission Control shows them')
  return createPublicKey({ key: Buffer.concat([ed25519Prefix, bytes]), format: 'der', type: 'spki' })
}

/** The provider. `close` ends its connections. */
export function createTelnyx(options: TelnyxOptions): PhoneProvider & { close: () => Promise<void> } {
  const { messagingProfileId, callbackUrl } = options
  const publicKey = readTelnyxKey(options.publicKey)
  const client = createSupplierClient({
    baseUrl: options.apiUrl,
    headers: { authorization: `Bearer ${options.apiKey}` },
    userAgent: options.userAgent,
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  })

  /** The number in the account, or null. */
  async function findNumber(phoneNumber: string): Promise<{ kind: 'number'; found: unknown } | Failure> {
    const answer = await client.ask({ method: 'GET', path: '/v2/phone_numbers', query: [['filter[phone_number]', phoneNumber]] })
    if (answer.kind !== 'answered' || answer.status !== 200) return errorOf(answer)
    const found = listMember(answer.body, 'data').find((one) => textMember(one, 'phone_number') === phoneNumber)
    return { kind: 'number', found: textMember(found, 'status') === 'deleted' ? undefined : found }
  }

  /** The order of this number by its reference. A failed order may have been followed by another. */
  async function findStatus({ orderKey, phoneNumber }: Order): Promise<{ kind: 'status'; status: OrderStatus | null } | Failure> {
    const answer = await client.ask({ method: 'GET', path: '/v2/number_orders', query: [['filter[customer_reference]', orderKey]] })
    if (answer.kind !== 'answered' || answer.status !== 200) return errorOf(answer)
    const statuses = listMember(answer.body, 'data')
      .filter((one) => listMember(one, 'phone_numbers').some((number) => textMember(number, 'phone_number') === phoneNumber))
      .map((one) => textMember(one, 'status'))
    const status = (['success', 'pending', 'failure'] as const).find((one) => statuses.includes(one))
    return { kind: 'status', status: status ?? null }
  }

  async function findOrder(order: Order): Promise<OrderState> {
    const number = await findNumber(order.phoneNumber)
    if (number.kind === 'failure') return number
    const id = textMember(number.found, 'id')
    const isNamed = textMember(number.found, 'customer_reference') === order.orderKey
    const isFailed = textMember(number.found, 'status') === 'purchase-failed'
    if (id !== null && isNamed && !isFailed) return { kind: 'owned', providerNumberId: id }
    const asked = await findStatus(order)
    if (asked.kind === 'failure') return asked
    // The number's own reference can be edited by hand, so a successful order is sufficient proof.
    if (asked.status === 'success') return id === null || isFailed ? { kind: 'pending' } : { kind: 'owned', providerNumberId: id }
    if (asked.status === null) return { kind: 'absent' }
    return { kind: asked.status === 'failure' ? 'failed' : 'pending' }
  }

  /** Checks that the profile sends callbacks to this server, and sets it if it does not. */
  async function routeProfile(): Promise<Failure | null> {
    const path = `/v2/messaging_profiles/${encodeURIComponent(messagingProfileId)}`
    const answer = await client.ask({ method: 'GET', path })
    if (answer.kind !== 'answered' || answer.status !== 200) return errorOf(answer)
    if (textMember(answer.body, 'data', 'webhook_url') === callbackUrl()) return null
    const json = { webhook_url: callbackUrl(), webhook_api_version: '2' }
    const routed = await client.ask({ method: 'PATCH', path, json })
    return routed.kind === 'answered' && routed.status === 200 ? null : errorOf(routed)
  }

  return {
    name: 'telnyx',
    settleMs,

    async search({ country, type, region, areaCode, without }) {
      const query: [string, string][] = [
        ['filter[country_code]', country],
        ['filter[phone_number_type]', type],
        ['filter[features]', 'sms,mms'],
        ['filter[limit]', String(Math.min(100, 10 + without.length))],
        ['filter[best_effort]', 'false'],
        ['filter[exclude_held_numbers]', 'true'],
      ]
      if (areaCode !== null) query.push(['filter[national_destination_code]', areaCode])
      if (region !== null) query.push(['filter[administrative_area]', region])
      const answer = await client.ask({ method: 'GET', path: '/v2/available_phone_numbers', query })
      if (answer.kind === 'answered' && isRefusal(answer.status))
        return {
          kind: 'refused',
          code: `telnyx_${textMember(answer.body, 'errors', 0, 'code') ?? answer.status}`,
          detail: detailOf(answer),
        }
      if (answer.kind !== 'answered' || answer.status !== 200) return errorOf(answer)
      const numbers = listMember(answer.body, 'data').flatMap((one) => textMember(one, 'phone_number') ?? [])
      return { kind: 'offers', numbers: numbers.filter((one) => !without.includes(one)) }
    },

    async order(order): Promise<OrderAnswer> {
      const json = {
        phone_numbers: [{ phone_number: order.phoneNumber }],
        messaging_profile_id: messagingProfileId,
        customer_reference: order.orderKey,
      }
      const answer = await client.ask({ method: 'POST', path: '/v2/number_orders', json })
      if (answer.kind === 'failed') return { kind: 'unknown', detail: answer.detail }
      if (answer.status === 200 || answer.status === 201) {
        if (textMember(answer.body, 'data', 'status') === 'failure') return { kind: 'taken' }
        const found = await findOrder(order)
        return found.kind === 'owned' ? found : { kind: 'pending' }
      }
      if (!isRefusal(answer.status)) return { kind: 'unknown', detail: detailOf(answer) }
      const code = textMember(answer.body, 'errors', 0, 'code') ?? String(answer.status)
      return takenCodes.has(code) ? { kind: 'taken' } : { kind: 'refused', code: `telnyx_${code}`, detail: detailOf(answer) }
    },

    findOrder,

    async advance(number) {
      const path = `/v2/phone_numbers/${encodeURIComponent(number.providerNumberId)}`
      const answer = await client.ask({ method: 'GET', path })
      if (answer.kind === 'answered' && answer.status === 404)
        return { kind: 'failed', code: 'number_gone', detail: 'Telnyx has no such number in the account.' }
      if (answer.kind !== 'answered' || answer.status !== 200) return errorOf(answer)
      const status = textMember(answer.body, 'data', 'status') ?? 'unknown'
      if (['purchase-failed', 'port-failed', 'ported-out', 'deleted', 'requirement-info-exception'].includes(status))
        return { kind: 'failed', code: status.replaceAll('-', '_'), detail: `Telnyx says that the number is ${status}.` }
      if (status !== 'active') return { kind: 'pending' }
      const messaging = await client.ask({ method: 'GET', path: `${path}/messaging` })
      if (messaging.kind !== 'answered' || messaging.status !== 200) return errorOf(messaging)
      if (textMember(messaging.body, 'data', 'messaging_profile_id') !== messagingProfileId) {
        const routed = await client.ask({ method: 'PATCH', path: `${path}/messaging`, json: { messaging_profile_id: messagingProfileId } })
        if (routed.kind !== 'answered' || routed.status !== 200) return errorOf(routed)
      }
      return (await routeProfile()) ?? { kind: 'ready' }
    },

    async release(number) {
      const answer = await client.ask({ method: 'DELETE', path: `/v2/phone_numbers/${encodeURIComponent(number.providerNumberId)}` })
      const isGone = answer.kind === 'answered' && (answer.status === 200 || answer.status === 204 || answer.status === 404)
      return isGone ? { kind: 'released' } : errorOf(answer)
    },

    verifyWebhook(request, _url, nowMs) {
      const timestamp = String(request.headers['telnyx-timestamp'] ?? '')
      const signature = Buffer.from(String(request.headers['telnyx-signature-ed25519'] ?? ''), 'base64')
      if (!/^\d{1,12}$/.test(timestamp) || signature.length !== 64) return 'bad_signature'
      const signed = Buffer.concat([Buffer.from(`${timestamp}|`), request.body])
      if (!verify(null, signed, publicKey, signature)) return 'bad_signature'
      return Math.abs(nowMs - Number(timestamp) * 1000) <= toleranceMs ? 'ok' : 'too_old'
    },

    parseWebhook(request): PhoneEvent[] {
      const body = readJson(request.body)
      if (body === null) throw new Unreadable('the callback is not JSON')
      const event = textMember(body, 'data', 'event_type')
      const payload = member(body, 'data', 'payload')
      if (event === null) throw new Unreadable('the callback has no data.event_type')
      if (event === 'message.received') {
        const text = readMessage(payload)
        if (text === null) throw new Unreadable('the message has no id, sender or recipient')
        return [{ kind: 'text', text }]
      }
      if (event === 'number_order.complete' || event.startsWith('number_order')) {
        return listMember(payload, 'phone_numbers').flatMap((one) => {
          const phoneNumber = textMember(one, 'phone_number')
          return phoneNumber === null ? [] : [{ kind: 'number' as const, phoneNumber }]
        })
      }
      return []
    },

    async *listInbound(since, isKnown): AsyncGenerator<InboundText> {
      for (let page = 1; page <= pagesMax; page++) {
        const query: [string, string][] = [
          ['filter[record_type]', 'messaging'],
          ['filter[direction]', 'inbound'],
          ['filter[created_at][gte]', since.toISOString()],
          ['sort', 'created_at'],
          ['page[number]', String(page)],
          ['page[size]', String(pageSize)],
        ]
        const answer = await client.ask({ method: 'GET', path: '/v2/detail_records', query })
        if (answer.kind !== 'answered' || answer.status !== 200) throw new Error(`Telnyx did not list messages: ${detailOf(answer)}`)
        const records = listMember(answer.body, 'data')
        for (const record of records) {
          const id = textMember(record, 'uuid')
          if (id === null || textMember(record, 'direction') !== 'inbound' || (await isKnown(id))) continue
          const found = await client.ask({ method: 'GET', path: `/v2/messages/${encodeURIComponent(id)}` })
          // Telnyx keeps messages for some days, and a record outlives its message.
          if (found.kind === 'answered' && found.status === 404) continue
          if (found.kind !== 'answered' || found.status !== 200) throw new Error(`Telnyx did not give a message: ${detailOf(found)}`)
          const text = readMessage(member(found.body, 'data'))
          if (text !== null) yield text
        }
        const pages = member(answer.body, 'meta', 'total_pages')
        if (records.length === 0 || typeof pages !== 'number' || page >= pages) return
      }
    },

    mediaAccess: () => null,

    close: () => client.close(),
  }
}

/** A message in the common format of callbacks and the messages API, or null when required members are missing. */
function readMessage(payload: unknown): InboundText | null {
  const id = textMember(payload, 'id')
  const from = textMember(payload, 'from', 'phone_number')
  const to = [...listMember(payload, 'to'), ...listMember(payload, 'cc')].flatMap((one) => textMember(one, 'phone_number') ?? [])
  if (id === null || from === null || to.length === 0) return null
  const media = listMember(payload, 'media').flatMap((one) => {
    const url = textMember(one, 'url')
    return url === null ? [] : [{ url, contentType: textMember(one, 'content_type') }]
  })
  const at = Date.parse(textMember(payload, 'received_at') ?? '')
  return {
    providerMessageId: id,
    type: textMember(payload, 'type') === 'MMS' || media.length > 0 ? 'mms' : 'sms',
    from,
    to,
    text: textMember(payload, 'text') ?? '',
    media,
    sentAt: Number.isNaN(at) ? null : new Date(at),
  }
}

// The built-in simulated phone supplier, without network access. It has fictional numbers, callbacks signed with its own key, and faults on
// demand.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { RawRequest } from '../../core/route.ts'
import {
  type InboundText,
  type MediaSource,
  type NumberQuery,
  type OrderAnswer,
  type OrderState,
  type PhoneProvider,
  type SimulatedCarrier,
  Unreadable,
} from '../../features/phone/provider.ts'
import { listMember, member, readJson, textMember } from './json-members.ts'

export type SimulatorOptions = {
  carrier: SimulatedCarrier
  /** Milliseconds that a new number stays pending. */
  readyMs: number
  signKey: Buffer
  /** The area codes that a query allows, in order. */
  areaCodesOf: (query: NumberQuery) => string[]
}

/** 555-0100 to 555-0199 of an area code, which are reserved for fiction. */
const linesOf = (areaCode: string): string[] =>
  Array.from({ length: 100 }, (_, line) => `+1${areaCode}55501${String(line).padStart(2, '0')}`)

const offersMax = 10
const tolerancePastMs = 300_000

/** The signature of a simulated callback, HMAC-SHA256 over time and body. */
const signSimulated = (signKey: Buffer, timestamp: string, body: Buffer): string =>
  createHmac('sha256', signKey).update(`${timestamp}.`).update(body).digest('hex')

/** Builds the simulator's callback for a body. */
export function simulatedCallback(signKey: Buffer, target: string, body: Buffer, nowMs: number): RawRequest {
  const timestamp = String(nowMs)
  return { target, headers: { 'simulator-timestamp': timestamp, 'simulator-signature': signSimulated(signKey, timestamp, body) }, body }
}

export function createPhoneSimulator({ carrier, readyMs, signKey, areaCodesOf }: SimulatorOptions): PhoneProvider {
  async function findOrder({ orderKey, phoneNumber }: { orderKey: string; phoneNumber: string }): Promise<OrderState> {
    const found = await carrier.find(orderKey)
    return found?.phoneNumber === phoneNumber ? { kind: 'owned', providerNumberId: orderKey } : { kind: 'absent' }
  }

  return {
    name: 'simulator',
    settleMs: 0,

    async search(query) {
      const fault = await carrier.takeFault(query.organizationId, 'search')
      if (fault === 'error') return { kind: 'failure', detail: 'the simulator failed as requested' }
      if (fault === 'empty') return { kind: 'offers', numbers: [] }
      for (const areaCode of areaCodesOf(query)) {
        const numbers = (await carrier.findFree(linesOf(areaCode))).filter((one) => !query.without.includes(one))
        if (numbers.length > 0) return { kind: 'offers', numbers: numbers.slice(0, offersMax) }
      }
      return { kind: 'offers', numbers: [] }
    },

    async order(order): Promise<OrderAnswer> {
      const fault = await carrier.takeFault(order.organizationId, 'order')
      if (fault === 'error') return { kind: 'refused', code: 'simulated', detail: 'the simulator refused as requested' }
      if (fault === 'taken') return { kind: 'taken' }
      if (fault === 'timeout') return { kind: 'unknown', detail: 'the simulator did not answer, as requested' }
      const isBought = await carrier.buy(order, readyMs)
      if (fault === 'lost_answer') return { kind: 'unknown', detail: 'the simulator dropped its answer, as requested' }
      return isBought ? { kind: 'owned', providerNumberId: order.orderKey } : { kind: 'taken' }
    },

    findOrder,

    async advance(number) {
      const fault = await carrier.takeFault(number.organizationId, 'advance')
      if (fault === 'error') return { kind: 'failure', detail: 'the simulator failed as requested' }
      const found = await carrier.find(number.providerNumberId)
      if (!found) return { kind: 'failed', code: 'number_gone', detail: 'The simulator has no such number.' }
      if (fault === 'rejected' || found.isRejected)
        return { kind: 'failed', code: 'campaign_rejected', detail: 'The simulator rejected this number as requested.' }
      return { kind: found.isReady ? 'ready' : 'pending' }
    },

    async release(number) {
      if ((await carrier.takeFault(number.organizationId, 'release')) !== null)
        return { kind: 'failure', detail: 'the simulator failed as requested' }
      await carrier.release(number.providerNumberId)
      return { kind: 'released' }
    },

    verifyWebhook(request: RawRequest, _url, nowMs) {
      const timestamp = String(request.headers['simulator-timestamp'] ?? '')
      const given = Buffer.from(String(request.headers['simulator-signature'] ?? ''))
      const expected = Buffer.from(signSimulated(signKey, timestamp, request.body))
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'bad_signature'
      return Math.abs(nowMs - Number(timestamp)) <= tolerancePastMs ? 'ok' : 'too_old'
    },

    parseWebhook(request) {
      const body = readJson(request.body)
      if (body === null) throw new Unreadable('the callback is not JSON')
      return [{ kind: 'text', text: readText(body) }]
    },

    async *listInbound(since, isKnown) {
      for (const body of await carrier.listUndelivered(since)) {
        const text = readText(body)
        if (!(await isKnown(text.providerMessageId))) yield text
      }
    },

    mediaAccess: () => null,
  }
}

/** A text message in the simulator's format. Throws Unreadable. */
function readText(body: unknown): InboundText {
  const id = textMember(body, 'id')
  const from = textMember(body, 'from')
  const to = textMember(body, 'to')
  if (id === null || from === null || to === null) throw new Unreadable('the text has no id, from or to')
  const media = listMember(body, 'media').flatMap((one): MediaSource[] => {
    const contentType = textMember(one, 'content_type')
    const content = member(one, 'content')
    const url = textMember(one, 'url')
    if (typeof content === 'string') return [{ contentType, bytes: Buffer.from(content, 'base64') }]
    return url === null ? [] : [{ contentType, url }]
  })
  const sentAt = member(body, 'sent_at_ms')
  return {
    providerMessageId: id,
    type: media.length > 0 ? 'mms' : 'sms',
    from,
    to: [to],
    text: textMember(body, 'text') ?? '',
    media,
    sentAt: typeof sentAt === 'number' ? new Date(sentAt) : null,
  }
}

// Twilio as a supplier of phone numbers, with its REST API of 2010-04-01 and signed callbacks.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { RawRequest } from '../../core/route.ts'
import {
  type Failure,
  type InboundText,
  type MediaSource,
  type Order,
  type OrderAnswer,
  type OrderState,
  type OwnedNumber,
  type PhoneEvent,
  type PhoneProvider,
  Unreadable,
} from '../../features/phone/provider.ts'
import { listMember, member, textMember } from './json-members.ts'
import { createSupplierClient, type SupplierAnswer } from './supplier-client.ts'

export type TwilioOptions = {
  accountSid: string
  authToken: string
  apiUrl: string
  userAgent: string
  /** The full URL for callbacks. */
  callbackUrl: () => string
  timeoutMs?: number
}

/** A purchase is one synchronous call. Half a minute after a timeout it has either succeeded or failed for good. */
const settleMs = 30_000
/** Purchase error codes for a number that cannot be bought: 21422 not available, 21421 invalid, 21404 not available to a trial account. */
const takenCodes = [21421, 21422]
const pageSize = 100
const pagesMax = 100

const errorOf = (answer: SupplierAnswer): Failure => ({
  kind: 'failure',
  detail:
    answer.kind === 'failed'
      ? answer.detail
      : `status ${answer.status}${textMember(answer.body, 'message') ? `: ${textMember(answer.body, 'message')}` : ''}`,
})

const isRefusal = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429

/** A `Date` of RFC 2822, Twilio's time format, or null when it is malformed. */
function readDate(text: string | null): Date | null {
  const ms = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? null : new Date(ms)
}

/** The provider. `close` ends its connections. */
export function createTwilio(options: TwilioOptions): PhoneProvider & { close: () => Promise<void> } {
  const { accountSid, authToken, apiUrl, callbackUrl } = options
  const basic = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`
  const client = createSupplierClient({
    baseUrl: apiUrl,
    headers: { authorization: basic },
    userAgent: options.userAgent,
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  })
  const account = `/2010-04-01/Accounts/${encodeURIComponent(accountSid)}`
  const apiOrigin = new URL(apiUrl).origin

  /** Numbers have the order key in their name, so that a purchase can be found by it. */
  const nameOf = (orderKey: string) => `callsign ${orderKey}`

  async function findOwned({ orderKey, phoneNumber }: Order): Promise<OrderState> {
    const answer = await client.ask({ method: 'GET', path: `${account}/IncomingPhoneNumbers.json`, query: [['PhoneNumber', phoneNumber]] })
    if (answer.kind !== 'answered' || answer.status !== 200) return errorOf(answer)
    const found = listMember(answer.body, 'incoming_phone_numbers').find(
      (one) => textMember(one, 'phone_number') === phoneNumber && textMember(one, 'friendly_name') === nameOf(orderKey),
    )
    const sid = textMember(found, 'sid')
    return sid === null ? { kind: 'absent' } : { kind: 'owned', providerNumberId: sid }
  }

  const numberPath = (number: OwnedNumber) => `${account}/IncomingPhoneNumbers/${encodeURIComponent(number.providerNumberId)}.json`

  /** The media of a message, because the message list contains only their number. */
  async function listMedia(sid: string): Promise<MediaSource[]> {
    const answer = await client.ask({ method: 'GET', path: `${account}/Messages/${encodeURIComponent(sid)}/Media.json` })
    if (answer.kind !== 'answered' || answer.status !== 200) throw new Error(`Twilio did not list media: ${errorOf(answer).detail}`)
    return listMember(answer.body, 'media_list').flatMap((one) => {
      const uri = textMember(one, 'uri')
      return uri === null ? [] : [{ url: `${apiOrigin}${uri.replace(/\.json$/, '')}`, contentType: textMember(one, 'content_type') }]
    })
  }

  return {
    name: 'twilio',
    settleMs,

    async search({ country, type, region, areaCode, without }) {
      const query: [string, string][] = [
        ['SmsEnabled', 'true'],
        ['MmsEnabled', 'true'],
        ['PageSize', String(Math.min(50, 10 + without.length))],
      ]
      if (areaCode !== null) query.push(['AreaCode', areaCode])
      if (region !== null) query.push(['InRegion', region])
      const kind = type === 'local' ? 'Local' : 'TollFree'
      const answer = await client.ask({ method: 'GET', path: `${account}/AvailablePhoneNumbers/${country}/${kind}.json`, query })
      // Twilio answers 404 for a kind of number that it does not have in a country.
      if (answer.kind === 'answered' && answer.status === 404) return { kind: 'offers', numbers: [] }
      if (answer.kind !== 'answered' || answer.status !== 200) return refusedOr(answer)
      const numbers = listMember(answer.body, 'available_phone_numbers').flatMap((one) => textMember(one, 'phone_number') ?? [])
      return { kind: 'offers', numbers: numbers.filter((one) => !without.includes(one)) }
    },

    async order(order): Promise<OrderAnswer> {
      const form: [string, string][] = [
        ['PhoneNumber', order.phoneNumber],
        ['FriendlyName', nameOf(order.orderKey)],
        ['SmsUrl', callbackUrl()],
        ['SmsMethod', 'POST'],
      ]
      const answer = await client.ask({ method: 'POST', path: `${account}/IncomingPhoneNumbers.json`, form })
      if (answer.kind === 'failed') {
        // Nothing was bought, so another attempt is as safe as a lookup.
        return { kind: 'unknown', detail: answer.detail }
      }
      const sid = textMember(answer.body, 'sid')
      if ((answer.status === 201 || answer.status === 200) && sid !== null) return { kind: 'owned', providerNumberId: sid }
      const code = member(answer.body, 'code')
      if (takenCodes.includes(code as number)) return { kind: 'taken' }
      if (isRefusal(answer.status)) {
        const detail = textMember(answer.body, 'message') ?? `status ${answer.status}`
        return { kind: 'refused', code: `twilio_${typeof code === 'number' ? code : answer.status}`, detail }
      }
      return { kind: 'unknown', detail: `status ${answer.status}` }
    },

    findOrder: findOwned,

    async advance(number) {
      const answer = await client.ask({ method: 'GET', path: numberPath(number) })
      if (answer.kind === 'answered' && answer.status === 404)
        return { kind: 'failed', code: 'number_gone', detail: 'Twilio has no such number in the account.' }
      if (answer.kind !== 'answered' || answer.status !== 200) return errorOf(answer)
      if (member(answer.body, 'capabilities', 'sms') === false)
        return { kind: 'failed', code: 'sms_not_supported', detail: 'This number cannot receive texts.' }
      if (textMember(answer.body, 'sms_url') === callbackUrl()) return { kind: 'ready' }
      const form: [string, string][] = [
        ['SmsUrl', callbackUrl()],
        ['SmsMethod', 'POST'],
      ]
      const routed = await client.ask({ method: 'POST', path: numberPath(number), form })
      return routed.kind === 'answered' && routed.status === 200 ? { kind: 'ready' } : errorOf(routed)
    },

    async release(number) {
      const answer = await client.ask({ method: 'DELETE', path: numberPath(number) })
      const isGone = answer.kind === 'answered' && (answer.status === 204 || answer.status === 404)
      return isGone ? { kind: 'released' } : errorOf(answer)
    },

    verifyWebhook(request, url) {
      const given = Buffer.from(String(request.headers['x-twilio-signature'] ?? ''))
      const fields = readForm(request)
      const isSigned = spellingsOf(url).some((spelling) => {
        const expected = Buffer.from(signTwilio(authToken, spelling, fields))
        return given.length === expected.length && timingSafeEqual(given, expected)
      })
      return isSigned ? 'ok' : 'bad_signature'
    },

    parseWebhook(request): PhoneEvent[] {
      const form = new Map(readForm(request))
      const sid = form.get('MessageSid') ?? form.get('SmsMessageSid') ?? form.get('SmsSid')
      const to = form.get('To')
      // Voice and status callbacks arrive here only when they are set to this URL by hand.
      if (!sid || !to || form.has('MessageStatus')) return []
      const from = form.get('From')
      if (!from) throw new Unreadable('the callback has no From')
      const count = Math.min(Number(form.get('NumMedia') ?? 0) || 0, 20)
      const media = Array.from({ length: count }, (_, index) => index).flatMap((index) => {
        const url = form.get(`MediaUrl${index}`)
        return url ? [{ url, contentType: form.get(`MediaContentType${index}`) ?? null }] : []
      })
      const type = media.length > 0 || sid.startsWith('MM') ? 'mms' : 'sms'
      return [{ kind: 'text', text: { providerMessageId: sid, type, from, to: [to], text: form.get('Body') ?? '', media, sentAt: null } }]
    },

    async *listInbound(since, isKnown): AsyncGenerator<InboundText> {
      let path = `${account}/Messages.json`
      // The list filters by day.
      let query: [string, string][] = [
        ['DateSent>', since.toISOString().slice(0, 10)],
        ['PageSize', String(pageSize)],
      ]
      for (let page = 0; page < pagesMax; page++) {
        const answer = await client.ask({ method: 'GET', path, query })
        if (answer.kind !== 'answered' || answer.status !== 200) throw new Error(`Twilio did not list messages: ${errorOf(answer).detail}`)
        for (const one of listMember(answer.body, 'messages')) {
          const sid = textMember(one, 'sid')
          const sentAt = readDate(textMember(one, 'date_sent') ?? textMember(one, 'date_created'))
          if (textMember(one, 'direction') !== 'inbound' || sid === null || (sentAt !== null && sentAt < since) || (await isKnown(sid)))
            continue
          const media = Number(textMember(one, 'num_media') ?? 0) > 0 ? await listMedia(sid) : []
          yield {
            providerMessageId: sid,
            type: media.length > 0 || sid.startsWith('MM') ? 'mms' : 'sms',
            from: textMember(one, 'from') ?? '',
            to: [textMember(one, 'to') ?? ''],
            text: textMember(one, 'body') ?? '',
            media,
            sentAt,
          }
        }
        const next = textMember(answer.body, 'next_page_uri')
        if (next === null) return
        path = next
        query = []
      }
    },

    mediaAccess: (url) => (URL.parse(url)?.origin === apiOrigin ? { origin: apiOrigin, headers: { authorization: basic } } : null),

    close: () => client.close(),
  }
}

function refusedOr(answer: SupplierAnswer) {
  if (answer.kind === 'answered' && isRefusal(answer.status)) {
    const detail = textMember(answer.body, 'message') ?? `status ${answer.status}`
    return { kind: 'refused' as const, code: `twilio_${answer.status}`, detail }
  }
  return errorOf(answer)
}

/** The fields of a form, untrimmed, because the signature covers every character. */
const readForm = (request: RawRequest): [string, string][] => [...new URLSearchParams(request.body.toString('utf8'))]

/** A URL with its port and without. Twilio signs one of the two. */
function spellingsOf(url: string): string[] {
  const [, scheme = '', host = '', port, rest = ''] = /^(https?:\/\/)([^/:?]+|\[[^\]]+\])(:\d+)?(.*)$/s.exec(url) ?? []
  const usual = scheme === 'https://' ? ':443' : ':80'
  return port === undefined ? [url, `${scheme}${host}${usual}${rest}`] : [url, `${scheme}${host}${rest}`]
}

/** HMAC-SHA1 over the URL and all fields, name and value, sorted by name. A field repeated with the same value counts once. */
export function signTwilio(authToken: string, url: string, fields: [string, string][]): string {
  const values = new Map<string, Set<string>>()
  for (const [name, value] of fields) values.set(name, (values.get(name) ?? new Set()).add(value))
  const text = [...values.keys()]
    .sort()
    .map((name) =>
      [...(values.get(name) as Set<string>)]
        .sort()
        .map((value) => name + value)
        .join(''),
    )
    .join('')
  return createHmac('sha1', authToken)
    .update(Buffer.from(url + text, 'utf8'))
    .digest('base64')
}

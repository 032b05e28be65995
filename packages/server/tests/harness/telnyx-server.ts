// A stand-in for Telnyx's REST API v2. It has slow orders, numbers, messaging profiles, messages, and Ed25519-signed callbacks.
import { generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto'
import { type ForSale, type OutsideText, postCallback, type SupplierReply, startSupplierServer, stock } from './supplier-server.ts'

type Owned = {
  id: string
  phone_number: string
  status: string
  customer_reference: string | null
  messaging_profile_id: string | null
  looks: number
}
type NumberOrder = {
  id: string
  status: 'pending' | 'success' | 'failure'
  customer_reference: string
  phone_number: string
  looks: number
}
type Sent = { id: string; from: string; to: string; text: string; at: Date; media: { path: string; contentType: string; bytes: Buffer }[] }

export type TelnyxServer = Awaited<ReturnType<typeof startTelnyxServer>>

/** Number of reads until an order, and then its number, is complete. */
const looksNeeded = 2

export async function startTelnyxServer() {
  const apiKey = `KEY${randomBytes(16).toString('hex')}`
  const messagingProfileId = randomUUID()
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const publicKeyBase64 = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')
  const attachmentSource: ForSale[] = [...stock]
  const owned: Owned[] = []
  const orders: NumberOrder[] = []
  const sent: Sent[] = []
  const profile = { id: messagingProfileId, name: 'Callsign', webhook_url: '', webhook_api_version: '1', record_type: 'messaging_profile' }
  let purchases = 0
  let soldAfterSearch = 0
  const sell = (phoneNumber: string) => {
    const index = attachmentSource.findIndex((one) => one.phoneNumber === phoneNumber)
    if (index >= 0) attachmentSource.splice(index, 1)
  }

  let hiddenLists = 0

  const json = (body: Buffer) => JSON.parse(body.toString() || '{}') as Record<string, never>
  const error = (status: number, code: string, detail: string): SupplierReply => ({
    status,
    body: { errors: [{ code, title: detail, detail }] },
  })
  const notFound = () => error(404, '10005', 'Resource not found')
  const list = (data: unknown[], query: URLSearchParams): SupplierReply => {
    const number = Number(query.get('page[number]') ?? 1)
    const size = Math.min(2, Number(query.get('page[size]') ?? 20))
    const data_ = data.slice((number - 1) * size, number * size)
    const meta = {
      page_number: number,
      page_size: size,
      total_pages: Math.max(1, Math.ceil(data.length / size)),
      total_results: data.length,
    }
    return { status: 200, body: { data: data_, meta } }
  }

  const shownOrder = ({ looks, phone_number, ...one }: NumberOrder) => ({
    ...one,
    record_type: 'number_order',
    phone_numbers_count: 1,
    messaging_profile_id: messagingProfileId,
    phone_numbers: [{ id: randomUUID(), record_type: 'number_order_phone_number', phone_number, status: one.status }],
  })
  const shownNumber = ({ looks, ...one }: Owned) => ({
    ...one,
    record_type: 'phone_number',
    phone_number_type: 'local',
    country_iso_alpha2: 'US',
  })

  /** Orders and numbers advance with each read. */
  function lookAtOrder(one: NumberOrder): NumberOrder {
    if (one.status === 'pending' && ++one.looks >= looksNeeded) {
      one.status = 'success'
      owned.push({
        id: String(1_293_384_261_075_731_499n + BigInt(owned.length + purchases)),
        phone_number: one.phone_number,
        status: 'purchase-pending',
        customer_reference: one.customer_reference,
        messaging_profile_id: null,
        looks: 0,
      })
    }
    return one
  }
  function lookAtNumber(one: Owned): Owned {
    if (one.status === 'purchase-pending' && ++one.looks >= looksNeeded) one.status = 'active'
    return one
  }
  const messageOf = (one: Sent) => ({
    record_type: 'message',
    direction: 'inbound',
    id: one.id,
    type: one.media.length > 0 ? 'MMS' : 'SMS',
    messaging_profile_id: messagingProfileId,
    from: { phone_number: one.from, carrier: '', line_type: '' },
    to: [{ phone_number: one.to, status: 'webhook_delivered', carrier: 'Telnyx', line_type: 'Wireless' }],
    cc: [],
    text: one.text,
    media: one.media.map((media) => ({
      url: `${server.url}${media.path}`,
      content_type: media.contentType,
      size: media.bytes.length,
      sha256: null,
    })),
    received_at: one.at.toISOString(),
    encoding: 'GSM-7',
    parts: 1,
    errors: [],
  })

  const server = await startSupplierServer(
    [
      {
        method: 'GET',
        name: 'search',
        pattern: /^\/v2\/available_phone_numbers$/,
        run: ({ query }) => {
          const filter = (name: string) => query.get(`filter[${name}]`)
          const found = attachmentSource.filter(
            (one) =>
              (one.type === 'toll_free' || one.country === (filter('country_code') ?? one.country)) &&
              one.type === (filter('phone_number_type') ?? one.type) &&
              (!filter('national_destination_code') || one.phoneNumber.slice(2, 5) === filter('national_destination_code')) &&
              (!filter('administrative_area') || one.region === filter('administrative_area')),
          )
          for (; soldAfterSearch > 0 && found.length > 0; soldAfterSearch--) sell(found[soldAfterSearch - 1]?.phoneNumber ?? '')
          const data = found.slice(0, Number(filter('limit') ?? 100)).map((one) => ({
            record_type: 'available_phone_number',
            phone_number: one.phoneNumber,
            best_effort: false,
            features: [{ name: 'sms' }, { name: 'mms' }, { name: 'voice' }],
            region_information: [{ region_type: 'country_code', region_name: one.country }],
          }))
          return { status: 200, body: { data, meta: { total_results: found.length, best_effort_results: 0 } } }
        },
      },
      {
        method: 'POST',
        name: 'order',
        pattern: /^\/v2\/number_orders$/,
        run: ({ body }) => {
          const { phone_numbers = [], customer_reference = '' } = json(body) as {
            phone_numbers?: { phone_number: string }[]
            customer_reference?: string
          }
          const phoneNumber = phone_numbers[0]?.phone_number ?? ''
          const index = attachmentSource.findIndex((one) => one.phoneNumber === phoneNumber)
          if (index < 0) return error(422, '85001', `${phoneNumber} is not available`)
          attachmentSource.splice(index, 1)
          purchases++
          const one: NumberOrder = { id: randomUUID(), status: 'pending', customer_reference, phone_number: phoneNumber, looks: 0 }
          orders.push(one)
          return { status: 200, body: { data: shownOrder(one) } }
        },
      },
      {
        method: 'GET',
        name: 'orders',
        pattern: /^\/v2\/number_orders$/,
        run: ({ query }) => {
          const reference = query.get('filter[customer_reference]')
          if (hiddenLists > 0) {
            hiddenLists--
            return list([], query)
          }
          return list(
            orders.filter((one) => reference === null || one.customer_reference === reference).map((one) => shownOrder(lookAtOrder(one))),
            query,
          )
        },
      },
      {
        method: 'GET',
        name: 'find',
        pattern: /^\/v2\/phone_numbers$/,
        run: ({ query }) => {
          const wanted = query.get('filter[phone_number]')
          return list(owned.filter((one) => wanted === null || one.phone_number === wanted).map(shownNumber), query)
        },
      },
      {
        method: 'GET',
        name: 'number',
        pattern: /^\/v2\/phone_numbers\/(\d+)$/,
        run: (_call, id) => {
          const one = owned.find((each) => each.id === id)
          return one ? { status: 200, body: { data: shownNumber(lookAtNumber(one)) } } : notFound()
        },
      },
      {
        method: 'DELETE',
        name: 'release',
        pattern: /^\/v2\/phone_numbers\/(\d+)$/,
        run: (_call, id) => {
          const index = owned.findIndex((each) => each.id === id)
          if (index < 0) return notFound()
          const [one] = owned.splice(index, 1)
          return { status: 200, body: { data: { ...shownNumber(one as Owned), status: 'deleted' } } }
        },
      },
      {
        method: 'GET',
        name: 'messaging',
        pattern: /^\/v2\/phone_numbers\/(\d+)\/messaging$/,
        run: (_call, id) => {
          const one = owned.find((each) => each.id === id)
          return one
            ? { status: 200, body: { data: { id, phone_number: one.phone_number, messaging_profile_id: one.messaging_profile_id } } }
            : notFound()
        },
      },
      {
        method: 'PATCH',
        name: 'route',
        pattern: /^\/v2\/phone_numbers\/(\d+)\/messaging$/,
        run: ({ body }, id) => {
          const one = owned.find((each) => each.id === id)
          if (!one) return notFound()
          one.messaging_profile_id = (json(body) as { messaging_profile_id?: string }).messaging_profile_id ?? null
          return { status: 200, body: { data: { id, phone_number: one.phone_number, messaging_profile_id: one.messaging_profile_id } } }
        },
      },
      {
        method: 'GET',
        name: 'profile',
        pattern: /^\/v2\/messaging_profiles\/([\w-]+)$/,
        run: (_call, id) => (id === messagingProfileId ? { status: 200, body: { data: profile } } : notFound()),
      },
      {
        method: 'PATCH',
        name: 'route-profile',
        pattern: /^\/v2\/messaging_profiles\/([\w-]+)$/,
        run: ({ body }, id) => {
          if (id !== messagingProfileId) return notFound()
          Object.assign(profile, json(body))
          return { status: 200, body: { data: profile } }
        },
      },
      {
        method: 'GET',
        name: 'list',
        pattern: /^\/v2\/detail_records$/,
        run: ({ query }) => {
          if (query.get('filter[record_type]') !== 'messaging') return error(400, '10015', 'filter[record_type] is required')
          const since = new Date(query.get('filter[created_at][gte]') ?? 0)
          const records = sent
            .filter((one) => one.at >= since)
            .map((one) => ({
              record_type: 'messaging',
              uuid: one.id,
              direction: 'inbound',
              cli: one.from,
              cld: one.to,
              created_at: one.at.toISOString(),
              message_type: one.media.length > 0 ? 'MMS' : 'SMS',
              status: 'received',
            }))
          return list(records, query)
        },
      },
      {
        method: 'GET',
        name: 'message',
        pattern: /^\/v2\/messages\/([\w-]+)$/,
        run: (_call, id) => {
          const one = sent.find((each) => each.id === id)
          return one ? { status: 200, body: { data: messageOf(one) } } : notFound()
        },
      },
      {
        method: 'GET',
        name: 'media',
        pattern: /^(\/media\/.*)$/,
        run: (_call, path) => {
          const media = sent.flatMap((one) => one.media).find((one) => one.path === path)
          return media ? { status: 200, body: media.bytes, type: media.contentType } : notFound()
        },
      },
    ],
    (call) =>
      call.headers.authorization === `Bearer ${apiKey}` || call.path.startsWith('/media/')
        ? null
        : error(401, '10009', 'Authentication failed'),
  )

  /** Signs a body as Telnyx does, at a time in seconds. */
  function signed(body: string, seconds = Math.floor(Date.now() / 1000)): Record<string, string> {
    const signature = sign(null, Buffer.from(`${seconds}|${body}`), privateKey).toString('base64')
    return { 'content-type': 'application/json', 'telnyx-timestamp': String(seconds), 'telnyx-signature-ed25519': signature }
  }

  /** Sends a text from outside. Returns the body that Telnyx would post to the profile's address. */
  function write(to: string, { from, text, media = [] }: OutsideText) {
    const one: Sent = { id: randomUUID(), from, to, text, at: new Date(), media }
    sent.push(one)
    const event = {
      data: {
        event_type: 'message.received',
        id: randomUUID(),
        occurred_at: one.at.toISOString(),
        record_type: 'event',
        payload: messageOf(one),
      },
      meta: { attempt: 1, delivered_to: profile.webhook_url },
    }
    const body = JSON.stringify(event)
    const url = profile.webhook_url
    const headers = signed(body)
    return { url, headers, body, post: (changed = body, more = {}) => postCallback(url, { ...headers, ...more }, changed) }
  }

  return {
    ...server,
    apiKey,
    publicKeyBase64,
    messagingProfileId,
    signed,
    write,
    profile,
    settings: {
      CALLSIGN_PHONE_PROVIDER: 'telnyx',
      CALLSIGN_TELNYX_API_KEY: apiKey,
      CALLSIGN_TELNYX_PUBLIC_KEY: publicKeyBase64,
      CALLSIGN_TELNYX_MESSAGING_PROFILE_ID: messagingProfileId,
      CALLSIGN_TELNYX_API_URL: server.url,
    },
    /** Paid numbers, including those of orders in flight. */
    owned: () => [
      ...owned.map((one) => one.phone_number),
      ...orders.filter((one) => one.status === 'pending').map((one) => one.phone_number),
    ],
    purchases: () => purchases,
    /** Sells the first `count` numbers of the next search to another customer before they can be ordered. */
    sellAfterSearch: (count: number) => {
      soldAfterSearch = count
    },
    /** Leaves the next `count` lists of orders empty, as a list does that lags behind. */
    hideOrders: (count: number) => {
      hiddenLists = count
    },
  }
}

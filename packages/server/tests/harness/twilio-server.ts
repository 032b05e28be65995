// A stand-in for Twilio's REST API of 2010-04-01, with numbers, messages, media, and callbacks signed by the vendor's own function.
import { randomBytes } from 'node:crypto'
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js'
import { type ForSale, type OutsideText, postCallback, type SupplierReply, startSupplierServer, stock } from './supplier-server.ts'

type Owned = { sid: string; phone_number: string; friendly_name: string; sms_url: string; sms_method: string }
type Sent = {
  sid: string
  from: string
  to: string
  text: string
  at: Date
  media: { sid: string; contentType: string; bytes: Buffer; isLocked: boolean }[]
}

export type TwilioServer = Awaited<ReturnType<typeof startTwilioServer>>

const hex = (prefix: string) => prefix + randomBytes(16).toString('hex')

export async function startTwilioServer() {
  const accountSid = hex('AC')
  const authToken = randomBytes(16).toString('hex')
  const basic = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`
  const attachmentSource: ForSale[] = [...stock]
  const owned: Owned[] = []
  const sent: Sent[] = []
  let purchases = 0
  let soldAfterSearch = 0
  const sell = (phoneNumber: string) => {
    const index = attachmentSource.findIndex((one) => one.phoneNumber === phoneNumber)
    if (index >= 0) attachmentSource.splice(index, 1)
  }

  const account = `/2010-04-01/Accounts/${accountSid}`
  const at = (path: string) => new RegExp(`^${account}/${path}$`)
  const form = (body: Buffer) => new URLSearchParams(body.toString())
  const error = (status: number, code: number, message: string): SupplierReply => ({
    status,
    body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
  })
  const notFound = () => error(404, 20404, 'The requested resource was not found')
  const shown = (one: Owned) => ({
    ...one,
    account_sid: accountSid,
    capabilities: { voice: true, sms: true, mms: true, fax: false },
    status: 'in-use',
    api_version: '2010-04-01',
    date_created: 'Mon, 15 Jun 2026 15:38:00 +0000',
    date_updated: 'Mon, 15 Jun 2026 15:38:00 +0000',
    uri: `${account}/IncomingPhoneNumbers/${one.sid}.json`,
  })
  const page = (name: string, items: unknown[], more: object = {}) => ({
    status: 200,
    body: { [name]: items, page: 0, page_size: 50, start: 0, end: items.length, uri: account, next_page_uri: null, ...more },
  })
  const pageSize = 2

  const server = await startSupplierServer(
    [
      {
        method: 'GET',
        name: 'search',
        pattern: at('AvailablePhoneNumbers/(\\w+)/(Local|TollFree)\\.json'),
        run: ({ query }, country, kind) => {
          const found = attachmentSource.filter(
            (one) =>
              (kind === 'TollFree' || one.country === country) &&
              one.type === (kind === 'Local' ? 'local' : 'toll_free') &&
              (!query.get('AreaCode') || one.phoneNumber.slice(2, 5) === query.get('AreaCode')) &&
              (!query.get('InRegion') || one.region === query.get('InRegion')),
          )
          for (; soldAfterSearch > 0 && found.length > 0; soldAfterSearch--) sell(found[soldAfterSearch - 1]?.phoneNumber ?? '')
          const numbers = found.slice(0, Number(query.get('PageSize') ?? 50)).map((one) => ({
            friendly_name: one.phoneNumber,
            phone_number: one.phoneNumber,
            region: one.region,
            iso_country: one.country,
            capabilities: { voice: true, SMS: true, MMS: true },
          }))
          return page('available_phone_numbers', numbers)
        },
      },
      {
        method: 'POST',
        name: 'order',
        pattern: at('IncomingPhoneNumbers\\.json'),
        run: ({ body }) => {
          const fields = form(body)
          const phoneNumber = fields.get('PhoneNumber') ?? ''
          const index = attachmentSource.findIndex((one) => one.phoneNumber === phoneNumber)
          if (index < 0) return error(400, 21422, `${phoneNumber} is not available`)
          attachmentSource.splice(index, 1)
          purchases++
          const one: Owned = {
            sid: hex('PN'),
            phone_number: phoneNumber,
            friendly_name: fields.get('FriendlyName') ?? phoneNumber,
            sms_url: fields.get('SmsUrl') ?? '',
            sms_method: fields.get('SmsMethod') ?? 'POST',
          }
          owned.push(one)
          return { status: 201, body: shown(one) }
        },
      },
      {
        method: 'GET',
        name: 'find',
        pattern: at('IncomingPhoneNumbers\\.json'),
        run: ({ query }) =>
          page(
            'incoming_phone_numbers',
            owned.filter((one) => !query.get('PhoneNumber') || one.phone_number === query.get('PhoneNumber')).map(shown),
          ),
      },
      {
        method: 'GET',
        name: 'number',
        pattern: at('IncomingPhoneNumbers/(\\w+)\\.json'),
        run: (_call, sid) => {
          const one = owned.find((each) => each.sid === sid)
          return one ? { status: 200, body: shown(one) } : notFound()
        },
      },
      {
        method: 'POST',
        name: 'route',
        pattern: at('IncomingPhoneNumbers/(\\w+)\\.json'),
        run: ({ body }, sid) => {
          const one = owned.find((each) => each.sid === sid)
          if (!one) return notFound()
          one.sms_url = form(body).get('SmsUrl') ?? one.sms_url
          return { status: 200, body: shown(one) }
        },
      },
      {
        method: 'DELETE',
        name: 'release',
        pattern: at('IncomingPhoneNumbers/(\\w+)\\.json'),
        run: (_call, sid) => {
          const index = owned.findIndex((each) => each.sid === sid)
          if (index < 0) return notFound()
          owned.splice(index, 1)
          return { status: 204 }
        },
      },
      {
        method: 'GET',
        name: 'list',
        pattern: at('Messages\\.json'),
        run: ({ query }) => {
          const since = query.get('DateSent>')
          const from = Number(query.get('Page') ?? 0) * pageSize
          const all = sent.filter((one) => !since || one.at >= new Date(since)).toReversed()
          const items = all.slice(from, from + pageSize).map((one) => ({
            sid: one.sid,
            account_sid: accountSid,
            direction: 'inbound',
            from: one.from,
            to: one.to,
            body: one.text,
            num_media: String(one.media.length),
            status: 'received',
            date_created: one.at.toUTCString().replace('GMT', '+0000'),
            date_sent: one.at.toUTCString().replace('GMT', '+0000'),
          }))
          const next = new URLSearchParams(query)
          next.set('Page', String(Number(query.get('Page') ?? 0) + 1))
          return page('messages', items, { next_page_uri: from + pageSize < all.length ? `${account}/Messages.json?${next}` : null })
        },
      },
      {
        method: 'GET',
        name: 'media-list',
        pattern: at('Messages/(\\w+)/Media\\.json'),
        run: (_call, sid) => {
          const media = sent.find((one) => one.sid === sid)?.media ?? []
          const items = media.map((one) => ({
            sid: one.sid,
            parent_sid: sid,
            account_sid: accountSid,
            content_type: one.contentType,
            uri: `${account}/Messages/${sid}/Media/${one.sid}.json`,
          }))
          return page('media_list', items)
        },
      },
      {
        method: 'GET',
        name: 'media',
        pattern: at('Messages/\\w+/Media/(\\w+)'),
        run: ({ headers }, sid) => {
          const media = sent.flatMap((one) => one.media).find((one) => one.sid === sid)
          if (!media) return notFound()
          if (media.isLocked && headers.authorization !== basic) return error(401, 20003, 'Authenticate')
          return { status: 200, body: media.bytes, type: media.contentType }
        },
      },
    ],
    (call) => (call.headers.authorization === basic || /\/Media\/\w+$/.test(call.path) ? null : error(401, 20003, 'Authenticate')),
  )

  /** The fields of the callback of a text. */
  const fieldsOf = (one: Sent): Record<string, string> => ({
    ToCountry: 'US',
    MessageSid: one.sid,
    SmsSid: one.sid,
    SmsMessageSid: one.sid,
    AccountSid: accountSid,
    From: one.from,
    To: one.to,
    Body: one.text,
    NumMedia: String(one.media.length),
    NumSegments: '1',
    SmsStatus: 'received',
    ApiVersion: '2010-04-01',
    ...Object.fromEntries(
      one.media.flatMap((media, index) => [
        [`MediaUrl${index}`, `${server.url}${account}/Messages/${one.sid}/Media/${media.sid}`],
        [`MediaContentType${index}`, media.contentType],
      ]),
    ),
  })

  /** Sends a text from outside. Returns the form that Twilio would post to the number's address. */
  function write(to: string, { from, text, media = [] }: OutsideText) {
    const one: Sent = {
      sid: hex(media.length > 0 ? 'MM' : 'SM'),
      from,
      to,
      text,
      at: new Date(),
      media: media.map(({ contentType, bytes, isLocked = false }) => ({ sid: hex('ME'), contentType, bytes, isLocked })),
    }
    sent.push(one)
    const url = owned.find((number) => number.phone_number === to)?.sms_url ?? ''
    const fields = fieldsOf(one)
    const signature = getExpectedTwilioSignature(authToken, url, fields)
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature }
    const body = new URLSearchParams(fields).toString()
    return { url, headers, body, post: (changed = body, more = {}) => postCallback(url, { ...headers, ...more }, changed) }
  }

  return {
    ...server,
    accountSid,
    authToken,
    write,
    settings: {
      CALLSIGN_PHONE_PROVIDER: 'twilio',
      CALLSIGN_TWILIO_ACCOUNT_SID: accountSid,
      CALLSIGN_TWILIO_AUTH_TOKEN: authToken,
      CALLSIGN_TWILIO_API_URL: server.url,
    },
    owned: () => owned.map((one) => one.phone_number),
    purchases: () => purchases,
    /** Sells the first `count` numbers of the next search to another customer before they can be ordered. */
    sellAfterSearch: (count: number) => {
      soldAfterSearch = count
    },
  }
}

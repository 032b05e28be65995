// The stand-ins for phone providers, driven by the vendors' own SDKs, so that they match the real APIs as those clients expect. Signatures are
// verified in both directions.
import Telnyx from 'telnyx'
import twilio from 'twilio'
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTelnyx } from '../src/edges/suppliers/telnyx.ts'
import { createTwilio, signTwilio } from '../src/edges/suppliers/twilio.ts'
import { startTelnyxServer, type TelnyxServer } from './harness/telnyx-server.ts'
import { startTwilioServer, type TwilioServer } from './harness/twilio-server.ts'

const callbackUrl = 'https://callsign.example/hooks/phone/x/token'
const text = {
  from: '+16502530000',
  text: "Grüße & 'more' +1 = 2",
  media: [{ path: '/media/a', contentType: 'image/png', bytes: Buffer.from([1]) }],
}
/** Every way to change one byte of a text, a sample of them. */
const tampered = (body: string): string[] =>
  Array.from({ length: 20 }, (_, i) => {
    const at = Math.floor((i * body.length) / 20)
    return `${body.slice(0, at)}${body[at] === 'x' ? 'y' : 'x'}${body.slice(at + 1)}`
  })

describe('Telnyx', () => {
  let server: TelnyxServer
  let client: Telnyx
  beforeAll(async () => {
    server = await startTelnyxServer()
    client = new Telnyx({ apiKey: server.apiKey, baseURL: `${server.url}/v2`, publicKey: server.publicKeyBase64, maxRetries: 0 })
  })
  afterAll(() => server.stop())

  test('the SDK searches, orders, finds, routes, reads messages and releases', async () => {
    const found = await client.availablePhoneNumbers.list({
      filter: { country_code: 'US', phone_number_type: 'local', national_destination_code: '212', features: ['sms', 'mms'], limit: 3 },
    })
    expect(found.data?.map((one) => one.phone_number)).toEqual(['+12125550130', '+12125550131', '+12125550132'])
    const toll = await client.availablePhoneNumbers.list({ filter: { country_code: 'US', phone_number_type: 'toll_free' } })
    expect(toll.data?.[0]?.phone_number).toMatch(/^\+1877/)
    const phoneNumber = '+12125550130'
    const ordered = await client.numberOrders.create({
      phone_numbers: [{ phone_number: phoneNumber }],
      customer_reference: 'pn_key',
      messaging_profile_id: server.messagingProfileId,
    })
    expect(ordered.data).toMatchObject({ status: 'pending', customer_reference: 'pn_key', phone_numbers: [{ phone_number: phoneNumber }] })
    await expect(client.numberOrders.create({ phone_numbers: [{ phone_number: phoneNumber }] })).rejects.toMatchObject({ status: 422 })
    const listOrders = async () => {
      const orders = []
      for await (const one of client.numberOrders.list({ filter: { customer_reference: 'pn_key' } })) orders.push(one.status)
      return orders
    }
    expect([await listOrders(), await listOrders()]).toEqual([['pending'], ['success']])
    const numbers = []
    for await (const one of client.phoneNumbers.list({ filter: { phone_number: phoneNumber } })) numbers.push(one)
    expect(numbers).toMatchObject([{ phone_number: phoneNumber, status: 'purchase-pending', customer_reference: 'pn_key' }])
    const id = numbers[0]?.id as string
    await client.phoneNumbers.retrieve(id)
    expect((await client.phoneNumbers.retrieve(id)).data?.status).toBe('active')
    await client.phoneNumbers.messaging.update(id, { messaging_profile_id: server.messagingProfileId })
    expect((await client.phoneNumbers.messaging.retrieve(id)).data?.messaging_profile_id).toBe(server.messagingProfileId)
    await client.messagingProfiles.update(server.messagingProfileId, { webhook_url: callbackUrl, webhook_api_version: '2' })
    expect((await client.messagingProfiles.retrieve(server.messagingProfileId)).data?.webhook_url).toBe(callbackUrl)

    for (let i = 0; i < 3; i++) server.write(phoneNumber, { from: '+16502530000', text: `text ${i}` })
    const records = []
    for await (const one of client.detailRecords.list({ filter: { record_type: 'messaging', direction: 'inbound' } })) records.push(one)
    expect(records).toHaveLength(3)
    const uuid = (records[1] as { uuid: string }).uuid
    expect((await client.messages.retrieve(uuid)).data).toMatchObject({ id: uuid, text: 'text 1', direction: 'inbound' })
    await expect(client.messages.retrieve('nothing')).rejects.toMatchObject({ status: 404 })
    await client.phoneNumbers.delete(id)
    await expect(client.phoneNumbers.retrieve(id)).rejects.toMatchObject({ status: 404 })
    await expect(
      new Telnyx({ apiKey: 'wrong', baseURL: `${server.url}/v2`, maxRetries: 0 }).phoneNumbers.retrieve(id),
    ).rejects.toMatchObject({ status: 401 })
  })

  test('the server accepts a callback exactly when the SDK does, and both refuse one changed byte', async () => {
    const { publicKeyBase64: publicKey, messagingProfileId } = server
    const ours = createTelnyx({
      apiKey: 'k',
      publicKey,
      messagingProfileId,
      apiUrl: server.url,
      userAgent: 'test',
      callbackUrl: () => callbackUrl,
    })
    const { headers, body } = server.write('+12125550130', text)
    const judge = (changed: string, more = {}) =>
      ours.verifyWebhook({ target: '/', headers: { ...headers, ...more }, body: Buffer.from(changed) }, callbackUrl, Date.now())
    const unwrap = (changed: string, more = {}) => client.webhooks.unwrap(changed, { headers: { ...headers, ...more } })
    expect(judge(body)).toBe('ok')
    expect(await unwrap(body)).toMatchObject({ data: { event_type: 'message.received' } })
    for (const changed of tampered(body)) {
      expect(judge(changed)).toBe('bad_signature')
      await expect(unwrap(changed)).rejects.toThrow()
    }
    const later = { 'telnyx-timestamp': String(Number(headers['telnyx-timestamp']) + 1) }
    expect(judge(body, later)).toBe('bad_signature')
    await expect(unwrap(body, later)).rejects.toThrow()
    for (const signature of ['', 'AAAA', `${headers['telnyx-signature-ed25519']?.slice(0, -4)}AAA=`])
      expect(judge(body, { 'telnyx-signature-ed25519': signature })).toBe('bad_signature')
    for (const seconds of [-3600, 3600]) {
      const old = server.signed(body, Math.floor(Date.now() / 1000) + seconds)
      expect(ours.verifyWebhook({ target: '/', headers: old, body: Buffer.from(body) }, callbackUrl, Date.now())).toBe('too_old')
    }
    expect(ours.parseWebhook({ target: '/', headers, body: Buffer.from(body) })).toMatchObject([
      {
        kind: 'text',
        text: { type: 'mms', from: text.from, to: ['+12125550130'], text: text.text, media: [{ contentType: 'image/png' }] },
      },
    ])
    await ours.close()
  })
})

describe('Twilio', () => {
  let server: TwilioServer
  let client: ReturnType<typeof twilio>
  beforeAll(async () => {
    server = await startTwilioServer()
    const toStandIn = new (class extends twilio.RequestClient {
      // biome-ignore lint/suspicious/noExplicitAny: the SDK's own generic
      override request(options: any): Promise<any> {
        return super.request({ ...options, uri: options.uri.replace('https://api.twilio.com', server.url) })
      }
    })()
    client = twilio(server.accountSid, server.authToken, { httpClient: toStandIn })
  })
  afterAll(() => server.stop())

  test('the SDK searches, buys, finds, routes, lists messages with media, and releases', async () => {
    const found = await client.availablePhoneNumbers('US').local.list({ areaCode: 212, smsEnabled: true, limit: 2 })
    expect(found.map((one) => one.phoneNumber)).toEqual(['+12125550130', '+12125550131'])
    expect((await client.availablePhoneNumbers('CA').local.list({ inRegion: 'ON', limit: 1 }))[0]?.phoneNumber).toMatch(/^\+1416/)
    expect((await client.availablePhoneNumbers('US').tollFree.list({ limit: 1 }))[0]?.phoneNumber).toMatch(/^\+1877/)
    const bought = await client.incomingPhoneNumbers.create({
      phoneNumber: '+12125550130',
      friendlyName: 'callsign key',
      smsUrl: callbackUrl,
    })
    expect(bought).toMatchObject({
      phoneNumber: '+12125550130',
      friendlyName: 'callsign key',
      smsUrl: callbackUrl,
      capabilities: { sms: true },
    })
    await expect(client.incomingPhoneNumbers.create({ phoneNumber: '+12125550130' })).rejects.toMatchObject({ code: 21422, status: 400 })
    expect((await client.incomingPhoneNumbers.list({ phoneNumber: '+12125550130' })).map((one) => one.sid)).toEqual([bought.sid])
    expect((await client.incomingPhoneNumbers(bought.sid).update({ smsUrl: `${callbackUrl}2` })).smsUrl).toBe(`${callbackUrl}2`)
    for (let i = 0; i < 3; i++) server.write('+12125550130', { from: '+16502530000', text: `text ${i}` })
    server.write('+12125550130', text)
    const listed = await client.messages.list({ dateSentAfter: new Date(Date.now() - 86_400_000) })
    expect(listed.map((one) => one.body)).toEqual([text.text, 'text 2', 'text 1', 'text 0'])
    expect(listed[0]).toMatchObject({ direction: 'inbound', numMedia: '1', from: '+16502530000' })
    expect((await client.messages(listed[0]?.sid as string).media.list())[0]).toMatchObject({ contentType: 'image/png' })
    expect(await client.incomingPhoneNumbers(bought.sid).remove()).toBe(true)
    await expect(client.incomingPhoneNumbers(bought.sid).fetch()).rejects.toMatchObject({ status: 404 })
  })

  test('each side accepts callbacks signed by the other, and both refuse one changed byte', async () => {
    const { accountSid, authToken } = server
    const ours = createTwilio({ accountSid, authToken, apiUrl: server.url, userAgent: 'test', callbackUrl: () => callbackUrl })
    const { body, headers } = server.write('+12125550131', text)
    const fields = Object.fromEntries(new URLSearchParams(body))
    for (const url of [callbackUrl, 'https://callsign.example:8443/hooks/x?a=b&c=%20d', 'http://localhost:8080/hooks/x']) {
      const theirs = getExpectedTwilioSignature(authToken, url, fields)
      const mine = signTwilio(authToken, url, [...new URLSearchParams(body)])
      expect(mine).toBe(theirs)
      expect(twilio.validateRequest(authToken, mine, url, fields)).toBe(true)
      const judge = (changed: string, signature = theirs, at = url) =>
        ours.verifyWebhook(
          { target: '/', headers: { ...headers, 'x-twilio-signature': signature }, body: Buffer.from(changed) },
          at,
          Date.now(),
        )
      expect(judge(body)).toBe('ok')
      for (const changed of tampered(body)) {
        const isSame = new URLSearchParams(changed).toString() === body
        expect([changed, judge(changed)]).toEqual([changed, isSame ? 'ok' : 'bad_signature'])
        expect(twilio.validateRequest(authToken, theirs, url, Object.fromEntries(new URLSearchParams(changed)))).toBe(isSame)
      }
      expect(judge(body, theirs, `${url}x`)).toBe('bad_signature')
      for (const signature of ['', theirs.slice(1), theirs.toLowerCase()]) expect(judge(body, signature)).toBe('bad_signature')
    }
    expect(ours.parseWebhook({ target: '/', headers, body: Buffer.from(body) })).toMatchObject([
      {
        kind: 'text',
        text: { type: 'mms', from: text.from, to: ['+12125550131'], text: text.text, media: [{ contentType: 'image/png' }] },
      },
    ])
    await ours.close()
  })
})

// Checks of the fakes, and callbacks in both directions. Linq's own SDK drives the fake of Linq and verifies its signatures. BlueBubbles has no SDK.
import LinqAPIV3 from '@linqapp/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isSignedBy, signCallback } from '../src/edges/suppliers/standard-signature.ts'
import { type BlueBubblesServer, blueBubblesPassword, startBlueBubblesServer } from './harness/bluebubbles-server.ts'
import { png } from './harness/imessage-world.ts'
import { blueBubblesWorld, callbackUrlOf } from './harness/imessage-worlds.ts'
import { type LinqServer, linqKey, startLinqServer } from './harness/linq-server.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

describe('the fake of Linq, driven by @linqapp/sdk', () => {
  let server: LinqServer
  let sdk: LinqAPIV3
  beforeAll(async () => {
    server = await startLinqServer()
    sdk = new LinqAPIV3({ apiKey: linqKey, baseURL: server.url, webhookSecret: server.secret, maxRetries: 0 })
  })
  afterAll(() => server.stop())

  const text = (value: string, key?: string) => ({ parts: [{ type: 'text' as const, value }], ...(key && { idempotency_key: key }) })

  test('lines, chats, messages and their pages', async () => {
    expect((await sdk.phoneNumbers.list()).phone_numbers.map((one) => one.phone_number)).toEqual([server.line])
    const { chat } = await sdk.chats.create({ from: server.line, to: ['+14155550001'], message: text('Hello') })
    expect(chat.message.delivery_status).toBe('queued')
    const sent = await sdk.chats.messages.send(chat.id, { message: text('Again') })
    expect(sent.chat_id).toBe(chat.id)
    const chats = []
    for await (const one of sdk.chats.listChats({ from: server.line, to: '+14155550001' })) chats.push(one.id)
    expect(chats).toEqual([chat.id])
    const ids = []
    for await (const one of sdk.chats.messages.list(chat.id, { limit: 1 })) ids.push(one.id)
    expect(ids).toEqual([sent.message.id, chat.message.id])
  })

  test('one idempotency key makes one message', async () => {
    const { chat } = await sdk.chats.create({ from: server.line, to: ['+14155550002'], message: text('Once', 'key-1') })
    const again = await sdk.chats.create({ from: server.line, to: ['+14155550002'], message: text('Once', 'key-1') })
    expect(again.chat.message.id).toBe(chat.message.id)
    expect(server.sentTo('+14155550002')).toHaveLength(1)
  })

  test('files are uploaded and sent', async () => {
    const upload = await sdk.attachments.create({ filename: 'a.png', content_type: 'image/png', size_bytes: png.length })
    const put = await fetch(upload.upload_url, { method: upload.http_method, headers: upload.required_headers, body: png })
    expect(put.status).toBe(200)
    const parts = [{ type: 'media' as const, attachment_id: upload.attachment_id }]
    await sdk.chats.create({ from: server.line, to: ['+14155550003'], message: { parts } })
    expect(server.sentTo('+14155550003')).toEqual([{ text: '', files: [{ contentType: 'image/png', bytes: png.length }] }])
    expect((await sdk.attachments.retrieve(upload.attachment_id)).status).toBe('complete')
  })

  test('refusals are the errors of the SDK', async () => {
    await expect(sdk.chats.messages.list('nothing').then((page) => page.messages)).rejects.toThrow(LinqAPIV3.NotFoundError)
    const stranger = new LinqAPIV3({ apiKey: 'wrong', baseURL: server.url, maxRetries: 0 })
    await expect(stranger.phoneNumbers.list()).rejects.toThrow(LinqAPIV3.AuthenticationError)
    server.faults.push('error')
    await expect(sdk.chats.create({ from: server.line, to: ['+14155550004'], message: text('x') })).rejects.toThrow(
      LinqAPIV3.RateLimitError,
    )
  })

  describe('signatures', () => {
    const body = JSON.stringify({ event_type: 'message.received', data: { id: 'x' } })
    const secret = () => Buffer.from(server.secret.slice(6), 'base64')
    const ours = (headers: Record<string, string>, bytes = Buffer.from(body), atMs = Date.now()) =>
      isSignedBy(secret(), { headers, body: bytes }, atMs)

    test("the SDK and the server accept the fake's", () => {
      const headers = server.sign(body)
      expect(sdk.webhooks.unwrap(body, { headers })).toEqual(JSON.parse(body))
      expect(ours(headers)).toBe(true)
    })

    test("the SDK accepts the server's", () => {
      const headers = signCallback(secret(), 'msg_1', Math.floor(Date.now() / 1000), Buffer.from(body))
      expect(sdk.webhooks.unwrap(body, { headers })).toEqual(JSON.parse(body))
    })

    test('both refuse one changed byte in body, id, time or signature', () => {
      const headers = server.sign(body)
      const signature = headers['webhook-signature'] as string
      for (let i = 0; i < body.length; i++) {
        const bytes = Buffer.from(body)
        bytes[i] = (bytes[i] as number) ^ 1
        expect(ours(headers, bytes)).toBe(false)
        expect(() => sdk.webhooks.unwrap(bytes.toString('latin1'), { headers })).toThrow()
      }
      const changed = signature.slice(0, 10) + (signature[10] === 'A' ? 'B' : 'A') + signature.slice(11)
      const changes: Record<string, string>[] = [
        { 'webhook-id': `${headers['webhook-id']}x` },
        { 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) },
        { 'webhook-signature': changed },
        { 'webhook-signature': signature.replace('v1,', 'v2,') },
        { 'webhook-signature': '' },
      ]
      for (const more of changes) {
        expect(ours({ ...headers, ...more })).toBe(false)
        expect(() => sdk.webhooks.unwrap(body, { headers: { ...headers, ...more } })).toThrow()
      }
    })

    test('old, future, foreign or missing ones are refused', () => {
      const headers = server.sign(body)
      expect(ours(headers, Buffer.from(body), Date.now() + 301_000)).toBe(false)
      expect(ours(headers, Buffer.from(body), Date.now() - 302_000)).toBe(false)
      expect(isSignedBy(Buffer.alloc(32), { headers, body: Buffer.from(body) }, Date.now())).toBe(false)
      expect(ours({})).toBe(false)
      expect(ours({ ...headers, 'webhook-timestamp': 'NaN' })).toBe(false)
      // One of several, while a secret is being rotated.
      expect(ours({ ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` })).toBe(true)
    })
  })
})

describe('callbacks of Linq', () => {
  let server: LinqServer
  let harness: Harness
  let url: string
  beforeAll(async () => {
    server = await startLinqServer()
    harness = await startHarness({
      CALLSIGN_IMESSAGE_PROVIDER: 'linq',
      CALLSIGN_LINQ_URL: server.url,
      CALLSIGN_LINQ_API_KEY: linqKey,
      CALLSIGN_LINQ_WEBHOOK_SECRET: server.secret,
    })
    await harness.createAgent('sales')
    url = await callbackUrlOf(harness, 'linq')
  })
  afterAll(async () => {
    await harness.stop()
    await server.stop()
  })

  const post = async (to: string, body: string, headers: Record<string, string>) =>
    (await fetch(to, { method: 'POST', headers, body })).status

  test('with a tampered byte are 403, to a guessed address 404, and file nothing', async () => {
    const data = {
      id: 'm-1',
      chat: { id: 'c-1', is_group: false },
      direction: 'inbound',
      sender_handle: { handle: '+14155550009' },
      parts: [{ type: 'text', value: 'connect @sales' }],
      sent_at: new Date().toISOString(),
    }
    const body = JSON.stringify({ event_type: 'message.received', data })
    const headers = server.sign(body)
    expect(await post(url, body.replace('@sales', '@salez'), headers)).toBe(403)
    expect(await post(url, body, { 'content-type': 'application/json' })).toBe(403)
    expect(await post(`${url}x`, body, headers)).toBe(404)
    expect(await post(url.slice(0, -1), body, headers)).toBe(404)
    expect(await post(url.replace('/linq/', '/simulator/'), body, headers)).toBe(404)
    const conversations = async () => (await harness.expectApi(200, 'GET', '/imessage/conversations')).data.length
    expect(await conversations()).toBe(0)
    expect(await post(url, body, headers)).toBe(200)
    expect(await conversations()).toBe(1)
    // Posts a newly signed repeat, which has no effect.
    expect(await post(url, body, server.sign(body))).toBe(200)
    expect(await conversations()).toBe(1)
  })

  test('signed callbacks with an unknown content are accepted, and change nothing', async () => {
    for (const body of [
      '',
      '[]',
      'null',
      '{"event_type":"message.received"}',
      '{"event_type":"message.failed","data":{}}',
      '{"event_type":"chat.created","data":{}}',
      `{"event_type":"message.received","data":{"direction":"inbound","id":"x","sender_handle":{"handle":"no number"}}}`,
    ])
      expect([body, await post(url, body, server.sign(body))]).toEqual([body, 200])
    expect((await harness.expectApi(200, 'GET', '/imessage/messages')).messages).toEqual([])
  })

  test('the simulator is disabled', async () => {
    await harness.expectApi(404, 'POST', '/simulator/imessage', { body: { from: '+14155550009', text: 'x' } })
  })
})

describe('callbacks of BlueBubbles', () => {
  let world: Awaited<ReturnType<typeof blueBubblesWorld>>
  let harness: Harness
  beforeAll(async () => {
    world = await blueBubblesWorld()
    harness = await startHarness({ ...world.settings, CALLSIGN_IMESSAGE_POLL_SECONDS: '3600' })
    await harness.createAgent('sales')
  })
  afterAll(async () => {
    await harness.stop()
    await world.stop()
  })

  test('forged callbacks are not trusted, and the messages that they point to are found at once', async () => {
    const url = await callbackUrlOf(harness, 'bluebubbles')
    const forged = {
      type: 'new-message',
      data: {
        guid: 'FORGED',
        text: 'connect @sales',
        isFromMe: false,
        chats: [{ guid: 'iMessage;-;+14155550777' }],
        handle: { address: '+14155550777' },
        dateCreated: Date.now(),
        attachments: [],
      },
    }
    expect((await fetch(url, { method: 'POST', body: JSON.stringify(forged) })).status).toBe(200)
    // The forged callback makes the next poll due long before the hour. The poll brings the Mac's messages and nothing else.
    await world.write('+14155550778', 'connect @sales')
    const found = await waitFor('the conversation', async () => {
      const { data } = await harness.expectApi(200, 'GET', '/imessage/conversations')
      return data.length > 0 && data
    })
    expect(found.map((one: Json) => one.recipient)).toEqual(['+14155550778'])
  })
})

describe('the fake of BlueBubbles', () => {
  let server: BlueBubblesServer
  beforeAll(async () => {
    server = await startBlueBubblesServer()
  })
  afterAll(() => server.stop())

  // The vendor's client is not on npm, so these checks follow its source.
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(
      `${server.url}/api/v1${path}${path.includes('?') ? '&' : '?'}password=${encodeURIComponent(blueBubblesPassword)}`,
      {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      },
    )
    return { status: response.status, ...((await response.json()) as Json) }
  }

  test('requires the password, a tempGuid and a text', async () => {
    expect((await fetch(`${server.url}/api/v1/webhook?password=no`)).status).toBe(401)
    expect((await ask('POST', '/message/text', { chatGuid: 'iMessage;-;+1', message: 'x' })).status).toBe(400)
    expect((await ask('POST', '/message/text', { chatGuid: 'iMessage;-;+1', tempGuid: 'a', message: '' })).status).toBe(400)
  })

  test('registering an address again keeps its events', async () => {
    await ask('POST', '/webhook', { url: 'http://a.test', events: ['new-message'] })
    await ask('POST', '/webhook', { url: 'http://a.test', events: ['new-message', 'updated-message'] })
    expect((await ask('GET', '/webhook')).data).toMatchObject([{ url: 'http://a.test', events: ['new-message'] }])
  })
})

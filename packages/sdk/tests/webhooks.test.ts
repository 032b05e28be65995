// Webhooks and events through the client, and the verifier against forged input.
import { createHmac } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Receiver, startReceiver } from '../../server/tests/harness/receiver.ts'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { Callsign, InvalidSignature, signWebhook, verifyWebhook } from '../src/index.ts'

let harness: Harness
let client: Callsign
let receiver: Receiver
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
  await harness.createAgent('one')
  client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
  receiver = await startReceiver()
})
afterAll(async () => {
  await harness.stop()
  await receiver.stop()
})

test('every operation on webhooks', async () => {
  const webhook = await client.webhooks.create({ url: receiver.url, events: ['email.sent'] })
  expect((await client.webhooks.list()).data).toHaveLength(1)
  expect((await client.webhooks.get(webhook.id)).url).toBe(receiver.url)
  expect((await client.webhooks.update(webhook.id, { description: 'Mine' })).description).toBe('Mine')
  const rotated = await client.webhooks.rotateSecret(webhook.id)
  expect((await client.webhooks.test(webhook.id)).success).toBe(true)
  const [ping] = receiver.received
  for (const secret of [webhook.secret as string, rotated.secret, ['whsec_'.padEnd(50, 'A'), rotated.secret]])
    expect(await verifyWebhook({ body: String(ping?.body), headers: ping?.headers ?? {} }, secret)).toMatchObject({ type: 'test.ping' })
  await client.mail.send({ agent: 'one', to: ['x@example.com'], subject: 'a', text: 'a' })
  const row = await waitFor(
    'the delivery',
    async () => (await client.webhooks.deliveries(webhook.id, { event_type: 'email.sent', status: 'delivered' })).data[0],
  )
  expect((await client.webhooks.delivery(row.id)).attempts).toHaveLength(1)
  expect((await client.webhooks.replay(row.id)).status).toBe('pending')
  expect((await client.webhooks.replayRange(webhook.id, { since: row.created_at })).replayed).toBe(1)
  expect(await client.webhooks.delete(webhook.id)).toEqual({ id: webhook.id, deleted: true })
})

test('events are listed, and followed across lost connections, each once', async () => {
  const [first] = (await client.events.list({ limit: 1 })).data
  const controller = new AbortController()
  let opened = 0
  // The first connections break off after their first bytes.
  const breaking = new Callsign({
    url: harness.baseUrl,
    apiKey: harness.organizationKey,
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      if (++opened > 3) return response
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      const { value } = await reader.read()
      await reader.cancel()
      return new Response(value, { status: response.status })
    },
  })
  const sent: string[] = []
  for (let i = 0; i < 3; i++) sent.push((await client.mail.send({ agent: 'one', to: ['x@example.com'], subject: `${i}`, text: 'a' })).id)
  const wanted = await waitFor('three more events', async () => {
    const { data } = await client.events.list({ cursor: (first as { id: string }).id, types: 'email.sent' })
    return sent.every((id) => data.some((event) => event.data.id === id)) && data.map(({ id }) => id)
  })
  const got: string[] = []
  for await (const event of breaking.events.follow({
    after: (first as { id: string }).id,
    types: 'email.sent',
    signal: controller.signal,
  })) {
    got.push(event.id)
    if (got.length === wanted.length) controller.abort()
  }
  expect(got).toEqual(wanted)
  expect(opened).toBeGreaterThan(3)
})

test('a stream that breaks before its first event misses none, and names its starting point', async () => {
  const controller = new AbortController()
  const starts: string[] = []
  let opened = 0
  const breaking = new Callsign({
    url: harness.baseUrl,
    apiKey: harness.organizationKey,
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      if (++opened > 1) return response
      // The connection ends once the starting point has arrived, and an event follows before the next one.
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      let text = ''
      while (!/^id: /m.test(text)) text += new TextDecoder().decode((await reader.read()).value)
      await reader.cancel()
      await client.mail.send({ agent: 'one', to: ['x@example.com'], subject: 'In the gap', text: 'a' })
      return new Response(text, { status: response.status })
    },
  })
  const options = { types: 'email.sent', signal: controller.signal, onStart: (after: string) => starts.push(after) }
  for await (const event of breaking.events.follow(options)) {
    expect(event.data).toMatchObject({ subject: 'In the gap' })
    controller.abort()
  }
  expect(opened).toBe(2)
  expect(starts).toHaveLength(1)
  expect((await client.events.list({ cursor: starts[0] as string, types: 'email.sent' })).data).toHaveLength(1)
})

test('events are followed over a WebSocket, and again after it broke', async () => {
  const [first] = (await client.events.list({ limit: 1 })).data
  for (let i = 0; i < 3; i++) await client.mail.send({ agent: 'one', to: ['x@example.com'], subject: `socket ${i}`, text: 'a' })
  const wanted = await waitFor('three more events', async () => {
    const { data } = await client.events.list({ cursor: (first as { id: string }).id, types: 'email.sent' })
    return data.length >= 3 && data.map(({ id }) => id)
  })
  const controller = new AbortController()
  const got: string[] = []
  const Original = globalThis.WebSocket
  let opened = 0
  // Every socket ends after its first event.
  globalThis.WebSocket = class extends Original {
    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given)
      opened++
      this.addEventListener('message', () => this.close())
    }
  }
  try {
    const options = { after: (first as { id: string }).id, types: 'email.sent', transport: 'websocket', signal: controller.signal } as const
    for await (const event of client.events.follow(options)) {
      got.push(event.id)
      if (got.length === wanted.length) controller.abort()
    }
  } finally {
    globalThis.WebSocket = Original
  }
  expect(got).toEqual(wanted)
  expect(opened).toBeGreaterThan(1)
})

test('a WebSocket names its starting point, and a refused one throws the reason', async () => {
  const controller = new AbortController()
  const start = await new Promise<string>((resolve) => {
    const run = async () => {
      for await (const _event of client.events.follow({ transport: 'websocket', signal: controller.signal, onStart: resolve }));
    }
    void run()
  })
  controller.abort()
  expect(start).toMatch(/^evt_/)
  const unknown = client.events.follow({ transport: 'websocket', types: 'unknown.type' })
  await expect(unknown.next()).rejects.toMatchObject({ status: 400 })
})

describe('verifyWebhook', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const body = '{"id":"evt_a","ü":"漢字"}'
  const nowMs = 1_700_000_000_000

  test('accepts its own signatures and those of the standard package', async () => {
    const headers = await signWebhook(secret, 'evt_a', body, nowMs)
    const digest = createHmac('sha256', Buffer.alloc(32, 7)).update(`evt_a.1700000000.${body}`).digest('base64')
    expect(headers).toEqual({ 'webhook-id': 'evt_a', 'webhook-timestamp': '1700000000', 'webhook-signature': `v1,${digest}` })
    expect(new StandardWebhook(secret).sign('evt_a', new Date(nowMs), body)).toBe(headers['webhook-signature'])
    expect(await verifyWebhook({ body, headers: new Headers(headers) }, secret, { nowMs })).toEqual(JSON.parse(body))
    expect(await verifyWebhook({ body: Buffer.from(body), headers }, secret, { nowMs })).toEqual(JSON.parse(body))
  })

  test.each<
    [
      string,
      (headers: Record<string, string>) => {
        headers?: Record<string, string>
        body?: string | Uint8Array
        nowMs?: number
        secret?: string
      },
    ]
  >([
    ['another body', () => ({ body: `${body} ` })],
    ['another id', (headers) => ({ headers: { ...headers, 'webhook-id': 'evt_b' } })],
    ['another time', (headers) => ({ headers: { ...headers, 'webhook-timestamp': '1700000001' } })],
    ['another secret', () => ({ secret: `whsec_${Buffer.alloc(32, 8).toString('base64')}` })],
    ['an old webhook', () => ({ nowMs: nowMs + 301_000 })],
    ['one from the future', () => ({ nowMs: nowMs - 301_000 })],
    ['no signature', ({ 'webhook-signature': _, ...headers }) => ({ headers })],
    [
      'a signature of another scheme',
      (headers) => ({ headers: { ...headers, 'webhook-signature': (headers['webhook-signature'] as string).replace('v1,', 'v2,') } }),
    ],
    ['a signature that is no base64', (headers) => ({ headers: { ...headers, 'webhook-signature': 'v1,%%%' } })],
    ['an empty signature', (headers) => ({ headers: { ...headers, 'webhook-signature': 'v1,' } })],
    ['a time that is none', (headers) => ({ headers: { ...headers, 'webhook-timestamp': '1e9' } })],
    ['a secret that is none', () => ({ secret: 'whsec_%' })],
    ['a secret that is too short', () => ({ secret: 'whsec_AAAA' })],
  ])('%s is an InvalidSignature', async (_name, change) => {
    const headers = await signWebhook(secret, 'evt_a', body, nowMs)
    const changed = { headers, body, nowMs, secret, ...change(headers) }
    await expect(verifyWebhook(changed, changed.secret, { nowMs: changed.nowMs })).rejects.toThrow(InvalidSignature)
  })
})

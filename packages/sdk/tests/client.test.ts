// The client against the real server, resource by resource, and its behaviour on an unreliable connection.
import { operations } from '@callsign/contract'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { ApiError, allItems, Callsign, type Fetch } from '../src/index.ts'
import { createWire } from './wire.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

test('every resource sends only requests of the contract', async () => {
  const { key } = await harness.createOrganization('tour')
  const wire = createWire()
  const client = new Callsign({ url: `${harness.baseUrl}/`, apiKey: key, fetch: wire.fetch })
  expect((await client.me()).organization_name).toBe('tour')

  const identity = await client.identities.create({ agent_handle: 'tour_one', display_name: 'One' })
  await client.identities.create({ agent_handle: 'tour_two' })
  expect((await client.identities.list()).data).toHaveLength(2)
  expect((await client.identities.get('tour_one')).id).toBe(identity.id)
  expect((await client.identities.update('tour_one', { display_name: 'Uno' })).display_name).toBe('Uno')
  expect((await client.mailboxes.list()).data).toHaveLength(2)
  expect((await client.mailboxes.get('tour_two')).email_address).toBe('tour_two@agents.localhost')

  const sent = await client.mail.send({ agent: 'tour_one', to: ['tour_two@agents.localhost'], subject: 'Hi', text: 'Hello there' })
  expect(sent.status).toBe('queued')
  const arrived = await waitFor(
    'the mail to arrive',
    async () => (await client.messages.list('tour_two', { direction: 'inbound' })).data[0],
  )
  expect((await client.messages.get('tour_two', arrived.id)).text.trim()).toBe('Hello there')
  expect(new TextDecoder().decode(await client.messages.raw('tour_two', arrived.id))).toContain('Subject: Hi')
  expect((await client.messages.update('tour_two', arrived.id, { is_read: true })).is_read).toBe(true)
  expect((await client.messages.search('tour_two', { q: 'hello' })).data).toHaveLength(1)
  expect((await client.threads.list('tour_two')).data).toHaveLength(1)
  expect((await client.threads.get('tour_two', arrived.thread_id)).messages).toHaveLength(1)
  await client.messages.reply('tour_two', arrived.id, { text: 'And you' })
  await client.messages.forward('tour_two', arrived.id, { to: 'tour_one@agents.localhost' })
  await client.messages.send('tour_two', { to: ['tour_one@agents.localhost'], subject: 'New', text: 'x' })
  expect((await client.mail.list({ agent: 'tour_two' })).total).toBeGreaterThan(0)
  expect(await client.messages.delete('tour_two', arrived.id)).toEqual({ id: arrived.id, deleted: true })

  const created = await client.keys.create({ name: 'k', type: 'agent', agent_handle: 'tour_one' })
  expect((await client.keys.list()).data.map(({ id }) => id)).toContain(created.id)
  expect((await client.keys.revoke(created.id)).deleted).toBe(true)
  expect((await client.audit.list()).data.length).toBeGreaterThan(0)
  await client.identities.delete('tour_two')

  const known = operations.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replace('/api/v1', '').replace(/\{\w+\}/g, '[^/]+')}$`),
  }))
  for (const { method, path } of wire.sent) {
    expect(
      known.some((one) => one.method === method && one.pattern.test(path)),
      `${method} ${path}`,
    ).toBe(true)
  }
})

test('a list is read page by page', async () => {
  const { key } = await harness.createOrganization('pages')
  const client = new Callsign({ url: harness.baseUrl, apiKey: key })
  for (let i = 0; i < 5; i++) await client.keys.create({ name: `key ${i}`, type: 'organization' })
  const keys = await allItems((cursor) => client.keys.list({ limit: 2, ...(cursor !== undefined && { cursor }) }))
  expect(keys.map(({ name }) => name)).toEqual(['key 4', 'key 3', 'key 2', 'key 1', 'key 0', 'First key'])
  const inCircles = () => Promise.resolve({ data: [1], next_cursor: 'again' })
  await expect(allItems(inCircles)).rejects.toMatchObject({ code: 'reply_unusable' })
})

test('errors carry code, status, request id and details', async () => {
  const client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
  const error = await client.identities.create({ agent_handle: 'NOT A HANDLE' }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({
    status: 400,
    code: 'validation_error',
    requestId: expect.stringMatching(/^req_/),
    details: [{ path: expect.any(String) }],
  })
  await expect(client.identities.get('nobody')).rejects.toMatchObject({ status: 404, code: 'not_found' })
  const stranger = new Callsign({ url: harness.baseUrl, apiKey: 'svc_live_none' })
  await expect(stranger.me()).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
})

describe('on an unreliable connection', () => {
  const answer = (status: number, body: unknown = {}, headers: Record<string, string> = {}) => Response.json(body, { status, headers })
  const failure = (code: string) => ({ error: { code, message: 'A sentence.', request_id: 'req_1' } })

  /** A client with a list of answers, of which the last one repeats, and its recorded requests. */
  function scripted(...answers: (Response | Error)[]) {
    const requests: RequestInit[] = []
    const fetch: Fetch = async (_input, init) => {
      requests.push(init)
      const next = answers[Math.min(requests.length, answers.length) - 1] as Response | Error
      if (next instanceof Error) throw next
      return next.clone()
    }
    return { client: new Callsign({ url: 'http://127.0.0.1:1', apiKey: 'k', fetch }), requests }
  }
  const keyOf = (init: RequestInit) => (init.headers as Record<string, string>)['Idempotency-Key']

  test('reads are retried', async () => {
    const { client, requests } = scripted(answer(503, failure('unavailable')), new TypeError('reset'), answer(200, { data: [] }))
    expect(await client.keys.list()).toEqual({ data: [] })
    expect(requests).toHaveLength(3)
  })

  test('sends are retried under one Idempotency-Key', async () => {
    const { client, requests } = scripted(
      new TypeError('reset'),
      answer(409, failure('idempotency_in_progress')),
      answer(201, { id: 'msg_1' }),
    )
    await client.mail.send({ agent: 'a', to: ['b@c.d'], subject: '', text: '' })
    expect(new Set(requests.map(keyOf)).size).toBe(1)
    expect(keyOf(requests[0]!)).toMatch(/^[0-9a-f]{32}$/)
  })

  test('a change without a key and a caller’s mistake are not retried', async () => {
    const lost = scripted(new TypeError('reset'))
    await expect(lost.client.identities.update('a', { display_name: 'b' })).rejects.toMatchObject({ code: 'connection_failed' })
    expect(lost.requests).toHaveLength(1)
    const wrong = scripted(answer(400, failure('validation_error')))
    await expect(wrong.client.keys.list()).rejects.toMatchObject({ code: 'validation_error' })
    expect(wrong.requests).toHaveLength(1)
  })

  test('it stops after two retries, and leaves a long Retry-After to the caller', async () => {
    const down = scripted(answer(503, failure('unavailable')))
    await expect(down.client.keys.list()).rejects.toMatchObject({ status: 503 })
    expect(down.requests).toHaveLength(3)
    const limited = scripted(answer(429, failure('rate_limited'), { 'retry-after': '900' }))
    await expect(limited.client.keys.list()).rejects.toMatchObject({ status: 429, retryAfterMs: 900_000 })
    expect(limited.requests).toHaveLength(1)
  })

  test('a request times out, and the caller may cancel it', async () => {
    const hanging: Fetch = (_input, { signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    const client = new Callsign({ url: 'http://127.0.0.1:1', apiKey: 'k', fetch: hanging, timeoutMs: 20, retriesMax: 0 })
    await expect(client.me()).rejects.toMatchObject({ code: 'timeout' })
    const ended = client.me({ signal: AbortSignal.abort(new Error('enough')), timeoutMs: 5000 })
    await expect(ended).rejects.toThrow('enough')
  })

  test('a page of another server is rejected, and a path is not rewritten', async () => {
    const { client } = scripted(new Response('<html>', { status: 200 }))
    await expect(client.me()).rejects.toMatchObject({ code: 'reply_unusable' })
    expect(() => client.identities.get('..')).toThrow(TypeError)
    expect(() => new Callsign({ url: 'file:///etc', apiKey: 'k' })).toThrow(TypeError)
    expect(() => new Callsign({ url: 'http://u:p@h', apiKey: 'k' })).toThrow(TypeError)
    expect(() => new Callsign({ url: 'http://h', apiKey: 'k\r\nX: y' })).toThrow(TypeError)
  })
})

describe('address and key from the environment', () => {
  const saved = { url: process.env.CALLSIGN_URL, key: process.env.CALLSIGN_API_KEY }
  const restore = (name: string, value: string | undefined) => {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  afterEach(() => {
    restore('CALLSIGN_URL', saved.url)
    restore('CALLSIGN_API_KEY', saved.key)
  })

  test('are used when the options do not give them', async () => {
    process.env.CALLSIGN_URL = harness.baseUrl
    process.env.CALLSIGN_API_KEY = `${harness.organizationKey}\n`
    expect((await new Callsign().me()).role).toBe('owner')
    await expect(new Callsign({ apiKey: 'svc_live_none' }).me()).rejects.toMatchObject({ status: 401 })
  })

  test.each([
    [{}, 'url (or CALLSIGN_URL) and apiKey (or CALLSIGN_API_KEY) are missing.'],
    [{ url: 'http://localhost:8080' }, 'apiKey (or CALLSIGN_API_KEY) is missing.'],
    [{ apiKey: 'k' }, 'url (or CALLSIGN_URL) is missing.'],
  ])('that are missing beside %j are named', (options, message) => {
    process.env.CALLSIGN_URL = ''
    delete process.env.CALLSIGN_API_KEY
    expect(() => new Callsign(options)).toThrow(message)
  })
})

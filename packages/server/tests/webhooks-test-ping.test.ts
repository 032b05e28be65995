// POST /webhooks/{id}/test, with endpoints that fail in every way.
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Authority, createCertificate } from './harness/certificate.ts'
import { type Receiver, startReceiver } from './harness/receiver.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let authority: Authority
const receivers: Receiver[] = []
const dayMs = 86_400_000

const receive = async (...given: Parameters<typeof startReceiver>): Promise<Receiver> => {
  const receiver = await startReceiver(...given)
  receivers.push(receiver)
  return receiver
}
const subscribe = (url: string): Promise<Json> => harness.expectApi(201, 'POST', '/webhooks', { body: { url, events: ['email.sent'] } })
const ping = (id: string): Promise<Json> => harness.expectApi(200, 'POST', `/webhooks/${id}/test`)

const trusted = getCACertificates('default')
beforeAll(async () => {
  authority = createCertificate({ commonName: 'Authority of pings' })
  setDefaultCACertificates([...trusted, authority.cert])
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
})
afterAll(async () => {
  setDefaultCACertificates(trusted)
  await harness.stop()
  await Promise.all(receivers.map((receiver) => receiver.stop()))
})

test('an endpoint that answers 2xx gives success, its status and a latency, without an error', async () => {
  const receiver = await receive(() => ({ status: 202 }))
  const webhook = await subscribe(receiver.url)
  const result = await ping(webhook.id)
  expect(result).toEqual({
    webhook_id: webhook.id,
    url: receiver.url,
    event_type: 'test.ping',
    status_code: 202,
    latency_ms: expect.any(Number),
    success: true,
    error: null,
  })
  expect(Number.isInteger(result.latency_ms)).toBe(true)
  const [post] = receiver.received
  const payload = new StandardWebhook(webhook.secret).verify(String(post?.body), post?.headers as Record<string, string>)
  expect(payload).toMatchObject({ id: expect.stringMatching(/^evt_/), type: 'test.ping', data: { webhook_id: webhook.id } })
  const { data } = await harness.expectApi(200, 'GET', `/webhooks/${webhook.id}/deliveries?event_type=test.ping`)
  expect(data).toMatchObject([{ event_type: 'test.ping', status: 'delivered', attempt_count: 1, last_status_code: 202 }])
  const detail = await harness.expectApi(200, 'GET', `/webhooks/deliveries/${data[0].id}`)
  expect(detail.event).toEqual(payload)
  const { data: events } = await harness.expectApi(200, 'GET', '/events?types=test.ping')
  expect(events).toContainEqual(payload)
})

test.each([
  [404, 'http_4xx'],
  [500, 'http_5xx'],
  [301, 'http_3xx'],
])('an endpoint that answers %i gives 200 with the failure', async (status, code) => {
  const receiver = await receive(() => ({ status, headers: { location: 'http://127.0.0.1:9/' } }))
  const webhook = await subscribe(receiver.url)
  const result = await ping(webhook.id)
  expect(result).toMatchObject({ status_code: status, success: false })
  expect(result.error).toContain(code)
  expect(receiver.received.length).toBe(1)
})

test('a closed port gives status 0 and the reason', async () => {
  const receiver = await receive()
  await receiver.stop()
  const webhook = await subscribe(receiver.url)
  expect(await ping(webhook.id)).toMatchObject({ status_code: 0, success: false, error: expect.stringContaining('connect_refused') })
})

test('an unknown name gives status 0 and dns', async () => {
  const webhook = await subscribe('http://callsign-test.invalid/')
  expect(await ping(webhook.id)).toMatchObject({ status_code: 0, success: false, error: expect.stringMatching(/^(dns|connect_timeout):/) })
})

test('no answer within ten seconds gives status 0 and timeout', async () => {
  const asked = Promise.withResolvers<void>()
  const receiver = await receive(() => {
    asked.resolve()
    return 'hang'
  })
  const webhook = await subscribe(receiver.url)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  try {
    const pinged = ping(webhook.id)
    await asked.promise
    await vi.advanceTimersByTimeAsync(10_000)
    const result = await pinged
    expect(result).toMatchObject({ status_code: 0, success: false, error: expect.stringContaining('timeout') })
    expect(result.latency_ms).toBe(10_000)
  } finally {
    vi.useRealTimers()
  }
})

test('TLS failures are named', async () => {
  const names = { commonName: 'localhost', dnsNames: ['localhost'] }
  const good = createCertificate({ ...names, issuer: authority })
  const expired = createCertificate({
    ...names,
    issuer: authority,
    notBefore: new Date(Date.now() - 3 * dayMs),
    notAfter: new Date(Date.now() - dayMs),
  })
  const otherHost = createCertificate({ commonName: 'elsewhere.example', dnsNames: ['elsewhere.example'], issuer: authority })
  const untrusted = createCertificate({ ...names, issuer: createCertificate({ commonName: 'Unknown authority' }) })
  const selfSigned = createCertificate(names)
  const pingAt = async (certificate: { cert: string; key: string }) => {
    const receiver = await receive(() => ({ status: 200 }), certificate)
    return ping((await subscribe(`https://localhost:${receiver.port}/`)).id)
  }
  expect(await pingAt(good)).toMatchObject({ status_code: 200, success: true, error: null })
  expect(await pingAt(expired)).toMatchObject({ status_code: 0, success: false, error: expect.stringMatching(/^tls_expired: .*expired/) })
  expect(await pingAt(otherHost)).toMatchObject({
    status_code: 0,
    success: false,
    error: expect.stringMatching(/^tls_hostname: .*another host/),
  })
  for (const certificate of [untrusted, selfSigned])
    expect(await pingAt(certificate)).toMatchObject({
      status_code: 0,
      success: false,
      error: expect.stringMatching(/^tls_untrusted: .*trusted/),
    })
})

test('a ping goes to its own webhook only, also when that is paused, and is never tried again', async () => {
  const [receiver, other] = [await receive(() => ({ status: 500 })), await receive()]
  await harness.expectApi(201, 'POST', '/webhooks', { body: { url: other.url, events: ['*'] } })
  const webhook = await subscribe(receiver.url)
  await harness.expectApi(200, 'PATCH', `/webhooks/${webhook.id}`, { body: { status: 'paused' } })
  await ping(webhook.id)
  const { data } = await harness.expectApi(200, 'GET', `/webhooks/${webhook.id}/deliveries?status=failed`)
  expect(data).toMatchObject([{ status: 'failed', next_attempt_at: null }])
  expect([receiver.received.length, other.received.length]).toEqual([1, 0])
})

test('too many pings of one webhook are 429 with Retry-After', async () => {
  const receiver = await receive()
  const webhook = await subscribe(receiver.url)
  let answer = await harness.api('POST', `/webhooks/${webhook.id}/test`)
  for (let i = 0; i < 100 && answer.status === 200; i++) answer = await harness.api('POST', `/webhooks/${webhook.id}/test`)
  expect([answer.status, answer.body.error.code]).toEqual([429, 'rate_limited'])
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
})

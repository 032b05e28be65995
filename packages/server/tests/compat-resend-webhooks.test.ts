// Webhooks through the SDK of Resend: bodies in its shape, verified by it and by svix, with attempts, replays and rotation.
import type { Resend } from 'resend'
import { Webhook as SvixWebhook } from 'svix'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from './harness/receiver.ts'
import { createResend, dataOf } from './harness/resend-sdk.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let resend: Resend
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', CALLSIGN_WEBHOOK_RETRY_SECONDS: '60' })
  await harness.createAgent('sales')
  await harness.createAgent('support')
  resend = createResend(harness)
})
afterAll(() => harness?.stop())

const send = (subject: string, more: Json = {}) =>
  dataOf(resend.emails.send({ from: 'sales@agents.localhost', to: 'support@agents.localhost', subject, text: 'Hello', ...more } as never))

type Request = { headers: Record<string, string>; body: string }

/** The event of a request, as the SDK reads it. Fails if the signature is wrong for the SDK or for svix. */
function verified({ headers, body }: Request, webhookSecret: string): Json {
  const signed = { id: headers['svix-id'] ?? '', timestamp: headers['svix-timestamp'] ?? '', signature: headers['svix-signature'] ?? '' }
  const event = resend.webhooks.verify({ payload: body, headers: signed, webhookSecret })
  expect(new SvixWebhook(webhookSecret).verify(body, headers)).toEqual(event)
  return event
}

const requestsOf = (received: { headers: object; body: unknown }[]): Request[] =>
  received.map(({ headers, body }) => ({ headers: headers as Record<string, string>, body: String(body) }))

test('bodies have the shape of Resend, and its SDK and svix verify them', async () => {
  const receiver = await startReceiver()
  const created = await dataOf(
    resend.webhooks.create({
      endpoint: receiver.url,
      events: ['email.sent', 'email.delivered', 'email.opened', 'email.bounced', 'email.received', 'domain.updated'],
    }),
  )
  expect(created).toMatchObject({ object: 'webhook', signing_secret: expect.stringMatching(/^whsec_/) })
  expect(await harness.expectApi(200, 'GET', `/webhooks/${created.id}`)).toMatchObject({
    url: receiver.url,
    format: 'resend',
    status: 'active',
    events: ['email.sent', 'email.delivered', 'email.bounced', 'email.received', 'domain.verified', 'domain.failed'],
  })
  const { id } = await send('Order 1042', {
    tags: [{ name: 'kind', value: 'order' }],
    attachments: [{ filename: 'note.txt', content: 'TGluZQ==' }],
  })
  await receiver.waitFor(3)
  const events = requestsOf(receiver.received).map((request) => verified(request, created.signing_secret))
  const received = await harness.waitForMail('support', 'Order 1042')
  const sent = await harness.getMessage('sales', id)
  const email = (of: Json) => ({
    message_id: sent.message_id,
    created_at: of.created_at,
    from: 'sales@agents.localhost',
    to: ['support@agents.localhost'],
    subject: 'Order 1042',
  })
  const [attachment] = received.attachments
  expect(Object.fromEntries(events.map(({ type, data }) => [type, data]))).toEqual({
    'email.sent': { email_id: id, ...email(sent), tags: { kind: 'order' } },
    'email.delivered': { email_id: id, ...email(sent), tags: { kind: 'order' } },
    'email.received': {
      email_id: received.id,
      ...email(received),
      cc: [],
      bcc: [],
      received_for: ['support@agents.localhost'],
      attachments: [
        {
          id: attachment.id,
          filename: 'note.txt',
          content_type: attachment.content_type,
          content_disposition: 'attachment',
          content_id: null,
        },
      ],
    },
  })
  for (const event of events) expect(Object.keys(event)).toEqual(['type', 'created_at', 'data'])
  await dataOf(resend.webhooks.remove(created.id))
  await receiver.stop()
})

test('a bounce has its reason', async () => {
  const receiver = await startReceiver()
  const { id, signing_secret: secret } = await dataOf(resend.webhooks.create({ endpoint: receiver.url, events: ['email.bounced'] }))
  const email = await send('No such agent', { to: 'missing@agents.localhost' })
  await receiver.waitFor(1)
  const [event] = requestsOf(receiver.received).map((request) => verified(request, secret))
  expect(event).toMatchObject({
    type: 'email.bounced',
    data: { email_id: email.id, bounce: { message: expect.stringContaining('550'), type: 'Permanent', subType: 'General' } },
  })
  await dataOf(resend.webhooks.remove(id))
  await receiver.stop()
})

test('events, attempts and replay', async () => {
  let status = 500
  const receiver = await startReceiver(() => ({ status, body: 'Not now' }))
  const { id, signing_secret: secret } = await dataOf(resend.webhooks.create({ endpoint: receiver.url, events: ['email.sent'] }))
  await send('Replay me')
  const event = await waitFor('the first attempt', async () => {
    const { data } = await dataOf(resend.webhooks.events.list({ webhookId: id }))
    return data.find((one) => one.status !== 'pending')
  })
  expect(event).toMatchObject({ type: 'email.sent', status: 'attempting', created_at: expect.any(String) })
  const shown = await dataOf(resend.webhooks.events.get({ webhookId: id, eventId: event.id }))
  expect(shown).toMatchObject({ object: 'webhook_event', id: event.id, next_attempt_at: expect.any(String) })
  expect(shown.payload).toEqual(verified(requestsOf(receiver.received)[0] as Request, secret))
  const attempts = await dataOf(resend.webhooks.events.attempts.list({ webhookId: id, eventId: event.id }))
  expect(attempts.data).toMatchObject([{ http_status_code: 500, response: 'Not now', sent_at: expect.any(String) }])

  status = 200
  expect(await dataOf(resend.webhooks.events.replay({ webhookId: id, eventId: event.id }))).toEqual({
    object: 'webhook_event',
    id: event.id,
  })
  await receiver.waitFor(2)
  const [first, second] = requestsOf(receiver.received) as [Request, Request]
  expect([second.headers['svix-id'], second.body]).toEqual([first.headers['svix-id'], first.body])
  await waitFor(
    'the delivery',
    async () => (await harness.expectApi(200, 'GET', `/webhooks/deliveries/${event.id}`)).status === 'delivered',
  )
  expect((await dataOf(resend.webhooks.events.get({ webhookId: id, eventId: event.id }))).status).toBe('success')

  const other = await dataOf(resend.webhooks.create({ endpoint: receiver.url, events: ['email.sent'] }))
  for (const wrong of [
    { webhookId: other.id, eventId: event.id },
    { webhookId: id, eventId: 'msg_2xyz' },
  ])
    expect((await resend.webhooks.events.get(wrong)).error).toMatchObject({ name: 'not_found', statusCode: 404 })
  for (const one of [id, other.id]) await dataOf(resend.webhooks.remove(one))
  await receiver.stop()
})

test('rotation signs with both secrets', async () => {
  const receiver = await startReceiver()
  const { id, signing_secret: old } = await dataOf(resend.webhooks.create({ endpoint: receiver.url, events: ['email.delivered'] }))
  const { signing_secret: renewed } = await dataOf(resend.webhooks.rotateSigningSecret(id))
  expect(renewed).not.toBe(old)
  await send('Rotated')
  await receiver.waitFor(1)
  const [request] = requestsOf(receiver.received) as [Request]
  for (const secret of [old, renewed]) verified(request, secret)
  expect(() => verified({ ...request, body: request.body.replace('Rotated', 'Evil') }, renewed)).toThrow()
  await dataOf(resend.webhooks.remove(id))
  await receiver.stop()
})

test('webhooks are listed, changed and removed', async () => {
  const endpoint = 'https://example.com/hooks'
  const { id } = await dataOf(resend.webhooks.create({ endpoint, events: ['email.received', 'contact.created'] }))
  expect((await dataOf(resend.webhooks.list())).data).toMatchObject([{ id, endpoint, status: 'enabled', events: ['email.received'] }])
  await dataOf(resend.webhooks.update(id, { endpoint: `${endpoint}/2`, events: ['email.complained', 'email.failed'], status: 'disabled' }))
  expect(await harness.expectApi(200, 'GET', `/webhooks/${id}`)).toMatchObject({
    url: `${endpoint}/2`,
    events: ['email.complained', 'email.failed'],
    status: 'paused',
  })
  expect(await dataOf(resend.webhooks.get(id))).toMatchObject({ object: 'webhook', id, status: 'disabled', signing_secret: '' })
  await dataOf(resend.webhooks.update(id, { status: 'enabled' }))
  expect((await dataOf(resend.webhooks.get(id))).status).toBe('enabled')
  expect(await dataOf(resend.webhooks.remove(id))).toEqual({ object: 'webhook', id, deleted: true })
  expect((await harness.api('GET', `/webhooks/${id}`)).status).toBe(404)
})

test.each([
  [{ endpoint: 'https://example.com', events: ['email.opened', 'contact.created'] }, 501, 'application_error'],
  [{ endpoint: 'https://example.com', events: ['email.unknown', 'nothing'] }, 422, 'validation_error'],
  [{ endpoint: 'https://example.com' }, 422, 'missing_required_field'],
  [{ events: ['email.sent'] }, 422, 'missing_required_field'],
  [{ endpoint: 'http://169.254.169.254/', events: ['email.sent'] }, 422, 'validation_error'],
])('refuses %o', async (webhook, statusCode, name) => {
  expect((await resend.webhooks.create(webhook as never)).error).toMatchObject({ statusCode, name, message: expect.stringMatching(/\w/) })
})

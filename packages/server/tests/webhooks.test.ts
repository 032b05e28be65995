// Webhooks end to end: subscriptions with every field and operation, signatures, retries, dead letters, replays, disabling, the log.
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startReceiver, type Receiver } from './stage/receiver.ts'
import { type Json, type Stage, startStage } from './stage/start.ts'
import { waitFor } from './stage/wait.ts'

let stage: Stage
const receivers: Receiver[] = []

const receive = async (...given: Parameters<typeof startReceiver>): Promise<Receiver> => {
  const receiver = await startReceiver(...given)
  receivers.push(receiver)
  return receiver
}
const subscribe = (url: string, more: Record<string, unknown> = {}): Promise<Json> =>
  stage.expectApi(201, 'POST', '/webhooks', { body: { url, events: ['*'], ...more } })
const deliveriesOf = async (id: string, query = ''): Promise<Json[]> => (await stage.expectApi(200, 'GET', `/webhooks/${id}/deliveries${query}`)).data
const remove = (id: string) => stage.expectApi(200, 'DELETE', `/webhooks/${id}`)

beforeAll(async () => {
  stage = await startStage({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', CALLSIGN_WEBHOOK_RETRY_SECONDS: '0.05,0.1,0.1' })
  for (const handle of ['one', 'two']) await stage.createAgent(handle)
})
afterAll(async () => {
  await stage.stop()
  await Promise.all(receivers.map((receiver) => receiver.stop()))
})

describe('delivery', () => {
  test('mail between agents arrives as signed events with the whole message', async () => {
    const receiver = await receive()
    const webhook = await subscribe(receiver.url, { events: ['email.received', 'email.delivered'] })
    const sent = await stage.send('one', 'two@agents.localhost', { subject: 'Event me', text: 'The text', html: '<p>The text</p>' })
    await receiver.waitFor(2)
    const payloads = receiver.payloads()
    expect(payloads.map((payload) => payload.type).sort()).toEqual(['email.delivered', 'email.received'])
    const inbound = payloads.find((payload) => payload.type === 'email.received')
    expect(inbound).toMatchObject({
      id: expect.stringMatching(/^evt_[0-7][0-9a-z]{25}$/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: {
        id: expect.stringMatching(/^msg_/),
        agent_handle: 'two',
        direction: 'inbound',
        status: 'received',
        subject: 'Event me',
        html: '<p>The text</p>',
        truncated: false,
      },
    })
    expect(Object.keys(inbound)).toEqual(['id', 'type', 'timestamp', 'data'])
    expect(payloads.find((payload) => payload.type === 'email.delivered').data).toMatchObject({ id: sent.id, status: 'delivered' })
    for (const { headers, body } of receiver.received) {
      expect(headers['content-type']).toBe('application/json')
      const text = body.toString()
      const given = headers as Record<string, string>
      expect(new StandardWebhook(webhook.secret).verify(text, given)).toEqual(JSON.parse(text))
      expect(new SvixWebhook(webhook.secret).verify(text, given)).toEqual(JSON.parse(text))
      expect(() => new StandardWebhook(webhook.secret).verify(text.replace('Event', 'Evil!'), given)).toThrow()
      expect(headers['webhook-id']).toBe(JSON.parse(text).id)
    }
    const log = await waitFor('two deliveries in the log', async () => {
      const rows = await deliveriesOf(webhook.id, '?status=delivered')
      return rows.length === 2 && rows
    })
    expect(log[0]).toMatchObject({ webhook_id: webhook.id, status: 'delivered', attempt_count: 1, last_status_code: 200, last_error_code: null, next_attempt_at: null })
    await remove(webhook.id)
  })
})

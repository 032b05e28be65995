// Checks of webhooks, of the account and of an inbox, with bodies that svix verifies and the SDK parses.
import { serialization } from 'agentmail'
import { Webhook as SvixWebhook } from 'svix'
import { expect } from 'vitest'
import { startReceiver } from '../receiver.ts'
import type { Json } from '../start.ts'
import type { Check, Context } from './context.ts'
import { inAccountAndPod, type Scoped, within } from './scopes.ts'

// biome-ignore lint/suspicious/noExplicitAny: the SDK types each scope on its own
type Api = any

const url = 'https://hooks.example.com/in'

/** Checks of webhooks. `hooksOf` has the methods with the parameters that they have in the account. */
const checksOf = (hooksOf: (api: Api, address: string) => Api): Scoped => ({
  async create(context, api) {
    const { harness } = context
    const { handle, address } = await context.createInbox()
    const receiver = await startReceiver()
    const hook = await hooksOf(api, address).create({
      url: receiver.url,
      eventTypes: ['message.received', 'message.opened'],
      headers: { 'x-own': '1' },
    })
    expect(hook).toMatchObject({ enabled: true, eventTypes: ['message.received'], secret: expect.stringMatching(/^whsec_/) })
    expect(await harness.expectApi(200, 'GET', `/webhooks/${hook.webhookId}`)).toMatchObject({
      format: 'agentmail',
      events: ['email.received'],
      header_names: ['x-own'],
    })
    const message = await context.receive(handle, 'To the hook', { attachments: [{ filename: 'a.txt', content: 'File' }] })
    const [request] = (await receiver.waitFor(1)) as Json[]
    const headers = request.headers as Record<string, string>
    expect(headers['x-own']).toBe('1')
    const body = new SvixWebhook(hook.secret).verify(request.body.toString(), headers) as Json
    const event = await serialization.events.MessageReceivedEvent.parse(body)
    if (!event.ok) throw new Error(JSON.stringify(event.errors))
    expect(event.value).toMatchObject({
      eventType: 'message.received',
      message: {
        inboxId: address,
        messageId: message.id,
        from: 'Eve <eve@example.org>',
        labels: ['received', 'unread'],
        attachments: [{ filename: 'a.txt', size: 4 }],
      },
      thread: { threadId: message.thread_id, messageCount: 1, senders: ['eve@example.org'] },
    })
    await hooksOf(api, address).delete(hook.webhookId)
    await receiver.stop()
    await expect(hooksOf(api, address).create({ url, eventTypes: ['message.opened'] })).rejects.toMatchObject({ statusCode: 501 })
    await expect(hooksOf(api, address).create({ url: 'ftp://x.example', eventTypes: ['message.sent'] })).rejects.toMatchObject({
      statusCode: 400,
    })
  },

  async list(context, api) {
    const { address } = await context.createInbox()
    const hooks = hooksOf(api, address)
    const ids = [await hooks.create({ url, eventTypes: ['message.sent'] }), await hooks.create({ url, eventTypes: ['message.sent'] })]
      .map(({ webhookId }) => webhookId)
      .toReversed()
    const first = await hooks.list({ limit: 1 })
    const next = await hooks.list({ limit: 1, pageToken: first.nextPageToken })
    expect([...first.webhooks, ...next.webhooks].map(({ webhookId }) => webhookId)).toEqual(ids)
    expect((await context.harness.expectApi(200, 'GET', '/webhooks?limit=2')).data.map(({ id }: Json) => id)).toEqual(ids)
  },

  async get(context, api) {
    const { address } = await context.createInbox()
    const hooks = hooksOf(api, address)
    const { webhookId } = await hooks.create({ url, eventTypes: ['message.sent'], clientId: crypto.randomUUID() })
    await context.harness.expectApi(200, 'PATCH', `/webhooks/${webhookId}`, { body: { status: 'paused' } })
    expect(await hooks.get(webhookId)).toMatchObject({ webhookId, url, enabled: false, secret: '', clientId: expect.any(String) })
    await expect(hooks.get('whk_unknown')).rejects.toMatchObject({ statusCode: 404 })
  },

  async update(context, api) {
    const { address } = await context.createInbox()
    const hooks = hooksOf(api, address)
    const { webhookId } = await hooks.create({ url, eventTypes: ['message.sent'] })
    await hooks.update(webhookId, { eventTypes: ['message.bounced', 'message.received.blocked'] })
    const { events } = await context.harness.expectApi(200, 'GET', `/webhooks/${webhookId}`)
    expect(events).toEqual(['email.bounced', 'email.quarantined'])
    await expect(hooks.update(webhookId, { eventTypes: ['message.unknown'] })).rejects.toBeDefined()
  },

  async getHeaders(context, api) {
    const { address } = await context.createInbox()
    const hooks = hooksOf(api, address)
    const { webhookId } = await hooks.create({ url, eventTypes: ['message.sent'], headers: { Authorization: 'Bearer x' } })
    expect(await hooks.getHeaders(webhookId)).toMatchObject({ headerNames: ['authorization'] })
  },

  async updateHeaders(context, api) {
    const { address } = await context.createInbox()
    const hooks = hooksOf(api, address)
    const { webhookId } = await hooks.create({ url, eventTypes: ['message.sent'], headers: { 'X-A': '1', 'X-B': '2' } })
    await hooks.updateHeaders(webhookId, { headers: { 'X-C': '3', 'X-A': '4' }, removeHeaders: ['x-b'] })
    expect((await context.harness.expectApi(200, 'GET', `/webhooks/${webhookId}`)).header_names).toEqual(['x-a', 'x-c'])
    await expect(hooks.updateHeaders(webhookId, { removeHeaders: ['x-a'] })).rejects.toMatchObject({ statusCode: 501 })
    await hooks.updateHeaders(webhookId, { removeHeaders: ['x-a', 'x-c'] })
    expect((await context.harness.expectApi(200, 'GET', `/webhooks/${webhookId}`)).header_names).toEqual([])
  },

  async delete(context, api) {
    const { address } = await context.createInbox()
    const hooks = hooksOf(api, address)
    const { webhookId } = await hooks.create({ url, eventTypes: ['message.sent'] })
    await hooks.delete(webhookId)
    expect((await context.harness.api('GET', `/webhooks/${webhookId}`)).status).toBe(404)
  },
})

/** The other events, and a webhook for some inboxes. */
export async function checkFilteredWebhook(context: Context): Promise<void> {
  const { client, harness } = context
  const [one, two, other] = [await context.createInbox(), await context.createInbox(), await context.createInbox()]
  const receiver = await startReceiver()
  const eventTypes = ['message.sent', 'message.delivered', 'message.received.blocked'] as const
  const hook = await client.webhooks.create({ url: receiver.url, eventTypes: [...eventTypes], inboxIds: [one.address] })
  expect(hook.inboxIds).toEqual([one.address])
  await client.webhooks.update(hook.webhookId, { addInboxIds: [two.address], removeInboxIds: [one.address] })
  expect((await harness.expectApi(200, 'GET', `/webhooks/${hook.webhookId}`)).agent_handles).toEqual([two.handle])
  await expect(client.webhooks.update(hook.webhookId, { removeInboxIds: [two.address] })).rejects.toMatchObject({ statusCode: 400 })
  await harness.send(one.handle, other.address, { subject: 'Not for the hook' })
  const sent = await harness.send(two.handle, other.address, { subject: 'For the hook' })
  await harness.expectApi(201, 'POST', `/identities/${two.handle}/mail-rules`, {
    body: { direction: 'inbound', action: 'block', entry: 'blocked.example' },
  })
  await receiver.waitFor(2)
  await harness.deliver({ from: 'm@blocked.example', to: two.address, subject: 'Blocked', text: 'Blocked' })
  await receiver.waitFor(3)
  const [held] = receiver.payloads().filter(({ event_type }) => event_type === 'message.received.blocked')
  const blocked = await serialization.events.MessageReceivedEvent.parse(held)
  expect(blocked).toMatchObject({ ok: true, value: { message: { inboxId: two.address, labels: ['received', 'unread', 'blocked'] } } })
  const parsed = { 'message.sent': serialization.events.MessageSentEvent, 'message.delivered': serialization.events.MessageDeliveredEvent }
  for (const [type, shape] of Object.entries(parsed)) {
    const [body] = receiver.payloads().filter(({ event_type }) => event_type === type)
    expect(await shape.parse(body)).toMatchObject({ ok: true })
    expect(body.send ?? body.delivery).toMatchObject({ inbox_id: two.address, message_id: sent.id, recipients: [other.address] })
  }
  expect(receiver.received).toHaveLength(3)
  await client.webhooks.delete(hook.webhookId)
  await receiver.stop()
}

export const webhookChecks: Record<string, Check> = {
  ...inAccountAndPod(
    'webhooks',
    checksOf((api) => api.webhooks),
  ),
  ...within('inboxes.webhooks.', checksOf, (api) => api.inboxes.webhooks),
}

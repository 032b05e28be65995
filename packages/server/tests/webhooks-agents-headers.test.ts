// Webhooks of several agents, with custom headers, and signed under both families of header names.
import { Webhook } from 'svix'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Receiver, startReceiver } from './harness/receiver.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let receiver: Receiver
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
  for (const handle of ['one', 'two', 'three']) await harness.createAgent(handle)
})
afterAll(() => harness?.stop())
beforeEach(async () => {
  receiver = await startReceiver()
  return () => receiver.stop()
})

const create = (body: object = {}): Promise<Json> =>
  harness.expectApi(201, 'POST', '/webhooks', { body: { url: receiver.url, events: ['email.received'], ...body } })
const arrive = async (handle: string, subject: string): Promise<void> => {
  await harness.deliver({ from: 'eve@example.org', to: `${handle}@agents.localhost`, subject, text: subject })
  await harness.waitForMail(handle, subject)
}
const handlesOf = (): string[] => receiver.payloads().map((payload) => payload.data.agent_handle)

describe('several agents', () => {
  test('a webhook receives the events of its agents only, also after the list changes', async () => {
    const webhook = await create({ agent_handles: ['two', '@one', 'two'] })
    expect(webhook).toMatchObject({ agent_handle: null, agent_handles: ['one', 'two'] })
    for (const handle of ['three', 'one', 'two']) await arrive(handle, `first of ${handle}`)
    await receiver.waitFor(2)
    expect(handlesOf().toSorted()).toEqual(['one', 'two'])

    const path = `/webhooks/${webhook.id}`
    const changed = await harness.expectApi(200, 'PATCH', path, { body: { agent_handles: ['three'] } })
    expect(changed).toMatchObject({ agent_handle: 'three', agent_handles: ['three'] })
    for (const handle of ['one', 'three']) await arrive(handle, `second of ${handle}`)
    await receiver.waitFor(3)
    expect(handlesOf().at(-1)).toBe('three')

    expect(await harness.expectApi(200, 'PATCH', path, { body: { agent_handles: null } })).toMatchObject({ agent_handles: [] })
    await arrive('one', 'third of one')
    await receiver.waitFor(4)
    expect(handlesOf().at(-1)).toBe('one')
    expect(await harness.expectApi(200, 'PATCH', path, { body: { agent_handle: 'two' } })).toMatchObject({ agent_handles: ['two'] })
    await harness.expectApi(200, 'DELETE', path)
  })

  test('agents of others, unknown ones and two ways to name them are refused', async () => {
    await harness.createAgent('theirs', {}, harness.otherOrganization.key)
    const refused = (body: object) => harness.api('POST', '/webhooks', { body: { url: receiver.url, events: ['*'], ...body } })
    for (const agent_handles of [['one', 'theirs'], ['unknown_agent']]) expect((await refused({ agent_handles })).status).toBe(404)
    for (const body of [{ agent_handles: [] }, { agent_handles: ['one'], agent_handle: 'two' }])
      expect((await refused(body)).status).toBe(400)
  })
})

describe('headers', () => {
  test('both families of signature headers verify with the svix library, and nothing else does', async () => {
    const webhook = await create()
    await arrive('one', 'signed')
    const [{ headers, body }] = (await receiver.waitFor(1)) as [Receiver['received'][0]]
    expect(headers['svix-id']).toBe(headers['webhook-id'])
    const pick = (family: string) =>
      Object.fromEntries(['id', 'timestamp', 'signature'].map((part) => [`${family}-${part}`, headers[`${family}-${part}`] as string]))
    const verifier = new Webhook(webhook.secret)
    for (const family of ['svix', 'webhook'])
      expect(verifier.verify(body.toString(), pick(family))).toMatchObject({ type: 'email.received' })
    expect(() => verifier.verify(`${body.toString()} `, pick('svix'))).toThrow()
    await harness.expectApi(200, 'DELETE', `/webhooks/${webhook.id}`)
  })

  test('custom headers are sent with events and pings, never shown, and encrypted in the database', async () => {
    const value = 'Bearer canary-of-a-header'
    const webhook = await create({ headers: { Authorization: value, 'X-Tenant': 'a b' } })
    expect(webhook.header_names).toEqual(['authorization', 'x-tenant'])
    await arrive('one', 'with headers')
    const [event] = (await receiver.waitFor(1)) as [Receiver['received'][0]]
    expect(event.headers).toMatchObject({ authorization: value, 'x-tenant': 'a b', 'content-type': 'application/json' })
    await harness.expectApi(200, 'POST', `/webhooks/${webhook.id}/test`)
    expect((await receiver.waitFor(2))[1]?.headers.authorization).toBe(value)

    const path = `/webhooks/${webhook.id}`
    const shown = [
      await harness.expectApi(200, 'GET', path),
      await harness.expectApi(200, 'GET', '/webhooks'),
      await harness.expectApi(200, 'GET', '/audit'),
      await harness.expectApi(200, 'GET', `${path}/deliveries`),
      harness.logLines(),
    ]
    expect(JSON.stringify(shown)).not.toContain('canary-of-a-header')
    const { rows } = await harness.db.query<{ sealed: string }>({
      text: `SELECT encode(headers, 'escape') AS sealed FROM webhooks WHERE id = $1`,
      values: [webhook.id],
    })
    expect(rows[0]?.sealed).toBeTruthy()
    expect(rows[0]?.sealed).not.toContain('canary')

    const changed = await harness.expectApi(200, 'PATCH', path, { body: { description: 'kept' } })
    expect(changed.header_names).toEqual(['authorization', 'x-tenant'])
    expect((await harness.expectApi(200, 'PATCH', path, { body: { headers: { 'X-Other': '1' } } })).header_names).toEqual(['x-other'])
    expect((await harness.expectApi(200, 'PATCH', path, { body: { headers: null } })).header_names).toEqual([])
    await harness.expectApi(200, 'POST', `${path}/test`)
    expect((await receiver.waitFor(3))[2]?.headers.authorization).toBeUndefined()
    await harness.expectApi(200, 'DELETE', path)
  })

  test.each([
    ['Host', 'x'],
    ['content-length', '1'],
    ['Content-Type', 'text/plain'],
    ['Transfer-Encoding', 'chunked'],
    ['Connection', 'close'],
    ['Webhook-Signature', 'v1,x'],
    ['svix-id', 'x'],
    ['proxy-authorization', 'x'],
    ['Upgrade', 'h2c'],
    [':path', '/x'],
    ['X Y', 'x'],
    ['X-Line', 'a\r\nX-Other: b'],
    ['X-Line', 'a\nb'],
    ['X-Nul', 'a\u0000b'],
    ['X-Blank', ' a'],
    ['X-Empty', ''],
    ['X-Wide', 'ü'],
    ['__proto__', 'x'],
  ])('the header %j with %j is refused', async (name, value) => {
    const body = `{"url":${JSON.stringify(receiver.url)},"events":["*"],"headers":{${JSON.stringify(name)}:${JSON.stringify(value)}}}`
    expect((await harness.api('POST', '/webhooks', { body })).status).toBe(400)
  })

  test('the same name in different case, and more than 20 headers, are refused', async () => {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, 'a']))
    for (const headers of [{ 'X-A': '1', 'x-a': '2' }, many])
      expect((await harness.api('POST', '/webhooks', { body: { url: receiver.url, events: ['*'], headers } })).status).toBe(400)
  })
})

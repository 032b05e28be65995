// Mail rules, quarantine and suppressions through the client, against the real server.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { ApiError, allItems, Callsign } from '../src/index.ts'

let harness: Harness
let client: Callsign
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
})
afterAll(() => harness.stop())

test('rules decide, quarantined messages are released, and typed errors give the reason', async () => {
  const rule = await client.mailRules.create('sales', {
    direction: 'both',
    action: 'block',
    entry: 'spam.example',
    reason: 'Sells watches',
  })
  expect(await client.mailRules.get('sales', rule.id)).toEqual(rule)
  expect(await allItems((cursor) => client.mailRules.list('sales', { ...(cursor !== undefined && { cursor }) }))).toEqual([rule])
  const refused = await client.messages
    .send('sales', { to: ['eve@spam.example'], subject: 's', text: 't' })
    .catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ApiError)
  expect(refused).toMatchObject({ status: 403, code: 'recipient_not_allowed', message: expect.stringContaining(rule.id) })
  await harness.deliver({ from: 'eve@spam.example', to: 'sales@agents.localhost', subject: 'Watches', text: 'Buy' })
  const held = await harness.waitForMail('sales', 'Watches', 'quarantined')
  expect((await client.messages.list('sales')).data).toEqual([])
  expect((await client.messages.list('sales', { status: 'quarantined' })).data.map((one) => one.guardrail?.rule_id)).toEqual([rule.id])
  expect(await client.messages.release('sales', held.id)).toMatchObject({ id: held.id, status: 'received' })
  expect(await client.messages.release('sales', held.id)).toMatchObject({ id: held.id, status: 'received' })
  expect((await client.mailRules.update('sales', rule.id, { status: 'paused' })).status).toBe('paused')
  expect((await client.messages.send('sales', { to: ['eve@spam.example'], subject: 's', text: 't' })).status).toBe('queued')
  expect(await client.mailRules.delete('sales', rule.id)).toEqual({ id: rule.id, deleted: true })
})

test('suppressions are added and removed', async () => {
  const entry = await client.suppressions.create({ email_address: 'Gone+1@example.com', reason: 'By telephone' })
  expect((await client.suppressions.list({ email_address: 'gone+1@example.com' })).data).toEqual([entry])
  const body = { to: ['gone+1@example.com'], subject: 's', text: 't' }
  await expect(client.messages.send('sales', body)).rejects.toMatchObject({ status: 403, code: 'recipient_suppressed' })
  expect(await client.suppressions.delete('gone+1@example.com')).toEqual({ id: entry.id, deleted: true })
  expect((await client.messages.send('sales', body)).status).toBe('queued')
})

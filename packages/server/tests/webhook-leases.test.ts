// Leases of webhook deliveries. Two processes that hold one delivery in turn do not end or free it for each other.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../src/core/ids.ts'
import { type Claimed, claim, end, findDueWebhooks, release } from '../src/features/events/webhooks/delivery-store.ts'
import type { Attempt } from '../src/features/events/webhooks/model.ts'
import { type Harness, startHarness } from './harness/start.ts'

const leaseMs = 60_000
let harness: Harness
let webhookId: string
// Without the role worker nothing but this test claims deliveries.
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_ROLES: 'api' })
  const webhook = await harness.expectApi(201, 'POST', '/webhooks', {
    body: { url: 'https://receiver.example/hook', events: ['email.sent'] },
  })
  webhookId = webhook.id
})
afterAll(() => harness.stop())

/** A due delivery, claimed once. */
async function claimOne(token: string): Promise<Claimed> {
  await harness.db.query({
    text: `INSERT INTO webhook_deliveries (webhook_id, id, organization_id, event_id, event_type, status, due_at, created_at)
      SELECT id, $2, organization_id, $3, 'email.sent', 'pending', now(), now() FROM webhooks WHERE id = $1`,
    values: [webhookId, newId('delivery'), newId('event')],
  })
  const claimed = await claimAll(token)
  expect(claimed).toHaveLength(1)
  return claimed[0] as Claimed
}
const claimAll = (token: string) => claim(harness.db, [{ webhookId, limit: 10 }], token, leaseMs)
const expire = () =>
  harness.db.query({ text: `UPDATE webhook_deliveries SET leased_until = now() - interval '1 second' WHERE lease_token IS NOT NULL` })
const stateOf = async ({ id }: Claimed) =>
  (await harness.db.query({ text: 'SELECT status, tries, lease_token FROM webhook_deliveries WHERE id = $1', values: [id] })).rows[0]
const attempt = { at: new Date().toISOString(), status_code: 200, error_code: null } as unknown as Attempt
const ended = (claimed: Claimed) => ({ claimed, status: 'delivered' as const, retryInMs: null, attempt })

test('a claimed delivery is not claimed again while its lease lasts', async () => {
  const first = await claimOne('one')
  expect(await claimAll('two')).toEqual([])
  expect(await end(harness.db, [ended(first)], leaseMs)).toEqual(new Set([first.id]))
  expect(await stateOf(first)).toEqual({ status: 'delivered', tries: 1, lease_token: null })
  expect(await findDueWebhooks(harness.db)).toEqual([])
})

test('the result of a process that lost its lease is not recorded, and the new holder’s is, once', async () => {
  const first = await claimOne('one')
  await expire()
  const [second] = await claimAll('two')
  expect(second).toMatchObject({ id: first.id, lease_token: 'two' })
  expect(await end(harness.db, [{ ...ended(first), status: 'failed' }], leaseMs)).toEqual(new Set())
  expect(await stateOf(first)).toEqual({ status: 'pending', tries: 0, lease_token: 'two' })
  expect(await end(harness.db, [ended(second as Claimed)], leaseMs)).toEqual(new Set([first.id]))
  expect(await end(harness.db, [ended(second as Claimed)], leaseMs)).toEqual(new Set())
  expect(await stateOf(first)).toEqual({ status: 'delivered', tries: 1, lease_token: null })
})

test('a process that lost its lease does not free the delivery for a third one', async () => {
  const first = await claimOne('one')
  await expire()
  const [second] = await claimAll('two')
  await release(harness.db, [first])
  expect(await claimAll('three')).toEqual([])
  await release(harness.db, [second as Claimed])
  expect(await claimAll('three')).toHaveLength(1)
})

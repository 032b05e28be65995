// An order whose answer was lost, at a supplier whose list of orders lags behind. The number is bought once, and is the one ordered first.
import { afterEach, expect, test } from 'vitest'
import { type Harness, startHarness } from './harness/start.ts'
import { startTelnyxServer } from './harness/telnyx-server.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function open(): Promise<{ harness: Harness; supplier: Awaited<ReturnType<typeof startTelnyxServer>> }> {
  const supplier = await startTelnyxServer()
  cleanups.push(supplier.stop)
  const harness = await startHarness({
    CALLSIGN_PHONE_POLL_SECONDS: '0.02',
    CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    ...supplier.settings,
  })
  cleanups.push(() => harness.stop())
  return { harness, supplier }
}

test('"taken" after a lost answer means taken by this order', async () => {
  const { harness, supplier } = await open()
  await harness.createAgent('ann')
  supplier.spoil('order', 'lose')
  supplier.hideOrders(2)
  const number = await harness.expectApi(201, 'POST', '/phone/numbers', { body: { agent_handle: 'ann' } })
  expect(supplier.owned()).toEqual([number.phone_number])
  expect(supplier.purchases()).toBe(1)
})

test('"taken" without a lost answer means taken by another customer, and the next number is bought', async () => {
  const { harness, supplier } = await open()
  await harness.createAgent('ann')
  supplier.sellAfterSearch(1)
  const number = await harness.expectApi(201, 'POST', '/phone/numbers', { body: { agent_handle: 'ann' } })
  expect(supplier.owned()).toEqual([number.phone_number])
  expect(supplier.purchases()).toBe(1)
})

// Two hosted agents that reply to each other endlessly. Beyond twenty messages in the window the rest wait, and none is lost.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_AGENT_LOOP_SECONDS: '600' })
  for (const handle of ['ann', 'ben', 'cat']) await harness.createAgent(handle)
})
afterAll(() => harness.stop())

const statusOf = async (handle: string, id: string): Promise<Json> => (await harness.getMessage(handle, id)).delivery.recipients[0]
/** Ages everything on a thread by `seconds`. Delivered messages become that much older, and waiting ones become due. */
async function age(seconds: number): Promise<void> {
  const past = `- make_interval(secs => ${seconds})`
  await harness.db.query({
    text: `UPDATE message_recipients SET last_attempt_at = last_attempt_at ${past}, next_attempt_at = next_attempt_at ${past}`,
  })
  await harness.db.query({ text: `UPDATE messages SET created_at = created_at ${past}` })
  await harness.db.query({ text: `UPDATE jobs SET run_at = run_at ${past}` })
}

test('the twenty-first message of a ping-pong waits with its reason, and goes after the window', async () => {
  let last = await harness.send('ann', 'ben@agents.localhost', { subject: 'Ping' })
  let arrived = await harness.waitForMail('ben', 'Ping')
  const ids = [last.id]
  // Each agent answers the message that has just arrived, as in a loop.
  for (let round = 1; round < 20; round++) {
    const [from, to] = round % 2 === 1 ? ['ben', 'ann'] : ['ann', 'ben']
    last = await harness.expectApi(201, 'POST', `/mailboxes/${from}/messages/${arrived.id}/reply`, { body: { text: `round ${round}` } })
    ids.push(last.id)
    await harness.waitForStatus(from, last.id, 'delivered')
    const { data } = await harness.expectApi(200, 'GET', `/mailboxes/${to}/messages?direction=inbound&limit=1`)
    arrived = data[0]
  }
  const held = await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${arrived.id}/reply`, { body: { text: 'once more' } })
  const recipient = await waitFor('the hold', async () => {
    const found = await statusOf('ann', held.id)
    return found.log.length > 0 && found
  })
  expect(recipient).toMatchObject({
    status: 'queued',
    attempts: 0,
    last_answer: expect.stringContaining('exceeded 20 messages in this thread'),
    last_attempt_at: null,
  })
  expect(recipient.log).toMatchObject([{ result: 'held', enhanced_status: '4.7.28' }])
  const waitMs = Date.parse(recipient.next_attempt_at) - Date.now()
  expect(waitMs).toBeGreaterThan(500_000)
  expect(waitMs).toBeLessThanOrEqual(600_000)
  expect((await harness.getMessage('ann', held.id)).status).toBe('queued')
  expect(await harness.eventsOf(held.id)).toEqual([])

  // Another thread of the two, and another pair, are not concerned.
  await harness.waitForStatus('ann', (await harness.send('ann', 'ben@agents.localhost', { subject: 'Another matter' })).id, 'delivered')
  await harness.waitForStatus('ann', (await harness.send('ann', ['cat@agents.localhost'], { thread_id: held.thread_id })).id, 'delivered')

  await age(601)
  await harness.waitForStatus('ann', held.id, 'delivered')
  expect(await statusOf('ann', held.id)).toMatchObject({ status: 'delivered', attempts: 1 })
})

test('of thirty concurrent messages the first twenty go, and the rest go in the next window', async () => {
  const first = await harness.send('cat', 'ben+tag@agents.localhost', { subject: 'Flood' })
  const ids = [first.id]
  for (let i = 1; i < 30; i++) ids.push((await harness.send('cat', 'ben@agents.localhost', { thread_id: first.thread_id })).id)
  const statuses = () => Promise.all(ids.map(async (id) => (await harness.getMessage('cat', id)).status))
  const settled = () =>
    waitFor('every message to be tried', async () => {
      const all = await Promise.all(ids.map((id) => statusOf('cat', id)))
      return all.every((one) => one.log.length > 0)
    })
  await settled()
  expect(await statuses()).toEqual([...Array(20).fill('delivered'), ...Array(10).fill('queued')])
  await age(601)
  await waitFor('the rest', async () => (await statuses()).every((status) => status === 'delivered'))
})

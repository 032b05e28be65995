// One failing endpoint does not delay the others, neither by hanging nor by its backlog.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Receiver, startReceiver } from './harness/receiver.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
const receivers: Receiver[] = []
const receive = async (...given: Parameters<typeof startReceiver>): Promise<Receiver> => {
  const receiver = await startReceiver(...given)
  receivers.push(receiver)
  return receiver
}
const subscribe = (url: string): Promise<Json> => harness.expectApi(201, 'POST', '/webhooks', { body: { url, events: ['email.sent'] } })

/** CALLSIGN_TEST_BACKLOG sets another number. A million is for a figure, not for every run. */
const backlog = Number(process.env.CALLSIGN_TEST_BACKLOG ?? 50_000)

beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
  await harness.createAgent('one')
})
afterAll(async () => {
  await harness.stop()
  await Promise.all(receivers.map((receiver) => receiver.stop()))
})

/** Milliseconds from the event's timestamp to its arrival, for each of `count` messages. */
async function measure(receiver: Receiver, count: number): Promise<number[]> {
  const before = receiver.received.length
  for (let i = 0; i < count; i++) {
    await harness.send('one', 'x@example.com')
    await receiver.waitFor(before + i + 1)
  }
  return receiver.received
    .slice(before)
    .map((post) => post.atMs - Date.parse(JSON.parse(post.body.toString()).timestamp))
    .sort((a, b) => a - b)
}

test('endpoints that hang do not delay the others', async () => {
  const good = await receive()
  const hanging = await receive(() => 'hang')
  const webhook = await subscribe(good.url)
  const alone = await measure(good, 20)
  const bad: Json[] = []
  for (let i = 0; i < 30; i++) bad.push(await subscribe(`${hanging.url}/${i}`))
  const beside = await measure(good, 20)
  expect(hanging.received.length).toBeGreaterThan(30)
  // Milliseconds vary on a busy machine, while an attempt that hangs takes 15 seconds.
  expect(beside[18]).toBeLessThan(Math.max(5000, 3 * (alone[18] as number)))
  for (const { id } of [webhook, ...bad]) await harness.expectApi(200, 'DELETE', `/webhooks/${id}`)
})

test(`${backlog} undelivered rows behind a dead endpoint leave a fresh one unaffected`, async () => {
  const fresh = await receive()
  const freshWebhook = await subscribe(fresh.url)
  const alone = await measure(fresh, 20)
  await harness.expectApi(200, 'DELETE', `/webhooks/${freshWebhook.id}`)
  const dead = await receive()
  await dead.stop()
  const deadWebhook = await subscribe(dead.url)
  const sent = await harness.send('one', 'x@example.com')
  await harness.waitForStatus('one', sent.id, 'sent')
  await harness.db.query({
    text: `INSERT INTO webhook_deliveries (webhook_id, id, organization_id, event_id, event_type, status, due_at, created_at)
      SELECT d.webhook_id, 'dlv_' || lpad(n::text, 26, '0'), d.organization_id, d.event_id, d.event_type, 'pending', now() - interval '1 hour', now()
      FROM (SELECT * FROM webhook_deliveries WHERE webhook_id = $1 LIMIT 1) d, generate_series(1, $2::int) n`,
    values: [deadWebhook.id, backlog],
  })
  await subscribe(fresh.url)
  const latencies = await measure(fresh, 20)
  if (process.env.CALLSIGN_TEST_BACKLOG) console.log(`latencies beside ${backlog} rows: ${latencies.join(' ')} ms`)
  expect(latencies[18]).toBeLessThan(Math.max(5000, 3 * (alone[18] as number)))
  const tried = await waitFor('the dead endpoint to be tried', async () => {
    const { rows } = await harness.db.query<{ n: number }>({
      text: 'SELECT count(*)::int AS n FROM webhook_deliveries WHERE webhook_id = $1 AND attempt_count > 0',
      values: [deadWebhook.id],
    })
    return rows[0]?.n
  })
  // It is tried with pauses, not hammered.
  expect(tried).toBeLessThan(1000)
})

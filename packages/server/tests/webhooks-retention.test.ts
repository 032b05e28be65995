// Retention. Old deliveries and events, and the deliveries of deleted webhooks, are swept, and other rows stay.
import { firstId } from '@callsign/contract/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweepEvents } from '../src/features/events/log/store.ts'
import { sweepDeliveries } from '../src/features/events/webhooks/delivery-store.ts'
import { retentionMs } from '../src/features/events/webhooks/model.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
  await harness.createAgent('one')
})
afterAll(() => harness.stop())

const subscribe = (): Promise<Json> =>
  harness.expectApi(201, 'POST', '/webhooks', { body: { url: 'http://127.0.0.1:59999/', events: ['email.sent'] } })
const idsOf = async (table: string, where: string, value: string): Promise<string[]> =>
  (await harness.db.query<{ id: string }>({ text: `SELECT id FROM ${table} WHERE ${where} = $1 ORDER BY id`, values: [value] })).rows.map(
    (row) => row.id,
  )

test('deliveries are swept by the age of their event, or at once with a deleted webhook, and events a while later', async () => {
  const [kept, deleted] = [await subscribe(), await subscribe()]
  const { id: message } = await harness.send('one', 'x@example.com')
  await harness.waitForStatus('one', message, 'sent')
  const [fresh] = await waitFor('the deliveries', async () => {
    const ids = await idsOf('webhook_deliveries', 'webhook_id', kept.id)
    return ids.length > 0 && ids
  })
  const before = new Date(Date.now() - retentionMs)
  const [tooOld, justKept] = [before.getTime() - 1, before.getTime() + 1]
  for (const ms of [tooOld, justKept]) {
    await harness.db.query({
      text: `INSERT INTO webhook_deliveries (webhook_id, id, organization_id, event_id, event_type, status, due_at, created_at)
        SELECT webhook_id, $2, organization_id, event_id, event_type, 'delivered', NULL, created_at FROM webhook_deliveries WHERE webhook_id = $1 AND id = $3`,
      values: [kept.id, firstId('delivery', ms), fresh],
    })
    await harness.db.query({
      text: `INSERT INTO events (id, organization_id, identity_id, type, subject_id, created_at, position)
        SELECT $1, organization_id, identity_id, type, subject_id, created_at, 1 FROM events WHERE subject_id = $2 AND type = 'email.sent' LIMIT 1`,
      values: [firstId('event', ms), message],
    })
  }
  await harness.expectApi(200, 'DELETE', `/webhooks/${deleted.id}`)

  expect(await sweepDeliveries(harness.db, before)).toBe(2)
  expect(await idsOf('webhook_deliveries', 'webhook_id', kept.id)).toEqual([firstId('delivery', justKept), fresh])
  expect(await idsOf('webhook_deliveries', 'webhook_id', deleted.id)).toEqual([])
  const events = await idsOf('events', 'subject_id', message)
  expect(events).toContain(firstId('event', tooOld))
  expect(await sweepEvents(harness.db, before)).toBe(1)
  expect(await idsOf('events', 'subject_id', message)).toEqual(events.filter((id) => id !== firstId('event', tooOld)))
  expect([await sweepDeliveries(harness.db, before), await sweepEvents(harness.db, before)]).toEqual([0, 0])
})

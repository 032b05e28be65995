// Events and webhook deliveries of rare types in a log of very many. Counts the rows that PostgreSQL reads for a page.

import { firstId } from '@callsign/contract/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../src/core/ids.ts'
import { listAfter, listBefore } from '../src/features/events/log/store.ts'
import { listDeliveries } from '../src/features/events/webhooks/delivery-store.ts'
import { countRowsRead } from './harness/plan.ts'
import { type Harness, startHarness } from './harness/start.ts'

const count = 60_000
/** Below the rows of the tables, and above what a page and its merge of types look at. */
const readMax = 1500
const scannedMax = 5000
let harness: Harness
let organizationId: string
let identityId: string
let webhookId: string

beforeAll(async () => {
  harness = await startHarness()
  organizationId = (await harness.expectApi(200, 'GET', '/me')).organization_id
  identityId = (await harness.createAgent('busy')).id
  webhookId = (
    await harness.expectApi(201, 'POST', '/webhooks', {
      body: { url: 'https://example.com/hook', events: ['sms.received'], status: 'paused' },
    })
  ).id
  const typeOf = `CASE WHEN n % 20000 = 7 THEN 'email.bounced' WHEN n % 2 = 0 THEN 'email.received' ELSE 'email.sent' END`
  await harness.db.query({
    text: `INSERT INTO events (id, organization_id, identity_id, type, subject_id, created_at, position)
      SELECT $1 || lpad(n::text, 6, '0'), $2, $3, ${typeOf}, $4, now(), 1000000 + n FROM generate_series(1, ${count}) n`,
    values: [firstId('event', Date.now()).slice(0, -6), organizationId, identityId, newId('message')],
  })
  await harness.db.query({
    text: `INSERT INTO webhook_deliveries (webhook_id, id, organization_id, event_id, event_type, status, tries, attempt_count, delivered_at, created_at)
      SELECT $1, $2 || lpad(n::text, 6, '0'), $3, $4 || lpad(n::text, 6, '0'), ${typeOf}, 'delivered', 1, 1, now(), now() FROM generate_series(1, ${count}) n`,
    values: [webhookId, firstId('delivery', Date.now()).slice(0, -6), organizationId, firstId('event', Date.now()).slice(0, -6)],
  })
  await harness.db.query({ text: 'VACUUM ANALYZE events, webhook_deliveries' })
})
afterAll(() => harness?.stop())

const lists: [string, string[] | null, number][] = [
  ['all types', null, 51],
  ['a rare type', ['email.bounced'], 3],
  ['an absent type', ['draft.rejected'], 0],
  ['the history of labels', ['email.labels_changed'], 0],
  ['two frequent types', ['email.received', 'email.sent'], 51],
  ['a rare and a frequent type', ['email.bounced', 'email.sent'], 51],
]
test.each(lists)('a page of %s reads few rows, of the organization and of one agent, in both orders', async (_name, types, found) => {
  for (const identityIds of [null, [identityId]]) {
    const scope = { organizationId, identityIds, types }
    const oldest = await countRowsRead(harness.db, (sql) => listAfter(sql, scope, 999_999, 51))
    const newest = await countRowsRead(harness.db, (sql) => listBefore(sql, scope, null, 999_999, 51))
    expect([oldest.result.length, newest.result.length]).toEqual([found, found])
    expect(Math.max(oldest.rowsRead, newest.rowsRead)).toBeLessThan(readMax)
    const positions = (rows: { position: number }[]) => rows.map(({ position }) => Number(position))
    expect(positions(oldest.result)).toEqual(positions(oldest.result).toSorted((a, b) => a - b))
    expect(positions(newest.result)).toEqual(positions(newest.result).toSorted((a, b) => b - a))
  }
})

test('pages of several types have every event once, in the order of the log', async () => {
  const scope = { organizationId, identityIds: null, types: ['email.bounced', 'email.sent'] }
  const seen: number[] = []
  for (let after = 999_999; seen.length < 300; ) {
    const rows = await listAfter(harness.db, scope, after, 30)
    seen.push(...rows.map(({ position }) => Number(position) - 1_000_000))
    after = Number(rows.at(-1)?.position)
  }
  expect(seen).toEqual(
    Array.from({ length: seen.length * 2 }, (_, index) => index + 1)
      .filter((n) => n % 2 === 1)
      .slice(0, seen.length),
  )
})

test('deliveries by type or status look at a bounded number of rows, and the pages go on to every match', async () => {
  for (const filter of [{ event_type: 'email.bounced' }, { status: 'pending' }, { status: 'failed', event_type: 'email.bounced' }]) {
    const { rowsRead } = await countRowsRead(harness.db, (sql) => listDeliveries(sql, webhookId, filter, { limit: 50, cursor: null }))
    expect(rowsRead).toBeLessThanOrEqual(2 * scannedMax + 100)
  }
  const found: string[] = []
  let pages = 0
  for (let cursor: string | null = null, more = true; more; pages++) {
    const query: string = `event_type=email.bounced&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`
    const page = await harness.expectApi(200, 'GET', `/webhooks/${webhookId}/deliveries?${query}`)
    found.push(...page.data.map((one: { id: string }) => one.id))
    more = page.has_more
    cursor = page.next_cursor
    expect(more).toBe(cursor !== null)
  }
  expect(found.map((id) => Number(id.slice(-6)))).toEqual([40_007, 20_007, 7])
  expect(pages).toBeLessThanOrEqual(count / scannedMax + 1)
})

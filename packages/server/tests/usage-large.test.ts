// The lists of counted mail and of API requests, in an organization with very many rows. Counts the rows that PostgreSQL reads for a page.
import { firstId } from '@callsign/contract/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sql } from '../src/core/sql.ts'
import { readFilter } from '../src/features/account/requests/model.ts'
import { listRequests } from '../src/features/account/requests/store.ts'
import { readRange } from '../src/features/mail/usage/model.ts'
import { listDays } from '../src/features/mail/usage/store.ts'
import { countRowsRead } from './harness/plan.ts'
import { type Harness, startHarness } from './harness/start.ts'

const count = 60_000
/** Far below the rows of the tables, and above the groups of one page. */
const readMax = 3500
let harness: Harness
let organizationId: string
let keyId: string
let frequentKeyId: string

beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_REQUEST_LOG_DAYS: '0' })
  organizationId = (await harness.expectApi(200, 'GET', '/me')).organization_id
  keyId = (await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Rare', type: 'organization' } })).id
  const { rows } = await harness.db.query<{ id: string }>({
    text: 'SELECT id FROM api_keys WHERE organization_id = $1 AND id <> $2',
    values: [organizationId, keyId],
  })
  frequentKeyId = rows[0]?.id as string
  await harness.db.query({
    text: `INSERT INTO api_requests (id, organization_id, key_id, operation, method, path, status, duration_ms, created_at)
      SELECT $3 || lpad(n::text, 6, '0'), $1, CASE WHEN n % 20000 = 7 THEN $4 ELSE $2 END, CASE WHEN n % 15000 = 5 THEN 'sendMail' ELSE 'listMessages' END,
        'GET', '/api/v1', CASE WHEN n % 30000 = 9 THEN 500 ELSE 200 END, 1, now() FROM generate_series(1, ${count}) n`,
    values: [organizationId, rows[0]?.id, firstId('request', Date.now()).slice(0, -6), keyId],
  })
  await harness.db.query({
    text: `INSERT INTO handles (handle, organization_id, created_at) SELECT 'u' || n, $1, now() FROM generate_series(1, 1500) n`,
    values: [organizationId],
  })
  await harness.db.query({
    text: `INSERT INTO usage_counts (organization_id, kind, subject, day, name, count)
      SELECT $1, kind, subject, (now() AT TIME ZONE 'UTC')::date - day, name, 1
      FROM (SELECT 'agent' AS kind, 'u' || n AS subject FROM generate_series(1, 1500) n UNION ALL SELECT 'organization', ''
        UNION ALL SELECT 'domain', 'd' || n || '.example' FROM generate_series(1, 500) n) AS s,
        generate_series(0, 29) AS day, unnest(ARRAY['received', 'queued']) AS name`,
    values: [organizationId],
  })
  await harness.db.query({ text: 'VACUUM ANALYZE api_requests, usage_counts' })
})
afterAll(() => harness?.stop())

/** Runs a list. Returns the number of its rows, and that of the rows that PostgreSQL read. */
const reads = async <T>(list: (sql: Sql) => Promise<T[]>, mode?: 'generic' | 'custom'): Promise<{ found: number; read: number }> => {
  const { result, rowsRead } = await countRowsRead(harness.db, list, mode)
  return { found: result.length, read: rowsRead }
}

test.each([
  ['all', {}, 51],
  ['one key', { key_id: 'rare' }, 3],
  ['the key of nearly all requests', { key_id: 'frequent' }, 51],
  ['a rare status of that key', { key_id: 'frequent', status_class: '5xx' }, 2],
  ['one method', { method: 'POST' }, 4],
  ['one path', { path: '/api/v1/mail/send' }, 4],
  ['a rare status', { status_class: '5xx' }, 2],
  ['a frequent status', { status_class: '2xx' }, 51],
  ['a status without requests', { status_class: '4xx' }, 0],
  ['a rare status of one key', { key_id: 'rare', status_class: '5xx' }, 0],
] as const)('a page of requests filtered by %s reads few rows', async (_name, query, expected) => {
  const filter = readFilter('key_id' in query ? { ...query, key_id: query.key_id === 'rare' ? keyId : frequentKeyId } : query)
  // The statement has no name, so PostgreSQL plans it for its values too.
  for (const mode of ['generic', 'custom'] as const) {
    const page = await reads((sql) => listRequests(sql, organizationId, filter, { limit: 50, cursor: null }), mode)
    expect(page.found).toBe(expected)
    expect(page.read).toBeLessThan(readMax)
  }
})

test.each([
  ['the organization', {}, 30],
  ['one agent', { agent_handle: 'u7' }, 30],
  ['every agent', { by: 'agent' }, 51],
  ['every domain', { by: 'domain' }, 51],
] as const)('a page of usage by %s reads few rows, the first one and one far behind', async (_name, query, expected) => {
  const range = readRange(query)
  const first = await reads((sql) => listDays(sql, organizationId, range))
  expect(first.found).toBe(expected)
  expect(first.read).toBeLessThan(readMax)
  const cursor = { date: new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10), subject: range.subject ?? 'u1400' }
  const later = await reads((sql) => listDays(sql, organizationId, { ...range, cursor }))
  expect(later.found).toBeGreaterThan(0)
  expect(later.read).toBeLessThan(readMax)
})

test('where all requests are alike, a filter does not walk through them once for each other operation and status', async () => {
  const uniform = await startHarness({ CALLSIGN_REQUEST_LOG_DAYS: '0' })
  try {
    const { organization_id: own, key } = await uniform.expectApi(200, 'GET', '/me')
    await uniform.db.query({
      text: `INSERT INTO api_requests (id, organization_id, key_id, operation, method, path, status, duration_ms, created_at)
        SELECT $3 || lpad(n::text, 6, '0'), $1, $2, 'listMessages', 'GET', '/api/v1', 200, 1, now() FROM generate_series(1, 10000) n`,
      values: [own, key.id, firstId('request', Date.now()).slice(0, -6)],
    })
    await uniform.db.query({ text: 'VACUUM ANALYZE api_requests' })
    for (const [query, expected] of [
      [{ key_id: key.id }, 51],
      [{ key_id: key.id, status_class: '5xx' }, 0],
      [{ status_class: '2xx' }, 51],
      [{ method: 'POST' }, 0],
    ] as const) {
      const list = (sql: Sql) => listRequests(sql, own, readFilter(query), { limit: 50, cursor: null })
      // The statement has no name, so PostgreSQL plans it for its values.
      const { result, rowsRead } = await countRowsRead(uniform.db, list, 'custom')
      expect(result).toHaveLength(expected)
      expect(rowsRead).toBeLessThan(readMax)
    }
  } finally {
    await uniform.stop()
  }
})

// The log of API requests: what it holds and what it never holds, its filters, its retention, and that it belongs to one organization.
import { firstId } from '@callsign/contract/ids'
import { fetch } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBusinessEvents } from '../src/core/business-events.ts'
import { newId } from '../src/core/ids.ts'
import { createLog } from '../src/core/log.ts'
import { generateKey } from '../src/features/account/keys/model.ts'
import { createRequests } from '../src/features/account/requests/operations.ts'
import { insertRequests } from '../src/features/account/requests/store.ts'
import { startCallsignd } from './harness/callsignd.ts'
import { openBrowser } from './harness/console-browser.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
})
afterAll(() => harness.stop())

const list = (query = '', key = harness.organizationKey): Promise<Json> => harness.expectApi(200, 'GET', `/requests${query}`, { key })
/** The entry of an answer, once it is written. */
const entryOf = ({ headers }: { headers: Headers }, key = harness.organizationKey): Promise<Json> =>
  waitFor('the entry of a request', async () => {
    const { status, body } = await harness.api('GET', `/requests/${headers.get('x-request-id')}`, { key })
    return status === 200 && body
  })

describe('an entry', () => {
  test('has the operation, the status, the duration, the key and the names of fields', async () => {
    const made = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Writer', type: 'agent', agent_handle: 'ann' } })
    const answer = await harness.api('POST', '/mail/send', {
      key: made.key,
      body: { agent: 'ann', to: ['a@example.com'], subject: 'S', text: 'T' },
    })
    const entry = await entryOf(answer)
    expect(entry).toEqual({
      id: answer.headers.get('x-request-id'),
      method: 'POST',
      path: '/api/v1/mail/send',
      operation: 'sendMail',
      status: 201,
      error_code: null,
      duration_ms: expect.any(Number),
      key: { id: made.id, name: 'Writer' },
      fields: expect.any(Array),
      created_at: expect.any(String),
    })
    expect(entry.fields.toSorted()).toEqual(['agent', 'subject', 'text', 'to'])
    expect(Math.abs(Date.parse(entry.created_at) - Date.now())).toBeLessThan(600_000)
  })

  test('shows parameters of the path that are ids, and the code of an error', async () => {
    const unknown = 'msg_01kq2x9c7hfm4t8e5v3n6w1rzb'
    const entry = await entryOf(await harness.api('GET', `/mailboxes/ann/messages/${unknown}`))
    expect(entry).toMatchObject({ path: `/api/v1/mailboxes/{email_address}/messages/${unknown}`, status: 404, error_code: 'not_found' })
    const listed = await entryOf(await harness.api('GET', '/mailboxes/ann/messages?is_read=false'))
    expect(listed.fields).toEqual(['is_read'])
    const refused = await entryOf(await harness.api('GET', '/keys', { key: await harness.agentKey('ann') }))
    expect(refused).toMatchObject({ operation: 'listKeys', status: 403, error_code: 'forbidden' })
  })

  test('is not made without a valid key, for an unknown path, and for people in the console', async () => {
    const browser = openBrowser(harness)
    await browser.signInByLink(harness.consoleUrl)
    const answers = [
      await harness.api('GET', '/me', { key: null }),
      await harness.api('GET', '/me', { key: generateKey() }),
      await harness.api('GET', '/nothing'),
      await harness.api('GET', '/me', { key: await browser.token() }),
    ]
    await entryOf(await harness.api('GET', '/me'))
    for (const { headers } of answers) await harness.expectApi(404, 'GET', `/requests/${headers.get('x-request-id')}`)
  })
})

test('no secret is stored, wherever it stands in a request', async () => {
  const secret = 'canary0secret'
  const upper = `Canary-${generateKey()}`
  const encoded = encodeURIComponent(`${secret}@example.com`)
  const { key } = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Canary writer', type: 'organization' } })
  const ask = (method: string, path: string, body?: unknown) =>
    harness.api(method, path, {
      key,
      ...(body === undefined ? {} : { body }),
      headers: { 'idempotency-key': secret, 'user-agent': upper, 'x-secret': upper },
    })
  await ask('GET', `/identities/${secret}`)
  await ask('GET', `/mailboxes/${encoded}/messages/${upper}`)
  await ask('GET', `/mailboxes/ann/search?q=${secret}`)
  await ask('GET', `/mailboxes/ann/messages?from=${encoded}&${secret}=1&password=${upper}`)
  await ask('DELETE', `/suppressions/${encoded}`)
  await ask('GET', `/requests?path=/${secret}`)
  await ask('POST', '/mail/send', {
    agent: 'ann',
    to: [`${secret}@example.com`],
    subject: secret,
    text: upper,
    metadata: { [secret]: upper },
  })
  await ask('POST', '/mail/send', { agent: 'ann', [secret]: upper })
  await ask('POST', '/mail/send', `{"agent": "${upper}`)
  await ask('POST', '/webhooks', {
    url: `https://user:${secret}@example.com/${upper}`,
    events: ['email.received'],
    headers: { 'X-Key': upper },
  })
  await ask('POST', '/vault/unlock', { auth_hash: upper })
  const last = await entryOf(await ask('GET', '/me'))
  const { rows } = await harness.db.query<{ entry: string }>({
    text: 'SELECT r::text AS entry FROM api_requests r WHERE key_id = $1',
    values: [last.key.id],
  })
  expect(rows).toHaveLength(12)
  for (const { entry } of rows) for (const word of [secret, upper, key]) expect(entry.toLowerCase()).not.toContain(word.toLowerCase())
})

describe('the list', () => {
  let own: { id: string; key: string }
  let agent: Json
  const times: string[] = []
  beforeAll(async () => {
    own = await harness.createOrganization('Listing')
    await harness.createAgent('lister', {}, own.key)
    agent = await harness.expectApi(201, 'POST', '/keys', { key: own.key, body: { name: 'Agent', type: 'agent', agent_handle: 'lister' } })
    for (const [method, path, key] of [
      ['GET', '/mailboxes/lister', agent.key],
      ['GET', '/mailboxes/lister/messages', agent.key],
      ['GET', '/mailboxes/unknown', agent.key],
      ['PATCH', '/identities/lister', own.key],
      ['GET', '/me', own.key],
    ] as const)
      times.push((await entryOf(await harness.api(method, path, { key, ...(method === 'PATCH' ? { body: {} } : {}) }), own.key)).created_at)
  })
  const paths = async (query: string): Promise<string[]> =>
    (await list(`?limit=100&${query}`, own.key)).data.map((one: Json) => `${one.method} ${one.path.slice(7)} ${one.status}`)
  const ofAgent = [
    'GET /mailboxes/{email_address} 403',
    'GET /mailboxes/{email_address}/messages 200',
    'GET /mailboxes/{email_address} 200',
  ]

  test('filters by key, status class, method, path and time', async () => {
    expect(await paths(`key_id=${agent.id}`)).toEqual(ofAgent)
    expect(await paths(`key_id=${agent.id}&status_class=2xx`)).toEqual(ofAgent.slice(1))
    expect(await paths('status_class=4xx&path=/api/v1/mailboxes')).toEqual(ofAgent.slice(0, 1))
    expect(await paths('path=/api/v1/mailboxes')).toEqual(ofAgent)
    expect(await paths('path=/api/v1/mailboxes/{email_address}/messages')).toEqual(ofAgent.slice(1, 2))
    expect(await paths('method=PATCH')).toEqual(['PATCH /identities/{handle} 400'])
    expect(await paths('method=DELETE')).toEqual([])
    expect(await paths('path=/nothing')).toEqual([])
    expect(await paths(`key_id=${agent.id}&after=${times[0]}`)).toEqual(ofAgent.slice(0, 2))
    expect(await paths(`key_id=${agent.id}&before=${times[2]}`)).toEqual(ofAgent.slice(1))
    expect((await harness.api('GET', '/requests?path=mail')).body.error.details[0].path).toBe('/path')
  })

  test('goes on behind the cursor, newest first', async () => {
    const all = (await list(`?key_id=${agent.id}`, own.key)).data.map((one: Json) => one.id)
    expect(all).toEqual(all.toSorted().toReversed())
    for (const filter of [`key_id=${agent.id}`, `key_id=${agent.id}&method=GET`]) {
      const first = await list(`?${filter}&limit=2`, own.key)
      const rest = await list(`?${filter}&limit=2&cursor=${first.next_cursor}`, own.key)
      expect([...first.data, ...rest.data].map((one: Json) => one.id)).toEqual(all)
      expect([first.has_more, rest.has_more, rest.next_cursor]).toEqual([true, false, null])
    }
    expect((await harness.api('GET', '/requests?cursor=req_1')).body.error.details[0].path).toBe('/cursor')
  })

  test('shows requests of the own organization only, and refuses agent keys', async () => {
    expect((await list(`?key_id=${agent.id}`)).data).toEqual([])
    expect((await list(`?key_id=${agent.id}&method=GET`)).data).toEqual([])
    const [{ id }] = (await list(`?key_id=${agent.id}`, own.key)).data
    await harness.expectApi(404, 'GET', `/requests/${id}`)
    const { data } = await list('?limit=100', own.key)
    const keys = await harness.expectApi(200, 'GET', '/keys', { key: own.key })
    const known = new Set(keys.data.map((key: Json) => key.id))
    expect(data.every((one: Json) => known.has(one.key.id))).toBe(true)
    for (const path of ['/requests', `/requests/${id}`]) await harness.expectApi(403, 'GET', path, { key: agent.key })
  })
})

test('entries are deleted after their days, the others stay', async () => {
  const own = await harness.createOrganization('Sweeping')
  const entry = await entryOf(await harness.api('GET', '/me', { key: own.key }), own.key)
  const idOf = (days: number) => firstId('request', Date.now() - days * 86_400_000)
  const [young, ...old] = [29, 31, 400].map(idOf)
  await harness.db.query({
    text: `INSERT INTO api_requests (id, organization_id, key_id, operation, method, path, status, duration_ms, created_at)
      SELECT id, $2, $3, 'getCaller', 'GET', '/api/v1/me', 200, 1, now() FROM unnest($1::text[]) AS one (id)`,
    values: [[young, ...old], own.id, entry.key.id],
  })
  const log = createLog('silent')
  await createRequests({ db: harness.db, keptDays: 30, registry: createBusinessEvents(log).registry, log }).sweep()
  const { rows } = await harness.db.query<{ id: string }>({
    text: 'SELECT id FROM api_requests WHERE organization_id = $1',
    values: [own.id],
  })
  const kept = rows.map(({ id }) => id)
  expect(kept).toContain(young)
  expect(kept).toContain(entry.id)
  for (const id of old) expect(kept).not.toContain(id)
})

test('the entries of a key go with it, also those that are written while it is deleted', async () => {
  const own = await harness.createOrganization('Deleting')
  const countOf = async (keyId: string): Promise<number> =>
    (
      await harness.db.query<{ count: number }>({
        text: 'SELECT count(*)::int AS count FROM api_requests WHERE key_id = $1',
        values: [keyId],
      })
    ).rows[0]?.count ?? -1
  const entriesOf = (keyId: string, count: number) =>
    Array.from({ length: count }, () => ({
      id: newId('request'),
      organizationId: own.id,
      keyId,
      operation: 'getCaller',
      method: 'GET',
      path: '/api/v1/me',
      status: 200,
      errorCode: null,
      durationMs: 1,
      fields: [],
      at: new Date(),
    }))
  const kept = await harness.expectApi(201, 'POST', '/keys', { key: own.key, body: { name: 'Kept', type: 'organization' } })
  await insertRequests(harness.db, entriesOf(kept.id, 3))
  for (let round = 0; round < 20; round++) {
    const gone = await harness.expectApi(201, 'POST', '/keys', { key: own.key, body: { name: 'Gone', type: 'organization' } })
    await insertRequests(harness.db, entriesOf(gone.id, 2))
    expect(await countOf(gone.id)).toBe(2)
    await Promise.all([
      insertRequests(harness.db, [...entriesOf(gone.id, 50), ...entriesOf(kept.id, 1)]),
      harness.db.query({ text: 'DELETE FROM api_keys WHERE id = $1', values: [gone.id] }),
    ])
    expect(await countOf(gone.id)).toBe(0)
  }
  expect(await countOf(kept.id)).toBe(23)
})

test('with 0 days nothing is recorded, and the list is empty', async () => {
  const off = await startHarness({ CALLSIGN_REQUEST_LOG_DAYS: '0' })
  try {
    await off.createAgent('ann')
    for (let index = 0; index < 5; index++) await off.expectApi(200, 'GET', '/me')
    expect((await off.expectApi(200, 'GET', '/requests')).data).toEqual([])
  } finally {
    await off.stop()
  }
})

test('a server that stops writes the requests that are waiting', async () => {
  const own = await harness.createOrganization('Stopping')
  const other = await startCallsignd({ ...harness.environment, CALLSIGN_SMTP_PORT: '0' })
  const headers = { authorization: `Bearer ${own.key}` }
  const answers = await Promise.all(Array.from({ length: 40 }, () => fetch(`${other.baseUrl}/api/v1/me`, { headers })))
  for (const answer of answers) expect((await answer.json()) as Json).toMatchObject({ organization_id: own.id })
  await other.stop()
  expect((await list('?limit=100', own.key)).data.map((one: Json) => one.operation)).toEqual(Array(40).fill('getCaller'))
})

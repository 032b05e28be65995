// Idempotency-Key against a real database. A key has one effect, repeats get the first answer, and a failed attempt frees the key.
import { connect as connectSocket } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { openSecret, sealSecret } from '../src/core/secret-seal.ts'
import { connect, type PostgresDatabase } from '../src/edges/postgres/connect.ts'
import { createReplays } from '../src/edges/postgres/replays.ts'
import { type Answer, startEdge } from './harness/api-edge.ts'
import { createDatabase } from './harness/database.ts'

let drop: () => Promise<void>
let database: PostgresDatabase
let edge: Awaited<ReturnType<typeof startEdge>>

const sealKey = Buffer.alloc(32, 7)
const sealing = {
  seal: (scope: string, text: string) => sealSecret(sealKey, scope, Buffer.from(text)).toString('base64'),
  open: (scope: string, sealed: string) => openSecret(sealKey, scope, Buffer.from(sealed, 'base64')).toString(),
}

const start = (waitMs?: number) => startEdge({ transact: database.transact, replays: createReplays(database, sealing, waitMs) })

beforeAll(async () => {
  const made = await createDatabase()
  drop = made.drop
  database = connect({ connectionString: made.url }, { poolSize: 8, log: createLog('silent') })
  await database.query({ text: `INSERT INTO organizations (id, name, created_at) VALUES ('org_one', 'One', now())` })
})
beforeEach(async () => {
  edge = await start()
  return () => edge.server.drain(1000)
})
afterAll(async () => {
  await database.close()
  await drop()
})

let keys = 0
const newKey = () => `key-${++keys}`
const write = (key: string | null, body: unknown, on = edge, as = 'owner') =>
  on.post('/api/v1/notes', body, { key: as, headers: key === null ? {} : { 'idempotency-key': key } })
const code = (answer: Answer) => (JSON.parse(answer.text) as { error: { code: string } }).error.code
const countRows = async () =>
  (await database.query<{ count: string }>({ text: 'SELECT count(*)::text AS count FROM idempotency_keys' })).rows[0]?.count

test('the second request gets the first answer, byte for byte, and the operation does not run', async () => {
  const key = newKey()
  const first = await write(key, { subject: 'a', to: ['abc', 'def'] })
  const second = await write(key, { to: ['abc', 'def'], subject: 'a' })
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null])
  expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
  expect(second.text).toBe(first.text)
  expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
  expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  expect(edge.harness.written).toHaveLength(1)
  expect(edge.harness.lines().some((line) => line.msg === 'answer replayed')).toBe(true)
})

test('without the header every request runs', async () => {
  await write(null, { subject: 'a' })
  await write(null, { subject: 'a' })
  expect(edge.harness.written).toHaveLength(2)
})

test('another body under the same key is refused', async () => {
  const key = newKey()
  await write(key, { subject: 'a' })
  for (const body of [{ subject: 'b' }, { subject: null }, {}, { subject: 'a', to: 'abc' }]) {
    const answer = await write(key, body)
    expect([answer.status, code(answer)]).toEqual([422, 'idempotency_key_reused'])
  }
  expect(edge.harness.written).toHaveLength(1)
})

test('a key counts for one method and path, in any spelling of the path', async () => {
  const key = newKey()
  const headers = { 'idempotency-key': key }
  const first = await edge.post('/api/v1/agents/a@b/notes', { subject: 'a' }, { headers })
  expect((await edge.post('/api/v1/agents/a%40b/notes', { subject: 'a' }, { headers })).text).toBe(first.text)
  expect((await edge.post('/api/v1/agents/other/notes', { subject: 'a' }, { headers })).headers.get('idempotent-replayed')).toBeNull()
  expect((await write(key, { subject: 'a' })).headers.get('idempotent-replayed')).toBeNull()
  const long = await edge.post(`/api/v1/agents/${'%F0%9F%98%80'.repeat(400)}/notes`, { subject: 'a' }, { headers })
  expect(long.status).toBe(201)
})

test('an agent key learns nothing from the keys of others', async () => {
  const headers = { 'idempotency-key': newKey() }
  expect((await edge.post('/api/v1/agents/b/notes', { subject: 'a' }, { headers })).status).toBe(201)
  expect((await edge.post('/api/v1/agents/b/notes', { subject: 'a' }, { headers, key: 'agent' })).status).toBe(403)
})

test.each(['', 'x'.repeat(256), 'tab\there', 'ümlaut'])('%j is not a key', async (key) => {
  const text = await new Promise<string>((resolve) => {
    const socket = connectSocket(edge.port, '127.0.0.1')
    let got = ''
    socket.on('data', (chunk) => {
      got += chunk
    })
    socket.on('close', () => resolve(got))
    socket.end(
      `POST /api/v1/notes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer owner\r\nIdempotency-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      'latin1',
    )
  })
  expect(text).toMatch(/^HTTP\/1\.1 400 /)
  expect(edge.harness.written).toHaveLength(0)
})

test('a failed attempt frees the key and leaves no row', async () => {
  const key = newKey()
  const before = await countRows()
  edge.harness.afterWrite = async () => {
    throw new Error('power cut')
  }
  expect((await write(key, { subject: 'a' })).status).toBe(500)
  expect(await countRows()).toBe(before)
  edge.harness.afterWrite = null
  const answer = await write(key, { subject: 'a different body is fine, too' })
  expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, null])
})

test('a second request is refused while the first runs, here and on another node, and later gets the answer', async () => {
  const key = newKey()
  const other = await start()
  edge.harness.holds = true
  const first = write(key, { subject: 'a' })
  await edge.harness.held()
  const [here, there] = await Promise.all([write(key, { subject: 'a' }), write(key, { subject: 'a' }, other)])
  expect([here.status, code(here)]).toEqual([409, 'idempotency_in_progress'])
  expect([there.status, code(there)]).toEqual([409, 'idempotency_in_progress'])
  edge.harness.release()
  const answer = await first
  expect(answer.status).toBe(201)
  expect((await write(key, { subject: 'a' }, other)).text).toBe(answer.text)
  expect(other.harness.written).toHaveLength(0)
  await other.server.drain(1000)
})

test('a second request on the same node is refused before it takes a database connection', async () => {
  const key = newKey()
  let transactions = 0
  const counting = await startEdge({
    transact: (work) => {
      transactions++
      return database.transact(work)
    },
    replays: createReplays(database, sealing),
  })
  counting.harness.holds = true
  const first = write(key, { subject: 'a' }, counting)
  await counting.harness.held()
  const others = await Promise.all(Array.from({ length: 20 }, () => write(key, { subject: 'a' }, counting)))
  expect(others.map(code)).toEqual(Array(20).fill('idempotency_in_progress'))
  expect(transactions).toBe(1)
  counting.harness.release()
  expect((await first).status).toBe(201)
  expect((await write(key, { subject: 'a' }, counting)).headers.get('idempotent-replayed')).toBe('true')
  await counting.server.drain(1000)
})

test('a node that waits a moment for another gets its answer', async () => {
  const key = newKey()
  const other = await start(20_000)
  edge.harness.holds = true
  const first = write(key, { subject: 'a' })
  await edge.harness.held()
  const second = write(key, { subject: 'a' }, other)
  // The other node is waiting for the first one's row.
  const waiting = { text: `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'` }
  await expect.poll(async () => (await database.query(waiting)).rowCount, { interval: 10 }).toBeGreaterThan(0)
  edge.harness.release()
  expect((await second).text).toBe((await first).text)
  expect((await second).headers.get('idempotent-replayed')).toBe('true')
  await other.server.drain(1000)
})

test('twenty concurrent requests on two nodes have one effect', async () => {
  const key = newKey()
  const other = await start()
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => write(key, { subject: 'a' }, i % 2 ? edge : other)))
  expect(edge.harness.written.length + other.harness.written.length).toBe(1)
  const made = answers.filter((answer) => answer.status === 201)
  expect(new Set(made.map((answer) => answer.text)).size).toBe(1)
  for (const answer of answers) expect([201, 409]).toContain(answer.status)
  await other.server.drain(1000)
})

test('lock_timeout is restored for the rest of the transaction', async () => {
  let seen = ''
  await database.transact(async (tx) => {
    await tx.query({ text: `SET LOCAL lock_timeout = '7s'` })
    const claim = await createReplays(database, sealing).claim(
      tx,
      { organizationId: 'org_one', method: 'POST', path: '/x', key: newKey() },
      Buffer.alloc(32),
    )
    expect(claim).toBe('claimed')
    seen = (await tx.query<{ lock_timeout: string }>({ text: 'SHOW lock_timeout' })).rows[0]?.lock_timeout ?? ''
  })
  expect(seen).toBe('7s')
})

test('the sweep deletes answers from before a time', async () => {
  const key = newKey()
  await write(key, { subject: 'a' })
  const replays = createReplays(database, sealing)
  expect(await replays.sweep(new Date(Date.now() - 60_000))).toBe(0)
  expect(await replays.sweep(new Date(Date.now() + 60_000))).toBeGreaterThan(0)
  expect(await countRows()).toBe('0')
  expect((await write(key, { subject: 'b' })).status).toBe(201)
})

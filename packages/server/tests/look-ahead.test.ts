// Reading ahead during the key lookup. It uses one connection per tick, and never runs for a malformed key.

import { operation } from '@callsign/contract/operation'
import { Type } from 'typebox'
import { afterEach, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { routeAhead } from '../src/core/route.ts'
import { connect } from '../src/edges/postgres/connect.ts'
import { startEdge } from './harness/api-edge.ts'
import { createEmptyDatabase } from './harness/database.ts'

const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

test('lookups of one tick share a connection, and one that fails fails alone', async () => {
  const { url, drop } = await createEmptyDatabase()
  const database = connect({ connectionString: url }, { poolSize: 4, log: createLog('silent') })
  cleanups.push(drop, () => database.close())
  const backend = { name: 'backend', text: 'SELECT pg_backend_pid() AS pid' }
  const [first, failed, second] = await Promise.allSettled([
    database.lookups.query<{ pid: number }>(backend),
    database.lookups.query({ text: 'SELECT 1 / $1::int', values: [0] }),
    database.lookups.query<{ pid: number }>(backend),
  ])
  expect(failed).toMatchObject({ status: 'rejected', reason: { code: '22012' } })
  const pids = [first, second].map((result) => (result.status === 'fulfilled' ? result.value.rows[0]?.pid : null))
  expect(pids[0]).toEqual(expect.any(Number))
  expect(pids[1]).toBe(pids[0])
  const [one, other] = await Promise.all([database.query<{ pid: number }>(backend), database.query<{ pid: number }>(backend)])
  expect(one.rows[0]?.pid).not.toBe(other.rows[0]?.pid)
})

const getNote = operation({
  id: 'getNote',
  method: 'GET',
  path: '/api/v1/notes/{id}',
  summary: 'Gets a note.',
  tag: 'Notes',
  scopes: [],
  params: Type.Object({ id: Type.String({ maxLength: 20 }) }, { additionalProperties: false }),
  status: 200,
  reply: Type.Object({ id: Type.String() }),
})

/** An edge with one operation that reads ahead. `read` records its lookups, and `ran` its answers. */
async function startAhead(authenticate: (token: string) => Promise<never> | Promise<null> | null, found: () => Promise<string>) {
  const read: string[] = []
  const ran: string[] = []
  const route = routeAhead(
    getNote,
    'agent',
    (params) => {
      read.push(params.id)
      return found()
    },
    async (_call, { params }, promise) => {
      ran.push(params.id)
      return { id: await promise }
    },
  )
  const edge = await startEdge({ routes: [route], authenticate })
  cleanups.push(() => edge.server.drain(0))
  return { edge, read, ran }
}

test('the operation gets the rows read ahead, and runs only for a good key', async () => {
  let isRevoked = false
  const { edge, read, ran } = await startAhead(
    async () => (isRevoked ? null : ({ keyId: 'key_1', organizationId: 'org_1', agent: null } as never)),
    async () => 'found',
  )
  expect(await edge.call('/api/v1/notes/a')).toMatchObject({ status: 200, text: '{"id":"found"}' })
  isRevoked = true
  expect((await edge.call('/api/v1/notes/b')).status).toBe(401)
  expect(read).toEqual(['a', 'b'])
  expect(ran).toEqual(['a'])
})

test('a malformed key reads nothing, and a failed read behind a refused key affects no request', async () => {
  const { edge, read } = await startAhead(
    (token) => (token === 'wellformed' ? Promise.resolve(null) : null),
    () => Promise.reject(new Error('away')),
  )
  expect((await edge.call('/api/v1/notes/a', { key: 'garbage' })).status).toBe(401)
  expect(read).toEqual([])
  expect((await edge.call('/api/v1/notes/a', { key: 'wellformed' })).status).toBe(401)
  expect(read).toEqual(['a'])
})

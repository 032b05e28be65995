// Reading ahead during the key lookup. It uses one connection per tick, and never runs for a malformed key.

import { operation } from '@callsign/contract/operation'
import { Type } from 'typebox'
import { afterEach, expect, test } from 'vitest'
import type { Caller } from '../src/core/caller.ts'
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
    {
      byPath: (params) => {
        read.push(params.id)
        return found()
      },
    },
    async (_call, { params }, promise) => {
      ran.push(params.id)
      return { id: (await promise) ?? 'nothing' }
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

const listNotes = operation({
  id: 'listNotes',
  method: 'GET',
  path: '/api/v1/notes',
  summary: 'Lists notes.',
  tag: 'Notes',
  scopes: [],
  query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, default: 50 })) }, { additionalProperties: false }),
  status: 200,
  reply: Type.Object({ of: Type.String() }),
})

test('a list is read ahead for the caller that the key had, and read again when the key has another', async () => {
  const [before, changed] = ['key_1', 'key_2'].map(
    (keyId) => ({ keyId, organizationId: 'org_1', agents: null, scopes: new Set() }) as unknown as Caller,
  )
  let current: Caller | null = before as Caller
  let recalled: Caller | null = null
  const read: unknown[] = []
  const route = routeAhead(
    listNotes,
    'agent',
    {
      forCaller: async (caller, query) => {
        read.push([caller.keyId, query])
        return `${caller.keyId} ahead`
      },
    },
    async ({ caller }, _input, ahead) => ({ of: (await ahead) ?? caller.keyId }),
  )
  const edge = await startEdge({ routes: [route], authenticate: async () => current, recall: () => recalled })
  cleanups.push(() => edge.server.drain(0))
  const list = async (query = '') => {
    const { status, text } = await edge.call(`/api/v1/notes${query}`)
    return [status, status === 200 ? JSON.parse(text).of : null]
  }
  expect(await list()).toEqual([200, 'key_1'])
  recalled = before as Caller
  expect(await list('?limit=7')).toEqual([200, 'key_1 ahead'])
  current = changed as Caller
  expect(await list()).toEqual([200, 'key_2'])
  current = null
  expect(await list()).toEqual([401, null])
  const ahead = [7, 50, 50].map((limit) => ['key_1', { limit }])
  expect(read).toEqual(ahead)
  current = before as Caller
  expect(await list('?limit=none')).toEqual([400, null])
  expect(read).toEqual(ahead)
})

// Database cost of waiting. A tick and an arrival run the same few statements for one client and for two thousand.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Caller } from '../src/core/caller.ts'
import { createLog } from '../src/core/log.ts'
import type { Database, Statement } from '../src/core/sql.ts'
import { createEmit } from '../src/edges/postgres/event-log.ts'
import { findUnusable } from '../src/features/account/keys/store.ts'
import { createHistory } from '../src/features/events/log/history.ts'
import * as store from '../src/features/events/log/store.ts'
import { createWait } from '../src/features/events/log/wait.ts'
import { createWatch } from '../src/features/events/log/watch.ts'
import { type Harness, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

const waitsCount = 2000

test('two thousand wait for fifty agents', async () => {
  const asked: string[] = []
  const count =
    <A extends unknown[], R>(run: (...all: A) => R, name: (...all: A) => string) =>
    (...all: A): R => {
      asked.push(name(...all))
      return run(...all)
    }
  const counted: Database = {
    query: count(harness.db.query.bind(harness.db), (statement: Statement) => statement.name ?? statement.text) as Database['query'],
    transact: (work) => {
      asked.push('transact')
      return harness.db.transact(work)
    },
    reads: harness.db.reads,
  }
  const history = createHistory(counted)
  const { wait, watchers } = createWait(counted, history, () => watch.begin())
  const watch = createWatch(
    { place: () => store.placeEvents(counted), history, findUnusable: (ids) => findUnusable(counted, ids), log: createLog('silent') },
    [watchers],
  )
  const { organization_id: organizationId, key } = await harness.expectApi(200, 'GET', '/me')
  const caller = { organizationId } as Caller
  // A key may wait a thousand times, so there are three.
  const keyIds = [key.id]
  for (let i = 0; i < 2; i++)
    keyIds.push((await harness.expectApi(201, 'POST', '/keys', { body: { name: `${i}`, type: 'organization' } })).id)
  const agents = await Promise.all(Array.from({ length: 50 }, (_, i) => harness.createAgent(`agent_${i}`)))

  const picked: string[] = []
  const waits = Array.from({ length: waitsCount }, (_, i) =>
    wait({
      caller: { ...caller, keyId: keyIds[i % keyIds.length] as string },
      owner: { organizationId, identityId: agents[i % agents.length].id },
      types: ['email.received'],
      query: { timeout: 60 },
      pick: async ([id = '']) => {
        picked.push(id)
        return { id, value: id }
      },
      signal: new AbortController().signal,
    }),
  )
  const ticks = () => asked.filter((name) => name === 'read-event-head').length
  await waitFor('two ticks', () => ticks() >= 3)
  asked.length = 0
  await waitFor('three more ticks', () => ticks() >= 3)
  // The head, the keys, and no further statement.
  expect(asked.length).toBeLessThanOrEqual(8)

  asked.length = 0
  const emit = createEmit(() => watch.pollSoon())
  await harness.db.transact((tx) =>
    emit(
      tx,
      agents.map((agent, i) => ({ type: 'email.received' as const, organizationId, identityId: agent.id, subjectId: `msg_${i}` })),
    ),
  )
  const answers = await Promise.all(waits)
  expect(answers.map((answer) => answer.found)).toEqual(waits.map((_, i) => `msg_${i % agents.length}`))
  expect(asked.length).toBeLessThanOrEqual(15)
  expect(watchers.count()).toBe(0)
})

// kill -9 in the middle of a batch. All of its messages are queued, or none, and a repeated request queues them once.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import type { Database } from '../src/core/sql.ts'
import { connect } from '../src/edges/postgres/connect.ts'
import { generateKey } from '../src/features/account/keys/model.ts'
import { makeDataDir, type Server, startCallsignd } from './harness/callsignd.ts'
import { createDatabase } from './harness/database.ts'
import type { Json } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

const key = generateKey()
let database: Awaited<ReturnType<typeof createDatabase>>
let dataDir: Awaited<ReturnType<typeof makeDataDir>>
let server: Server
beforeAll(async () => {
  database = await createDatabase()
  dataDir = await makeDataDir()
  server = await start()
})
afterAll(async () => {
  await server?.stop()
  await database?.drop()
  await dataDir?.remove()
})

const start = (): Promise<Server> =>
  startCallsignd({ CALLSIGN_DATABASE_URL: database.url, CALLSIGN_DATA_DIR: dataDir.path, CALLSIGN_BOOTSTRAP_API_KEY: key })

async function ask(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${server.baseUrl}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

const batch = (subject: string) => ({
  messages: Array.from({ length: 100 }, (_, n) => ({ agent: 'ann', to: [`r${n}@example.org`], subject, text: `Number ${n}` })),
})

/** Kills the server while a request waits, which then gets no answer. */
async function killDuring(cut: Promise<unknown>): Promise<void> {
  server.signal('SIGKILL')
  await server.ended
  expect(await cut).toBeNull()
}

/** Resolves when no other session has a transaction, such as that of a killed server. */
const waitForIdle = (db: Database): Promise<boolean> =>
  waitFor('the end of the cut transaction', async () => {
    const { rows } = await db.query({
      text: `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
    })
    return rows.length === 0
  })

test('a server killed in the middle of a change of 500 messages has changed all of them or none', async () => {
  const db = connect({ connectionString: database.url }, { poolSize: 3, log: createLog('silent') })
  try {
    expect((await ask('POST', '/identities', { agent_handle: 'many' })).status).toBe(201)
    const ids: string[] = []
    for (let round = 0; round < 5; round++) {
      const messages = batch('to change').messages.map((one) => ({ ...one, agent: 'many' }))
      ids.push(...(await ask('POST', '/mail/batch', { messages })).body.data.map((one: Json) => one.id))
    }
    const labelled = async (): Promise<number> => {
      const { rows } = await db.query<{ count: number }>({
        text: `SELECT count(*)::int AS count FROM messages WHERE id = ANY($1) AND 'seen' = ANY(labels) AND is_starred AND trashed_at IS NOT NULL`,
        values: [ids],
      })
      return rows[0]?.count ?? -1
    }
    const change = () => ask('PATCH', '/mail/messages', { ids, add_labels: ['seen'], is_starred: true, is_trashed: true })

    // A lock on one thread late in the order of locks holds the transaction open.
    const released = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const lock = db.transact(async (tx) => {
      await tx.query({ text: 'SELECT 1 FROM messages WHERE id = $1 FOR UPDATE', values: [ids[400]] })
      locked.resolve()
      await released.promise
    })
    await locked.promise
    const cut = change().catch(() => null)
    await waitFor('the change to wait for the lock', async () => {
      const { rows } = await db.query({ text: `SELECT 1 FROM pg_locks WHERE NOT granted` })
      return rows.length > 0
    })
    await killDuring(cut)
    released.resolve()
    await lock
    await waitForIdle(db)
    expect(await labelled()).toBe(0)
    server = await start()
    expect((await change()).status).toBe(200)
    expect(await labelled()).toBe(500)
  } finally {
    await db.close()
  }
})

test('a server killed in the middle of a batch has queued all messages or none', async () => {
  const db = connect({ connectionString: database.url }, { poolSize: 3, log: createLog('silent') })
  const countOf = async (subject: string): Promise<number[]> => {
    const { rows } = await db.query<{ messages: number; recipients: number }>({
      text: 'SELECT count(*) AS messages, count(DISTINCT to_addresses) AS recipients FROM messages WHERE subject = $1',
      values: [subject],
    })
    return [rows[0]?.messages ?? -1, rows[0]?.recipients ?? -1]
  }
  try {
    expect((await ask('POST', '/identities', { agent_handle: 'ann' })).status).toBe(201)

    // A lock on a table that the batch writes late holds its transaction open after its first rows are written.
    const released = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const lock = db.transact(async (tx) => {
      await tx.query({ text: 'LOCK TABLE message_counts IN EXCLUSIVE MODE' })
      locked.resolve()
      await released.promise
    })
    await locked.promise
    const cut = ask('POST', '/mail/batch', batch('held'), { 'idempotency-key': 'held' }).catch(() => null)
    await waitFor('the batch to wait for the lock', async () => {
      const { rows } = await db.query({ text: `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'message_counts'::regclass` })
      return rows.length > 0
    })
    await killDuring(cut)
    released.resolve()
    await lock
    await waitForIdle(db)
    expect(await countOf('held')).toEqual([0, 0])
    server = await start()
    expect((await ask('POST', '/mail/batch', batch('held'), { 'idempotency-key': 'held' })).body.queued).toBe(100)
    expect(await countOf('held')).toEqual([100, 100])

    // Kills at other moments, while four batches are on their way.
    for (let round = 0; round < 3; round++) {
      const subjects = [0, 1, 2, 3].map((n) => `round ${round} batch ${n}`)
      const sends = subjects.map((subject) => ask('POST', '/mail/batch', batch(subject), { 'idempotency-key': subject }).catch(() => null))
      if (round > 0) await Promise.race(sends)
      server.signal('SIGKILL')
      await server.ended
      const answers = await Promise.all(sends)
      server = await start()
      for (const [n, subject] of subjects.entries()) {
        const [found] = await countOf(subject)
        expect(answers[n]?.status === 201 ? [100] : [0, 100]).toContain(found)
        expect((await ask('POST', '/mail/batch', batch(subject), { 'idempotency-key': subject })).body.queued).toBe(100)
        expect(await countOf(subject)).toEqual([100, 100])
      }
    }
  } finally {
    await db.close()
  }
})

// Transactions, types and migrations against a real PostgreSQL.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { type Database, DatabaseUnavailable, type Tx } from '../src/core/sql.ts'
import { connect, type PostgresDatabase } from '../src/edges/postgres/connect.ts'
import { migrate } from '../src/edges/postgres/migrate.ts'
import { createDatabase, createEmptyDatabase, migrationsFolder } from './harness/database.ts'

const log = createLog('silent')
const cleanups: (() => Promise<unknown> | unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function openEmpty(poolSize = 4): Promise<PostgresDatabase & { url: string }> {
  const { url, drop } = await createEmptyDatabase()
  const database = connect({ connectionString: url }, { poolSize, log })
  cleanups.push(drop, () => database.close())
  return { ...database, url }
}

const makeCounters = (database: Database) =>
  database.query({
    text: 'CREATE TABLE counters AS SELECT id, 0 AS value FROM generate_series(1, 2) AS id; ALTER TABLE counters ADD PRIMARY KEY (id)',
  })

const readValue = async (sql: Database | Tx, id: number): Promise<number> =>
  (await sql.query<{ value: number }>({ name: 'value-of', text: 'SELECT value FROM counters WHERE id = $1', values: [id] })).rows[0]!.value

const add = (sql: Database | Tx, id: number) =>
  sql.query({ name: 'add', text: 'UPDATE counters SET value = value + 1 WHERE id = $1', values: [id] })

/** Resolves for each caller when `count` have called. */
function barrier(count: number): () => Promise<void> {
  let missing = count
  let open = () => {}
  const all = new Promise<void>((resolve) => {
    open = resolve
  })
  return () => {
    if (--missing <= 0) open()
    return all
  }
}

test('values arrive as JavaScript values, and integers beyond 2^53 are refused', async () => {
  const database = await openEmpty()
  const at = new Date('2026-11-20T12:34:56.789Z')
  const { rows, rowCount } = await database.query({
    text: `SELECT 9007199254740991::int8 AS big, $1::timestamptz AS at, '0001-01-01 00:00:00+00'::timestamptz AS early, $2::bytea AS bytes,
             '{"a": [1]}'::jsonb AS json, 1.5::numeric AS exact, ARRAY['a','b'] AS list, NULL::int8 AS nothing`,
    values: [at, Buffer.from([0, 255])],
  })
  expect(rowCount).toBe(1)
  expect(rows[0]).toEqual({
    big: Number.MAX_SAFE_INTEGER,
    at,
    early: new Date('0001-01-01T00:00:00Z'),
    bytes: Buffer.from([0, 255]),
    json: { a: [1] },
    exact: '1.5',
    list: ['a', 'b'],
    nothing: null,
  })
  await expect(database.query({ text: 'SELECT 9007199254740992::int8' })).rejects.toThrow('too large')
})

test('a transaction commits its changes and runs its hints, or does neither', async () => {
  const database = await openEmpty(1)
  await makeCounters(database)
  let hints = 0
  const given = await database.transact(async (tx) => {
    tx.afterCommit(() => hints++)
    await add(tx, 1)
    expect(hints).toBe(0)
    return 'given'
  })
  expect(given).toBe('given')
  expect(hints).toBe(1)
  const failing = database.transact(async (tx) => {
    tx.afterCommit(() => hints++)
    await add(tx, 1)
    throw new Error('ours')
  })
  await expect(failing).rejects.toThrow('ours')
  expect(hints).toBe(1)
  expect(await readValue(database, 1)).toBe(1)
  // Nothing was asked of the database: nothing is begun.
  expect(await database.transact(async () => 'empty')).toBe('empty')
})

test('the statement that opens a transaction fails like any other, and its connection goes on', async () => {
  const database = await openEmpty(1)
  await makeCounters(database)
  const insert = { name: 'insert', text: 'INSERT INTO counters VALUES ($1, 7)', values: [1] }
  for (let round = 0; round < 2; round++) {
    await expect(database.transact((tx) => tx.query(insert))).rejects.toMatchObject({ code: '23505', constraint: 'counters_pkey' })
    await expect(
      database.transact((tx) => tx.query({ name: 'broken', text: 'SELECT nothing WHERE $1', values: [1] })),
    ).rejects.toMatchObject({ code: '42703' })
  }
  await database.transact((tx) => tx.query({ ...insert, values: [3] }))
  expect(await readValue(database, 3)).toBe(7)
  // The first statement was in the transaction, not before it.
  const undone = database.transact(async (tx) => {
    await tx.query({ ...insert, values: [4] })
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  const { rows } = await database.query({ text: 'SELECT id FROM counters ORDER BY id' })
  expect(rows.map(({ id }) => id)).toEqual([1, 2, 3])
})

test('statements side by side in one transaction all belong to it', async () => {
  const database = await openEmpty(1)
  await makeCounters(database)
  const undone = database.transact(async (tx) => {
    await Promise.all([add(tx, 1), add(tx, 2), add(tx, 1)])
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect([await readValue(database, 1), await readValue(database, 2)]).toEqual([0, 0])
})

test('a swallowed error does not turn into a silent rollback, and no statement runs after the end', async () => {
  const database = await openEmpty(1)
  await makeCounters(database)
  let kept: Tx | undefined
  const swallowed = database.transact(async (tx) => {
    kept = tx
    await add(tx, 1)
    await tx.query({ text: 'SELECT 1/0' }).catch(() => {})
  })
  await expect(swallowed).rejects.toThrow('rolled back')
  await expect(add(kept!, 1)).rejects.toThrow('after its transaction had ended')
  expect(await readValue(database, 1)).toBe(0)
})

// Plans are found by the names of prepared statements, which a pooler changes.
const isPooled = process.env.CALLSIGN_TEST_POOLED === '1'

test.skipIf(isPooled)(
  `a plan made on an empty table still reads few rows of a full one${isPooled ? ' (skipped: the pooler loses names)' : ''}`,
  async () => {
    const database = await openEmpty(1)
    await makeCounters(database)
    await database.query({ text: 'DELETE FROM counters' })
    await database.query({ text: 'VACUUM ANALYZE counters' })
    const find = { name: 'find', text: 'SELECT id FROM counters WHERE id = ANY($1)', values: [[7]] }
    expect((await database.query(find)).rows).toEqual([])
    await database.query({ text: 'INSERT INTO counters SELECT id, 0 FROM generate_series(1, 5000) AS id' })
    expect((await database.query(find)).rows).toEqual([{ id: 7 }])
    const { rows } = await database.query<{ 'QUERY PLAN': string }>({ text: 'EXPLAIN EXECUTE find (ARRAY[7])' })
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('counters_pkey')
  },
)

test('serialization failures are tried again until every transaction counts', async () => {
  const database = await openEmpty(8)
  await makeCounters(database)
  let tries = 0
  const rendezvous = barrier(4)
  let hints = 0
  const increment = () =>
    database.transact(async (tx) => {
      tries++
      await tx.query({ text: 'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE' })
      const value = await readValue(tx, 1)
      // All four have read before any writes: three must fail once.
      await rendezvous()
      tx.afterCommit(() => hints++)
      await tx.query({ text: 'UPDATE counters SET value = $1 WHERE id = 1', values: [value + 1] })
    })
  await Promise.all([increment(), increment(), increment(), increment()])
  expect(await readValue(database, 1)).toBe(4)
  expect(tries).toBeGreaterThan(4)
  expect(hints).toBe(4)
})

test('of two transactions in a deadlock, the one that PostgreSQL ends is tried again', async () => {
  const database = await openEmpty(4)
  await makeCounters(database)
  let tries = 0
  const rendezvous = barrier(2)
  const cross = (first: number, second: number) =>
    database.transact(async (tx) => {
      tries++
      await add(tx, first)
      await rendezvous()
      await add(tx, second)
    })
  await Promise.all([cross(1, 2), cross(2, 1)])
  expect(tries).toBeGreaterThan(2)
  expect([await readValue(database, 1), await readValue(database, 2)]).toEqual([2, 2])
})

test('a connection ended by the server is one recognisable error, and is not used again', async () => {
  const database = await openEmpty(2)
  await makeCounters(database)
  let tries = 0
  const ended = database.transact(async (tx) => {
    tries++
    const { rows } = await tx.query<{ pid: number }>({ text: 'SELECT pg_backend_pid() AS pid, $1::int', values: [1] })
    await database.query({ text: 'SELECT pg_terminate_backend($1)', values: [rows[0]!.pid] })
    await add(tx, 1)
  })
  await expect(ended).rejects.toBeInstanceOf(DatabaseUnavailable)
  expect(tries).toBe(1)
  expect(await readValue(database, 1)).toBe(0)
})

test('a COMMIT whose answer is lost is reported as unknown and not tried again', async () => {
  const database = await openEmpty(2)
  await makeCounters(database)
  // A deferred trigger runs within COMMIT, and ends its own connection there.
  await database.query({
    text: `CREATE FUNCTION hang_up() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
           CREATE CONSTRAINT TRIGGER hang_up AFTER UPDATE ON counters DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hang_up()`,
  })
  let tries = 0
  const lost = database.transact(async (tx) => {
    tries++
    await add(tx, 1)
  })
  await expect(lost).rejects.toMatchObject({ name: 'DatabaseUnavailable', isOutcomeUnknown: true })
  expect(tries).toBe(1)
})

test('a statement that fails rolls back those sent beside it, with its own error', async () => {
  const database = await openEmpty()
  await makeCounters(database)
  const failed = database.transact((tx) =>
    Promise.all([add(tx, 1), tx.query({ text: 'INSERT INTO counters VALUES ($1, 0)', values: [1] }), add(tx, 2)]),
  )
  await expect(failed).rejects.toMatchObject({ code: '23505', constraint: 'counters_pkey' })
  expect([await readValue(database, 1), await readValue(database, 2)]).toEqual([0, 0])
})

test('a connection keeps its prepared statements after one that failed', async () => {
  const database = await openEmpty(1)
  await makeCounters(database)
  const failed = database.transact(async (tx) => {
    const both = await Promise.allSettled([
      tx.query({ name: 'fails', text: 'SELECT 1 / $1::int', values: [0] }),
      tx.query({ name: 'follows', text: 'SELECT $1::int AS value', values: [2] }),
    ])
    expect(both).toMatchObject([{ reason: { code: '22012' } }, { reason: { code: '25P02' } }])
    throw (both[0] as PromiseRejectedResult).reason
  })
  await expect(failed).rejects.toMatchObject({ code: '22012' })
  const again = await database.transact(async (tx) => {
    const [first, second] = await Promise.all([
      tx.query<{ value: number }>({ name: 'follows', text: 'SELECT $1::int AS value', values: [3] }),
      tx.query<{ value: number }>({ name: 'follows', text: 'SELECT $1::int AS value', values: [4] }),
      tx.query({ name: 'fails', text: 'SELECT 1 / $1::int', values: [1] }),
    ])
    return [first.rows, second.rows]
  })
  expect(again).toEqual([[{ value: 3 }], [{ value: 4 }]])
})

test('a server that is not there is unavailable', async () => {
  const database = connect({ host: join(tmpdir(), 'callsign-nobody'), port: 5432, user: 'u', database: 'd' }, { poolSize: 1, log })
  cleanups.push(() => database.close())
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const refused = expect(database.query({ text: 'SELECT 1' })).rejects.toBeInstanceOf(DatabaseUnavailable)
    await new Promise((resolve) => setImmediate(resolve))
    // It is waited for a while, in case that it comes back.
    vi.setSystemTime(Date.now() + 4_000)
    await refused
  } finally {
    vi.useRealTimers()
  }
})

test('a fresh copy of the migrated database has every migration, and an ordinary address', async () => {
  const { url, drop } = await createDatabase()
  cleanups.push(drop)
  const database = connect({ connectionString: url }, { poolSize: 1, log })
  cleanups.push(() => database.close())
  expect(await migrate(database, { folder: migrationsFolder, log })).toEqual([])
})

function makeFolder(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'callsign-migrations-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

test('migrations apply once, in order, each whole or not at all', async () => {
  const database = await openEmpty()
  const first = { '0001-a.sql': 'CREATE TABLE a (id int); INSERT INTO a VALUES (1);' }
  const broken = makeFolder({ ...first, '0002-b.sql': 'CREATE TABLE b (id int); SELECT 1/0;', '0003-c.sql': 'CREATE TABLE c (id int)' })
  await expect(migrate(database, { folder: broken, log })).rejects.toMatchObject({ code: '22012' })
  const mended = makeFolder({ ...first, '0002-b.sql': 'CREATE TABLE b (id int)\r\n', '0003-c.sql': 'CREATE TABLE c (id int)' })
  expect(await migrate(database, { folder: mended, log })).toEqual(['0002-b.sql', '0003-c.sql'])
  writeFileSync(join(mended, '0002-b.sql'), 'CREATE TABLE b (id int)\n')
  expect(await migrate(database, { folder: mended, log })).toEqual([])
})

test('migrations that changed, vanished, came late or are newer stop with a sentence', async () => {
  const database = await openEmpty()
  const files = { '0001-a.sql': 'CREATE TABLE a (id int)', '0003-c.sql': 'CREATE TABLE c (id int)' }
  await migrate(database, { folder: makeFolder(files), log })
  const attempt = (folder: Record<string, string>) => migrate(database, { folder: makeFolder(folder), log })
  await expect(attempt({ ...files, '0001-a.sql': 'CREATE TABLE a (id text)' })).rejects.toThrow('0001-a.sql has changed')
  await expect(attempt({ '0003-c.sql': files['0003-c.sql'] })).rejects.toThrow(
    '0001-a.sql was applied to this database, but its file is missing',
  )
  await expect(attempt({ '0001-a.sql': files['0001-a.sql'] })).rejects.toThrow(
    'newer version of Callsign (it has the migration 0003-c.sql)',
  )
  await expect(attempt({ ...files, '0002-b.sql': 'SELECT 1' })).rejects.toThrow('comes before 0003-c.sql')
  await expect(attempt({ ...files, '0003-d.sql': 'SELECT 1' })).rejects.toThrow('a number of its own')
  await expect(attempt({ ...files, 'four.sql': 'SELECT 1' })).rejects.toThrow('NNNN-name.sql')
})

test('several processes that migrate at once apply each migration once', async () => {
  const database = await openEmpty()
  const folder = makeFolder({ '0001-a.sql': 'CREATE TABLE a (id int)', '0002-b.sql': 'INSERT INTO a SELECT 1 FROM pg_sleep(0.2)' })
  const others = [1, 2, 3, 4].map(() => connect({ connectionString: database.url }, { poolSize: 1, log }))
  cleanups.push(() => Promise.all(others.map((other) => other.close())))
  const applied = await Promise.all(others.map((other) => migrate(other, { folder, log })))
  expect(applied.flat().sort()).toEqual(['0001-a.sql', '0002-b.sql'])
  expect((await database.query({ text: 'SELECT id FROM a' })).rowCount).toBe(1)
})

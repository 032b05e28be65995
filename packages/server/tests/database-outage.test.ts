// Servers that freeze, vanish, or are followed by another one, as a failover leaves them, and addresses with several hosts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, type onTestFinished, test } from 'vitest'
import { readConfig } from '../src/config/settings.ts'
import { createLog } from '../src/core/log.ts'
import { DatabaseUnavailable } from '../src/core/sql.ts'
import { connect, type PostgresDatabase } from '../src/edges/postgres/connect.ts'
import { type EmbeddedPostgres, startEmbedded } from '../src/edges/postgres/embedded/supervisor.ts'
import { openDatabase } from '../src/host/database.ts'
import { makeDataDir, startCallsignd } from './harness/callsignd.ts'
import { type DatabaseSwitch, startDatabaseSwitch } from './harness/database-switch.ts'
import { findFreePort } from './harness/peer-process.ts'
import { waitFor } from './harness/wait.ts'

const log = createLog('silent')
let first: EmbeddedPostgres
let second: EmbeddedPostgres
const directories: string[] = []

async function startServer(settings: Record<string, string> = {}): Promise<EmbeddedPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'callsign-outage-'))
  directories.push(directory)
  return startEmbedded({ dataDir: join(directory, 'data'), log, settings: { fsync: 'off', ...settings } })
}

beforeAll(async () => {
  ;[first, second] = await Promise.all([startServer(), startServer()])
})
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()])
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

async function startSwitch(finish: typeof onTestFinished, server: EmbeddedPostgres): Promise<DatabaseSwitch> {
  const made = await startDatabaseSwitch(server.connection)
  finish(made.stop)
  return made
}

function open(finish: typeof onTestFinished, hosts: string): PostgresDatabase {
  const { user, database } = first.connection
  const made = connect({ connectionString: `postgres://${user}@${hosts}/${database}` }, { poolSize: 4, log })
  finish(made.close)
  return made
}

const startTime = { text: 'SELECT pg_postmaster_start_time()::text AS at' }
const startTimeOf = async (database: PostgresDatabase) => (await database.query<{ at: string }>(startTime)).rows[0]?.at
const sleep = (seconds: number) => ({ text: 'SELECT pg_sleep($1)', values: [seconds] })

test.concurrent('when a frozen server is followed by another one, waiting statements fail as unavailable, and the next ones go to it', async ({
  onTestFinished: finish,
}) => {
  const address = await startSwitch(finish, first)
  const database = open(finish, `127.0.0.1:${address.port}`)
  const before = await startTimeOf(database)
  const long = { text: 'SELECT pg_sleep(61)' }
  const waiting = [database.query(long), database.transact((tx) => tx.query(long)), database.query(long)]
  const outcomes = Promise.allSettled(waiting)
  const running = {
    text: `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE state = 'active' AND query LIKE '%pg_sleep(61)%' AND pid <> pg_backend_pid()`,
  }
  await waitFor('the statements to run', async () => (await database.query<{ count: number }>(running)).rows[0]?.count === 3)
  address.freeze()
  address.turnTo(second.connection)
  address.thawNew()
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'DatabaseUnavailable' } })
  const after = await startTimeOf(database)
  expect(after).toBeDefined()
  expect(after).not.toBe(before)
})

test.concurrent('an idle connection to a server that was followed by another one is not used for long', async ({
  onTestFinished: finish,
}) => {
  const address = await startSwitch(finish, first)
  const database = open(finish, `127.0.0.1:${address.port}`)
  await Promise.all([startTimeOf(database), startTimeOf(database), startTimeOf(database)])
  address.freeze()
  address.turnTo(second.connection)
  address.thawNew()
  await expect(startTimeOf(database)).rejects.toBeInstanceOf(DatabaseUnavailable)
  // The other idle connections were ended with the one that waited.
  expect(await Promise.all([startTimeOf(database), startTimeOf(database)])).toHaveLength(2)
})

test.concurrent('statements of a server that answers nothing any more fail as unavailable', async ({ onTestFinished: finish }) => {
  const address = await startSwitch(finish, first)
  const database = open(finish, `127.0.0.1:${address.port}`)
  await startTimeOf(database)
  address.freeze()
  await expect(database.query(sleep(0))).rejects.toBeInstanceOf(DatabaseUnavailable)
  await expect(database.query(sleep(0))).rejects.toBeInstanceOf(DatabaseUnavailable)
  address.thawNew()
  expect(await startTimeOf(database)).toBeDefined()
})

test.concurrent('a COMMIT without an answer is reported as unknown', async ({ onTestFinished: finish }) => {
  const address = await startSwitch(finish, first)
  const database = open(finish, `127.0.0.1:${address.port}`)
  const lost = database.transact(async (tx) => {
    await tx.query({ text: 'SELECT $1::int', values: [1] })
    address.freeze()
  })
  await expect(lost).rejects.toMatchObject({ name: 'DatabaseUnavailable', isOutcomeUnknown: true })
})

test.concurrent('a connection whose answers are lost is ended while its server is there', async ({ onTestFinished: finish }) => {
  const address = await startSwitch(finish, first)
  const database = open(finish, `127.0.0.1:${address.port}`)
  await startTimeOf(database)
  const lost = database.query(sleep(1))
  address.freeze()
  address.thawNew()
  await expect(lost).rejects.toBeInstanceOf(DatabaseUnavailable)
  expect(await startTimeOf(database)).toBeDefined()
})

test.concurrent('a slow statement is not ended while its server is there', async ({ onTestFinished: finish }) => {
  const address = await startSwitch(finish, first)
  const database = open(finish, `127.0.0.1:${address.port}`)
  // Longer than the watch waits before it asks.
  expect((await database.query(sleep(6))).rowCount).toBe(1)
})

test.concurrent('of several hosts, statements go to the one that is there and accepts writes', async ({ onTestFinished: finish }) => {
  const replica = await startServer({ default_transaction_read_only: 'on' })
  finish(replica.stop)
  const [readOnly, primary] = [await startSwitch(finish, replica), await startSwitch(finish, second)]
  const database = open(finish, `127.0.0.1:${await findFreePort()},127.0.0.1:${readOnly.port},127.0.0.1:${primary.port}`)
  await database.query({ text: 'CREATE TEMP TABLE written (id int)' })
  expect(await startTimeOf(database)).toBe(await startTimeOf(open(finish, `127.0.0.1:${primary.port}`)))
})

test.concurrent('a server that accepts no writes is unavailable', async ({ onTestFinished: finish }) => {
  const replica = await startServer({ default_transaction_read_only: 'on' })
  finish(replica.stop)
  const address = await startSwitch(finish, replica)
  await expect(startTimeOf(open(finish, `127.0.0.1:${address.port}`))).rejects.toThrow('accepts no writes')
})

test.concurrent('closing ends connections to a server that answers nothing any more', async ({ onTestFinished: finish }) => {
  const address = await startSwitch(finish, first)
  const { user, database: name } = first.connection
  const database = connect({ connectionString: `postgres://${user}@127.0.0.1:${address.port}/${name}` }, { poolSize: 2, log })
  await startTimeOf(database)
  address.freeze()
  const outcome = Promise.allSettled([database.query(sleep(0))])
  await database.close()
  expect((await outcome)[0]?.status).toBe('rejected')
})

test.concurrent('a server starts when its database answers at last', async ({ onTestFinished: finish }) => {
  const address = await startSwitch(finish, first)
  const { user, database: name } = first.connection
  const dataDir = mkdtempSync(join(tmpdir(), 'callsign-outage-'))
  directories.push(dataDir)
  address.freeze()
  const waits = Promise.withResolvers<void>()
  const listening = { ...log, child: () => listening, warn: () => waits.resolve(), info: () => {} } as never
  const config = readConfig({ CALLSIGN_DATA_DIR: dataDir, CALLSIGN_DATABASE_URL: `postgres://${user}@127.0.0.1:${address.port}/${name}` })
  const opening = openDatabase(config, listening)
  await waits.promise
  address.thawNew()
  const opened = await opening
  finish(opened.close)
  expect((await opened.db.query({ text: 'SELECT name FROM schema_migrations' })).rowCount).toBeGreaterThan(0)
})

test.concurrent('a server stops on SIGTERM while its database answers nothing', async ({ onTestFinished: finish }) => {
  const address = await startSwitch(finish, first)
  const { user, database: name } = first.connection
  const folder = await makeDataDir()
  finish(folder.remove)
  const server = await startCallsignd({
    CALLSIGN_DATA_DIR: folder.path,
    CALLSIGN_DATABASE_URL: `postgres://${user}@127.0.0.1:${address.port}/${name}`,
    CALLSIGN_DRAIN_SECONDS: '2',
  })
  address.freeze()
  const pending = fetch(`${server.baseUrl}/api/v1/identities`, { headers: { authorization: `Bearer ${server.key}` } }).catch(() => null)
  expect((await server.stop()).code).toBe(0)
  await pending
})

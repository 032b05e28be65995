// Reads from replicas: what was committed before a read is in its answer, from whichever server it comes.
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../src/config/settings.ts'
import { createLog } from '../src/core/log.ts'
import { connect, type PostgresDatabase } from '../src/edges/postgres/connect.ts'
import type { EmbeddedPostgres } from '../src/edges/postgres/embedded/supervisor.ts'
import type { Connection } from '../src/edges/postgres/servers.ts'
import { startDatabaseSwitch } from './harness/database-switch.ts'
import { startReplicated, urlOf } from './harness/replica.ts'
import { startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

const log = createLog('silent')
let servers: Awaited<ReturnType<typeof startReplicated<'follower' | 'promoted'>>>

beforeAll(async () => {
  servers = await startReplicated(['follower', 'promoted'])
  await run(servers.primary.connection, 'CREATE TABLE notes (text text NOT NULL)')
})
afterAll(() => servers.stop())

async function run<R extends pg.QueryResultRow>(connection: Connection, text: string): Promise<R[]> {
  const client = new pg.Client({ ...connection, ssl: false })
  await client.connect()
  try {
    return (await client.query<R>(text)).rows
  } finally {
    await client.end()
  }
}

function open(replicaUrl: string, primary: EmbeddedPostgres = servers.primary): PostgresDatabase {
  const database = connect(primary.connection, { poolSize: 3, log }, { connectionString: replicaUrl })
  onTestFinished(database.close)
  return database
}

const follower = () => urlOf(servers.replicas.follower.connection)
const write = (database: PostgresDatabase, text: string) => database.query({ text: 'INSERT INTO notes VALUES ($1)', values: [text] })
const readNotes = async (database: PostgresDatabase, text: string) =>
  (
    await database.reads.query<{ is_replica: boolean }>({
      name: 'notes',
      text: 'SELECT pg_is_in_recovery() AS is_replica FROM notes WHERE text = $1',
      values: [text],
    })
  ).rows

test('reads go to the replica, and have every row that was written before them', async () => {
  const database = open(follower())
  for (let i = 0; i < 100; i++) {
    await write(database, `row ${i}`)
    expect(await readNotes(database, `row ${i}`)).toHaveLength(1)
  }
  const [found] = await waitFor('a read on the replica', async () => {
    const rows = await readNotes(database, 'row 0')
    return rows[0]?.is_replica === true && rows
  })
  expect(found).toEqual({ is_replica: true })
  expect(database.replicaReads().replica).toBeGreaterThan(0)
})

test('while a replica does not replay, reads go to the primary and have the latest rows, and come back when it replays', async () => {
  const database = open(follower())
  await waitFor('a read on the replica', async () => (await readNotes(database, 'row 0'))[0]?.is_replica)
  await run(servers.replicas.follower.connection, 'SELECT pg_wal_replay_pause()')
  await write(database, 'paused')
  expect(await readNotes(database, 'paused')).toEqual([{ is_replica: false }])
  // A process that did not write is as strict, because the key may have written elsewhere.
  await waitFor('a read that finds the replica behind, and not silent because this machine stalls', async () => {
    const other = open(follower())
    expect(await readNotes(other, 'paused')).toEqual([{ is_replica: false }])
    const { replica, behind } = other.replicaReads()
    expect(replica).toBe(0)
    return behind === 1
  })
  await run(servers.replicas.follower.connection, 'SELECT pg_wal_replay_resume()')
  await waitFor('reads to come back', async () => (await readNotes(database, 'paused'))[0]?.is_replica)
})

test('many reads at once share few connections, each with its own writes', async () => {
  const database = open(follower())
  const found = await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      await write(database, `many ${i}`)
      return (await readNotes(database, `many ${i}`)).length
    }),
  )
  expect(found).toEqual(Array.from({ length: 60 }, () => 1))
})

test('a server that is a primary, a replica of another database, and one that is not there, are not used', async () => {
  const { connection } = servers.replicas.follower
  const urls = [
    urlOf(servers.primary.connection),
    urlOf({ ...connection, database: 'postgres' }),
    'postgres://callsign@127.0.0.1:1/callsign',
  ]
  for (const url of urls) {
    const database = open(url)
    await write(database, 'elsewhere')
    expect((await readNotes(database, 'elsewhere'))[0]).toEqual({ is_replica: false })
    expect(database.replicaReads(), url).toEqual({ replica: 0, behind: 0, unavailable: 1 })
  }
})

test('a replica whose role may not read the state of its log is not used', async () => {
  await run(servers.primary.connection, 'CREATE ROLE plain LOGIN; GRANT SELECT ON notes TO plain')
  const database = open(urlOf({ ...servers.replicas.follower.connection, user: 'plain' }))
  const before = database.replicaReads()
  await waitFor('the role to reach the replica', async () => {
    const roles = await run(servers.replicas.follower.connection, `SELECT FROM pg_roles WHERE rolname = 'plain'`)
    return roles.length === 1
  })
  expect((await readNotes(database, 'row 0'))[0]).toEqual({ is_replica: false })
  expect(before).toEqual({ replica: 0, behind: 0, unavailable: 1 })
})

test('a replica that freezes is left for the primary', async () => {
  const address = await startDatabaseSwitch(servers.replicas.follower.connection)
  onTestFinished(address.stop)
  const { user, database: name } = servers.primary.connection
  const database = open(`postgres://${user}@127.0.0.1:${address.port}/${name}`)
  await waitFor('a read on the replica', async () => (await readNotes(database, 'row 0'))[0]?.is_replica)
  address.freeze()
  await write(database, 'frozen')
  expect(await readNotes(database, 'frozen')).toEqual([{ is_replica: false }])
})

test('after a failover, a replica of the old primary is not used, although it is further in the log', async () => {
  const { promoted } = servers.replicas
  await run(promoted.connection, 'SELECT pg_promote()')
  await run(servers.primary.connection, `INSERT INTO notes SELECT 'lost ' || i FROM generate_series(1, 5000) AS i`)
  const database = open(follower(), promoted)
  await write(database, 'after the failover')
  expect(await readNotes(database, 'after the failover')).toEqual([{ is_replica: false }])
  expect(await readNotes(database, 'lost 1')).toEqual([])
  expect(database.replicaReads().replica).toBe(0)
})

test('the lists of a server read from a replica, with read-your-writes for every key, and a revoked key is refused at once', async () => {
  const harness = await startHarness({
    CALLSIGN_DATABASE_URL: urlOf(servers.primary.connection),
    CALLSIGN_DATABASE_REPLICA_URL: follower(),
  })
  onTestFinished(harness.stop)
  const handles = async (key: string) =>
    (await harness.expectApi(200, 'GET', '/identities', { key })).data.map((one: { agent_handle: string }) => one.agent_handle)
  await harness.createAgent('reader')
  const counted = async () => /callsign_database_replica_reads\{result="replica"\} (\d+)/.exec(await harness.metrics())?.[1]
  await waitFor('a list from the replica', async () => {
    expect(await handles(harness.organizationKey)).toEqual(['reader'])
    return Number(await counted()) > 0
  })

  await run(servers.replicas.follower.connection, 'SELECT pg_wal_replay_pause()')
  onTestFinished(async () => void (await run(servers.replicas.follower.connection, 'SELECT pg_wal_replay_resume()')))
  await harness.createAgent('writer')
  expect((await handles(harness.organizationKey)).toSorted()).toEqual(['reader', 'writer'])
  const made = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'short', type: 'organization' } })
  expect((await handles(made.key)).toSorted()).toEqual(['reader', 'writer'])
  await harness.send('reader', 'writer@agents.localhost', { subject: 'Read your writes' })
  const { data } = await harness.expectApi(200, 'GET', '/mailboxes/reader/messages')
  expect(data.map((one: { subject: string }) => one.subject)).toEqual(['Read your writes'])
  await harness.expectApi(200, 'DELETE', `/keys/${made.id}`)
  expect((await harness.api('GET', '/identities', { key: made.key })).status).toBe(401)
})

test('settings: a replica needs an external primary, and a URL of replicas names no kind of session', () => {
  const replica = { CALLSIGN_DATABASE_REPLICA_URL: 'postgres://callsign@replica/callsign' }
  expect(() => readConfig(replica)).toThrow('CALLSIGN_DATABASE_REPLICA_URL needs CALLSIGN_DATABASE_URL')
  const primary = { CALLSIGN_DATABASE_URL: 'postgres://callsign@primary/callsign' }
  expect(readConfig({ ...primary, ...replica }).databaseReplicaUrl).toBe('postgres://callsign@replica/callsign')
  expect(() => readConfig({ ...primary, CALLSIGN_DATABASE_REPLICA_URL: 'postgres://a/b?target_session_attrs=standby' })).toThrow(
    'must not have target_session_attrs',
  )
})

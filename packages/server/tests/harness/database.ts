// The PostgreSQL of a test run: one server with a migrated template, from which each test file makes databases of its own.
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { createLog } from '../../src/core/log.ts'
import { connect } from '../../src/edges/postgres/connect.ts'
import { startEmbedded } from '../../src/edges/postgres/embedded/supervisor.ts'
import { migrate } from '../../src/edges/postgres/migrate.ts'
import { createPartitions } from '../../src/edges/postgres/partitions.ts'
import { type Connection, sessionSettings } from '../../src/edges/postgres/servers.ts'
import { startPgBouncer } from './pgbouncer.ts'

/** `poolerPort` is that of a PgBouncer in front of the server, or null. */
type TestServer = { serverUrl: string; template: string; strategy: 'FILE_COPY' | 'WAL_LOG'; poolerPort: number | null }

declare module 'vitest' {
  interface ProvidedContext {
    /** A connection string of the run's server, the name of the migrated database on it, and how CREATE DATABASE copies. */
    database: TestServer
  }
}

export const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations')

const dayMs = 86_400_000

/** Limits for many concurrent servers under test. Durability is off, because test data need not survive a power cut. */
const testSettings = { max_connections: '200', fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/** Vitest's global setup: starts the server, or takes the one that CALLSIGN_TEST_DATABASE_URL names, and makes the template. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const externalUrl = process.env.CALLSIGN_TEST_DATABASE_URL
  const { serverUrl, stop, pooler } = await startServer(externalUrl)
  const template = `callsign_template_${randomBytes(6).toString('hex')}`
  try {
    await run(serverUrl, `CREATE DATABASE ${template}`)
    const database = connect({ connectionString: withDatabase(serverUrl, template) }, { poolSize: 1, log: createLog('warn') })
    try {
      await migrate(database, { folder: migrationsFolder, log: createLog('warn') })
      // Every test with messages of other days meets two partitions.
      await createPartitions(database, createLog('warn')).divide([Math.floor(Date.now() / dayMs - 10) * dayMs])
    } finally {
      await database.close()
    }
  } catch (error) {
    await stop()
    throw error
  }
  // Copying files waits for a checkpoint, which costs next to nothing only without fsync.
  project.provide('database', { serverUrl, template, strategy: externalUrl ? 'WAL_LOG' : 'FILE_COPY', poolerPort: pooler?.port ?? null })
  return async () => {
    await run(serverUrl, `DROP DATABASE IF EXISTS ${template} WITH (FORCE)`)
    await stop()
  }
}

/** A new database with all migrations. `url` is a value for CALLSIGN_DATABASE_URL. `drop` ends its connections. */
export async function createDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  // Imported here, because Vitest's module works in test processes only, and the global setup runs outside of one.
  const { inject } = await import('vitest')
  return createDatabaseFrom(inject('database'))
}

/** The same without migrations. `settings` are further ones of CREATE DATABASE. */
export async function createEmptyDatabase(settings = ''): Promise<{ url: string; drop: () => Promise<void> }> {
  const { inject } = await import('vitest')
  return createDatabaseFrom({ ...inject('database'), template: 'template0' }, settings)
}

async function createDatabaseFrom(
  { serverUrl, template, strategy, poolerPort }: TestServer,
  settings = '',
): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `callsign_test_${randomBytes(8).toString('hex')}`
  await run(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY ${strategy} ${settings}`)
  const url = poolerPort === null ? withDatabase(serverUrl, name) : `postgres://callsign@127.0.0.1:${poolerPort}/${name}`
  return { url, drop: () => run(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

type Started = { serverUrl: string; pooler: { port: number } | null; stop: () => Promise<void> }

async function startServer(externalUrl: string | undefined): Promise<Started> {
  if (externalUrl) return { serverUrl: externalUrl, pooler: null, stop: async () => {} }
  const dataDir = mkdtempSync(join(tmpdir(), 'callsign-test-'))
  chmodSync(dataDir, 0o711)
  const server = await startEmbedded({ dataDir, log: createLog('warn'), settings: testSettings })
  const { host, port, user, database } = server.connection
  const serverUrl = `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`
  const pooler = process.env.CALLSIGN_TEST_POOLED === '1' ? await startPooler(server.connection, serverUrl) : null
  return {
    serverUrl,
    pooler,
    stop: async () => {
      await pooler?.stop()
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** A PgBouncer whose role has the settings of Callsign's sessions. */
async function startPooler(connection: Connection, serverUrl: string): Promise<{ port: number; stop: () => Promise<void> }> {
  for (const [name, value] of Object.entries(sessionSettings))
    await run(serverUrl, `ALTER ROLE ${connection.user} SET ${name} = '${value}'`)
  return startPgBouncer(connection)
}

/** URL of another database on the same server. Socket URLs have an empty path before the `?`, so `URL` cannot parse them. */
function withDatabase(url: string, name: string): string {
  const [, start, rest] = /^([a-z]+:\/\/[^/?]*)(?:\/[^?]*)?(\?.*)?$/.exec(url)!
  return `${start}/${name}${rest ?? ''}`
}

async function run(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

// Opens the database that the settings name, embedded or external, brings its tables up to date, and closes it.
import { join } from 'node:path'
import type { Config } from '../config/settings.ts'
import { now, nowMs } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { DatabaseUnavailable } from '../core/sql.ts'
import { connect, type PostgresDatabase } from '../edges/postgres/connect.ts'
import { clusterOwner } from '../edges/postgres/embedded/cluster.ts'
import { recordEngine } from '../edges/postgres/embedded/engine.ts'
import { openEmbedded, startEmbedded } from '../edges/postgres/embedded/supervisor.ts'
import { migrate } from '../edges/postgres/migrate.ts'
import { createPartitions } from '../edges/postgres/partitions.ts'
import type { Target } from '../edges/postgres/servers.ts'
import { requireFolder } from './folder.ts'

export type StoredDatabase = {
  db: PostgresDatabase
  /** The address, for connections outside the pool. */
  target: Target
  /** Rejects when the embedded database keeps crashing. */
  failed: Promise<never>
  close: () => Promise<void>
}

/** Reports a step of the start that may take seconds. */
export type OnStep = (sentence: string) => void

const startWaitMs = 60_000

export const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations')

/** Opens the database for a server. A data directory has one server at a time. `signal` ends the wait for an external one. */
export async function openDatabase(
  config: Config,
  log: Log,
  onStep: OnStep = () => {},
  signal: AbortSignal | null = null,
): Promise<StoredDatabase> {
  const options = { poolSize: config.databaseConnections, log: log.child({ part: 'database' }) }
  if (config.databaseUrl) {
    onStep('Connecting to the database')
    const replicas = config.databaseReplicaUrl === null ? null : { connectionString: config.databaseReplicaUrl }
    const external = openExternal(config, config.databaseUrl, options, replicas)
    await waitForDatabase(external, log, signal)
    return openMigrated(external, log, onStep)
  }
  const isFirst = clusterOwner(config.dataDir) === null
  onStep(isFirst ? `Creating a PostgreSQL database in ${config.dataDir}, once` : `Starting PostgreSQL in ${config.dataDir}`)
  const embedded = await startEmbedded({ dataDir: config.dataDir, log: options.log })
  const failed = embedded.exited.then((error) => {
    if (error) throw error
    return new Promise<never>(() => {})
  })
  failed.catch(() => {})
  return openMigrated({ ...wrap(embedded.connection, options, embedded.stop), failed }, log, onStep)
}

/** Opens the database for a host command, whether or not a server is running. */
export async function openForCommand(config: Config, log: Log): Promise<StoredDatabase> {
  return openMigrated(await openUntouched(config, log), log)
}

/** Opens the database for a host command without migrating its tables. */
export async function openUntouched(config: Config, log: Log): Promise<StoredDatabase> {
  const options = { poolSize: 2, log }
  requireFolder(config.dataDir, 'CALLSIGN_DATA_DIR')
  if (config.databaseUrl) return openExternal(config, config.databaseUrl, options)
  const embedded = await openEmbedded({ dataDir: config.dataDir, log })
  return wrap(embedded.connection, options, embedded.stop)
}

type PoolOptions = Parameters<typeof connect>[1]

function openExternal(config: Config, connectionString: string, options: PoolOptions, replicas: Target | null = null): StoredDatabase {
  recordEngine(config.dataDir, 'external')
  return wrap({ connectionString }, options, async () => {}, replicas)
}

/** Waits at most a minute for a server that accepts writes, because machines that start together start in any order. */
async function waitForDatabase({ db, close }: StoredDatabase, log: Log, signal: AbortSignal | null): Promise<void> {
  const stopped = new Promise<never>((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))
  stopped.catch(() => {})
  const deadlineMs = nowMs() + startWaitMs
  for (;;) {
    try {
      return void (await Promise.race([db.query({ text: 'SELECT 1' }), stopped]))
    } catch (error) {
      if (signal?.aborted) {
        db.abort()
        throw signal.reason
      }
      if (error instanceof DatabaseUnavailable && nowMs() < deadlineMs) {
        log.warn({ reason: error.message }, 'waiting for the database')
        continue
      }
      await close()
      throw error
    }
  }
}

function wrap(target: Target, options: PoolOptions, stopServer: () => Promise<void>, replicas: Target | null = null): StoredDatabase {
  const db = connect(target, options, replicas)
  const close = async () => {
    await db.close()
    await stopServer()
  }
  return { db, target, failed: new Promise<never>(() => {}), close }
}

async function openMigrated(database: StoredDatabase, log: Log, onStep: OnStep = () => {}): Promise<StoredDatabase> {
  try {
    onStep('Bringing its tables up to date')
    await migrate(database.db, { folder: migrationsFolder, log })
    // The installation may have been off for longer than there are partitions ahead.
    await createPartitions(database.db, log).extend(now())
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

// Opens the database that the settings name, embedded or external, brings its tables up to date, and closes it.
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Log } from '../core/log.ts'
import { connect, type PostgresDatabase } from '../edges/postgres/connect.ts'
import { recordEngine } from '../edges/postgres/engine.ts'
import { migrate } from '../edges/postgres/migrate.ts'
import { openEmbedded, startEmbedded } from '../edges/postgres/supervisor.ts'

export type StoredDatabase = {
  db: PostgresDatabase
  /** Rejects when the embedded database keeps dying. */
  failed: Promise<never>
  close: () => Promise<void>
}

const migrations = join(import.meta.dirname, '..', '..', 'migrations')

/** Opens the server's own database; one server a data directory. */
export async function openDatabase(config: Config, log: Log): Promise<StoredDatabase> {
  const options = { poolSize: config.databaseConnections, log: log.child({ part: 'database' }) }
  if (config.databaseUrl) {
    recordEngine(config.dataDir, 'external')
    return prepare(connect({ connectionString: config.databaseUrl }, options), new Promise<never>(() => {}), async () => {}, log)
  }
  const embedded = await startEmbedded({ dataDir: config.dataDir, log: options.log })
  const failed = embedded.exited.then((error) => {
    if (error) throw error
    return new Promise<never>(() => {})
  })
  failed.catch(() => {})
  return prepare(connect(embedded.connection, options), failed, embedded.stop, log)
}

/** Opens the database for a host command: beside a running server when there is one, else for the time of the command. */
export async function openForCommand(config: Config, log: Log): Promise<StoredDatabase> {
  if (config.databaseUrl) return openDatabase(config, log)
  const embedded = await openEmbedded({ dataDir: config.dataDir, log })
  return prepare(connect(embedded.connection, { poolSize: 2, log }), new Promise<never>(() => {}), embedded.stop, log)
}

async function prepare(db: PostgresDatabase, failed: Promise<never>, stopServer: () => Promise<void>, log: Log): Promise<StoredDatabase> {
  const close = async () => {
    await db.close()
    await stopServer()
  }
  try {
    await migrate(db, { folder: migrations, log })
    return { db, failed, close }
  } catch (error) {
    await close()
    throw error
  }
}

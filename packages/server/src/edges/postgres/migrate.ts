// Migrates a database to the schema of this version, with numbered SQL files, forward only, each in its own transaction.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { now } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Database, Sql, Tx } from '../../core/sql.ts'

/** One file, named `NNNN-name.sql`. */
type Migration = { version: number; name: string; text: string; checksum: string }
/** A migration as the database records it. */
export type Applied = { version: number; name: string; checksum: string }

const oldestVersion = 150_000
/**
 * True when the database sorts ids by their characters, and so by time. Many languages sort some pairs of letters as one, and then ids would be
 * outside of their partitions.
 */
const sortsIdsText = `SELECT array_agg(id ORDER BY id) = array_agg(id ORDER BY id COLLATE "C") AS sorts_ids
  FROM regexp_split_to_table('0123456789abcdefghjkmnpqrstvwxyz', '') AS one, regexp_split_to_table('0123456789abcdefghjkmnpqrstvwxyz', '') AS two,
    concat('msg_', one, two, '0') AS id`
/** Errors when two processes create the same table at once: duplicate table, type or key. */
const creationRaceCodes = new Set(['42P07', '42710', '23505'])
const creationTries = 5
const undefinedTable = '42P01'

/**
 * Applies the missing migrations of `folder` in order, and returns their names. Several processes may run it at once, because each
 * migration is applied under a row lock.
 * Throws when the server is too old or not UTF-8, when an applied file has changed or is missing, or when the database is newer than the
 * folder. With `through` it stops after that version.
 */
export async function migrate(database: Database, options: { folder: string; log: Log; through?: number }): Promise<string[]> {
  const { through = Number.POSITIVE_INFINITY } = options
  const migrations = readMigrations(options.folder)
  await requireSuitableServer(database)
  await createRecord(database)
  const done: string[] = []
  for (;;) {
    const name = await database.transact((tx) => applyNext(tx, migrations, through))
    if (name === null) break
    done.push(name)
  }
  if (done.length > 0) options.log.info({ migrations: done.length, last: done.at(-1) }, 'database migrated')
  return done
}

/** The applied migrations recorded in the database, oldest first. Empty for a new database. */
export async function readApplied(sql: Sql): Promise<Applied[]> {
  try {
    return (await sql.query<Applied>({ text: appliedText })).rows
  } catch (error) {
    if ((error as { code?: string }).code === undefinedTable) return []
    throw error
  }
}

/** The names of the migrations to apply. Throws when the applied ones do not match the folder. */
export function findPending(folder: string, applied: Applied[], holder: 'database' | 'backup'): string[] {
  const migrations = readMigrations(folder)
  requireKnown(applied, migrations, holder)
  return migrations.filter(({ version }) => !applied.some((row) => row.version === version)).map(({ name }) => name)
}

/** True when one of the migrations creates a table of this name. */
export const makesTable = (folder: string, name: string): boolean =>
  readMigrations(folder).some(({ text }) => [...text.matchAll(/^CREATE TABLE (\w+)/gm)].some((match) => match[1] === name))

function readMigrations(folder: string): Migration[] {
  const migrations: Migration[] = []
  for (const name of readdirSync(folder).sort()) {
    if (!name.endsWith('.sql')) continue
    const number = /^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1]
    if (!number) throw new Error(`The migration ${name} must be called NNNN-name.sql.`)
    // Line ends depend on the checkout.
    const text = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n')
    const version = Number(number)
    if (version === 0 || migrations.some((other) => other.version === version))
      throw new Error(`The migration ${name} needs a number of its own, from 0001.`)
    migrations.push({ version, name, text, checksum: createHash('sha256').update(text).digest('hex') })
  }
  return migrations
}

async function requireSuitableServer(database: Database): Promise<void> {
  const { rows } = await database.query<{ product: string; number: string; encoding: string }>({
    text: `SELECT version() AS product, current_setting('server_version_num') AS number, current_setting('server_encoding') AS encoding`,
  })
  const { product, number, encoding } = rows[0]!
  // Compatible databases of other vendors have their own version numbers.
  if (product.startsWith('PostgreSQL') && Number(number) < oldestVersion)
    throw new Error(`Callsign needs PostgreSQL 15 or later. CALLSIGN_DATABASE_URL leads to "${product.split(' on ')[0]}".`)
  if (!/^utf-?8$/i.test(encoding)) throw new Error(`Callsign needs a database with the encoding UTF8. This one has ${encoding}.`)
  if (!(await database.query<{ sorts_ids: boolean }>({ text: sortsIdsText })).rows[0]!.sorts_ids)
    throw new Error(
      `Callsign needs a database that sorts text by its characters, and this one sorts by the rules of a language. Restore a backup into one that was made with TEMPLATE template0 LOCALE 'C.UTF-8'.`,
    )
}

async function createRecord(database: Database): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await database.query({
        text: `CREATE TABLE IF NOT EXISTS schema_migrations (
          version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL)`,
      })
      // Row 0 is the lock for migrations.
      await database.query({
        text: `INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (0, 'lock', '', $1) ON CONFLICT (version) DO NOTHING`,
        values: [now()],
      })
      return
    } catch (error) {
      const code = (error as { code?: string }).code ?? ''
      if (!creationRaceCodes.has(code) || tries === creationTries) throw error
      await delay(tries * 20)
    }
  }
}

const appliedText = 'SELECT version, name, checksum FROM schema_migrations WHERE version > 0 ORDER BY version'

/** Applies the first missing migration and returns its name, or null when there is none. */
async function applyNext(tx: Tx, migrations: Migration[], through: number): Promise<string | null> {
  // A wait for another process's migration, or the rebuild of a large table, may take any time.
  await tx.query({ text: 'SET LOCAL statement_timeout = 0' })
  await tx.query({ text: 'SELECT version FROM schema_migrations WHERE version = 0 FOR UPDATE' })
  const { rows: applied } = await tx.query<Applied>({ text: appliedText })
  requireKnown(applied, migrations, 'database')
  const newest = applied.at(-1)?.version ?? 0
  const next = migrations.find(({ version }) => !applied.some((row) => row.version === version))
  if (!next || next.version > through) return null
  if (next.version < newest)
    throw new Error(`The migration ${next.name} comes before ${applied.at(-1)!.name}, which is applied already. Give it the next number.`)
  await tx.query({ text: next.text })
  await tx.query({
    text: 'INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)',
    values: [next.version, next.name, next.checksum, now()],
  })
  return next.name
}

function requireKnown(applied: Applied[], migrations: Migration[], holder: 'database' | 'backup'): void {
  const newestKnown = migrations.at(-1)?.version ?? 0
  for (const row of applied) {
    const file = migrations.find(({ version }) => version === row.version)
    if (file) {
      if (file.name !== row.name || file.checksum !== row.checksum)
        throw new Error(
          `The migration ${row.name} has changed since it was applied to this ${holder}. Restore the file, because applied migrations are never edited.`,
        )
    } else if (row.version > newestKnown) {
      throw new Error(
        `This ${holder} was written by a newer version of Callsign (it has the migration ${row.name}). ${holder === 'database' ? 'Start' : 'Restore it with'} that version or a later one.`,
      )
    } else {
      throw new Error(`The migration ${row.name} was applied to this ${holder}, but its file is missing. Restore it.`)
    }
  }
}

// Reads and writes whole tables for backups, with PostgreSQL's COPY in its text format, on a connection of its own.
import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import type { Rows, Sql, Statement } from '../../core/sql.ts'
import { configsOf, type Target } from './servers.ts'

/** A table and its stored columns, without computed ones. */
export type Table = { name: string; columns: string[] }

/** A table being filled. `end` resolves with the number of rows. Until `end` or `abort`, the connection takes no other statement. */
export type Filling = { write: (bytes: Buffer) => Promise<void>; end: () => Promise<number>; abort: () => Promise<void> }

export type Copier = Sql & {
  /** Opens a transaction. `read` sees one snapshot of the whole database until its end, `write` is all or nothing. */
  begin: (access: 'read' | 'write') => Promise<void>
  commit: () => Promise<void>
  rollback: () => Promise<void>
  /** Every table of this schema except the record of migrations. A table comes after those it references. */
  findTables: () => Promise<Table[]>
  /** True when there is an organization. Without one, the only rows are those that migrations insert. */
  isInUse: (tables: Table[]) => Promise<boolean>
  /** Deletes every row of these tables. */
  empty: (tables: Table[]) => Promise<void>
  /** The keys of all blobs that rows name, from the columns called blob_key. Keys may repeat. */
  blobKeys: (tables: Table[]) => AsyncGenerator<string>
  /** The rows of a table in the format of COPY. `rowCount` is known at the end. */
  read: (table: Table) => Readable & { rowCount: number }
  /** Fills a table with the output of `read`, in the same order of columns. */
  fill: (table: Table) => Filling
  /** Drops these tables and the record of migrations. */
  dropTables: (tables: Table[]) => Promise<void>
  close: () => Promise<void>
}

// Text formats that do not depend on the session, and no time limit, because a large table may take any time. Set per transaction, because
// poolers such as PgBouncer refuse or drop settings of a session.
const settingsText = `
  SET LOCAL timezone = 'UTC';
  SET LOCAL datestyle = 'ISO';
  SET LOCAL intervalstyle = 'iso_8601';
  SET LOCAL bytea_output = 'hex';
  SET LOCAL extra_float_digits = 1;
  SET LOCAL statement_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = 0`

const tablesText = `
  SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'schema_migrations'
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
  GROUP BY c.relname ORDER BY c.relname`

const referencesText = `
  SELECT DISTINCT child.relname::text AS name, parent.relname::text AS parent
  FROM pg_constraint f
  JOIN pg_class child ON child.oid = f.conrelid
  JOIN pg_class parent ON parent.oid = f.confrelid
  JOIN pg_namespace n ON n.oid = child.relnamespace
  WHERE f.contype = 'f' AND n.nspname = current_schema() AND child.oid <> parent.oid`

const quoted = pg.escapeIdentifier
const columnList = (table: Table): string => table.columns.map(quoted).join(', ')

/** Connects. A lost connection fails the statement in flight. */
export async function openCopier(target: Target): Promise<Copier> {
  const client = await openClient(target)
  const query = async <R>({ text, values }: Statement): Promise<Rows<R>> => {
    const result = await client.query({ text, ...(values ? { values } : {}) })
    return { rows: result.rows as R[], rowCount: result.rowCount ?? 0 }
  }
  const say = async (text: string): Promise<void> => void (await client.query(text))

  return {
    query,
    begin: (access) => say(`${access === 'read' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN'};${settingsText}`),
    async commit() {
      // PostgreSQL answers ROLLBACK when a statement had failed.
      if ((await client.query('COMMIT')).command !== 'COMMIT') throw new Error('The transaction was rolled back.')
    },
    rollback: () => say('ROLLBACK'),

    async findTables() {
      const { rows: tables } = await query<Table>({ text: tablesText })
      const { rows: references } = await query<{ name: string; parent: string }>({ text: referencesText })
      return inOrder(tables, references)
    },

    async isInUse(tables) {
      if (!tables.some(({ name }) => name === 'organizations')) return false
      return (await query({ text: 'SELECT id FROM organizations LIMIT 1' })).rowCount > 0
    },

    async empty(tables) {
      for (const { name } of tables.toReversed()) await say(`DELETE FROM ${quoted(name)}`)
    },

    blobKeys: (tables) => readBlobKeys(client, tables),

    // A query, because COPY of a name does not read the partitions of a table.
    read: (table) => client.query(copyTo(`COPY (SELECT ${columnList(table)} FROM ${quoted(table.name)}) TO STDOUT`)),

    fill: (table) => startFilling(client.query(copyFrom(`COPY ${quoted(table.name)} (${columnList(table)}) FROM STDIN`))),

    dropTables: (tables) => say(`DROP TABLE ${[...tables.map(({ name }) => quoted(name)), 'schema_migrations'].join(', ')}`),

    close: () => client.end(),
  }
}

/** Connects to the first host that accepts writes, or to the last one. */
async function openClient(target: Target): Promise<pg.Client> {
  const configs = configsOf(target)
  for (const [index, config] of configs.entries()) {
    const isLast = index === configs.length - 1
    const client = new pg.Client({
      ...config,
      application_name: 'callsign backup',
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only')
      if (isLast || rows[0]?.transaction_read_only === 'off') return client
      await client.end()
    } catch (error) {
      if (isLast) throw error
    }
  }
  throw new Error('The connection string has no host.')
}

async function* readBlobKeys(client: pg.Client, tables: Table[]): AsyncGenerator<string> {
  for (const { name, columns } of tables) {
    if (!columns.includes('blob_key')) continue
    const keys = client.query(copyTo(`COPY (SELECT blob_key FROM ${quoted(name)} WHERE blob_key IS NOT NULL) TO STDOUT`))
    let rest = ''
    for await (const bytes of keys as AsyncIterable<Buffer>) {
      const lines = (rest + bytes.toString('latin1')).split('\n')
      rest = lines.pop() as string
      yield* lines
    }
  }
}

function startFilling(rows: Writable & { rowCount: number }): Filling {
  const over = finished(rows)
  let failure: { error: unknown } | null = null
  over.catch((error: unknown) => {
    failure = { error }
  })
  return {
    async write(bytes) {
      if (failure) throw failure.error
      if (!rows.write(bytes)) await Promise.race([over, new Promise((resolve) => rows.once('drain', resolve))])
    },
    async end() {
      if (failure) throw failure.error
      rows.end()
      await over
      return rows.rowCount
    },
    async abort() {
      if (!failure) rows.destroy(new Error('given up'))
      await over.catch(() => {})
    },
  }
}

/** Tables in an order in which each comes after those it references. */
function inOrder(tables: Table[], references: { name: string; parent: string }[]): Table[] {
  const ordered: Table[] = []
  let waiting = tables
  while (waiting.length > 0) {
    const isWaiting = (name: string) => waiting.some((table) => table.name === name)
    const ready = waiting.filter(({ name }) => !references.some((one) => one.name === name && isWaiting(one.parent)))
    if (ready.length === 0) throw new Error(`These tables refer to each other in a circle: ${waiting.map(({ name }) => name).join(', ')}.`)
    ordered.push(...ready)
    waiting = waiting.filter((table) => !ready.includes(table))
  }
  return ordered
}

// Connections to PostgreSQL: the database interface of the features, on a connection pool.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { nowMs } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { type Database, DatabaseUnavailable, type Rows, type Statement, type Tx } from '../../core/sql.ts'
import { isAway, isFollowUp, isRetryable, translate } from './failures.ts'
import { OpeningQuery, type Wire } from './opening-query.ts'
import { typeParsers } from './types.ts'

/** Address of the embedded database. `host` is the directory of its socket. */
export type Connection = { host: string; port: number; user: string; database: string }

export type PostgresDatabase = Database & {
  /** Waits for running statements and closes every connection. */
  close: () => Promise<void>
}

export type PoolOptions = { poolSize: number; log: Log }

const statementTimeoutMs = 30_000
/** A transaction that is idle for this long holds locks for nothing. */
const idleInTransactionTimeoutMs = 30_000
const connectTimeoutMs = 10_000
/** A restarted embedded database is back well within this time. Nothing has been sent yet, so waiting is safe. */
const reconnectWaitMs = 3_000
const reconnectPauseMs = 50
const idleConnectionMs = 60_000

const triesMax = 8
const backoffMs = 5
const backoffMsMax = 250

/**
 * Opens a pool of at most `poolSize` connections, which connects on first use. A connection string may contain `sslmode`. Every mode but
 * `disable` and `no-verify` checks the server's certificate.
 * Connection errors surface as DatabaseUnavailable, others as `pg` throws them, with PostgreSQL's `code` and `constraint`.
 */
export function connect(target: Target, options: PoolOptions): PostgresDatabase {
  const { pool, open } = createPool(target, options)

  return {
    lookups: createLookups(pool),

    async query<R>(statement: Statement): Promise<Rows<R>> {
      const client = await acquire(pool)
      let broken = false
      try {
        return toRows<R>(await send(client, statement))
      } catch (error) {
        broken = isAway(error)
        throw translate(error)
      } finally {
        client.release(broken)
      }
    },

    async transact<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      for (let tries = 1; ; tries++) {
        try {
          return await transactOnce(await acquire(pool), work, options.log)
        } catch (error) {
          if (!isRetryable(error) || tries === triesMax) throw error
          options.log.debug({ tries, reason: (error as Error).message }, 'retrying a transaction')
          // Jitter, so that two conflicting transactions do not conflict again.
          await delay(Math.random() * Math.min(backoffMs * 2 ** tries, backoffMsMax))
        }
      }
    },

    async close() {
      await pool.end()
      // The pool disconnects without waiting, and a database that stops meanwhile would log every connection as lost.
      await Promise.all(open.values())
    },
  }
}

type Target = { connectionString: string } | Connection

/** The pool, and its open connections with promises of their ends. */
function createPool(target: Target, { poolSize, log }: PoolOptions): { pool: pg.Pool; open: Map<pg.PoolClient, Promise<void>> } {
  const pool = new pg.Pool({
    ...('connectionString' in target ? target : { ...target, ssl: false }),
    max: poolSize,
    types: typeParsers,
    application_name: 'callsign',
    // Generic plans: the planner assumes that a list of ids has ten entries. For one id it would therefore find a custom plan cheaper each
    // time, and spend longer on planning than on execution (measured: 0.42 ms against 0.16 ms for a key's row).
    // Most plans are made while tables are empty or queues are drained, when a sequential scan costs least. As the tables grow, every use
    // of such a plan would read them whole, including foreign key checks, until the statistics are updated. Sequential scans are therefore
    // disabled where an index exists.
    options: '-c timezone=UTC -c plan_cache_mode=force_generic_plan -c enable_seqscan=off',
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleConnectionMs,
    keepAlive: true,
    // Statements issued concurrently in one transaction are sent without waiting for each other's answers.
    pipeline: true,
  } as pg.PoolConfig)
  // A lost connection fails the statement in flight. Without these listeners, an idle one would end the process.
  pool.on('error', (error) => log.warn({ reason: error.message }, 'an idle database connection was lost'))
  const open = new Map<pg.PoolClient, Promise<void>>()
  pool.on('connect', (client) => {
    client.on('error', () => {})
    open.set(
      client,
      new Promise((resolve) =>
        client.once('end', () => {
          open.delete(client)
          resolve()
        }),
      ),
    )
  })
  return { pool, open }
}

async function acquire(pool: pg.Pool): Promise<pg.PoolClient> {
  const deadlineMs = nowMs() + reconnectWaitMs
  for (;;) {
    try {
      return await pool.connect()
    } catch (error) {
      if (!isAway(error) || pool.ending || nowMs() > deadlineMs) throw translate(error)
      await delay(reconnectPauseMs)
    }
  }
}

/** Sends the lookups of one iteration of the event loop together on one connection. */
function createLookups(pool: pg.Pool): Database['lookups'] {
  type Lookup = { statement: Statement; resolve: (rows: Rows<never>) => void; reject: (error: unknown) => void }
  let lookups: Lookup[] = []

  const runLookups = async (): Promise<void> => {
    const group = lookups
    lookups = []
    let client: pg.PoolClient
    try {
      client = await acquire(pool)
    } catch (error) {
      for (const one of group) one.reject(error)
      return
    }
    let broken = false
    const runs = group.map(async ({ statement, resolve, reject }) => {
      try {
        resolve(toRows(await send(client, statement)))
      } catch (error) {
        broken ||= isAway(error)
        reject(translate(error))
      }
    })
    await Promise.all(runs)
    client.release(broken)
  }

  return {
    query: <R>(statement: Statement) =>
      new Promise<Rows<R>>((resolve, reject) => {
        if (lookups.push({ statement, resolve, reject }) === 1) queueMicrotask(runLookups)
      }),
  }
}

async function transactOnce<T>(client: pg.PoolClient, work: (tx: Tx) => Promise<T>, log: Log): Promise<T> {
  const hints: (() => void)[] = []
  let state: 'fresh' | 'open' | 'over' = 'fresh'
  let broken = false
  // Statements may be sent together. When one fails, those after it fail too, and their errors may arrive first.
  let cause: unknown
  const run = async <R>(statement: Statement): Promise<Rows<R>> => {
    if (state === 'over') throw new Error('A statement was sent after its transaction had ended.')
    try {
      if (state === 'open') return toRows<R>(await send(client, statement))
      state = 'open'
      gatherWrites(client)
      if (OpeningQuery.takes(statement)) return toRows<R>(await OpeningQuery.run(client, statement))
      await client.query('BEGIN')
      return toRows<R>(await client.query(statement))
    } catch (error) {
      broken ||= isAway(error)
      cause ??= error
      throw translate(error)
    }
  }
  try {
    const result = await work({ query: run, afterCommit: (hint) => void hints.push(hint) })
    const began = isOpen()
    state = 'over'
    if (began) await commit(client)
    for (const hint of hints) runHint(hint, log)
    return result
  } catch (error) {
    const began = isOpen()
    state = 'over'
    broken ||= isAway(error)
    if (began && !broken) await client.query('ROLLBACK').catch(() => (broken = true))
    throw isFollowUp(error) ? translate(cause) : error
  } finally {
    client.release(broken)
  }

  function isOpen(): boolean {
    return state === 'open'
  }
}

async function commit(client: pg.PoolClient): Promise<void> {
  let command: string
  try {
    command = (await client.query('COMMIT')).command
  } catch (error) {
    if (!isAway(error)) throw error
    throw new DatabaseUnavailable('The answer to COMMIT was lost. The transaction may have committed.', error, true)
  }
  // PostgreSQL answers ROLLBACK when a statement had failed and its error was ignored.
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back: one of its statements had failed.')
}

function runHint(hint: () => void, log: Log): void {
  try {
    hint()
  } catch (err) {
    log.error({ err }, 'a hint after a commit failed')
  }
}

/**
 * Sends all data of one iteration of the event loop on a connection in one write. Each write wakes PostgreSQL, which costs more than the
 * work itself.
 */
function gatherWrites(client: pg.PoolClient): void {
  const { stream } = (client as unknown as { connection: Wire }).connection
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

function send(client: pg.PoolClient, statement: Statement): Promise<pg.QueryResult> {
  gatherWrites(client)
  return client.query(statement)
}

const toRows = <R>(result: pg.QueryResult): Rows<R> => ({ rows: result.rows as R[], rowCount: result.rowCount ?? 0 })

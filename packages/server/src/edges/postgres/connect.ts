// Connections to PostgreSQL: the database interface of the features, on a connection pool.
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../../core/log.ts'
import { type Database, DatabaseUnavailable, type Rows, type Sql, type Statement, type Tx } from '../../core/sql.ts'
import { isAway, isFollowUp, isRetryable, translate } from './failures.ts'
import { createPool, type Pool, type PoolCounts, type PoolOptions } from './pool.ts'
import { createReplicas, type ReplicaReads } from './replicas.ts'
import { prepared, send, toRows } from './sending.ts'
import { type Target, targetsOf } from './servers.ts'

export type PostgresDatabase = Database & {
  connections: () => PoolCounts
  /** The statements of `reads` so far, by the server that answered. All 0 without replicas. */
  replicaReads: () => ReplicaReads
  /** Waits for running statements, at most ten seconds, and closes every connection. */
  close: () => Promise<void>
  /** Ends every connection at once. All further work fails as unavailable. */
  abort: () => void
}

const triesMax = 8
const backoffMs = 5
const backoffMsMax = 250

/**
 * Opens a pool of at most `poolSize` connections, which connects on first use. A connection string may contain `sslmode`. Every mode but
 * `disable`, `prefer` and `no-verify` checks the server's certificate.
 * Connection errors surface as DatabaseUnavailable, others as `pg` throws them, with PostgreSQL's `code` and `constraint`.
 * `reads` uses the replicas, one per host of `replicas`.
 */
export function connect(target: Target, options: PoolOptions, replicas: Target | null = null): PostgresDatabase {
  const pool = createPool(target, options)
  const primary: Sql = { query: (statement) => queryOn(pool, statement) }
  const copies = createReplicas(primary, replicas === null ? [] : targetsOf(replicas), options)

  return {
    ...primary,
    reads: copies.reads,
    replicaReads: copies.counts,

    async transact<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      for (let tries = 1; ; tries++) {
        try {
          return await transactOnce(pool, work, options.log)
        } catch (error) {
          if (!isRetryable(error) || tries === triesMax) throw error
          options.log.debug({ tries, reason: (error as Error).message }, 'retrying a transaction')
          // Jitter, so that two conflicting transactions do not conflict again.
          await delay(Math.random() * Math.min(backoffMs * 2 ** tries, backoffMsMax))
        }
      }
    },

    connections: pool.counts,
    async close() {
      await Promise.all([pool.close(), copies.close()])
    },
    abort() {
      pool.abort()
      copies.abort()
    },
  }
}

async function queryOn<R>(pool: Pool, statement: Statement): Promise<Rows<R>> {
  const client = await pool.acquire()
  let broken = false
  try {
    return toRows<R>(await send(client, prepared(pool, statement)))
  } catch (error) {
    broken = isAway(error)
    throw translate(error)
  } finally {
    client.release(broken)
  }
}

async function transactOnce<T>(pool: Pool, work: (tx: Tx) => Promise<T>, log: Log): Promise<T> {
  const client = await pool.acquire()
  const hints: (() => void)[] = []
  let begun: Promise<unknown> | null = null
  let isOver = false
  let broken = false
  // Statements may be sent together. When one fails, those after it fail too, and their errors may arrive first.
  let cause: unknown
  const note = (error: unknown): void => {
    broken ||= isAway(error)
    if (!isFollowUp(error)) cause ??= error
  }
  const query = async <R>(statement: Statement): Promise<Rows<R>> => {
    if (isOver) throw new Error('A statement was sent after its transaction had ended.')
    try {
      // Answered first: a statement behind a BEGIN that fails would run outside of a transaction.
      begun ??= send(client, { text: 'BEGIN' })
      await begun
      return toRows<R>(await send(client, prepared(pool, statement)))
    } catch (error) {
      note(error)
      throw translate(error)
    }
  }
  try {
    const result = await work({ query, afterCommit: (hint) => void hints.push(hint) })
    isOver = true
    if (begun !== null) await commit(client)
    for (const hint of hints) runHint(hint, log)
    return result
  } catch (error) {
    isOver = true
    broken ||= isAway(error)
    if (begun !== null && !broken) await send(client, { text: 'ROLLBACK' }).catch(() => (broken = true))
    throw isFollowUp(error) ? translate(cause) : error
  } finally {
    client.release(broken)
  }
}

async function commit(client: pg.PoolClient): Promise<void> {
  let command: string
  try {
    command = (await send(client, { text: 'COMMIT' })).command
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

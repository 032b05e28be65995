// Connections to PostgreSQL: the database interface of the features, on a connection pool.
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../core/log.ts'
import { type Database, DatabaseUnavailable, type Reads, type Rows, type Statement, type Tx } from '../../core/sql.ts'
import { isAway, isFollowUp, isRetryable, translate } from './failures.ts'
import { createLookups } from './lookups.ts'
import { createPool, type Pool, type PoolCounts, type PoolOptions } from './pool.ts'
import { createReplicas, type ReplicaReads } from './replicas.ts'
import { prepared, send, toRows } from './sending.ts'
import { type Target, targetsOf } from './servers.ts'
import { Statements } from './statement-group.ts'

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
  const primary: Reads = { query: (statement) => queryOn(pool, statement), lookups: createLookups(pool) }
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
  const statements = new Statements(client)
  const hints: (() => void)[] = []
  let state: 'fresh' | 'open' | 'over' = 'fresh'
  let broken = false
  let committing: Promise<void> | null = null
  // Statements may be sent together. When one fails, those after it fail too, and their errors may arrive first.
  let cause: unknown
  const note = (error: unknown): void => {
    broken ||= isAway(error)
    if (!isFollowUp(error)) cause ??= error
  }
  const run = async <R>(given: Statement): Promise<Rows<R>> => {
    const statement = prepared(pool, given)
    if (state === 'over') throw new Error('A statement was sent after its transaction had ended.')
    try {
      const isFirst = state === 'fresh'
      state = 'open'
      return toRows<R>(await (isFirst ? statements.open(statement, note) : statements.query(statement)))
    } catch (error) {
      note(error)
      throw translate(error)
    }
  }
  try {
    const result = await work({ query: run, afterCommit: (hint) => void hints.push(hint), commitBehind })
    const began = isOpen()
    state = 'over'
    if (began) committing = commit(statements)
    await committing
    for (const hint of hints) runHint(hint, log)
    return result
  } catch (error) {
    const began = isOpen()
    state = 'over'
    broken ||= isAway(error)
    const failure = committing && (await failureOf(committing))
    const isStillOpen = began || (failure instanceof NotCommitted && failure.isStillOpen)
    if (isStillOpen && !broken) await statements.rollback().catch(() => (broken = true))
    if (committing === null) throw isFollowUp(error) ? translate(cause) : error
    throw afterCommitting(failure, error, cause)
  } finally {
    client.release(broken)
  }

  function isOpen(): boolean {
    return state === 'open'
  }

  function commitBehind(): void {
    if (!isOpen()) throw new Error('The transaction has to be open before it can be committed.')
    state = 'over'
    committing = commit(statements)
    committing.catch(() => {})
  }
}

const failureOf = (promise: Promise<void>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  )

/** The error of work that failed after COMMIT was sent. `failure` is that of COMMIT, or null. */
function afterCommitting(failure: unknown, error: unknown, cause: unknown): unknown {
  if (failure === error || isAway(failure)) return failure
  if (failure === null) return new Error('The transaction was committed, but its work failed afterwards.', { cause: error })
  return isFollowUp(error) ? translate(cause) : error
}

/** The transaction was not committed because a statement had failed. `isStillOpen` when PostgreSQL skipped COMMIT. */
class NotCommitted extends Error {
  override name = 'NotCommitted'
  readonly isStillOpen: boolean
  constructor(isStillOpen: boolean) {
    super('The transaction was rolled back: one of its statements had failed.')
    this.isStillOpen = isStillOpen
  }
}

async function commit(statements: Statements): Promise<void> {
  let command: string
  try {
    command = (await statements.commit()).command
  } catch (error) {
    if (isFollowUp(error)) throw new NotCommitted(true)
    if (!isAway(error)) throw error
    throw new DatabaseUnavailable('The answer to COMMIT was lost. The transaction may have committed.', error, true)
  }
  // PostgreSQL answers ROLLBACK when a statement had failed and its error was ignored.
  if (command !== 'COMMIT') throw new NotCommitted(false)
}

function runHint(hint: () => void, log: Log): void {
  try {
    hint()
  } catch (err) {
    log.error({ err }, 'a hint after a commit failed')
  }
}

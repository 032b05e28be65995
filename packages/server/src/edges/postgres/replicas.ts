// Reads from replicas that have replayed everything that was committed before the read. Any other read goes to the primary.
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { batchLoader } from '../../core/batch.ts'
import { nowMs } from '../../core/clock.ts'
import { DatabaseUnavailable, type Rows, type Sql, type Statement } from '../../core/sql.ts'
import { isAway } from './failures.ts'
import { createPool, type Pool, type PoolOptions } from './pool.ts'
import { prepared, send, streamOf, toRows } from './sending.ts'
import type { Target } from './servers.ts'

/** Numbers of reads: answered by a replica, sent to the primary because the replicas were behind, and because none was there. */
export type ReplicaReads = { replica: number; behind: number; unavailable: number }

type Replicas = {
  reads: Sql
  counts(): ReplicaReads
  close(): Promise<void>
  abort(): void
}

/** A position in the write-ahead log of one database, with the timeline that it lies on. */
type Position = { lsn: string; timeline: number; origin: string }

type Replica = {
  name: string
  pool: Pool
  /** Until this time, reads pass it by. */
  restsUntilMs: number
}

/** The time for a free connection to a replica. */
const acquireMs = 250
/** The time for a replica to reach the primary's position. A healthy one is milliseconds behind. */
const catchUpMs = 100
const pollMs = 2
/** A replica that was behind, and one that failed, is not asked again for this long. */
const behindRestMs = 500
const failedRestMs = 5_000

/** The cluster and the database in it, which a replica shares with its primary. */
const originText = `(SELECT system_identifier FROM pg_control_system()) || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database())`

/**
 * The end of the log that every visible commit lies before. A commit is visible once it is flushed, unless synchronous_commit is off. The
 * name of a log file begins with the timeline.
 */
const position: Statement = {
  name: 'replicas.position',
  text: `SELECT lsn::text, ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::int AS timeline, ${originText} AS origin
    FROM (SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END) AS log (lsn)`,
}

/**
 * The state of a replica. It has the primary's history only if it receives the primary's timeline: after a failover, a replica may have
 * replayed a log that the new primary never had. The column is null for a role that may not read it.
 */
const state = (lsn: string): Statement => ({
  name: 'replicas.state',
  text: `SELECT coalesce(pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= $1::pg_lsn, false) AS has_replayed, ${originText} AS origin,
    EXISTS (SELECT FROM pg_stat_wal_receiver) AS is_receiving, (SELECT received_tli FROM pg_stat_wal_receiver) AS timeline`,
  values: [lsn],
})

type State = { has_replayed: boolean; origin: string; is_receiving: boolean; timeline: number | null }

/** Reads of `primary`, with these replicas in turn. */
export function createReplicas(primary: Sql, targets: Target[], options: PoolOptions): Replicas {
  const counts: ReplicaReads = { replica: 0, behind: 0, unavailable: 0 }
  if (targets.length === 0) return { reads: primary, counts: () => counts, close: async () => {}, abort: () => {} }
  const { log } = options
  const replicas = targets.map((target, index): Replica => {
    const name = `replica ${index + 1}`
    return { name, pool: createPool(target, { ...options, log: log.child({ replica: name }), wanted: 'replica' }), restsUntilMs: 0 }
  })
  let turn = 0

  const next = (): Replica | undefined => {
    for (let tried = 0; tried < replicas.length; tried++) {
      const one = replicas[turn++ % replicas.length] as Replica
      if (one.restsUntilMs <= nowMs()) return one
    }
    return undefined
  }

  // Concurrent reads share a position that was read after they began.
  const loadPosition = batchLoader(async () => new Map([['end', (await primary.query<Position>(position)).rows[0] as Position]]))

  const readBy = async <R>(statement: Statement, own: Sql['query']): Promise<Rows<R>> => {
    const replica = next()
    if (replica === undefined) {
      counts.unavailable++
      return own<R>(statement)
    }
    const answer = await readOn<R>(replica.pool, (await loadPosition('end')) as Position, statement)
    if ('rows' in answer) {
      counts.replica++
      return answer
    }
    counts[answer.missed]++
    if (answer.missed === 'unavailable' && replica.restsUntilMs <= nowMs())
      log.warn({ replica: replica.name, reason: answer.reason }, 'a replica cannot be used')
    replica.restsUntilMs = nowMs() + (answer.missed === 'behind' ? behindRestMs : failedRestMs)
    return own<R>(statement)
  }

  return {
    reads: { query: (statement) => readBy(statement, primary.query) },
    counts: () => counts,
    async close() {
      await Promise.all(replicas.map(({ pool }) => pool.close()))
    },
    abort() {
      for (const { pool } of replicas) pool.abort()
    },
  }
}

type Missed = { missed: 'behind' | 'unavailable'; reason: string }

/** The rows of a replica that has this position, or the reason why the primary must be asked. */
async function readOn<R>(pool: Pool, wanted: Position, statement: Statement): Promise<Rows<R> | Missed> {
  let client: pg.PoolClient
  try {
    client = await acquire(pool)
  } catch (error) {
    return { missed: 'unavailable', reason: (error as Error).message }
  }
  // A connection that ends in an unknown state is closed.
  let broken = true
  try {
    // One transaction, so that a connection pooler does not send the check and the read to different servers.
    const found = await inTime(catchUpMs * 2, catchUp(client, pool, wanted))
    if (found !== 'fresh') {
      broken = found === 'silent'
      // Closing it would wait for the server.
      if (broken) streamOf(client).destroy(new Error('Connection terminated: no answer'))
      else client.query('ROLLBACK').catch(() => {})
      return found === 'behind' ? { missed: 'behind', reason: found } : { missed: 'unavailable', reason: reasons[found] }
    }
    const [result] = await Promise.all([send(client, prepared(pool, statement)), send(client, { text: 'COMMIT' })])
    broken = false
    return toRows<R>(result)
  } catch (error) {
    // The primary would need as long for a statement that took too long here.
    if ((error as { code?: string }).code === queryCanceled) throw error
    return { missed: isAway(error) ? 'unavailable' : 'behind', reason: (error as Error).message }
  } finally {
    client.release(broken)
  }
}

const reasons = {
  silent: 'It does not answer.',
  foreign: 'It is a replica of another database.',
  hidden: 'Its role may not read pg_stat_wal_receiver. Run GRANT pg_read_all_stats TO that role on the primary.',
}

const queryCanceled = '57014'

/** Begins a transaction, and waits in it until the replica has the position, at most `catchUpMs`. */
async function catchUp(
  client: pg.PoolClient,
  pool: Pool,
  { lsn, timeline, origin }: Position,
): Promise<'fresh' | 'behind' | 'foreign' | 'hidden'> {
  const begun = send(client, { text: 'BEGIN' })
  begun.catch(() => {})
  for (const deadlineMs = nowMs() + catchUpMs; ; ) {
    const { rows } = await send(client, prepared(pool, state(lsn)))
    const found = rows[0] as State
    if (found.origin !== origin) return 'foreign'
    if (found.is_receiving && found.timeline === null) return 'hidden'
    if (found.has_replayed && found.timeline === timeline) return 'fresh'
    // Without its primary it does not get further.
    if (!found.is_receiving || nowMs() >= deadlineMs) return 'behind'
    await delay(pollMs)
  }
}

/** A connection within `acquireMs`. One that comes later is given back. A busy replica is waited for, so that its load does not move to the primary. */
async function acquire(pool: Pool): Promise<pg.PoolClient> {
  const { busy, max } = pool.counts()
  if (busy >= max) return pool.acquire()
  const acquired = pool.acquire()
  const client = await inTime(acquireMs, acquired)
  if (client !== 'silent') return client
  acquired.then(
    (late) => late.release(),
    () => {},
  )
  throw new DatabaseUnavailable('No connection became free in time.', null)
}

/** The result, or `silent` after `ms`. */
async function inTime<T>(ms: number, work: Promise<T>): Promise<T | 'silent'> {
  const timer = Promise.withResolvers<'silent'>()
  const timeout = setTimeout(() => timer.resolve('silent'), ms)
  // A failure after its time is not reported.
  work.catch(() => {})
  return Promise.race([work, timer.promise]).finally(() => clearTimeout(timeout))
}

// The connection pool: opens connections, hands them out, and closes them within a bound.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { nowMs } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { DatabaseUnavailable } from '../../core/sql.ts'
import { isAway, translate } from './failures.ts'
import { Servers, Session, type Target, type Wanted } from './servers.ts'
import { createStallWatch } from './stalls.ts'

export type PoolOptions = {
  poolSize: number
  log: Log
  /** The kind of server, a primary unless it is given. */
  wanted?: Wanted
}

/** The wait for a free connection. */
const acquireTimeoutMs = 10_000
/** A restarted embedded database is back well within this time. Nothing has been sent yet, so waiting is safe. */
const reconnectWaitMs = 3_000
const reconnectPauseMs = 50
const idleConnectionMs = 60_000
const closeTimeoutMs = 10_000

/** Connections in use, open without use, the maximum, and the work that waits for one. */
export type PoolCounts = { busy: number; idle: number; max: number; waiting: number }

export type Pool = {
  counts(): PoolCounts
  /** A connection. Release it, with true when it is broken. */
  acquire(): Promise<pg.PoolClient>
  /** True when statements may have names. See Servers. */
  keepsStatements(): boolean
  /** Waits for running statements, at most ten seconds, and closes every connection. */
  close(): Promise<void>
  /** Ends every connection at once. All further work fails as unavailable. */
  abort(): void
}

/** Opens a pool of at most `poolSize` connections, which connects on first use. */
export function createPool(target: Target, { poolSize, log, wanted = 'primary' }: PoolOptions): Pool {
  const servers = new Servers(target, wanted)
  const watch = createStallWatch(servers, log)
  const pool = new pg.Pool({
    max: poolSize,
    connectionTimeoutMillis: acquireTimeoutMs,
    idleTimeoutMillis: idleConnectionMs,
    Client: class extends Session {
      constructor() {
        super(servers)
      }
    },
  } as unknown as pg.PoolConfig)
  // A lost connection fails the statement in flight. Without these listeners, an idle one would end the process.
  pool.on('error', (error) => log.warn({ reason: error.message }, 'an idle database connection was lost'))
  const open = new Map<pg.PoolClient, Promise<void>>()
  pool.on('connect', (client) => {
    client.on('error', () => {})
    watch.add(client, (client as unknown as Session).server)
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

  let isAborted = false

  return {
    keepsStatements: () => servers.keepsStatements,

    counts: () => ({ busy: pool.totalCount - pool.idleCount, idle: pool.idleCount, max: poolSize, waiting: pool.waitingCount }),

    async acquire() {
      // A read that finds no replica goes to the primary at once.
      const deadlineMs = nowMs() + (wanted === 'primary' ? reconnectWaitMs : 0)
      for (;;) {
        if (isAborted) throw new DatabaseUnavailable('The server stops.', null)
        try {
          return await pool.connect()
        } catch (error) {
          if (!isAway(error) || pool.ending || nowMs() > deadlineMs) throw translate(error)
          await delay(reconnectPauseMs)
        }
      }
    },

    async close() {
      const timer = setTimeout(() => watch.endAll(), closeTimeoutMs)
      await pool.end()
      // The pool disconnects without waiting, and a database that stops meanwhile would log every connection as lost.
      await Promise.all(open.values())
      clearTimeout(timer)
      watch.stop()
    },

    abort() {
      isAborted = true
      watch.endAll()
    },
  }
}

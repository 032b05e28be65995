// Ends connections that no longer lead to the database: their server froze or vanished without closing them, another one took over, or an
// answer was lost on the way.
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { nowMs } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { type Servers, Session } from './servers.ts'

/** The parts of a `pg` client that its types leave out. */
type Inside = {
  /** The statement whose answer is awaited. */
  _activeQuery: object | null
  processID: number
  connection: { stream: { bytesRead: number; destroy: (error?: Error) => void } }
}

const tickMs = 500
/** Most statements take milliseconds, and a search takes a second. */
const stalledMs = 2_000
/** While a server answers that it is the same as before, the statement is only slow. */
const slowPauseMs = 2_000
const probePauseMs = 250
/** A server that answers no new connection for this long is given up, and requests are answered 503. */
const givenUpMs = 5_000

export type StallWatch = {
  /** Watches a new connection to this server. */
  add(client: pg.PoolClient, server: string): void
  /** Ends every connection at once. */
  endAll(): void
  stop(): void
}

/** Watches the connections of a pool. A connection without an answer for two seconds starts probes on a connection of their own. */
export function createStallWatch(servers: Servers, log: Log): StallWatch {
  type Watched = { server: string; query: object | null; bytesRead: number; sinceMs: number; isSuspected: boolean }
  const watched = new Map<pg.PoolClient, Watched>()
  let isProbing = false
  let isStopped = false

  const end = (client: pg.PoolClient) =>
    (client as unknown as Inside).connection.stream.destroy(new Error('Connection terminated: its server does not answer'))

  const isStalled = (one: Watched): boolean => one.query !== null && nowMs() - one.sinceMs >= stalledMs

  const timer = setInterval(() => {
    for (const [client, one] of watched) {
      const { _activeQuery: query, connection } = client as unknown as Inside
      if (query !== null && query === one.query && connection.stream.bytesRead === one.bytesRead) continue
      Object.assign(one, { query, bytesRead: connection.stream.bytesRead, sinceMs: nowMs(), isSuspected: false })
    }
    if (!isProbing && [...watched.values()].some(isStalled)) void probe()
  }, tickMs).unref()

  /** Asks which server is there, until no statement waits any more. */
  async function probe(): Promise<void> {
    isProbing = true
    let silentSinceMs: number | null = null
    while (!isStopped && [...watched.values()].some(isStalled)) {
      const startedMs = nowMs()
      const stalled = [...watched].filter(([, one]) => isStalled(one))
      const found = await askServer(
        servers,
        stalled.map(([client]) => (client as unknown as Inside).processID),
      )
      if (found === null) {
        silentSinceMs ??= startedMs
        if (nowMs() - silentSinceMs >= givenUpMs) endThose('no database server answers', (one) => isStalled(one))
      } else {
        silentSinceMs = null
        endThose('another database server has taken over', (one) => one.server !== found.server)
        // The answer was on its way at the first look, and is lost at the second.
        endThose('an answer of the database was lost', (one) => one.isSuspected && isStalled(one))
        for (const [client, one] of stalled) one.isSuspected = found.idle.has((client as unknown as Inside).processID)
      }
      await delay(found === null ? probePauseMs : slowPauseMs, undefined, { ref: false })
    }
    isProbing = false
  }

  function endThose(reason: string, isMeant: (one: Watched) => boolean): void {
    const clients = [...watched].filter(([, one]) => isMeant(one)).map(([client]) => client)
    if (clients.length === 0) return
    log.warn({ reason, connections: clients.length }, 'database connections are ended')
    for (const client of clients) end(client)
  }

  return {
    add(client, server) {
      watched.set(client, { server, query: null, bytesRead: 0, sinceMs: nowMs(), isSuspected: false })
      client.once('end', () => watched.delete(client))
    },
    endAll: () => [...watched.keys()].forEach(end),
    stop() {
      isStopped = true
      clearInterval(timer)
    },
  }
}

/**
 * The server that a new connection leads to, and those of its processes that have nothing to do. Null when no server that accepts writes answers
 * in time.
 */
function askServer(servers: Servers, pids: number[]): Promise<{ server: string; idle: Set<number> } | null> {
  return new Promise((resolve) => {
    const session = new Session(servers)
    session.on('error', () => {})
    session.connect(async (error?: Error) => {
      const found = error ? null : await findIdle(session, pids).catch(() => null)
      ;(session as unknown as Inside).connection.stream.destroy()
      resolve(found && { server: session.server, idle: found })
    })
  })
}

/** A pooler gives its own numbers, which are of no process. */
async function findIdle(session: Session, pids: number[]): Promise<Set<number>> {
  const statement = {
    text: `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1) AND state <> 'active'`,
    values: [pids],
    query_timeout: 3_000,
  }
  return new Set((await session.query<{ pid: number }>(statement as pg.QueryConfig)).rows.map(({ pid }) => pid))
}

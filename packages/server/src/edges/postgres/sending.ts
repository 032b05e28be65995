// Sends statements on a connection of the pool.
import type { Duplex } from 'node:stream'
import type pg from 'pg'
import type { Rows, Statement } from '../../core/sql.ts'
import type { Pool } from './pool.ts'

/** The socket of a connection, which the types of `pg` leave out. */
export const streamOf = (client: pg.PoolClient): Duplex => (client as unknown as { connection: { stream: Duplex } }).connection.stream

/**
 * Sends all data of one iteration of the event loop on a connection in one write. Each write wakes PostgreSQL, which costs more than the
 * work itself.
 */
function gatherWrites(client: pg.PoolClient): void {
  const stream = streamOf(client)
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

/** The statement, without its name where the pooler would lose what was prepared. */
export const prepared = (pool: Pool, statement: Statement): Statement =>
  statement.name === undefined || pool.keepsStatements() ? statement : { text: statement.text, values: statement.values ?? [] }

export function send(client: pg.PoolClient, statement: Statement): Promise<pg.QueryResult> {
  gatherWrites(client)
  return client.query(statement)
}

export const toRows = <R>(result: pg.QueryResult): Rows<R> => ({ rows: result.rows as R[], rowCount: result.rowCount ?? 0 })

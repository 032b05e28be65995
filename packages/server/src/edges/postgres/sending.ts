// Sends statements on a connection of the pool.
import type pg from 'pg'
import type { Rows, Statement } from '../../core/sql.ts'
import type { Pool } from './pool.ts'
import type { Wire } from './statement-group.ts'

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

/** The statement, without its name where the pooler would lose what was prepared. */
export const prepared = (pool: Pool, statement: Statement): Statement =>
  statement.name === undefined || pool.keepsStatements() ? statement : { text: statement.text, values: statement.values ?? [] }

export function send(client: pg.PoolClient, statement: Statement): Promise<pg.QueryResult> {
  gatherWrites(client)
  return client.query(statement)
}

export const toRows = <R>(result: pg.QueryResult): Rows<R> => ({ rows: result.rows as R[], rowCount: result.rowCount ?? 0 })

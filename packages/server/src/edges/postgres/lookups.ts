// Sends the lookups of one iteration of the event loop together on one connection, in one message group.
import type pg from 'pg'
import type { Rows, Sql, Statement } from '../../core/sql.ts'
import { isAway, isFollowUp, translate } from './failures.ts'
import type { Pool } from './pool.ts'
import { prepared, send, toRows } from './sending.ts'
import { isGrouped, Statements } from './statement-group.ts'

type Lookup = { statement: Statement; resolve: (rows: Rows<never>) => void; reject: (error: unknown) => void }

/**
 * PostgreSQL answers a group in one write. It skips the statements behind one that fails, so these are sent again: a lookup fails only by its
 * own error.
 */
export function createLookups(pool: Pool): Sql {
  let lookups: Lookup[] = []

  async function run(): Promise<void> {
    const group = lookups
    lookups = []
    let client: pg.PoolClient
    try {
      client = await pool.acquire()
    } catch (error) {
      for (const one of group) one.reject(error)
      return
    }
    let broken = false
    for (let left = group; left.length > 0; ) {
      const skipped: Lookup[] = []
      await Promise.all(
        start(client, left).map(async (answer, index) => {
          const one = left[index] as Lookup
          try {
            one.resolve(toRows(await answer))
          } catch (error) {
            broken ||= isAway(error)
            if (isFollowUp(error)) skipped.push(one)
            else one.reject(translate(error))
          }
        }),
      )
      left = skipped
    }
    client.release(broken)
  }

  /** One lookup needs no group. */
  function start(client: pg.PoolClient, group: Lookup[]): Promise<pg.QueryResult>[] {
    const statements = group.map(({ statement }) => prepared(pool, statement))
    if (statements.length === 1 || !statements.every(isGrouped)) return statements.map((statement) => send(client, statement))
    const together = new Statements(client)
    return statements.map((statement) => together.query(statement))
  }

  return {
    query: <R>(statement: Statement) =>
      new Promise<Rows<R>>((resolve, reject) => {
        if (lookups.push({ statement, resolve, reject }) === 1) queueMicrotask(run)
      }),
  }
}

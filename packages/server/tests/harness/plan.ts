// Counts the rows that PostgreSQL reads, from the plans of statements.
import type { Database, Sql, Statement } from '../../src/core/sql.ts'

type Plan = { 'Actual Rows': number; 'Actual Loops': number; 'Rows Removed by Filter'?: number; 'Relation Name'?: string; Plans?: Plan[] }

const readBy = (plan: Plan): number =>
  (plan['Relation Name'] ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0) +
  (plan.Plans ?? []).reduce((sum, one) => sum + readBy(one), 0)

/** Runs `read` on the database. Explains each statement before it runs, and adds up the rows that they read. */
export async function countRowsRead<T>(db: Database, read: (sql: Sql) => Promise<T>): Promise<{ result: T; rowsRead: number }> {
  let rowsRead = 0
  const result = await read({
    query: <R>(statement: Statement) =>
      db.transact(async (tx) => {
        const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({
          ...statement,
          text: `EXPLAIN (ANALYZE, FORMAT JSON) ${statement.text}`,
        })
        rowsRead += readBy((rows[0] as (typeof rows)[0])['QUERY PLAN'][0].Plan)
        return tx.query<R>(statement)
      }),
  })
  return { result, rowsRead }
}

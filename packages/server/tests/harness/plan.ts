// Counts the rows that PostgreSQL reads, from the plans of statements.
import type { Database, Sql, Statement } from '../../src/core/sql.ts'

type Plan = { 'Actual Rows': number; 'Actual Loops': number; 'Rows Removed by Filter'?: number; 'Relation Name'?: string; Plans?: Plan[] }

const readBy = (plan: Plan): number =>
  (plan['Relation Name'] ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0) +
  (plan.Plans ?? []).reduce((sum, one) => sum + readBy(one), 0)

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
const literal = (value: unknown): string => {
  if (value === null) return 'NULL'
  if (value instanceof Date) return quoted(value.toISOString())
  return quoted(Array.isArray(value) ? `{${value.map((item) => JSON.stringify(item)).join(',')}}` : String(value))
}

/**
 * Runs `read` on the database. Explains the plan of each statement before it runs, and adds up the rows that they read. A generic plan
 * serves all values, and a custom one those of the call.
 */
export async function countRowsRead<T>(
  db: Database,
  read: (sql: Sql) => Promise<T>,
  mode: 'generic' | 'custom' = 'generic',
): Promise<{ result: T; rowsRead: number }> {
  let rowsRead = 0
  const result = await read({
    query: <R>({ text, values = [] }: Statement) =>
      db.transact(async (tx) => {
        await tx.query({ text: `SET LOCAL plan_cache_mode = force_${mode}_plan` })
        await tx.query({ text: `PREPARE counted AS ${text}` })
        const execute = `EXECUTE counted${values.length > 0 ? `(${values.map(literal).join(', ')})` : ''}`
        const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({ text: `EXPLAIN (ANALYZE, FORMAT JSON) ${execute}` })
        await tx.query({ text: 'DEALLOCATE counted' })
        rowsRead += readBy((rows[0] as (typeof rows)[0])['QUERY PLAN'][0].Plan)
        return tx.query<R>({ text, values })
      }),
  })
  return { result, rowsRead }
}

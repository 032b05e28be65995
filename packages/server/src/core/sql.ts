// The database interface of features. SQL is in files named `store.ts` or `…-store.ts`, and in edges/postgres.

/**
 * One statement. `name` makes it a prepared statement per connection, which makes reads 1.8 times as fast. Every hot statement needs one.
 */
export type Statement = { name?: string; text: string; values?: unknown[] }

export type Rows<R> = { rows: R[]; rowCount: number }

/**
 * The condition that a column is one of the ids of a parameter, whose value is `sortedIds(ids)`. The bounds leave out partitions of the table, which
 * `= ANY` alone does not.
 */
export const anyOfIds = (column: string, parameter: string): string => {
  const list = `(${parameter}::text[])`
  return `${column} = ANY${list} AND ${column} >= ${list}[1] AND ${column} <= ${list}[cardinality${list}]`
}

/** Ids as `anyOfIds` needs them. Texts that cannot be an id are left out, because a database may sort them otherwise. */
export const sortedIds = (ids: Iterable<string>): string[] => [...ids].filter((id) => /^[a-z]+_[0-9a-z]{26}$/.test(id)).sort()

/** Runs single statements. */
export interface Sql {
  query<R = Record<string, unknown>>(statement: Statement): Promise<Rows<R>>
}

/** Statements inside one transaction. */
export interface Tx extends Sql {
  /** Runs after a successful commit, and never when the transaction is rolled back or retried. */
  afterCommit(hint: () => void): void
}

/** Runs a function in one transaction, and again from its start on a serialization failure or deadlock (40001, 40P01). */
export type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

export interface Database extends Sql {
  transact: Transact
  /**
   * For lists, searches and exports. A replica answers if there is one and it has everything that was committed before the call, otherwise
   * the primary does. Each statement may be answered by another server.
   */
  reads: Sql
}

/** True when the error is PostgreSQL's unique_violation (23505) on this constraint. */
export const isUniqueViolation = (error: unknown, constraint: string): boolean =>
  error instanceof Error && 'code' in error && error.code === '23505' && 'constraint' in error && error.constraint === constraint

/** The SQLSTATE that retries a transaction from its start, for `fail_transaction` of migrations/0003-mail.sql. */
export const tryAgain = '40001'

/** True when a row violates this CHECK constraint (23514). */
export const isCheckViolation = (error: unknown, constraint: string): boolean =>
  error instanceof Error && 'code' in error && error.code === '23514' && 'constraint' in error && error.constraint === constraint

/** True when a row references one that does not exist (23503), because it was deleted after the lookup. Of this constraint, if one is given. */
export const isForeignKeyViolation = (error: unknown, constraint?: string): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === '23503' &&
  (constraint === undefined || ('constraint' in error && error.constraint === constraint))

/**
 * The database is unreachable, shutting down or out of space, so the caller should retry later. `isOutcomeUnknown` is true when the answer
 * to a COMMIT was lost, so that the transaction may have committed. The message is for logs.
 */
export class DatabaseUnavailable extends Error {
  readonly isOutcomeUnknown: boolean
  constructor(message: string, cause: unknown, isOutcomeUnknown = false) {
    super(message, { cause })
    this.name = 'DatabaseUnavailable'
    this.isOutcomeUnknown = isOutcomeUnknown
  }
}

/** True when the transaction may have committed, so that its work must not be done again. */
export const isOutcomeUnknown = (error: unknown): error is DatabaseUnavailable =>
  error instanceof DatabaseUnavailable && error.isOutcomeUnknown

/** Thrown inside a transaction to retry it from its start, as on PostgreSQL's serialization_failure (40001). */
export class TryAgain extends Error {
  override name = 'TryAgain'
  readonly code = tryAgain
}

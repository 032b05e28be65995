// What a feature may ask of the database. Only store.ts files and edges/postgres hold SQL.

/** One statement. `name` prepares it once a connection (1.8x on reads); give one to every hot statement. */
export type Statement = { name?: string; text: string; values?: unknown[] }

export type Rows<R> = { rows: R[]; rowCount: number }

/** Runs single statements. */
export interface Sql {
  query<R = Record<string, unknown>>(statement: Statement): Promise<Rows<R>>
}

/** Statements inside one transaction. */
export interface Tx extends Sql {
  /** Runs after a successful commit, and never when the transaction is rolled back or tried again. */
  afterCommit(hint: () => void): void
}

/** Runs a function in one transaction, again from its start on serialization failure or deadlock (40001, 40P01). */
export type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

export interface Database extends Sql {
  transact: Transact
  /**
   * For lookups by key, which take a moment: those asked for in one turn of the event loop travel together on one connection. A slow
   * statement would hold up its neighbours; it belongs to `query`.
   */
  lookups: Sql
}

/** True when the error is PostgreSQL's unique_violation (23505) on this constraint. */
export const isUniqueViolation = (error: unknown, constraint: string): boolean =>
  error instanceof Error && 'code' in error && error.code === '23505' && 'constraint' in error && error.constraint === constraint

/** True when a row names one that does not exist (23503): it was deleted after it had been looked up. */
export const isForeignKeyViolation = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '23503'

/**
 * The database cannot be reached or is going away, or has no room: try later. `isOutcomeUnknown` is true when the answer to a COMMIT was
 * lost, so that the transaction may have happened; the message is for logs.
 */
export class DatabaseUnavailable extends Error {
  readonly isOutcomeUnknown: boolean
  constructor(message: string, cause: unknown, isOutcomeUnknown = false) {
    super(message, { cause })
    this.name = 'DatabaseUnavailable'
    this.isOutcomeUnknown = isOutcomeUnknown
  }
}

/** Thrown inside a transaction to have it tried again from its start, as PostgreSQL's own serialization_failure (40001) is. */
export class TryAgain extends Error {
  override name = 'TryAgain'
  readonly code = '40001'
}

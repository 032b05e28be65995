// Classifies database errors as retryable, as an outage, or as a bug.
import { DatabaseUnavailable } from '../../core/sql.ts'

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '')

const serializationFailure = '40001'
const deadlockDetected = '40P01'

/** True when the same transaction may succeed on a retry. */
export const isRetryable = (error: unknown): boolean => [serializationFailure, deadlockDetected].includes(codeOf(error))

/** True for a statement that was not executed, because an earlier one in its transaction had failed (25P02). */
export const isFollowUp = (error: unknown): boolean => codeOf(error) === '25P02'

/**
 * PostgreSQL's Appendix A: connection exceptions (08), insufficient resources (53), operator intervention that ends the connection (57P).
 */
const awayCodes = /^(08...|53...|57P0[1-5])$/

/** A server that became a replica refuses writes, so the connection leads to the wrong server. */
const readOnlyTransaction = '25006'

const awaySystemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
])

/** Errors of `pg` without a code. */
const awayMessages =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|Cannot use a pool after calling end)/

/** True when the connection is lost or leads to the wrong server. */
export function isAway(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true
  const code = codeOf(error)
  if (code !== '') return awayCodes.test(code) || code === readOnlyTransaction || awaySystemCodes.has(code)
  // A name with several addresses fails with all their errors at once.
  if (error instanceof AggregateError) return error.errors.some(isAway)
  return error instanceof Error && awayMessages.test(error.message)
}

/** Fields in which PostgreSQL quotes rows and parameters, such as bodies of mail. Errors are logged whole. */
const quotingFields = ['detail', 'where', 'internalQuery'] as const

/** The error itself without quoted data, or DatabaseUnavailable in an outage. */
export function translate(error: unknown): unknown {
  if (error instanceof Error) for (const field of quotingFields) Reflect.deleteProperty(error, field)
  if (error instanceof DatabaseUnavailable || !isAway(error)) return error
  return new DatabaseUnavailable(`The database is not available: ${(error as Error).message}`, error)
}

// The SQL of counted attempts.
import type { Sql } from '../../../core/sql.ts'

/** Counts one attempt per subject, and starts a new window for those whose window began before `startedAfter`. */
export async function countAttempts(
  sql: Sql,
  subjects: Buffer[],
  at: Date,
  startedAfter: Date,
): Promise<{ subject: Buffer; attempts: number; started_at: Date }[]> {
  const { rows } = await sql.query<{ subject: Buffer; attempts: number; started_at: Date }>({
    // Sorted, so that two requests lock common rows in the same order.
    text: `INSERT INTO console_attempts AS a (subject, started_at, attempts)
      SELECT subject, $2, 1 FROM unnest($1::bytea[]) AS subject ORDER BY subject
      ON CONFLICT (subject) DO UPDATE SET
        attempts = CASE WHEN a.started_at < $3 THEN 1 ELSE a.attempts + 1 END,
        started_at = CASE WHEN a.started_at < $3 THEN $2 ELSE a.started_at END
      RETURNING subject, attempts, started_at`,
    values: [subjects, at, startedAfter],
  })
  return rows
}

/** Takes one attempt back per subject. */
export async function uncountAttempts(sql: Sql, subjects: Buffer[]): Promise<void> {
  await sql.query({
    text: `UPDATE console_attempts SET attempts = attempts - 1 WHERE attempts > 0 AND subject IN (
        SELECT subject FROM console_attempts WHERE subject = ANY($1) ORDER BY subject FOR UPDATE)`,
    values: [subjects],
  })
}

export async function deleteAttempts(sql: Sql, subject: Buffer): Promise<void> {
  await sql.query({ text: 'DELETE FROM console_attempts WHERE subject = $1', values: [subject] })
}

export async function sweepAttempts(sql: Sql, startedBefore: Date): Promise<void> {
  await sql.query({ text: 'DELETE FROM console_attempts WHERE started_at < $1', values: [startedBefore] })
}

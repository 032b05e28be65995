// The SQL of the state of backups: the lease of the worker that makes the next one, and the latest result.
import type { Sql } from '../../core/sql.ts'

export type BackupState = {
  started_at: Date | null
  succeeded_at: Date | null
  name: string | null
  size_bytes: number | null
  failure: string | null
}

/** The state. Null before the first backup, and before the table exists. */
export async function findBackupState(sql: Sql): Promise<BackupState | null> {
  try {
    const { rows } = await sql.query<BackupState>({ text: 'SELECT started_at, succeeded_at, name, size_bytes, failure FROM backup_state' })
    return rows[0] ?? null
  } catch (error) {
    if (isMissingTable(error)) return null
    throw error
  }
}

/** Takes the lease when a backup is due and no other process makes one. */
export async function claimBackup(sql: Sql, { at, everyMs, leaseMs }: { at: Date; everyMs: number; leaseMs: number }): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `INSERT INTO backup_state AS b (leased_until, started_at) VALUES ($1::timestamptz + make_interval(secs => $3), $1)
      ON CONFLICT (singleton) DO UPDATE SET leased_until = excluded.leased_until, started_at = excluded.started_at
        WHERE (b.leased_until IS NULL OR b.leased_until < $1) AND (b.started_at IS NULL OR b.started_at <= $1::timestamptz - make_interval(secs => $2))`,
    values: [at, everyMs / 1000, leaseMs / 1000],
  })
  return rowCount === 1
}

export async function renewBackup(sql: Sql, until: Date): Promise<void> {
  await sql.query({ text: 'UPDATE backup_state SET leased_until = $1', values: [until] })
}

/** Records a complete backup, on a schedule or by hand. Does nothing before the table exists. */
export async function recordSuccess(sql: Sql, { name, size, at }: { name: string; size: number; at: Date }): Promise<void> {
  try {
    await sql.query({
      text: `INSERT INTO backup_state (succeeded_at, name, size_bytes) VALUES ($3, $1, $2) ON CONFLICT (singleton)
        DO UPDATE SET leased_until = NULL, succeeded_at = $3, name = $1, size_bytes = $2, failure = NULL`,
      values: [name, size, at],
    })
  } catch (error) {
    if (!isMissingTable(error)) throw error
  }
}

/** Records a failure. The next backup is due one interval after `startedAt`. */
export async function recordFailure(sql: Sql, failure: string, startedAt: Date): Promise<void> {
  await sql.query({ text: 'UPDATE backup_state SET leased_until = NULL, failure = $1, started_at = $2', values: [failure, startedAt] })
}

const isMissingTable = (error: unknown): boolean => (error as { code?: string }).code === '42P01'

// The SQL of console sessions.
import type { Sql } from '../../../core/sql.ts'
import type { MemberRole } from '../roles/model.ts'
import type { SessionLimits, SignInMethod } from './model.ts'

export type NewSession = {
  id: string
  organization_id: string
  user_id: string | null
  key_id: string | null
  token_hash: Buffer
  method: SignInMethod
  ip: string
  user_agent: string
  at: Date
  expires_at: Date
}

export async function insertSession(sql: Sql, row: NewSession): Promise<void> {
  await sql.query({
    text: `INSERT INTO console_sessions
        (id, organization_id, user_id, key_id, token_hash, method, ip, user_agent, created_at, last_seen_at, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)`,
    values: [
      row.id,
      row.organization_id,
      row.user_id,
      row.key_id,
      row.token_hash,
      row.method,
      row.ip,
      row.user_agent,
      row.at,
      row.expires_at,
    ],
  })
}

export type SessionRow = {
  id: string
  organization_id: string
  organization_name: string
  user_id: string | null
  key_id: string | null
  method: SignInMethod
  created_at: Date
  expires_at: Date
  role: MemberRole | null
  name: string | null
  email: string | null
  is_touch_due: boolean
}

const selectSessions = `SELECT s.id, s.organization_id, o.name AS organization_name, s.user_id, s.key_id, s.method, s.created_at, s.expires_at,
    u.role, u.name, u.email, s.last_seen_at < now() - interval '1 minute' AS is_touch_due
  FROM console_sessions s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN users u ON u.id = s.user_id`

/** The session of a cookie that has not expired. */
export async function findByToken(sql: Sql, tokenHash: Buffer): Promise<SessionRow | null> {
  const { rows } = await sql.query<SessionRow>({
    name: 'find-console-session',
    text: `${selectSessions} WHERE s.token_hash = $1 AND s.expires_at > now()`,
    values: [tokenHash],
  })
  return rows[0] ?? null
}

/** Sessions that have not expired, by id. Asked on every request with a console token, so that an ended session holds on the next one. */
export async function findById(sql: Sql, ids: string[]): Promise<Map<string, SessionRow>> {
  const { rows } = await sql.query<SessionRow>({
    name: 'find-console-sessions-by-id',
    text: `${selectSessions} WHERE s.id = ANY($1) AND s.expires_at > now()`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Of these sessions, those that have not expired. `key_id` is the key of a session that a key started. */
export async function findUnexpired(sql: Sql, ids: string[]): Promise<{ id: string; key_id: string | null }[]> {
  const { rows } = await sql.query<{ id: string; key_id: string | null }>({
    name: 'find-unexpired-console-sessions',
    text: 'SELECT id, key_id FROM console_sessions WHERE id = ANY($1) AND expires_at > now()',
    values: [ids],
  })
  return rows
}

/** Ends the sessions of a key except the newest `countMax`, and returns their ids. Concurrent calls for one key wait for each other. */
export async function endOldest(sql: Sql, keyId: string, countMax: number): Promise<string[]> {
  await sql.query({ text: 'SELECT 1 FROM api_keys WHERE id = $1 FOR NO KEY UPDATE', values: [keyId] })
  const { rows } = await sql.query<{ id: string }>({
    text: `DELETE FROM console_sessions WHERE id IN (
        SELECT id FROM console_sessions WHERE key_id = $1 ORDER BY created_at DESC, id DESC OFFSET $2) RETURNING id`,
    values: [keyId, countMax],
  })
  return rows.map((row) => row.id)
}

/** Records the use of a session and extends it, within its limits. */
export async function touchSession(sql: Sql, id: string, limits: SessionLimits): Promise<void> {
  await sql.query({
    name: 'touch-console-session',
    text: `UPDATE console_sessions SET last_seen_at = now(),
        expires_at = LEAST(now() + $2 * interval '1 millisecond', created_at + $3 * interval '1 millisecond')
      WHERE id = $1 AND expires_at > now()`,
    values: [id, limits.idleMs, limits.maxMs],
  })
}

export type ListedSession = {
  id: string
  method: SignInMethod
  ip: string
  user_agent: string
  created_at: Date
  last_seen_at: Date
  user_id: string | null
  email: string | null
  name: string | null
  role: MemberRole | null
  key_id: string | null
  key_name: string | null
}

/** The sessions of an organization that stand, of one user or key when one is given. */
export async function listSessions(
  sql: Sql,
  organizationId: string,
  { userId, keyId }: { userId: string | null; keyId: string | null },
): Promise<ListedSession[]> {
  const { rows } = await sql.query<ListedSession>({
    text: `SELECT s.id, s.method, s.ip, s.user_agent, s.created_at, s.last_seen_at, s.user_id, u.email, u.name, u.role, s.key_id, k.name AS key_name
      FROM console_sessions s LEFT JOIN users u ON u.id = s.user_id LEFT JOIN api_keys k ON k.id = s.key_id
      WHERE s.organization_id = $1 AND s.expires_at > now()
        AND ($2::text IS NULL OR s.user_id = $2) AND ($3::text IS NULL OR s.key_id = $3)
      ORDER BY s.id DESC LIMIT 500`,
    values: [organizationId, userId, keyId],
  })
  return rows
}

/** Which sessions to end. Null fields do not restrict. */
export type SessionFilter = { id: string | null; userId: string | null; keyId: string | null; exceptId: string | null }

/** Ends sessions and returns their ids. */
export async function deleteSessions(sql: Sql, organizationId: string, filter: SessionFilter): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>({
    text: `DELETE FROM console_sessions WHERE organization_id = $1 AND ($2::text IS NULL OR id = $2)
        AND ($3::text IS NULL OR user_id = $3) AND ($4::text IS NULL OR key_id = $4) AND ($5::text IS NULL OR id <> $5) RETURNING id`,
    values: [organizationId, filter.id, filter.userId, filter.keyId, filter.exceptId],
  })
  return rows.map((row) => row.id)
}

export async function deleteSession(sql: Sql, id: string): Promise<void> {
  await sql.query({ text: 'DELETE FROM console_sessions WHERE id = $1', values: [id] })
}

/** True when this address has a session of the user that stands. */
export async function hasSessionFrom(sql: Sql, userId: string, address: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: 'SELECT 1 FROM console_sessions WHERE user_id = $1 AND ip = $2 AND expires_at > now() LIMIT 1',
    values: [userId, address],
  })
  return rowCount > 0
}

export async function sweepSessions(sql: Sql): Promise<void> {
  await sql.query({ text: 'DELETE FROM console_sessions WHERE expires_at <= now()' })
}

// The SQL of members: users with a role, an e-mail address and a way to sign in.
import type { Sql } from '../../../core/sql.ts'
import type { MemberRole } from '../roles/model.ts'
import type { MemberRow } from './model.ts'

/** True when a member of any organization has a password and an e-mail address to enter with it. */
export async function hasPasswords(sql: Sql): Promise<boolean> {
  const { rowCount } = await sql.query({ text: 'SELECT 1 FROM users WHERE password_hash IS NOT NULL AND email IS NOT NULL LIMIT 1' })
  return rowCount > 0
}

const columns = `u.id, u.organization_id, u.email, u.name, u.role, u.password_hash IS NOT NULL AS has_password,
  u.oidc_subject IS NOT NULL AS has_oidc, (SELECT count(*)::int FROM console_passkeys p WHERE p.user_id = u.id) AS passkeys, u.last_sign_in_at, u.created_at`

export async function listMembers(sql: Sql, organizationId: string): Promise<MemberRow[]> {
  const { rows } = await sql.query<MemberRow>({
    text: `SELECT ${columns} FROM users u WHERE u.organization_id = $1 ORDER BY u.id LIMIT 1000`,
    values: [organizationId],
  })
  return rows
}

export async function findMember(sql: Sql, organizationId: string, id: string): Promise<MemberRow | null> {
  const { rows } = await sql.query<MemberRow>({
    text: `SELECT ${columns} FROM users u WHERE u.organization_id = $1 AND u.id = $2`,
    values: [organizationId, id],
  })
  return rows[0] ?? null
}

export type Credentials = {
  id: string
  organization_id: string
  password_hash: string | null
  oidc_subject: string | null
  /** True after a first sign-in. */
}

const credentials = 'id, organization_id, password_hash, oidc_subject'

/** The members with this e-mail address, at most one per organization. The latest sign-in comes first. */
export async function listByEmail(sql: Sql, email: string): Promise<Credentials[]> {
  const { rows } = await sql.query<Credentials>({
    text: `SELECT ${credentials} FROM users WHERE email = $1 ORDER BY last_sign_in_at DESC NULLS LAST, id`,
    values: [email],
  })
  return rows
}

export async function findCredentials(sql: Sql, id: string): Promise<Credentials | null> {
  const { rows } = await sql.query<Credentials>({
    text: `SELECT ${credentials} FROM users WHERE id = $1`,
    values: [id],
  })
  return rows[0] ?? null
}

export async function insertMember(
  sql: Sql,
  member: { id: string; organizationId: string; email: string; name: string; role: MemberRole; at: Date },
): Promise<void> {
  await sql.query({
    text: 'INSERT INTO users (id, organization_id, email, name, role, created_at) VALUES ($1, $2, $3, $4, $5, $6)',
    values: [member.id, member.organizationId, member.email, member.name, member.role, member.at],
  })
}

export type MemberChange = { role?: MemberRole; name?: string; email?: string }

/** Changes the given fields. Another e-mail address forgets the subject of OIDC, because it may be another person's. */
export async function updateMember(sql: Sql, organizationId: string, id: string, change: MemberChange): Promise<void> {
  await sql.query({
    text: `UPDATE users SET role = coalesce($3, role), name = coalesce($4, name), email = coalesce($5, email),
        oidc_subject = CASE WHEN $5::text IS NULL OR $5 = email THEN oidc_subject END
      WHERE organization_id = $1 AND id = $2`,
    values: [organizationId, id, change.role ?? null, change.name ?? null, change.email ?? null],
  })
}

export async function deleteMember(sql: Sql, organizationId: string, id: string): Promise<void> {
  await sql.query({ text: 'DELETE FROM users WHERE organization_id = $1 AND id = $2', values: [organizationId, id] })
}

/** Locks the organization against changes of its owners, and returns the ids of its owners. */
export async function lockOwners(sql: Sql, organizationId: string): Promise<string[]> {
  await sql.query({ text: 'SELECT 1 FROM organizations WHERE id = $1 FOR UPDATE', values: [organizationId] })
  const { rows } = await sql.query<{ id: string }>({
    text: "SELECT id FROM users WHERE organization_id = $1 AND role = 'owner'",
    values: [organizationId],
  })
  return rows.map((row) => row.id)
}

export async function setPasswordHash(sql: Sql, id: string, passwordHash: string): Promise<void> {
  await sql.query({ text: 'UPDATE users SET password_hash = $2 WHERE id = $1', values: [id, passwordHash] })
}

/** Binds a subject to a member without one. False when the member has another, or another member of the organization has this one. */
export async function bindOidc(sql: Sql, id: string, subject: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `UPDATE users SET oidc_subject = $2 WHERE id = $1 AND (oidc_subject IS NULL OR oidc_subject = $2)
      AND NOT EXISTS (SELECT 1 FROM users other WHERE other.oidc_subject = $2 AND other.id <> $1 AND other.organization_id = users.organization_id)`,
    values: [id, subject],
  })
  return rowCount === 1
}

export async function touchSignIn(sql: Sql, id: string, at: Date): Promise<void> {
  await sql.query({ text: 'UPDATE users SET last_sign_in_at = $2 WHERE id = $1', values: [id, at] })
}

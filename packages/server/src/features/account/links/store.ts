// The SQL of one-time links.
import type { Sql } from '../../../core/sql.ts'

export async function insertLink(
  sql: Sql,
  link: { tokenHash: Buffer; organizationId: string; userId: string; at: Date; expiresAt: Date },
): Promise<void> {
  await sql.query({
    text: 'INSERT INTO console_links (token_hash, organization_id, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)',
    values: [link.tokenHash, link.organizationId, link.userId, link.at, link.expiresAt],
  })
}

/** Uses up a link. Of two requests at once, the second waits for the first and finds nothing. */
export async function takeLink(sql: Sql, tokenHash: Buffer): Promise<{ organizationId: string; userId: string } | null> {
  const { rows } = await sql.query<{ organization_id: string; user_id: string }>({
    text: 'DELETE FROM console_links WHERE token_hash = $1 AND expires_at > now() RETURNING organization_id, user_id',
    values: [tokenHash],
  })
  return rows[0] ? { organizationId: rows[0].organization_id, userId: rows[0].user_id } : null
}

/** The organization and the member that a link signs in. Null when it is unknown or expired. */
export async function findLink(sql: Sql, tokenHash: Buffer): Promise<LinkTarget | null> {
  const { rows } = await sql.query<LinkTarget>({
    text: `SELECT o.name AS organization_name, u.email, u.name FROM console_links l
      JOIN organizations o ON o.id = l.organization_id JOIN users u ON u.id = l.user_id
      WHERE l.token_hash = $1 AND l.expires_at > now()`,
    values: [tokenHash],
  })
  return rows[0] ?? null
}

export type LinkTarget = { organization_name: string; email: string | null; name: string }

/**
 * Locks a member and finds whether it signs in by itself: with a password, a passkey or a provider. Null when the organization has no such member.
 */
export async function lockWaysToSignIn(sql: Sql, organizationId: string, userId: string): Promise<{ has_own: boolean } | null> {
  const { rows } = await sql.query<{ has_own: boolean }>({
    text: `SELECT password_hash IS NOT NULL OR oidc_subject IS NOT NULL
        OR EXISTS (SELECT 1 FROM console_passkeys p WHERE p.user_id = users.id) AS has_own
      FROM users WHERE organization_id = $1 AND id = $2 FOR UPDATE`,
    values: [organizationId, userId],
  })
  return rows[0] ?? null
}

/** Deletes the links of a user, so that older ones stop working. */
export async function deleteLinks(sql: Sql, userId: string): Promise<void> {
  await sql.query({ text: 'DELETE FROM console_links WHERE user_id = $1', values: [userId] })
}

export async function sweepLinks(sql: Sql): Promise<void> {
  await sql.query({ text: 'DELETE FROM console_links WHERE expires_at <= now()' })
}

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

/** Deletes the links of a user, so that older ones stop working. */
export async function deleteLinks(sql: Sql, userId: string): Promise<void> {
  await sql.query({ text: 'DELETE FROM console_links WHERE user_id = $1', values: [userId] })
}

export async function sweepLinks(sql: Sql): Promise<void> {
  await sql.query({ text: 'DELETE FROM console_links WHERE expires_at <= now()' })
}

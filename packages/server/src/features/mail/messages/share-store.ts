// The SQL of links to pages with a message.
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql } from '../../../core/sql.ts'

/** A link. Its author is a key or a member, and the other id is null. */
export type ShareRow = {
  id: string
  organization_id: string
  message_id: string
  key_id: string | null
  member_id: string | null
  expires_at: Date
  revoked_at: Date | null
  created_at: Date
}

const columns = 's.id, s.organization_id, s.message_id, s.key_id, s.member_id, s.expires_at, s.revoked_at, s.created_at'

/** Inserts a link. False when the message was deleted or moved to the trash. */
export async function insertShare(sql: Sql, row: ShareRow): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `INSERT INTO message_shares (id, organization_id, message_id, key_id, member_id, expires_at, created_at)
      SELECT $1, m.organization_id, m.id, $4, $5, $6, $7 FROM messages m
      WHERE m.id = $3 AND m.organization_id = $2 AND m.trashed_at IS NULL FOR KEY SHARE`,
    values: [row.id, row.organization_id, row.message_id, row.key_id, row.member_id, row.expires_at, row.created_at],
  })
  return rowCount === 1
}

export async function findShare(sql: Sql, id: string): Promise<ShareRow | null> {
  const { rows } = await sql.query<ShareRow>({
    name: 'find-message-share',
    text: `SELECT ${columns} FROM message_shares s WHERE s.id = $1`,
    values: [id],
  })
  return rows[0] ?? null
}

/** The links of a message that have not expired, newest first. */
export async function listShares(
  sql: Sql,
  message: { organization_id: string; id: string },
  at: Date,
  page: PageRequest,
): Promise<ShareRow[]> {
  const { rows } = await sql.query<ShareRow>({
    name: 'list-message-shares',
    text: `SELECT ${columns} FROM message_shares s
      WHERE s.organization_id = $1 AND s.message_id = $2 AND s.expires_at > $3 AND s.id < ${before('$4')} ORDER BY s.id DESC LIMIT $5`,
    values: [message.organization_id, message.id, at, page.cursor, page.limit + 1],
  })
  return rows
}

/** Revokes a link, keeping the time of a first revocation. Null when the message does not have this link. */
export async function revokeShare(sql: Sql, messageId: string, id: string, at: Date): Promise<{ isNew: boolean } | null> {
  const { rows } = await sql.query<{ is_new: boolean }>({
    text: `WITH found AS (SELECT id, revoked_at FROM message_shares WHERE message_id = $1 AND id = $2 FOR UPDATE)
      UPDATE message_shares s SET revoked_at = coalesce(s.revoked_at, $3) FROM found
      WHERE s.id = found.id RETURNING found.revoked_at IS NULL AS is_new`,
    values: [messageId, id, at],
  })
  return rows[0] ? { isNew: rows[0].is_new } : null
}

/** Deletes links that expired before a time. */
export async function deleteExpired(sql: Sql, before: Date): Promise<void> {
  await sql.query({ text: 'DELETE FROM message_shares WHERE expires_at < $1', values: [before] })
}

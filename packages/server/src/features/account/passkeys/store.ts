// The SQL of passkeys and their challenges.
import type { Sql } from '../../../core/sql.ts'

export async function insertChallenge(sql: Sql, hash: Buffer, userId: string | null, expiresAt: Date): Promise<void> {
  await sql.query({
    text: 'INSERT INTO console_challenges (challenge_hash, user_id, expires_at) VALUES ($1, $2, $3)',
    values: [hash, userId, expiresAt],
  })
}

/** Uses up a challenge that was made for this member, or for a sign-in when `userId` is null. False when there is none. */
export async function takeChallenge(sql: Sql, hash: Buffer, userId: string | null): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: 'DELETE FROM console_challenges WHERE challenge_hash = $1 AND user_id IS NOT DISTINCT FROM $2 AND expires_at > now()',
    values: [hash, userId],
  })
  return rowCount === 1
}

export async function sweepChallenges(sql: Sql): Promise<void> {
  await sql.query({ text: 'DELETE FROM console_challenges WHERE expires_at <= now()' })
}

export type PasskeyRow = {
  id: string
  organization_id: string
  user_id: string
  credential_id: string
  public_key: Buffer
  counter: string
  transports: string[]
  name: string
  created_at: Date
  last_used_at: Date | null
}

export async function insertPasskey(sql: Sql, row: Omit<PasskeyRow, 'counter' | 'last_used_at'> & { counter: number }): Promise<void> {
  await sql.query({
    text: `INSERT INTO console_passkeys (id, organization_id, user_id, credential_id, public_key, counter, transports, name, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      row.id,
      row.organization_id,
      row.user_id,
      row.credential_id,
      row.public_key,
      row.counter,
      row.transports,
      row.name,
      row.created_at,
    ],
  })
}

export async function findPasskey(sql: Sql, credentialId: string): Promise<PasskeyRow | null> {
  const { rows } = await sql.query<PasskeyRow>({ text: 'SELECT * FROM console_passkeys WHERE credential_id = $1', values: [credentialId] })
  return rows[0] ?? null
}

export async function listPasskeys(sql: Sql, userId: string): Promise<PasskeyRow[]> {
  return (await sql.query<PasskeyRow>({ text: 'SELECT * FROM console_passkeys WHERE user_id = $1 ORDER BY id', values: [userId] })).rows
}

/** Stores the counter of a use. False when another use with this counter or a later one came first. */
export async function recordUse(sql: Sql, id: string, counter: number, at: Date): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: 'UPDATE console_passkeys SET counter = $2, last_used_at = $3 WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0))',
    values: [id, counter, at],
  })
  return rowCount === 1
}

export async function deletePasskey(sql: Sql, userId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql.query({ text: 'DELETE FROM console_passkeys WHERE user_id = $1 AND id = $2', values: [userId, id] })
  return rowCount === 1
}

/** True when a member of any organization has a passkey. */
export async function hasPasskeys(sql: Sql): Promise<boolean> {
  return (await sql.query({ text: 'SELECT 1 FROM console_passkeys LIMIT 1' })).rowCount > 0
}

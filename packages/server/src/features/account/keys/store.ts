// The SQL of API keys.
import type { ConnectedApp } from '@callsign/contract/keys'
import type { Static } from 'typebox'
import type { Caller } from '../../../core/caller.ts'
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql } from '../../../core/sql.ts'

export type KeyRow = {
  id: string
  name: string
  type: 'organization' | 'agent'
  scopes: string[]
  agent_handle: string | null
  last4: string
  expires_at: Date | null
  last_used_at: Date | null
  revoked_at: Date | null
  created_at: Date
  connected_app: Static<typeof ConnectedApp> | null
}

export type NewKey = {
  id: string
  organization_id: string
  user_id: string
  lookup_id: string
  salt: Buffer
  secret_hash: Buffer
  last4: string
  name: string
  type: 'organization' | 'agent'
  identity_id: string | null
  scopes: string[]
  expires_at: Date | null
  created_at: Date
}

export async function insertKey(sql: Sql, key: NewKey): Promise<void> {
  await sql.query({
    text: `INSERT INTO api_keys (id, organization_id, user_id, lookup_id, salt, secret_hash, last4, name, type, identity_id, scopes, expires_at, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    values: [
      key.id,
      key.organization_id,
      key.user_id,
      key.lookup_id,
      key.salt,
      key.secret_hash,
      key.last4,
      key.name,
      key.type,
      key.identity_id,
      key.scopes,
      key.expires_at,
      key.created_at,
    ],
  })
}

/** The part of a key that authentication needs, with the key's caller. */
export type KeyHolder = { salt: Buffer; secretHash: Buffer; isUsable: boolean; isTouchDue: boolean; caller: Caller }

type HolderRow = {
  lookup_id: string
  salt: Buffer
  secret_hash: Buffer
  is_usable: boolean
  is_touch_due: boolean
  id: string
  name: string
  type: 'organization' | 'agent'
  scopes: string[]
  organization_id: string
  organization_name: string
  user_id: string
  role: 'owner' | 'operator' | 'reviewer'
  identity_id: string | null
  agent_handle: string | null
  mailbox_id: string | null
  address: string | null
}

const selectHolders = `SELECT k.lookup_id, k.salt, k.secret_hash, k.id, k.name, k.type, k.scopes, k.organization_id, o.name AS organization_name, k.user_id, u.role,
        k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AS is_usable,
        k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute' AS is_touch_due,
        k.identity_id, i.agent_handle, b.id AS mailbox_id, b.address
      FROM api_keys k
      JOIN organizations o ON o.id = k.organization_id
      JOIN users u ON u.id = k.user_id
      LEFT JOIN identities i ON i.id = k.identity_id
      LEFT JOIN mailboxes b ON b.identity_id = k.identity_id`

/** Keys by their public part. Asked on every request, so that a revocation holds on the next one. */
export async function findHolders(sql: Sql, lookupIds: string[]): Promise<Map<string, KeyHolder>> {
  const { rows } = await sql.query<HolderRow>({
    name: 'find-key-holders',
    text: `${selectHolders} WHERE k.lookup_id = ANY($1)`,
    values: [lookupIds],
  })
  return new Map(rows.map((row) => [row.lookup_id, toHolder(row)]))
}

/** Keys by their id, for console sessions that a key signed in to. */
export async function findHoldersById(sql: Sql, ids: string[]): Promise<Map<string, KeyHolder>> {
  const { rows } = await sql.query<HolderRow>({
    name: 'find-key-holders-by-id',
    text: `${selectHolders} WHERE k.id = ANY($1)`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, toHolder(row)]))
}

/** Gives the keys of one user to another, before the first is deleted. */
export async function moveKeys(sql: Sql, organizationId: string, fromUserId: string, toUserId: string): Promise<void> {
  await sql.query({
    text: 'UPDATE api_keys SET user_id = $3 WHERE organization_id = $1 AND user_id = $2',
    values: [organizationId, fromUserId, toUserId],
  })
}

function toHolder(row: HolderRow): KeyHolder {
  const agent =
    row.identity_id !== null && row.agent_handle !== null && row.mailbox_id !== null && row.address !== null
      ? { identityId: row.identity_id, handle: row.agent_handle, mailboxId: row.mailbox_id, address: row.address }
      : null
  return {
    salt: row.salt,
    secretHash: row.secret_hash,
    isUsable: row.is_usable && (row.type === 'organization' || agent !== null),
    isTouchDue: row.is_touch_due,
    caller: {
      keyId: row.id,
      keyName: row.name,
      keyType: row.type,
      scopes: row.scopes,
      organizationId: row.organization_id,
      organizationName: row.organization_name,
      userId: row.user_id,
      role: row.type === 'agent' ? 'agent' : row.role,
      agent,
      session: null,
      mailApproval: 'agent',
    },
  }
}

export async function findUnusable(sql: Sql, ids: string[]): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'find-usable-keys',
    text: 'SELECT id FROM api_keys WHERE id = ANY($1) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())',
    values: [ids],
  })
  const usable = new Set(rows.map((row) => row.id))
  return new Set(ids.filter((id) => !usable.has(id)))
}

export async function touchKeys(sql: Sql, keyIds: string[]): Promise<void> {
  await sql.query({
    name: 'touch-keys',
    text: `UPDATE api_keys SET last_used_at = now() WHERE id = ANY($1) AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    values: [keyIds],
  })
}

const columns = `k.id, k.name, k.type, k.scopes, i.agent_handle, k.last4, k.expires_at, k.last_used_at, k.revoked_at, k.created_at,
  CASE WHEN g.key_id IS NOT NULL THEN jsonb_build_object('client_id', g.client_id, 'host', g.client_host, 'toolsets', g.toolsets,
    'is_read_only', g.is_read_only, 'mail_approval', g.mail_approval) END AS connected_app`

export async function listKeys(sql: Sql, organizationId: string, page: PageRequest): Promise<KeyRow[]> {
  const { rows } = await sql.query<KeyRow>({
    name: 'list-keys',
    text: `SELECT ${columns} FROM api_keys k LEFT JOIN identities i ON i.id = k.identity_id LEFT JOIN oauth_grants g ON g.key_id = k.id
      WHERE k.organization_id = $1 AND k.id < ${before('$2')} ORDER BY k.id DESC LIMIT $3`,
    values: [organizationId, page.cursor, page.limit + 1],
  })
  return rows
}

/** Revokes a key, keeping the time of a first revocation. Null when the organization has no such key. */
export async function revokeKey(sql: Sql, organizationId: string, id: string): Promise<{ revokedAt: Date; isNew: boolean } | null> {
  const { rows } = await sql.query<{ revoked_at: Date; is_new: boolean }>({
    text: `WITH before AS (SELECT id, revoked_at FROM api_keys WHERE organization_id = $1 AND id = $2 FOR UPDATE)
      UPDATE api_keys k SET revoked_at = coalesce(k.revoked_at, now()) FROM before
      WHERE k.id = before.id RETURNING k.revoked_at, before.revoked_at IS NULL AS is_new`,
    values: [organizationId, id],
  })
  return rows[0] ? { revokedAt: rows[0].revoked_at, isNew: rows[0].is_new } : null
}

export async function extendKey(sql: Sql, organizationId: string, id: string, expiresAt: Date): Promise<void> {
  await sql.query({
    text: 'UPDATE api_keys SET expires_at = $3 WHERE organization_id = $1 AND id = $2 AND revoked_at IS NULL',
    values: [organizationId, id, expiresAt],
  })
}

export async function hasLookupId(sql: Sql, lookupId: string): Promise<boolean> {
  return (await sql.query({ text: 'SELECT 1 FROM api_keys WHERE lookup_id = $1', values: [lookupId] })).rowCount > 0
}

// The SQL of API keys.
import type { ConnectedApp } from '@callsign/contract/keys'
import type { Static } from 'typebox'
import type { Caller, CallerAgent, RequestClient } from '../../../core/caller.ts'
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql } from '../../../core/sql.ts'
import { scopeSet } from './model.ts'

export type KeyRow = {
  id: string
  name: string
  type: 'organization' | 'agent'
  scopes: string[]
  agent_handles: string[]
  allowed_ips: string[]
  last4: string
  expires_at: Date | null
  last_used_at: Date | null
  last_used_ip: string | null
  last_used_user_agent: string | null
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
  identity_ids: string[]
  scopes: readonly string[]
  allowed_ips: readonly string[]
  expires_at: Date | null
  created_at: Date
}

export async function insertKey(sql: Sql, key: NewKey): Promise<void> {
  await sql.query({
    text: `INSERT INTO api_keys (id, organization_id, user_id, lookup_id, salt, secret_hash, last4, name, type, scopes, allowed_ips, expires_at, created_at)
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
      key.scopes,
      key.allowed_ips,
      key.expires_at,
      key.created_at,
    ],
  })
  if (key.identity_ids.length === 0) return
  await sql.query({
    text: 'INSERT INTO api_key_agents (key_id, organization_id, identity_id) SELECT $1, $2, id FROM unnest($3::text[]) AS one (id)',
    values: [key.id, key.organization_id, key.identity_ids],
  })
}

/** A key as authentication finds it. */
export type FoundHolder = { salt: Buffer; secretHash: Buffer; caller: Caller; isUsable: boolean; isTouchDue: boolean }

type HolderRow = {
  lookup_id: string
  salt: Buffer
  secret_hash: Buffer
  id: string
  name: string
  type: 'organization' | 'agent'
  scopes: string[]
  organization_id: string
  organization_name: string
  user_id: string
  role: 'owner' | 'operator' | 'reviewer'
  allowed_ips: string[]
  expires_at: Date | null
  /** Null for organization keys, and for a key whose agents are deleted. */
  agents: CallerAgent[] | null
  is_usable: boolean
  is_touch_due: boolean
}

const selectHolders = `SELECT k.lookup_id, k.salt, k.secret_hash, k.id, k.name, k.type, k.scopes, k.organization_id, o.name AS organization_name,
        k.user_id, u.role, k.allowed_ips::text[], k.expires_at,
        CASE WHEN k.type = 'agent' THEN (
          SELECT json_agg(json_build_object('identityId', i.id, 'handle', i.agent_handle, 'mailboxId', b.id, 'address', b.address) ORDER BY i.id)
          FROM api_key_agents a JOIN identities i ON i.id = a.identity_id JOIN mailboxes b ON b.identity_id = i.id WHERE a.key_id = k.id) END AS agents,
        k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AS is_usable,
        k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute' AS is_touch_due
      FROM api_keys k
      JOIN organizations o ON o.id = k.organization_id
      JOIN users u ON u.id = k.user_id`

/** Keys by their public part. Asked on every request, so that a revocation holds on the next one. */
export async function findHolders(sql: Sql, lookupIds: string[]): Promise<Map<string, FoundHolder>> {
  const { rows } = await sql.query<HolderRow>({
    name: 'find-key-holders',
    text: `${selectHolders} WHERE k.lookup_id = ANY($1)`,
    values: [lookupIds],
  })
  return new Map(rows.map((row) => [row.lookup_id, toFound(row)]))
}

/** Keys by their id, for console sessions that a key signed in to. */
export async function findHoldersById(sql: Sql, ids: string[]): Promise<Map<string, FoundHolder>> {
  const { rows } = await sql.query<HolderRow>({
    name: 'find-key-holders-by-id',
    text: `${selectHolders} WHERE k.id = ANY($1)`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, toFound(row)]))
}

/** Agents of an organization as a caller has them. */
export async function findAgents(sql: Sql, organizationId: string, handles: string[]): Promise<CallerAgent[]> {
  const { rows } = await sql.query<CallerAgent>({
    name: 'find-caller-agents',
    text: `SELECT i.id AS "identityId", i.agent_handle AS handle, b.id AS "mailboxId", b.address
      FROM identities i JOIN mailboxes b ON b.identity_id = i.id WHERE i.organization_id = $1 AND i.agent_handle = ANY($2) ORDER BY i.id`,
    values: [organizationId, handles],
  })
  return rows
}

/** Gives the keys of one user to another, before the first is deleted. */
export async function moveKeys(sql: Sql, organizationId: string, fromUserId: string, toUserId: string): Promise<void> {
  await sql.query({
    text: 'UPDATE api_keys SET user_id = $3 WHERE organization_id = $1 AND user_id = $2',
    values: [organizationId, fromUserId, toUserId],
  })
}

const toFound = (row: HolderRow): FoundHolder => ({
  salt: row.salt,
  secretHash: row.secret_hash,
  caller: {
    keyId: row.id,
    keyName: row.name,
    keyType: row.type,
    listedScopes: row.scopes,
    scopes: scopeSet(row.type, row.scopes),
    organizationId: row.organization_id,
    organizationName: row.organization_name,
    userId: row.user_id,
    role: row.type === 'agent' ? 'agent' : row.role,
    agents: row.agents,
    limits: { expiresAt: row.expires_at, allowedIps: row.allowed_ips },
    session: null,
    mailApproval: 'agent',
  },
  // The agents of a key may be deleted.
  isUsable: row.is_usable && (row.agents !== null) === (row.type === 'agent'),
  isTouchDue: row.is_touch_due,
})

export async function findUnusable(sql: Sql, ids: string[]): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'find-usable-keys',
    text: `SELECT id FROM api_keys k WHERE id = ANY($1) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
      AND (type = 'organization' OR EXISTS (SELECT 1 FROM api_key_agents a WHERE a.key_id = k.id))`,
    values: [ids],
  })
  const usable = new Set(rows.map((row) => row.id))
  return new Set(ids.filter((id) => !usable.has(id)))
}

/** Records the use of keys, at most once per minute and key. */
export async function touchKeys(sql: Sql, uses: ReadonlyMap<string, RequestClient>): Promise<void> {
  const clients = [...uses.values()]
  await sql.query({
    name: 'touch-keys',
    text: `UPDATE api_keys k SET last_used_at = now(), last_used_ip = one.ip, last_used_user_agent = one.user_agent
      FROM unnest($1::text[], $2::text[], $3::text[]) AS one (id, ip, user_agent)
      WHERE k.id = one.id AND (k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute')`,
    values: [[...uses.keys()], clients.map((one) => one.address), clients.map((one) => one.userAgent)],
  })
}

const columns = `k.id, k.name, k.type, k.scopes, k.allowed_ips::text[], k.last4, k.expires_at, k.last_used_at, k.last_used_ip, k.last_used_user_agent,
  k.revoked_at, k.created_at,
  ARRAY(SELECT i.agent_handle FROM api_key_agents a JOIN identities i ON i.id = a.identity_id WHERE a.key_id = k.id ORDER BY i.id) AS agent_handles,
  CASE WHEN g.key_id IS NOT NULL THEN jsonb_build_object('client_id', g.client_id, 'host', g.client_host, 'toolsets', g.toolsets,
    'is_read_only', g.is_read_only, 'mail_approval', g.mail_approval) END AS connected_app`

export async function listKeys(sql: Sql, organizationId: string, page: PageRequest): Promise<KeyRow[]> {
  const { rows } = await sql.query<KeyRow>({
    name: 'list-keys',
    text: `SELECT ${columns} FROM api_keys k LEFT JOIN oauth_grants g ON g.key_id = k.id
      WHERE k.organization_id = $1 AND k.id < ${before('$2')} ORDER BY k.id DESC LIMIT $3`,
    values: [organizationId, page.cursor, page.limit + 1],
  })
  return rows
}

/** Renames a key. Null when the organization has no such key. */
export async function renameKey(sql: Sql, organizationId: string, id: string, name: string): Promise<KeyRow | null> {
  await sql.query({ text: 'UPDATE api_keys SET name = $3 WHERE organization_id = $1 AND id = $2', values: [organizationId, id, name] })
  const { rows } = await sql.query<KeyRow>({
    text: `SELECT ${columns} FROM api_keys k LEFT JOIN oauth_grants g ON g.key_id = k.id WHERE k.organization_id = $1 AND k.id = $2`,
    values: [organizationId, id],
  })
  return rows[0] ?? null
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

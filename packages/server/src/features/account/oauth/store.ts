// The SQL of connected apps.
import type { Toolset } from '@callsign/contract/tools/tool'
import type { Sql } from '../../../core/sql.ts'
import type { MailApproval } from './model.ts'

export type ClientRow = { id: string; name: string; redirect_uris: string[] }

/**
 * Adds a client. Where there are `clientsMax` already, the oldest without a grant goes, so that strangers cannot keep the table full. Returns
 * false when every client has a grant.
 */
export async function insertClient(sql: Sql, row: ClientRow & { created_at: Date }, clientsMax: number): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `WITH number AS (SELECT count(*) AS clients FROM oauth_clients),
      freed AS (
        DELETE FROM oauth_clients WHERE id IN (
          SELECT c.id FROM oauth_clients c WHERE ${withoutGrant} ORDER BY c.created_at, c.id
          LIMIT (SELECT greatest(clients - $5 + 1, 0) FROM number) FOR UPDATE OF c SKIP LOCKED)
        RETURNING id)
      INSERT INTO oauth_clients (id, name, redirect_uris, created_at)
      SELECT $1, $2, $3, $4 WHERE (SELECT clients FROM number) - (SELECT count(*) FROM freed) < $5`,
    values: [row.id, row.name, row.redirect_uris, row.created_at, clientsMax],
  })
  return rowCount === 1
}

const withoutGrant = `NOT EXISTS
  (SELECT 1 FROM oauth_grants g JOIN api_keys k ON k.id = g.key_id WHERE g.client_id = c.id AND k.revoked_at IS NULL)`

export async function findClient(sql: Sql, id: string): Promise<ClientRow | null> {
  const { rows } = await sql.query<ClientRow>({ text: 'SELECT id, name, redirect_uris FROM oauth_clients WHERE id = $1', values: [id] })
  return rows[0] ?? null
}

/** Deletes clients from before this time that have no grant. */
export async function deleteUnusedClients(sql: Sql, createdBefore: Date): Promise<void> {
  await sql.query({
    text: `DELETE FROM oauth_clients c WHERE c.created_at < $1 AND ${withoutGrant}`,
    values: [createdBefore],
  })
}

export type GrantRow = {
  key_id: string
  organization_id: string
  client_id: string
  client_name: string
  client_host: string | null
  resource: string
  toolsets: Toolset[]
  is_read_only: boolean
  mail_approval: MailApproval
}

export async function insertGrant(sql: Sql, row: GrantRow): Promise<void> {
  await sql.query({
    text: `INSERT INTO oauth_grants
        (key_id, organization_id, client_id, client_name, client_host, resource, toolsets, is_read_only, mail_approval)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      row.key_id,
      row.organization_id,
      row.client_id,
      row.client_name,
      row.client_host,
      row.resource,
      row.toolsets,
      row.is_read_only,
      row.mail_approval,
    ],
  })
}

export type NewCode = {
  code_hash: Buffer
  organization_id: string
  key_id: string
  redirect_uri: string
  code_challenge: string
  expires_at: Date
}

export async function insertCode(sql: Sql, row: NewCode): Promise<void> {
  await sql.query({
    text: `INSERT INTO oauth_codes (code_hash, organization_id, key_id, redirect_uri, code_challenge, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6)`,
    values: [row.code_hash, row.organization_id, row.key_id, row.redirect_uri, row.code_challenge, row.expires_at],
  })
}

/** A code or refresh token with its grant. `is_first` is true for the one use that set `used_at`. */
type Used = { organization_id: string; key_id: string; client_id: string; resource: string; scopes: string[]; is_usable: boolean }
export type UsedCode = Used & { redirect_uri: string; code_challenge: string; is_first: boolean }
export type UsedToken = Used & { is_first: boolean }

const grantColumns = `g.organization_id, g.key_id, g.client_id, g.resource, k.scopes,
  k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AND x.expires_at > now() AS is_usable`

/** Finds a code, locks it until the transaction ends, and marks it as used. Of concurrent uses one is the first. */
export async function useCode(sql: Sql, hash: Buffer): Promise<UsedCode | null> {
  const { rows } = await sql.query<UsedCode>({
    text: `WITH before AS (SELECT code_hash, used_at FROM oauth_codes WHERE code_hash = $1 FOR UPDATE)
      UPDATE oauth_codes x SET used_at = coalesce(x.used_at, now()) FROM before, oauth_grants g, api_keys k
      WHERE x.code_hash = before.code_hash AND g.key_id = x.key_id AND k.id = x.key_id
      RETURNING ${grantColumns}, x.redirect_uri, x.code_challenge, before.used_at IS NULL AS is_first`,
    values: [hash],
  })
  return rows[0] ?? null
}

/** The same for a refresh token. */
export async function useRefreshToken(sql: Sql, hash: Buffer): Promise<UsedToken | null> {
  const { rows } = await sql.query<UsedToken>({
    text: `WITH before AS (SELECT token_hash, used_at FROM oauth_tokens WHERE token_hash = $1 AND kind = 'refresh' FOR UPDATE)
      UPDATE oauth_tokens x SET used_at = coalesce(x.used_at, now()) FROM before, oauth_grants g, api_keys k
      WHERE x.token_hash = before.token_hash AND g.key_id = x.key_id AND k.id = x.key_id
      RETURNING ${grantColumns}, before.used_at IS NULL AS is_first`,
    values: [hash],
  })
  return rows[0] ?? null
}

/**
 * The token that replaced a locked refresh token, encrypted. Null `graceMs` after the exchange, and when that token was used itself. A
 * statement of its own, because the one that waited for the lock does not see the rows of the exchange.
 */
export async function findSuccessor(sql: Sql, hash: Buffer, graceMs: number): Promise<Buffer | null> {
  const { rows } = await sql.query<{ successor: Buffer }>({
    text: `SELECT x.successor FROM oauth_tokens x JOIN oauth_tokens n ON n.token_hash = x.successor_hash AND n.used_at IS NULL
      WHERE x.token_hash = $1 AND x.used_at > clock_timestamp() - make_interval(secs => $2::float8 / 1000)`,
    values: [hash, graceMs],
  })
  return rows[0]?.successor ?? null
}

/** Records the token that replaced a refresh token. */
export async function setSuccessor(sql: Sql, hash: Buffer, successorHash: Buffer, successor: Buffer): Promise<void> {
  await sql.query({
    text: 'UPDATE oauth_tokens SET successor_hash = $2, successor = $3 WHERE token_hash = $1',
    values: [hash, successorHash, successor],
  })
}

export type NewToken = { token_hash: Buffer; organization_id: string; key_id: string; kind: 'access' | 'refresh'; expires_at: Date }

export async function insertTokens(sql: Sql, rows: NewToken[]): Promise<void> {
  for (const row of rows) {
    await sql.query({
      text: 'INSERT INTO oauth_tokens (token_hash, organization_id, key_id, kind, expires_at) VALUES ($1, $2, $3, $4, $5)',
      values: [row.token_hash, row.organization_id, row.key_id, row.kind, row.expires_at],
    })
  }
}

export type AccessRow = {
  token_hash: string
  key_id: string
  resource: string
  toolsets: Toolset[]
  is_read_only: boolean
  mail_approval: MailApproval
}

/** Access tokens that have not expired, by the hexadecimal form of their hash. */
export async function findAccess(sql: Sql, hashes: string[]): Promise<Map<string, AccessRow>> {
  const { rows } = await sql.query<AccessRow>({
    name: 'find-oauth-access',
    text: `SELECT encode(t.token_hash, 'hex') AS token_hash, t.key_id, g.resource, g.toolsets, g.is_read_only, g.mail_approval
      FROM oauth_tokens t JOIN oauth_grants g ON g.key_id = t.key_id
      WHERE t.token_hash = ANY(SELECT decode(hash, 'hex') FROM unnest($1::text[]) AS hash) AND t.kind = 'access' AND t.expires_at > now()`,
    values: [hashes],
  })
  return new Map(rows.map((row) => [row.token_hash, row]))
}

/** The grant of a token, whatever its state. */
export async function findTokenGrant(
  sql: Sql,
  hash: Buffer,
): Promise<{ organization_id: string; key_id: string; client_id: string } | null> {
  const { rows } = await sql.query<{ organization_id: string; key_id: string; client_id: string }>({
    text: `SELECT g.organization_id, g.key_id, g.client_id FROM oauth_tokens t JOIN oauth_grants g ON g.key_id = t.key_id
      WHERE t.token_hash = $1`,
    values: [hash],
  })
  return rows[0] ?? null
}

export async function deleteToken(sql: Sql, hash: Buffer): Promise<void> {
  await sql.query({ text: 'DELETE FROM oauth_tokens WHERE token_hash = $1', values: [hash] })
}

/** Deletes codes and tokens that expired before this time. */
export async function sweepExpired(sql: Sql, before: Date): Promise<void> {
  await sql.query({ text: 'DELETE FROM oauth_codes WHERE expires_at < $1', values: [before] })
  await sql.query({ text: 'DELETE FROM oauth_tokens WHERE expires_at < $1', values: [before] })
}

export type AgentRow = { identity_id: string; agent_handle: string; address: string; draft_approval: 'none' | 'required' }

/** The agents that a person may choose from, newest first. */
export async function listAgents(sql: Sql, organizationId: string, limit: number): Promise<AgentRow[]> {
  const { rows } = await sql.query<AgentRow>({
    text: `SELECT i.id AS identity_id, i.agent_handle, b.address, i.draft_approval
      FROM identities i JOIN mailboxes b ON b.identity_id = i.id
      WHERE i.organization_id = $1 ORDER BY i.id DESC LIMIT $2`,
    values: [organizationId, limit],
  })
  return rows
}

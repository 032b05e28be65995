// The SQL of vault secrets and of grants to read them.
import type { SecretType } from '@callsign/contract/vault'
import { before, type PageRequest } from '../../core/page.ts'
import type { Sql, Tx } from '../../core/sql.ts'
import type { AccessRow, Revision, SecretRow } from './model.ts'

const columns = 's.id, s.type, s.name, s.description, s.encrypted_payload, s.revision, s.key_version, s.created_at, s.updated_at'

/** True for a secret that the readers in `$2` may read: any for null (an organization key), else one that is granted to one of them. */
const isReadable = `($2::text[] IS NULL OR EXISTS (SELECT 1 FROM vault_access a
  WHERE a.organization_id = s.organization_id AND a.secret_id = s.id AND a.identity_id = ANY($2)))`

/** Size of the vault: number of secrets, and characters of base64. */
export async function measureSecrets(sql: Sql, organizationId: string): Promise<{ count: number; characters: number }> {
  const { rows } = await sql.query<{ count: number; characters: number }>({
    name: 'measure-vault-secrets',
    text: `SELECT count(*) AS count, coalesce(sum(octet_length(encrypted_payload)), 0)::int8 AS characters
      FROM vault_secrets WHERE organization_id = $1`,
    values: [organizationId],
  })
  return rows[0] as { count: number; characters: number }
}

export async function countReadable(sql: Sql, organizationId: string, readerIds: string[] | null): Promise<number> {
  const { rows } = await sql.query<{ count: number }>({
    name: 'count-readable-vault-secrets',
    text: `SELECT count(*) AS count FROM vault_secrets s WHERE s.organization_id = $1 AND ${isReadable}`,
    values: [organizationId, readerIds],
  })
  return rows[0]?.count ?? 0
}

/** Every secret that the reader may read, with the vault's key version as of the same moment. */
export async function listReadable(
  sql: Sql,
  organizationId: string,
  readerIds: string[] | null,
): Promise<{ keyVersion: number | null; secrets: SecretRow[] }> {
  const { rows } = await sql.query<SecretRow & { vault_key_version: number }>({
    name: 'list-readable-vault-secrets',
    text: `SELECT v.key_version AS vault_key_version, ${columns} FROM vaults v
      LEFT JOIN vault_secrets s ON s.organization_id = v.organization_id AND ${isReadable}
      WHERE v.organization_id = $1 ORDER BY s.id`,
    values: [organizationId, readerIds],
  })
  return { keyVersion: rows[0]?.vault_key_version ?? null, secrets: rows.filter((row) => row.id !== null) }
}

export async function listSecrets(
  sql: Sql,
  organizationId: string,
  readerIds: string[] | null,
  type: SecretType | null,
  page: PageRequest,
): Promise<SecretRow[]> {
  const { rows } = await sql.query<SecretRow>({
    name: 'list-vault-secrets',
    text: `SELECT ${columns} FROM vault_secrets s WHERE s.organization_id = $1 AND ${isReadable}
      AND ($3::text IS NULL OR s.type = $3) AND s.id < ${before('$4')} ORDER BY s.id DESC LIMIT $5`,
    values: [organizationId, readerIds, type, page.cursor, page.limit + 1],
  })
  return rows
}

export async function findSecret(sql: Sql, organizationId: string, readerIds: string[] | null, id: string): Promise<SecretRow | null> {
  const { rows } = await sql.query<SecretRow>({
    name: 'find-vault-secret',
    text: `SELECT ${columns} FROM vault_secrets s WHERE s.organization_id = $1 AND ${isReadable} AND s.id = $3`,
    values: [organizationId, readerIds, id],
  })
  return rows[0] ?? null
}

/** False when the organization uses, or has used, the id. */
export async function insertSecret(tx: Tx, organizationId: string, row: SecretRow): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'insert-vault-secret',
    text: `INSERT INTO vault_secrets (organization_id, id, type, name, description, encrypted_payload, revision, key_version, created_at, updated_at)
      SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
      WHERE NOT EXISTS (SELECT 1 FROM deleted_vault_secrets WHERE organization_id = $1 AND id = $2)
      ON CONFLICT (organization_id, id) DO NOTHING`,
    values: [
      organizationId,
      row.id,
      row.type,
      row.name,
      row.description,
      row.encrypted_payload,
      row.revision,
      row.key_version,
      row.created_at,
      row.updated_at,
    ],
  })
  return rowCount === 1
}

/** Writes everything that may change of a secret. */
export async function updateSecret(tx: Tx, organizationId: string, row: SecretRow): Promise<void> {
  await tx.query({
    name: 'update-vault-secret',
    text: `UPDATE vault_secrets SET name = $3, description = $4, encrypted_payload = $5, revision = $6, key_version = $7, updated_at = $8
      WHERE organization_id = $1 AND id = $2`,
    values: [organizationId, row.id, row.name, row.description, row.encrypted_payload, row.revision, row.key_version, row.updated_at],
  })
}

/** Deletes a secret with its grants and remembers its id. False when there is none. */
export async function deleteSecret(tx: Tx, organizationId: string, id: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `WITH gone AS (DELETE FROM vault_secrets WHERE organization_id = $1 AND id = $2 RETURNING id)
      INSERT INTO deleted_vault_secrets (organization_id, id, deleted_at) SELECT $1, id, $3 FROM gone`,
    values: [organizationId, id, at],
  })
  return rowCount === 1
}

export async function isDeleted(tx: Tx, organizationId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: 'SELECT 1 FROM deleted_vault_secrets WHERE organization_id = $1 AND id = $2',
    values: [organizationId, id],
  })
  return rowCount === 1
}

export async function listRevisions(tx: Tx, organizationId: string): Promise<Revision[]> {
  const { rows } = await tx.query<Revision>({
    text: 'SELECT id, revision FROM vault_secrets WHERE organization_id = $1 ORDER BY id',
    values: [organizationId],
  })
  return rows
}

/** Gives every secret named here its new payload under the new key version. */
export async function rewriteSecrets(
  tx: Tx,
  organizationId: string,
  secrets: { id: string; payload: string }[],
  keyVersion: number,
  at: Date,
): Promise<number> {
  const { rowCount } = await tx.query({
    text: `UPDATE vault_secrets s SET encrypted_payload = n.payload, revision = s.revision + 1, key_version = $4, updated_at = $5
      FROM unnest($2::text[], $3::text[]) AS n (id, payload) WHERE s.organization_id = $1 AND s.id = n.id`,
    values: [organizationId, secrets.map(({ id }) => id), secrets.map(({ payload }) => payload), keyVersion, at],
  })
  return rowCount
}

const accessColumns = 'a.id, a.secret_id, a.identity_id, i.agent_handle, a.created_by, a.created_at'
const accessTables = 'vault_access a JOIN identities i ON i.organization_id = a.organization_id AND i.id = a.identity_id'

export async function listAccess(sql: Sql, organizationId: string, secretId: string, page: PageRequest): Promise<AccessRow[]> {
  const { rows } = await sql.query<AccessRow>({
    name: 'list-vault-access',
    text: `SELECT ${accessColumns} FROM ${accessTables}
      WHERE a.organization_id = $1 AND a.secret_id = $2 AND a.id < ${before('$3')} ORDER BY a.id DESC LIMIT $4`,
    values: [organizationId, secretId, page.cursor, page.limit + 1],
  })
  return rows
}

/** The grants of these secrets, oldest first. */
export async function findAccess(sql: Sql, organizationId: string, secretIds: string[]): Promise<AccessRow[]> {
  const { rows } = await sql.query<AccessRow>({
    name: 'find-vault-access',
    text: `SELECT ${accessColumns} FROM ${accessTables} WHERE a.organization_id = $1 AND a.secret_id = ANY($2) ORDER BY a.id`,
    values: [organizationId, secretIds],
  })
  return rows
}

export type NewAccess = { id: string; secretId: string; identityId: string; createdBy: string; at: Date }

/** False when the identity has the grant already, or the organization has no such identity. */
export async function insertAccess(tx: Tx, organizationId: string, access: NewAccess): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `INSERT INTO vault_access (organization_id, id, secret_id, identity_id, created_by, created_at)
      SELECT $1, $2, $3, i.id, $5, $6 FROM identities i WHERE i.organization_id = $1 AND i.id = $4 FOR KEY SHARE
      ON CONFLICT (organization_id, secret_id, identity_id) DO NOTHING`,
    values: [organizationId, access.id, access.secretId, access.identityId, access.createdBy, access.at],
  })
  return rowCount === 1
}

/** False when there was no such grant. */
export async function deleteAccess(tx: Tx, organizationId: string, secretId: string, identityId: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: 'DELETE FROM vault_access WHERE organization_id = $1 AND secret_id = $2 AND identity_id = $3',
    values: [organizationId, secretId, identityId],
  })
  return rowCount === 1
}

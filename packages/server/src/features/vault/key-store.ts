// The SQL of the vault itself, its wrapped keys and the failed attempts to prove one.
import { isUniqueViolation, type Sql, type Tx } from '../../core/sql.ts'
import type { Failure, Holder, VaultKeyRow, VaultRow } from './model.ts'

/** True when another request made the organization's vault first. */
export const isTaken = (error: unknown): boolean => isUniqueViolation(error, 'vaults_pkey')

export async function insertVault(tx: Tx, vault: VaultRow): Promise<void> {
  await tx.query({
    text: 'INSERT INTO vaults (organization_id, id, key_version, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)',
    values: [vault.organization_id, vault.id, vault.key_version, vault.created_at, vault.updated_at],
  })
}

export async function findVault(sql: Sql, organizationId: string): Promise<VaultRow | null> {
  const { rows } = await sql.query<VaultRow>({
    name: 'find-vault',
    text: 'SELECT organization_id, id, key_version, created_at, updated_at FROM vaults WHERE organization_id = $1',
    values: [organizationId],
  })
  return rows[0] ?? null
}

/** The vault, held until the transaction ends: writes to one vault, and attempts to prove one of its keys, come one after the other. */
export async function lockVault(tx: Tx, organizationId: string): Promise<VaultRow | null> {
  const { rows } = await tx.query<VaultRow>({
    name: 'lock-vault',
    text: `SELECT organization_id, id, key_version, created_at, updated_at FROM vaults
      WHERE organization_id = $1 FOR NO KEY UPDATE`,
    values: [organizationId],
  })
  return rows[0] ?? null
}

export async function updateVault(tx: Tx, vault: VaultRow): Promise<void> {
  await tx.query({
    text: 'UPDATE vaults SET key_version = $2, updated_at = $3 WHERE organization_id = $1',
    values: [vault.organization_id, vault.key_version, vault.updated_at],
  })
}

export async function insertKeys(tx: Tx, organizationId: string, keys: VaultKeyRow[]): Promise<void> {
  await Promise.all(
    keys.map((key) =>
      tx.query({
        name: 'insert-vault-key',
        text: `INSERT INTO vault_keys (organization_id, id, type, kdf_salt, kdf_memory_kib, kdf_passes, kdf_lanes, auth_salt, auth_digest,
            wrapped_org_key, created_by, created_at)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
        values: [
          organizationId,
          key.id,
          key.type,
          key.kdf_salt,
          key.kdf_memory_kib,
          key.kdf_passes,
          key.kdf_lanes,
          key.auth_salt,
          key.auth_digest,
          key.wrapped_org_key,
          key.created_by,
          key.created_at,
        ],
      }),
    ),
  )
}

const keyColumns = `k.id, k.type, k.kdf_salt, k.kdf_memory_kib, k.kdf_passes, k.kdf_lanes, k.auth_salt, k.auth_digest, k.wrapped_org_key,
  k.created_by, k.created_at, k.last_used_at`

/** The primary key first. */
export async function listKeys(sql: Sql, organizationId: string): Promise<VaultKeyRow[]> {
  const { rows } = await sql.query<VaultKeyRow>({
    name: 'list-vault-keys',
    text: `SELECT ${keyColumns} FROM vault_keys k WHERE k.organization_id = $1 ORDER BY k.type, k.id`,
    values: [organizationId],
  })
  return rows
}

/** The vault with its keys, the primary first, as of one moment. */
export async function findVaultWithKeys(sql: Sql, organizationId: string): Promise<{ vault: VaultRow; keys: VaultKeyRow[] } | null> {
  const { rows } = await sql.query<VaultKeyRow & { vault_id: string; key_version: number; vault_created_at: Date; updated_at: Date }>({
    name: 'find-vault-with-keys',
    text: `SELECT v.id AS vault_id, v.key_version, v.created_at AS vault_created_at, v.updated_at, ${keyColumns}
      FROM vaults v JOIN vault_keys k ON k.organization_id = v.organization_id
      WHERE v.organization_id = $1 ORDER BY k.type, k.id`,
    values: [organizationId],
  })
  const [first] = rows
  if (!first) return null
  const { vault_id: id, key_version, vault_created_at: created_at, updated_at } = first
  return { vault: { id, organization_id: organizationId, key_version, created_at, updated_at }, keys: rows }
}

export async function touchKey(tx: Tx, organizationId: string, id: string, at: Date): Promise<void> {
  await tx.query({
    name: 'touch-vault-key',
    text: 'UPDATE vault_keys SET last_used_at = $3 WHERE organization_id = $1 AND id = $2',
    values: [organizationId, id, at],
  })
}

/** Deletes these keys, or all of the vault's when `ids` is null, and remembers their ids. */
export async function deleteKeys(tx: Tx, organizationId: string, ids: string[] | null): Promise<void> {
  await tx.query({
    text: `WITH gone AS (DELETE FROM vault_keys WHERE organization_id = $1 AND ($2::text[] IS NULL OR id = ANY($2)) RETURNING id)
      INSERT INTO deleted_vault_keys (organization_id, id) SELECT $1, id FROM gone ON CONFLICT DO NOTHING`,
    values: [organizationId, ids],
  })
}

/** True when a key with this id was deleted from the vault. */
export async function wasKeyDeleted(tx: Tx, organizationId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: 'SELECT 1 FROM deleted_vault_keys WHERE organization_id = $1 AND id = $2',
    values: [organizationId, id],
  })
  return rowCount === 1
}

/** Failures since then, newest first. */
export async function listFailures(tx: Tx, organizationId: string, since: Date): Promise<Failure[]> {
  const { rows } = await tx.query<Failure>({
    name: 'list-vault-failures',
    text: `SELECT key_id, identity_id, failed_at FROM vault_unlock_failures WHERE organization_id = $1 AND failed_at > $2
      ORDER BY failed_at DESC LIMIT 1000`,
    values: [organizationId, since],
  })
  return rows
}

/** Records a failure and forgets those that count no more. */
export async function recordFailure(
  tx: Tx,
  organizationId: string,
  failure: Holder & { id: string; at: Date; forgetBefore: Date },
): Promise<void> {
  await tx.query({
    text: 'DELETE FROM vault_unlock_failures WHERE organization_id = $1 AND failed_at <= $2',
    values: [organizationId, failure.forgetBefore],
  })
  await tx.query({
    text: 'INSERT INTO vault_unlock_failures (organization_id, id, key_id, identity_id, failed_at) VALUES ($1, $2, $3, $4, $5)',
    values: [organizationId, failure.id, failure.keyId, failure.identityId, failure.at],
  })
}

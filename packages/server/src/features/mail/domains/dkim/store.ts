// The SQL of DKIM keys.
import type { Sql } from '../../../../core/sql.ts'
import type { DkimKeyRow, DkimOwner } from './model.ts'

const columns = 'id, organization_id, domain, selector, algorithm, public_key, private_key, created_at'

/** Stores a key. False when another node has already stored the mail domain's key of this algorithm. */
export async function insertKey(sql: Sql, key: DkimKeyRow): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `INSERT INTO dkim_keys (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      ON CONFLICT (domain, algorithm) WHERE organization_id IS NULL DO NOTHING`,
    values: [key.id, key.organization_id, key.domain, key.selector, key.algorithm, key.public_key, key.private_key, key.created_at],
  })
  return rowCount > 0
}

/** The keys of a domain, oldest first. */
export async function findKeys(sql: Sql, owner: DkimOwner): Promise<DkimKeyRow[]> {
  const { rows } = await sql.query<DkimKeyRow>({
    name: 'find-dkim-keys',
    text: `SELECT ${columns} FROM dkim_keys WHERE organization_id IS NOT DISTINCT FROM $1 AND domain = $2 ORDER BY id`,
    values: [owner.organizationId, owner.domain],
  })
  return rows
}

/** The keys of these domains that belong to the mail domain or to one of these organizations, oldest first. */
export async function findKeysOf(sql: Sql, domains: string[], organizationIds: string[]): Promise<DkimKeyRow[]> {
  const { rows } = await sql.query<DkimKeyRow>({
    name: 'find-dkim-keys-of',
    text: `SELECT ${columns} FROM dkim_keys WHERE (organization_id IS NULL OR organization_id = ANY($2)) AND domain = ANY($1) ORDER BY id`,
    values: [domains, organizationIds],
  })
  return rows
}

export async function deleteKeys(sql: Sql, owner: DkimOwner): Promise<void> {
  await sql.query({
    text: 'DELETE FROM dkim_keys WHERE organization_id IS NOT DISTINCT FROM $1 AND domain = $2',
    values: [owner.organizationId, owner.domain],
  })
}

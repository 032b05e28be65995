// The SQL of addresses: those of an identity, and those that stay with their organization after deletion.
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql, Tx } from '../../../core/sql.ts'

export type AddressRow = {
  id: string
  organization_id: string
  /** Null for a deleted address. */
  identity_id: string | null
  address: string
  /** Null for the mail domain. */
  domain_id: string | null
  client_id: string | null
  created_at: Date
}

const columns = 'a.id, a.organization_id, a.identity_id, a.address, a.domain_id, a.client_id, a.created_at'

/** The end of an INSERT of addresses `a` that takes back a deleted address of the same organization, and otherwise leaves a taken one alone. */
export const takeAddress = `ON CONFLICT ON CONSTRAINT addresses_once DO UPDATE
  SET id = excluded.id, identity_id = excluded.identity_id, client_id = excluded.client_id, created_at = excluded.created_at
  WHERE a.organization_id = excluded.organization_id AND a.identity_id IS NULL`

/** Adds addresses. Returns those that were free, or deleted by the same organization. */
export async function insertAddresses(sql: Sql, rows: AddressRow[]): Promise<AddressRow[]> {
  const inserted = await sql.query<AddressRow>({
    name: 'insert-addresses',
    text: `INSERT INTO addresses AS a (id, organization_id, identity_id, address, domain_id, client_id, created_at)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[]) ${takeAddress} RETURNING ${columns}`,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => row.organization_id),
      rows.map((row) => row.identity_id),
      rows.map((row) => row.address),
      rows.map((row) => row.domain_id),
      rows.map((row) => row.client_id),
      rows.map((row) => row.created_at),
    ],
  })
  return inserted.rows
}

/**
 * Takes a handle for a local part on the mail domain. False when it belongs to another organization, or to another identity. Waits for a
 * concurrent transaction that takes the same handle.
 */
export async function reserveHandle(tx: Tx, organizationId: string, handle: string, identityId: string, at: Date): Promise<boolean> {
  await tx.query({
    // Of either unique key, because a concurrent transaction of the same organization may be seen by the second one only.
    text: 'INSERT INTO handles (handle, organization_id, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    values: [handle, organizationId, at],
  })
  const { rows } = await tx.query({
    text: `SELECT 1 FROM handles h WHERE h.handle = $1 AND h.organization_id = $2
      AND NOT EXISTS (SELECT 1 FROM identities i WHERE i.agent_handle = $1 AND i.id <> $3)`,
    values: [handle, organizationId, identityId],
  })
  return rows.length > 0
}

/** The addresses of an identity, newest first. */
export async function listAddresses(sql: Sql, identityId: string, page: PageRequest): Promise<AddressRow[]> {
  const { rows } = await sql.query<AddressRow>({
    name: 'list-addresses',
    text: `SELECT ${columns} FROM addresses a WHERE a.identity_id = $1 AND a.id < ${before('$2')} ORDER BY a.id DESC LIMIT $3`,
    values: [identityId, page.cursor, page.limit + 1],
  })
  return rows
}

export async function countAddresses(sql: Sql, identityId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>({
    text: 'SELECT count(*)::integer AS count FROM addresses WHERE identity_id = $1',
    values: [identityId],
  })
  return rows[0]?.count ?? 0
}

/** An address of an organization with this name. Its identity is null when it was deleted. A name that was never its own is null. */
export async function findAddress(sql: Sql, organizationId: string, address: string): Promise<AddressRow | null> {
  const { rows } = await sql.query<AddressRow>({
    name: 'find-address',
    text: `SELECT ${columns} FROM addresses a WHERE a.address = $2 AND a.organization_id = $1`,
    values: [organizationId, address],
  })
  return rows[0] ?? null
}

export async function findAddressByClientId(sql: Sql, organizationId: string, clientId: string): Promise<AddressRow | null> {
  const { rows } = await sql.query<AddressRow>({
    text: `SELECT ${columns} FROM addresses a WHERE a.organization_id = $1 AND a.client_id = $2 AND a.identity_id IS NOT NULL`,
    values: [organizationId, clientId],
  })
  return rows[0] ?? null
}

/** Deletes an address of an identity: it stays with the organization. Violates `mailboxes_primary_address` for the primary one. */
export async function releaseAddress(sql: Sql, identityId: string, address: string): Promise<void> {
  await sql.query({
    text: 'UPDATE addresses SET identity_id = NULL WHERE identity_id = $1 AND address = $2',
    values: [identityId, address],
  })
}

/** Locks the addresses of an identity until the transaction ends. Mail can be filed meanwhile. Returns the primary address. */
export async function lockAddresses(tx: Tx, identityId: string): Promise<string | null> {
  const { rows } = await tx.query<{ address: string }>({
    text: 'SELECT address FROM mailboxes WHERE identity_id = $1 FOR NO KEY UPDATE',
    values: [identityId],
  })
  return rows[0]?.address ?? null
}

/** Makes addresses of identities their primary ones. Violates `mailboxes_primary_address` for an address that is not the identity's. */
export async function setPrimary(sql: Sql, primaries: { identityId: string; address: string }[], at: Date): Promise<void> {
  await sql.query({
    text: `UPDATE mailboxes b SET address = n.address, updated_at = $3 FROM unnest($1::text[], $2::text[]) AS n (identity_id, address)
      WHERE b.identity_id = n.identity_id`,
    values: [primaries.map((one) => one.identityId), primaries.map((one) => one.address), at],
  })
}

/** The identities with an address on a domain, their addresses locked until the transaction ends. `isPrimary`: the primary one is on it. */
export async function lockOfDomain(tx: Tx, domainId: string): Promise<{ identityId: string; handle: string; isPrimary: boolean }[]> {
  await tx.query({
    text: `SELECT 1 FROM mailboxes WHERE identity_id IN (SELECT identity_id FROM addresses WHERE domain_id = $1) ORDER BY id FOR NO KEY UPDATE`,
    values: [domainId],
  })
  const { rows } = await tx.query<{ identity_id: string; agent_handle: string; is_primary: boolean }>({
    text: `SELECT i.id AS identity_id, i.agent_handle, bool_or(a.address = b.address) AS is_primary
      FROM addresses a JOIN identities i ON i.id = a.identity_id JOIN mailboxes b ON b.identity_id = i.id
      WHERE a.domain_id = $1 GROUP BY i.id ORDER BY i.id`,
    values: [domainId],
  })
  return rows.map((row) => ({ identityId: row.identity_id, handle: row.agent_handle, isPrimary: row.is_primary }))
}

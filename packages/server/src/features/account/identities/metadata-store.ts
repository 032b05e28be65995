// The SQL of the metadata of identities.
import type { Metadata } from '@callsign/contract/metadata'
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { IdentityRow } from './model.ts'
import { identityColumns, identityTables } from './store.ts'

/** The identities with a key of metadata and its value, newest first. */
export async function listIdentitiesByMark(
  sql: Sql,
  organizationId: string,
  identityIds: string[] | null,
  mark: string,
  page: PageRequest,
): Promise<IdentityRow[]> {
  const { rows } = await sql.query<IdentityRow>({
    text: `SELECT ${identityColumns} FROM ${identityTables} WHERE i.id = ANY(ARRAY(
        SELECT m.identity_id FROM identity_metadata m WHERE m.organization_id = $1 AND m.mark = $2
          AND ($3::text[] IS NULL OR m.identity_id = ANY($3)) AND m.identity_id < ${before('$4')} ORDER BY m.identity_id DESC LIMIT $5))
      ORDER BY i.id DESC`,
    values: [organizationId, mark, identityIds, page.cursor, page.limit + 1],
  })
  return rows
}

/** The metadata of an identity, locked until the transaction ends. */
export async function lockMetadata(tx: Tx, id: string): Promise<Metadata | null> {
  const { rows } = await tx.query<{ metadata: Metadata | null }>({
    text: 'SELECT metadata FROM identities WHERE id = $1 FOR UPDATE',
    values: [id],
  })
  return rows[0]?.metadata ?? null
}

/** Sets the metadata of an identity, with the marks that lists find it by. */
export async function setMetadata(tx: Tx, organizationId: string, id: string, metadata: Metadata | null, marks: string[]): Promise<void> {
  await tx.query({
    text: 'DELETE FROM identity_metadata WHERE organization_id = $1 AND identity_id = $2 AND mark <> ALL($3)',
    values: [organizationId, id, marks],
  })
  await tx.query({
    text: `WITH changed AS (UPDATE identities SET metadata = $3 WHERE organization_id = $1 AND id = $2 RETURNING organization_id, id)
      INSERT INTO identity_metadata (organization_id, mark, identity_id)
      SELECT organization_id, mark, id FROM changed, unnest($4::text[]) AS mark ON CONFLICT DO NOTHING`,
    values: [organizationId, id, metadata && JSON.stringify(metadata), marks],
  })
}

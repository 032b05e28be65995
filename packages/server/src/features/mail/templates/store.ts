// The SQL of templates.
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { TemplateRow } from './model.ts'

const itemColumns =
  'id, organization_id, name, alias, published_at, published IS DISTINCT FROM content AS is_changed, client_id, created_at, updated_at'
const columns = `${itemColumns}, content, published`

/** Inserts a template. False when the organization has `countMax` already. Violates `templates_alias` when the alias is taken. */
export async function insertTemplate(tx: Tx, row: TemplateRow, countMax: number): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `INSERT INTO templates (id, organization_id, name, alias, content, created_at, updated_at, client_id)
      SELECT $1, $2, $3, $4, $5, $6, $6, $8 WHERE (SELECT count(*) FROM templates WHERE organization_id = $2) < $7`,
    values: [row.id, row.organization_id, row.name, row.alias, JSON.stringify(row.content), row.created_at, countMax, row.client_id],
  })
  return rowCount === 1
}

export async function listTemplates(
  sql: Sql,
  organizationId: string,
  page: PageRequest,
): Promise<Omit<TemplateRow, 'content' | 'published'>[]> {
  const { rows } = await sql.query<Omit<TemplateRow, 'content' | 'published'>>({
    name: 'list-templates',
    text: `SELECT ${itemColumns} FROM templates WHERE organization_id = $1 AND id < ${before('$2')} ORDER BY id DESC LIMIT $3`,
    values: [organizationId, page.cursor, page.limit + 1],
  })
  return rows
}

/** A template by its id or alias. An alias never has the shape of an id. */
export async function findTemplate(sql: Sql, organizationId: string, name: string): Promise<TemplateRow | null> {
  const { rows } = await sql.query<TemplateRow>({
    text: `SELECT ${columns} FROM templates WHERE organization_id = $1 AND ${name.startsWith('tpl_') ? 'id' : 'alias'} = $2`,
    values: [organizationId, name],
  })
  return rows[0] ?? null
}

/** The template with this `client_id`. */
export async function findByClientId(sql: Sql, organizationId: string, clientId: string): Promise<TemplateRow | null> {
  const { rows } = await sql.query<TemplateRow>({
    text: `SELECT ${columns} FROM templates WHERE organization_id = $1 AND client_id = $2`,
    values: [organizationId, clientId],
  })
  return rows[0] ?? null
}

/** The same, locked until the end of the transaction. */
export async function lockTemplate(tx: Tx, organizationId: string, name: string): Promise<TemplateRow | null> {
  const { rows } = await tx.query<TemplateRow>({
    text: `SELECT ${columns} FROM templates WHERE organization_id = $1 AND ${name.startsWith('tpl_') ? 'id' : 'alias'} = $2 FOR UPDATE`,
    values: [organizationId, name],
  })
  return rows[0] ?? null
}

/** Writes a locked template. Violates `templates_alias` when the alias is taken. */
export async function updateTemplate(tx: Tx, row: TemplateRow): Promise<TemplateRow> {
  const { rows } = await tx.query<TemplateRow>({
    text: `UPDATE templates SET name = $2, alias = $3, content = $4, published = $5, published_at = $6, updated_at = $7 WHERE id = $1
      RETURNING ${columns}`,
    values: [
      row.id,
      row.name,
      row.alias,
      JSON.stringify(row.content),
      row.published === null ? null : JSON.stringify(row.published),
      row.published_at,
      row.updated_at,
    ],
  })
  return rows[0] as TemplateRow
}

export async function deleteTemplate(tx: Tx, id: string): Promise<void> {
  await tx.query({ text: 'DELETE FROM templates WHERE id = $1', values: [id] })
}

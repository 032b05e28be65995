// The SQL of mail rules.
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { Rule } from './decision.ts'
import type { MailRuleRow, RuleAction, RuleDirection, RuleStatus } from './model.ts'

const columns = 'id, organization_id, identity_id, direction, action, entry, reason, status, created_at, updated_at, client_id'

/** Inserts a rule. False when its owner already has `countMax`. Violates `mail_rules_inbound` or `mail_rules_outbound` when the entry has a rule. */
export async function insertMailRule(tx: Tx, row: MailRuleRow, countMax: number): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `INSERT INTO mail_rules (${columns}) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
      WHERE (SELECT count(*) FROM mail_rules WHERE owner_id = coalesce($3, $2) AND deleted_at IS NULL) < $12`,
    values: [
      row.id,
      row.organization_id,
      row.identity_id,
      row.direction,
      row.action,
      row.entry,
      row.reason,
      row.status,
      row.created_at,
      row.updated_at,
      row.client_id,
      countMax,
    ],
  })
  return rowCount === 1
}

export type MailRuleFilter = {
  direction: RuleDirection | null
  action: RuleAction | null
  status: RuleStatus | null
  entry: string | null
}

export async function listMailRules(sql: Sql, ownerId: string, filter: MailRuleFilter, page: PageRequest): Promise<MailRuleRow[]> {
  const { rows } = await sql.query<MailRuleRow>({
    text: `SELECT ${columns} FROM mail_rules WHERE owner_id = $1 AND deleted_at IS NULL AND id < ${before('$2')}
      AND ($4::text IS NULL OR direction = $4) AND ($5::text IS NULL OR action = $5) AND ($6::text IS NULL OR status = $6)
      AND ($7::text IS NULL OR entry = $7) ORDER BY id DESC LIMIT $3`,
    values: [ownerId, page.cursor, page.limit + 1, filter.direction, filter.action, filter.status, filter.entry],
  })
  return rows
}

export async function findMailRule(sql: Sql, ownerId: string, id: string): Promise<MailRuleRow | null> {
  const { rows } = await sql.query<MailRuleRow>({
    text: `SELECT ${columns} FROM mail_rules WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL`,
    values: [ownerId, id],
  })
  return rows[0] ?? null
}

export async function findRuleByClientId(sql: Sql, organizationId: string, clientId: string): Promise<MailRuleRow | null> {
  const { rows } = await sql.query<MailRuleRow>({
    text: `SELECT ${columns} FROM mail_rules WHERE organization_id = $1 AND client_id = $2 AND deleted_at IS NULL`,
    values: [organizationId, clientId],
  })
  return rows[0] ?? null
}

/** The existing rule of an entry in one of these directions. */
export async function findRuleOfEntry(
  sql: Sql,
  ownerId: string,
  entry: string,
  direction: RuleDirection,
  exceptId: string | null,
): Promise<string | null> {
  const { rows } = await sql.query<{ id: string }>({
    text: `SELECT id FROM mail_rules WHERE owner_id = $1 AND entry = $2 AND deleted_at IS NULL AND id IS DISTINCT FROM $4
      AND ($3 = 'both' OR direction IN ('both', $3)) ORDER BY id LIMIT 1`,
    values: [ownerId, entry, direction, exceptId],
  })
  return rows[0]?.id ?? null
}

export type MailRuleChange = {
  direction: RuleDirection | null
  action: RuleAction | null
  entry: string | null
  hasReason: boolean
  reason: string | null
  status: RuleStatus | null
  at: Date
}

/** Changes a rule. Null when its owner does not have it. Violates the same constraints as an insert. */
export async function updateMailRule(sql: Sql, ownerId: string, id: string, change: MailRuleChange): Promise<MailRuleRow | null> {
  const { rows } = await sql.query<MailRuleRow>({
    text: `UPDATE mail_rules SET direction = coalesce($3, direction), action = coalesce($4, action), entry = coalesce($5, entry),
        reason = CASE WHEN $6 THEN $7 ELSE reason END, status = coalesce($8, status), updated_at = $9
      WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING ${columns}`,
    values: [ownerId, id, change.direction, change.action, change.entry, change.hasReason, change.reason, change.status, change.at],
  })
  return rows[0] ?? null
}

/** Marks a rule as deleted. `isNew` is false when it was already deleted. Null when it never existed. */
export async function deleteMailRule(sql: Sql, ownerId: string, id: string, at: Date): Promise<{ entry: string; isNew: boolean } | null> {
  const { rows } = await sql.query<{ entry: string; is_new: boolean }>({
    text: `WITH before AS (SELECT id, deleted_at FROM mail_rules WHERE owner_id = $1 AND id = $2 FOR UPDATE)
      UPDATE mail_rules r SET deleted_at = coalesce(r.deleted_at, $3) FROM before WHERE r.id = before.id
      RETURNING r.entry, before.deleted_at IS NULL AS is_new`,
    values: [ownerId, id, at],
  })
  return rows[0] ? { entry: rows[0].entry, isNew: rows[0].is_new } : null
}

/** An owner is an identity or an organization. */
export type Wanted = { ownerId: string; entry: string }
export type FoundRule = Rule & { owner_id: string }

/** The active rules of these owners for these entries, pairwise, for mail in this direction. */
export async function findRules(sql: Sql, way: 'inbound' | 'outbound', wanted: Wanted[]): Promise<FoundRule[]> {
  const { rows } = await sql.query<FoundRule>({
    name: `find-${way}-rules`,
    text: `SELECT r.owner_id, r.id, r.action, r.entry, r.reason FROM mail_rules r
      WHERE (r.owner_id, r.entry) IN (SELECT * FROM unnest($1::text[], $2::text[]))
        AND r.direction <> '${way === 'inbound' ? 'outbound' : 'inbound'}' AND r.deleted_at IS NULL AND r.status = 'active'`,
    values: [wanted.map(({ ownerId }) => ownerId), wanted.map(({ entry }) => entry)],
  })
  return rows
}

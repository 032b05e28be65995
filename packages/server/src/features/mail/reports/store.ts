// The SQL of reports about domains.
import { firstId } from '@callsign/contract/ids'
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { ReportKind } from '../domains/model.ts'
import type { ReportRow } from './model.ts'

/** A domain that reports are about. Without ids it is the mail domain. */
export type ReportedDomain = { id: string | null; organization_id: string | null; domain: string }

/** The domain whose mail arrives here and whose organization holds this name. */
export async function findReported(sql: Sql, name: string): Promise<ReportedDomain | null> {
  const { rows } = await sql.query<ReportedDomain>({
    name: 'find-reported-domain',
    text: `SELECT id, organization_id, domain FROM domains WHERE domain = $1 AND holds_name AND provider = 'builtin'`,
    values: [name],
  })
  return rows[0] ?? null
}

/** The condition for the reports of one domain, and its value. */
const ofDomain = (id: string | null, position: number) =>
  id === null ? { where: 'domain_id IS NULL', values: [] } : { where: `domain_id = $${position}`, values: [id] }

export async function countSince(sql: Sql, domainId: string | null, since: Date): Promise<number> {
  const { where, values } = ofDomain(domainId, 2)
  const { rows } = await sql.query<{ count: number }>({
    text: `SELECT count(*)::int AS count FROM domain_reports WHERE id >= $1 AND ${where}`,
    values: [firstId('domainReport', since.getTime()), ...values],
  })
  return rows[0]?.count ?? 0
}

/** Stores a report. False if it is stored already. */
export async function insertReport(tx: Tx, row: ReportRow): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'insert-domain-report',
    text: `INSERT INTO domain_reports (id, organization_id, domain_id, kind, reporter, report_id, starts_at, ends_at, passed, failed, sources, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (domain_id, kind, reporter, report_id) DO NOTHING`,
    values: [
      row.id,
      row.organization_id,
      row.domain_id,
      row.kind,
      row.reporter,
      row.report_id,
      row.starts_at,
      row.ends_at,
      row.passed,
      row.failed,
      JSON.stringify(row.sources),
      row.created_at,
    ],
  })
  return rowCount === 1
}

const columns = `id, organization_id, domain_id, kind, reporter, report_id, starts_at, ends_at, passed::float8 AS passed,
  failed::float8 AS failed, sources, created_at`

/** One page of reports about a domain, or about the mail domain, newest first. */
export async function listReports(sql: Sql, domainId: string | null, kind: ReportKind | null, page: PageRequest): Promise<ReportRow[]> {
  const { where, values } = ofDomain(domainId, 3)
  const { rows } = await sql.query<ReportRow>({
    text: `SELECT ${columns} FROM domain_reports WHERE ${where} ${kind === null ? '' : `AND kind = $${3 + values.length}`}
      AND id < ${before('$1')} ORDER BY id DESC LIMIT $2`,
    values: [page.cursor, page.limit + 1, ...values, ...(kind === null ? [] : [kind])],
  })
  return rows
}

/** Deletes up to `max` reports from before a time. Returns their number. */
export async function sweepReports(sql: Sql, olderThan: Date, max: number): Promise<number> {
  const { rowCount } = await sql.query({
    text: 'DELETE FROM domain_reports WHERE id IN (SELECT id FROM domain_reports WHERE id < $1 ORDER BY id LIMIT $2)',
    values: [firstId('domainReport', olderThan.getTime()), max],
  })
  return rowCount
}

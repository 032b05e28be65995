// Reports about domains: their content, their addresses, and the view in the API.
import type { DomainReport, ReportSource } from '@callsign/contract/domain-reports'
import { type ReportKind, reportParts } from '../domains/model.ts'

/** A report as its reader found it. The domain is in lower case. */
export type ReportContent = {
  kind: ReportKind
  reportId: string
  domain: string
  startsAt: Date
  endsAt: Date
  sources: ReportSource[]
}

export type ReportRow = {
  id: string
  /** Null for the mail domain. */
  organization_id: string | null
  domain_id: string | null
  kind: ReportKind
  reporter: string
  report_id: string
  starts_at: Date
  ends_at: Date
  passed: number
  failed: number
  sources: ReportSource[]
  created_at: Date
}

/** The sources that are stored per report. The totals count all of them. */
const sourcesMax = 100

/** The kind and the domain of a report address. Null for every other address. */
export function readReportAddress(recipient: string): { kind: ReportKind; domain: string } | null {
  const at = recipient.lastIndexOf('@')
  const [local, domain] = [recipient.slice(0, Math.max(at, 0)).toLowerCase(), recipient.slice(at + 1).toLowerCase()]
  if (local === reportParts.dmarc) return { kind: 'dmarc', domain }
  return local === reportParts.tls ? { kind: 'tls', domain } : null
}

/** Totals and the largest sources. Sources with the same values are added up. */
export function summarize(sources: ReportSource[]): Pick<ReportRow, 'passed' | 'failed' | 'sources'> {
  const merged = new Map<string, ReportSource>()
  for (const one of sources) {
    const key = JSON.stringify([one.source, one.is_passed, one.disposition, one.detail])
    merged.set(key, { ...one, count: one.count + (merged.get(key)?.count ?? 0) })
  }
  const sumOf = (isPassed: boolean) => sources.reduce((sum, one) => sum + (one.is_passed === isPassed ? one.count : 0), 0)
  return {
    passed: sumOf(true),
    failed: sumOf(false),
    sources: [...merged.values()].toSorted((a, b) => b.count - a.count).slice(0, sourcesMax),
  }
}

/** True for the domain itself and those below it, which its policy covers. */
export const isCovered = (reported: string, domain: string): boolean => reported === domain || reported.endsWith(`.${domain}`)

export const toReport = (row: ReportRow): DomainReport => ({
  id: row.id,
  kind: row.kind,
  reporter: row.reporter,
  report_id: row.report_id,
  starts_at: row.starts_at.toISOString(),
  ends_at: row.ends_at.toISOString(),
  passed: row.passed,
  failed: row.failed,
  sources: row.sources,
  created_at: row.created_at.toISOString(),
})

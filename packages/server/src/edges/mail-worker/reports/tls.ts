// Reads TLS reports (RFC 8460 §4), which are JSON.
import type { ReportSource } from '@callsign/contract/domain-reports'
import type { ReportContent } from '../../../features/mail/reports/model.ts'
import { countOf, lineOf, periodOf } from './fields.ts'

const policiesMax = 1_000
const failuresMax = 10_000

type Fields = Record<string, unknown>
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {})
const listOf = (value: unknown, max: number): Fields[] => (Array.isArray(value) ? value.slice(0, max).map(fieldsOf) : [])

/** The report, or null for JSON that is not one. Throws for broken JSON. A report about several domains is not one. */
export function readTls(json: string): ReportContent | null {
  const report = fieldsOf(JSON.parse(json))
  const range = fieldsOf(report['date-range'])
  const period = periodOf(Date.parse(lineOf(range['start-datetime'])), Date.parse(lineOf(range['end-datetime'])))
  const policies = listOf(report.policies, policiesMax)
  const domains = new Set(policies.map(({ policy }) => lineOf(fieldsOf(policy)['policy-domain']).toLowerCase()))
  const [domain = ''] = domains
  const reportId = lineOf(report['report-id'])
  if (period === null || reportId === '' || domain === '' || domains.size > 1) return null
  return { kind: 'tls', domain, reportId, ...period, sources: policies.flatMap(sourcesOf) }
}

/** The sessions of one policy: those that succeeded, and those that failed by their sender and reason. */
function sourcesOf({ policy, summary, 'failure-details': details }: Fields): ReportSource[] {
  const type = lineOf(fieldsOf(policy)['policy-type']) || 'unknown'
  const counts = fieldsOf(summary)
  const sourceOf = (count: number, is_passed: boolean, source = '', words: string[] = []): ReportSource[] =>
    count > 0 ? [{ source, count, is_passed, disposition: null, detail: [type, ...words].filter(Boolean).join(', ') }] : []
  const explained = listOf(details, failuresMax).flatMap((one) =>
    sourceOf(countOf(one['failed-session-count']), false, lineOf(one['sending-mta-ip']), [
      lineOf(one['result-type']),
      lineOf(one['receiving-mx-hostname']),
    ]),
  )
  const rest = countOf(counts['total-failure-session-count']) - explained.reduce((sum, { count }) => sum + count, 0)
  return [...sourceOf(countOf(counts['total-successful-session-count']), true), ...explained, ...sourceOf(rest, false)]
}

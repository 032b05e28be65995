// Reports of other mail servers about custom domains: DMARC (RFC 7489) and TLS (RFC 8460).
import Type, { type Static } from 'typebox'
import { operation } from '../../operation.ts'
import { Cursor, described, id, Limit, page, strict, Timestamp } from '../../schema.ts'

const ReportKind = Type.Unsafe<'dmarc' | 'tls'>({ type: 'string', enum: ['dmarc', 'tls'] })

export const ReportSource = Type.Object({
  source: Type.String({ description: 'The address that sent the mail. Empty in TLS reports, except for some failures.' }),
  count: Type.Integer({ description: 'Messages of a DMARC report, sessions of a TLS report.' }),
  is_passed: Type.Boolean(),
  disposition: Type.Unsafe<'none' | 'quarantine' | 'reject' | null>({
    type: ['string', 'null'],
    enum: ['none', 'quarantine', 'reject', null],
    description: 'The action of the receiver. null in TLS reports.',
  }),
  detail: Type.String(),
})
export type ReportSource = Static<typeof ReportSource>

export const DomainReport = Type.Object(
  {
    id: Type.String(),
    kind: ReportKind,
    reporter: Type.String({ description: 'The authenticated domain in From of the report.' }),
    report_id: Type.String({ description: 'The id that the reporter gave it.' }),
    starts_at: Timestamp,
    ends_at: Timestamp,
    passed: Type.Integer({ description: 'Messages that passed DMARC, or sessions with TLS.' }),
    failed: Type.Integer(),
    sources: Type.Array(ReportSource, { description: 'The largest sources first, at most 100.' }),
    created_at: Timestamp,
  },
  { $id: 'DomainReport' },
)
export type DomainReport = Static<typeof DomainReport>

export const listDomainReports = operation({
  id: 'listDomainReports',
  method: 'GET',
  path: '/api/v1/domains/{domain_id}/reports',
  summary: 'Lists the reports of other mail servers about a domain, newest first.',
  tag: 'Domains',
  scopes: ['domains:read'],
  params: strict({ domain_id: id('domain') }),
  query: strict({
    kind: Type.Optional(described(ReportKind, 'Only reports about DMARC, or only those about TLS.')),
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(DomainReport),
})

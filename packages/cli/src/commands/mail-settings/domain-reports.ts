// domains reports. The argument is the name or the id of a domain.
import type { DomainReportPage } from '@callsign/sdk'
import type { Command } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'
import { domainIdOf } from './domains.ts'

const kinds = ['dmarc', 'tls'] as const

export const domainReportCommands: Command[] = [
  listCommand({
    words: 'domains reports',
    takes: 'DOMAIN',
    about: 'Lists the DMARC and TLS reports of other mail servers about a domain, newest first.',
    example: 'callsign domains reports mail.example.com --kind dmarc',
    operations: ['listDomainReports'],
    options: { kind: { type: 'string', value: 'KIND', field: 'kind', choices: kinds, about: 'dmarc or tls.' }, ...listOptions },
    call: async (client, query, [reference = '']) => client.domains.listReports(await domainIdOf(client, reference), query),
    items: ({ data }: DomainReportPage) => data.flatMap(({ sources, ...report }) => sources.map((source) => ({ ...report, ...source }))),
    columns: {
      KIND: (one) => one.kind,
      FROM: (one) => one.reporter,
      DAY: (one) => one.starts_at.slice(0, 10),
      SOURCE: (one) => one.source,
      COUNT: (one) => String(one.count),
      RESULT: (one) => (one.is_passed ? 'pass' : 'fail'),
      DETAIL: (one) => one.detail,
    },
  }),
]

// domains reports. The argument is the name or the id of a domain.
import { type Command, listOptions, listQuery, oneOf } from '../../command.ts'
import { table } from '../../terminal/output.ts'
import { domainIdOf } from './domains.ts'

const kinds = ['dmarc', 'tls'] as const

export const domainReportCommands: Command[] = [
  {
    words: 'domains reports',
    takes: 'DOMAIN',
    about: 'Lists the DMARC and TLS reports of other mail servers about a domain, newest first.',
    example: 'callsign domains reports mail.example.com --kind dmarc',
    operations: ['listDomainReports'],
    options: { kind: { type: 'string', value: 'KIND', choices: kinds, about: 'dmarc or tls.' }, ...listOptions },
    async run({ client, output }, values, [reference = '']) {
      const callsign = await client()
      const kind = oneOf(values, 'kind', kinds)
      const page = await callsign.domains.listReports(await domainIdOf(callsign, reference), {
        ...(kind && { kind }),
        ...listQuery(values),
      })
      output.result(page, (width) =>
        table(
          ['KIND', 'FROM', 'DAY', 'SOURCE', 'COUNT', 'RESULT', 'DETAIL'],
          page.data.flatMap(({ kind, reporter, starts_at: day, sources }) =>
            sources.map((one) => [
              kind,
              reporter,
              day.slice(0, 10),
              one.source,
              String(one.count),
              one.is_passed ? 'pass' : 'fail',
              one.detail,
            ]),
          ),
          width,
        ),
      )
      if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
]

// Prints the DMARC and TLS reports of other mail servers about the mail domain, newest first.
import type { Sql } from '../core/sql.ts'
import type { ReportKind } from '../features/mail/domains/model.ts'
import { listMailDomainReports } from '../features/mail/reports/operations.ts'
import { CommandFailed } from './failure.ts'

const reportsMax = 100

export async function printMailDomainReports(
  db: Sql,
  { kind, json }: { kind?: string; json?: boolean },
  print: (line: string) => void,
): Promise<void> {
  const kinds: Record<string, ReportKind> = { dmarc: 'dmarc', tls: 'tls' }
  const wanted = kind === undefined ? null : kinds[kind]
  if (wanted === undefined) throw new CommandFailed('--kind must be dmarc or tls', true)
  const reports = await listMailDomainReports(db, wanted, reportsMax)
  if (json) print(JSON.stringify(reports))
  else if (reports.length === 0) print('no report about the mail domain has arrived. callsignd doctor checks the records that ask for them')
  else
    for (const { kind, reporter, starts_at: day, sources } of reports)
      for (const one of sources)
        print(
          [
            day.slice(0, 10),
            kind.padEnd(5),
            one.is_passed ? 'pass' : 'FAIL',
            String(one.count).padStart(7),
            one.source || '-',
            one.detail,
            reporter,
          ].join('  '),
        )
}

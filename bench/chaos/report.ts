// The ledgers of the parts, and how they are printed.
import type { Fault } from './cluster.ts'
import { type Failover, pathNames } from './failover.ts'
import type { ProcessFault } from './processes.ts'
import type { ChaosReport } from './run.ts'

const problemsShown = 40

/** The rows of one part, and the promises that were broken. */
export type PartLedger = {
  title: string
  rows: Record<string, string | number>
  problems: string[]
  problemCount: number
  /** The last log lines of the processes, when there are problems. */
  logLines: string[]
}

export function failoverLedger(report: ChaosReport<Failover>): PartLedger {
  const { faults } = report
  const count = (fault: Fault) => faults.filter((one) => one.fault === fault).length
  const total = (of: (one: Failover) => number) => faults.reduce((sum, one) => sum + of(one), 0)
  const resets = faults.filter((one) => one.fault === 'frozen' && one.isReset).length
  return ledgerOf('failover', report, {
    faults: `${faults.length}: ${count('killed')} killed, ${count('frozen')} frozen (${resets} reset, the others went on), ${count('cut off')} cut off`,
    'in flight at faults': `${total((one) => one.inFlight.requests)} requests, ${total((one) => one.inFlight.transactions)} SMTP messages, ${total((one) => one.inFlight.relayTransactions)} at the relay`,
    'new primary after': spread(faults.map((one) => one.primaryMs)),
    ...Object.fromEntries(
      pathNames.map((name, index) => [`service, ${name}`, `${spread(faults.map((one) => one.backMs[index] ?? 0))} later`]),
    ),
  })
}

export function processesLedger(report: ChaosReport<ProcessFault>): PartLedger {
  const list = (of: (one: ProcessFault) => string) =>
    [...Map.groupBy(report.faults, of)].map(([name, all]) => `${all.length} ${name}`).join(', ')
  return ledgerOf('processes', report, {
    faults: `${report.faults.length}: ${list((one) => one.kind)}`,
    'faults by role': list((one) => one.role),
  })
}

export function ledgerOf<F>(title: string, report: ChaosReport<F>, facts: Record<string, string>): PartLedger {
  const { accepted, retried, verified, webhooks, tunnel } = report
  const rows: Record<string, string | number> = {
    [title]: `seed ${report.seed}, ${(report.elapsedMs / 1000).toFixed(0)} s`,
    ...facts,
    acknowledged: `${accepted.smtp} SMTP messages, ${accepted.api} API sends, ${accepted.drafts} drafts`,
    'sent again': `${retried.api} API requests (${retried.replayed} replayed), ${retried.smtp} SMTP messages`,
    verified: `${verified.outbound} outbound and ${verified.inbound} inbound messages (${verified.hostedCopies} hosted deliveries)`,
    'unanswered, not repeated': `${verified.unknownPresent} there once, ${verified.unknownAbsent} not there`,
    relay: `${verified.relayTransactions} transactions, ${verified.relayRepeated} messages came again`,
    webhooks: `${webhooks.events} events, ${webhooks.posts} posts, ${webhooks.takenAgain} taken again under the same webhook-id`,
    tunnel: `${tunnel.requests} requests: ${tunnel.answered} answered, ${tunnel.refused} refused, ${tunnel.broken} broken off`,
    'bytes compared': `${verified.rawsCompared} raw messages, ${verified.attachmentsCompared} attachments, ${verified.blobs} blobs`,
    answers: Object.entries(report.replies)
      .map(([name, number]) => `${name}: ${number}`)
      .join(', '),
    problems: report.problemCount,
  }
  return { title, rows, problems: report.problems, problemCount: report.problemCount, logLines: report.logLines }
}

export function printLedger({ rows, problems, logLines }: PartLedger): void {
  const width = Math.max(...Object.keys(rows).map((name) => name.length))
  console.log('')
  for (const [name, value] of Object.entries(rows)) console.log(`${name.padEnd(width)}  ${value}`)
  for (const problem of problems.slice(0, problemsShown)) console.log(`  PROBLEM ${problem}`)
  for (const line of logLines) console.log(`  ${line.slice(0, 400)}`)
}

/** Median and maximum. */
function spread(values: number[]): string {
  if (values.length === 0) return '–'
  const sorted = values.toSorted((a, b) => a - b)
  return `median ${sorted[Math.floor(sorted.length / 2)]?.toFixed(0)} ms, at most ${sorted.at(-1)?.toFixed(0)} ms`
}

// `npm run crash` kills the server 60 times under load, and checks that nothing answered was lost or duplicated. Takes --kills N, --seed N and
// --minutes N.
import { parseArgs } from 'node:util'
import { type CrashReport, hadWork, type Kill, runCrash } from './run.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    minutes: { type: 'string', default: '30' },
  },
})

const problemsShown = 40

try {
  const report = await runCrash({
    kills: Number(values.kills),
    seed: Number(values.seed),
    apiClients: 6,
    draftClients: 4,
    smtpClients: 6,
    samples: 250,
    limitMs: Number(values.minutes) * 60_000,
    say: (line) => console.log(line),
  })
  print(report)
  process.exitCode = report.problemCount === 0 ? 0 : 1
} catch (error) {
  console.error(`seed ${values.seed}: ${(error as Error).message}`)
  process.exitCode = 1
}

function print({ kills, verified, ...report }: CrashReport): void {
  const counted = kills.filter((kill) => !kill.isDuringStart)
  const total = (of: (kill: Kill) => number) => counted.reduce((sum, kill) => sum + of(kill), 0)
  const victims = (['server', 'postgres', 'both'] as const).map(
    (victim) => `${counted.filter((kill) => kill.victim === victim).length} ${victim}`,
  )
  const back = (victim: Kill['victim']) => spread(counted.filter((kill) => kill.victim === victim).map((kill) => kill.backMs))
  const rows: Record<string, string | number> = {
    seed: report.seed,
    kills: `${kills.length}: ${victims.join(', ')}, ${kills.length - counted.length} during a start`,
    'kills that met work': `${counted.filter(hadWork).length} of ${counted.length}`,
    'in flight at kills': `${total((kill) => kill.inFlight.requests)} requests, ${total((kill) => kill.inFlight.transactions)} SMTP messages, ${total((kill) => kill.inFlight.relayTransactions)} at the relay, ${total((kill) => kill.inFlight.undelivered)} queued for it`,
    'first start': `${report.firstStartMs.toFixed(0)} ms`,
    'back after server kill': back('server'),
    'back after postgres kill': back('postgres'),
    'back after both': back('both'),
    answered: `${report.accepted.api} API sends, ${report.accepted.drafts} drafts, ${report.accepted.smtp} SMTP messages`,
    'sent again': `${report.retried.api} API sends (${report.retried.replayed} had committed: replayed), ${report.retried.smtp} SMTP messages`,
    'queue empty after': `${report.drainMs.toFixed(0)} ms`,
  }
  if (verified) {
    rows.verified = `${verified.outbound} outbound and ${verified.inbound} inbound messages (${verified.hostedCopies} hosted deliveries)`
    rows['unanswered, not repeated'] = `${verified.unknownPresent} there once, ${verified.unknownAbsent} not there`
    rows.relay = `${verified.relayTransactions} transactions; ${verified.relayRepeated} messages came again (${verified.relayExtraCopies} copies), same Message-ID and bytes`
    rows['bytes compared'] =
      `${verified.rawsCompared} raw messages, ${verified.attachmentsCompared} attachments; ${verified.blobs} blobs whole, ${verified.orphanBlobs} orphans to sweep`
  }
  rows.answers = Object.entries(report.replies)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ')
  rows.problems = report.problemCount
  const width = Math.max(...Object.keys(rows).map((name) => name.length))
  console.log('')
  for (const [name, value] of Object.entries(rows)) console.log(`${name.padEnd(width)}  ${value}`)
  for (const problem of report.problems.slice(0, problemsShown)) console.log(`  PROBLEM ${problem}`)
  for (const line of report.serverLines) console.log(`  server: ${line}`)
}

/** Median and maximum. */
function spread(values: number[]): string {
  if (values.length === 0) return '–'
  const sorted = values.toSorted((a, b) => a - b)
  return `median ${sorted[Math.floor(sorted.length / 2)]?.toFixed(0)} ms, at most ${sorted.at(-1)?.toFixed(0)} ms`
}

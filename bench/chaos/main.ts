// `npm run chaos` lets a cluster and its processes fail under load, and checks that nothing acknowledged was lost or doubled. With `failover` or
// `processes`, one of the two. Takes --faults N, --minutes N and --seed N.
import { parseArgs } from 'node:util'
import { runFailover } from './failover.ts'
import { runProcesses } from './processes.ts'
import { printFailover, printProcesses } from './report.ts'
import { enterSandbox } from './sandbox.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    faults: { type: 'string' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})

const parts = ['all', 'failover', 'processes']
const [part = 'all'] = positionals
if (!parts.includes(part)) throw new Error(`The argument must be one of ${parts.join(', ')}.`)
const seed = Number(values.seed)
const say = (line: string) => console.log(line)
/** Time of one fault, with the recovery of the cluster. */
const faultMs = 40_000
const restMs = 300_000

const inside = await enterSandbox()
process.exitCode = inside ?? (await runParts())
// Some programs of the sandbox still run. They end with it.
if (inside === null) process.exit()

async function runParts(): Promise<number> {
  const faults = Number(values.faults ?? (part === 'all' ? 9 : 60))
  const minutes = Number(values.minutes ?? (part === 'all' ? 2 : 10))
  try {
    let problems = 0
    if (part === 'all' || part === 'failover') {
      const report = await runFailover({ faults, seed, limitMs: faults * faultMs + restMs, say })
      printFailover(report)
      problems += report.problemCount
    }
    if (part === 'all' || part === 'processes') {
      const report = await runProcesses({ minutes, seed, limitMs: minutes * 60_000 + restMs, say })
      printProcesses(report)
      problems += report.problemCount
    }
    return problems === 0 ? 0 : 1
  } catch (error) {
    console.error(`seed ${seed}: ${(error as Error).message}`)
    return 1
  }
}

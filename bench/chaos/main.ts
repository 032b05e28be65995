// `npm run chaos` lets a cluster and its processes fail under load, and checks that nothing acknowledged was lost or doubled. With the name of a
// part, only that one. Takes --faults N, --minutes N and --seed N.
import { parseArgs } from 'node:util'
import { type Part, parts } from './parts.ts'
import { type PartLedger, printLedger } from './report.ts'
import { enterSandbox } from './sandbox.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    faults: { type: 'string' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})

const [name] = positionals
const chosen = name === undefined ? parts : parts.filter((part) => part.name === name)
if (chosen.length === 0) throw new Error(`The argument must be one of ${parts.map((part) => part.name).join(', ')}.`)
const seed = Number(values.seed)
/** For the start, the comparison at the end, and the stop. */
const restMs = 300_000

const inside = await enterSandbox()
process.exitCode = inside ?? (await runParts())
// Some programs of the sandbox still run. They end with it.
if (inside === null) process.exit()

/** Runs every part, also after one that failed, and prints their ledgers as one. */
async function runParts(): Promise<number> {
  const ledgers: PartLedger[] = []
  for (const part of chosen) ledgers.push(await runPart(part))
  for (const ledger of ledgers) printLedger(ledger)
  const problems = ledgers.reduce((sum, ledger) => sum + ledger.problemCount, 0)
  console.log(`\n${ledgers.map(({ title, problemCount }) => `${title}: ${problemCount} problems`).join(', ')}`)
  return problems === 0 ? 0 : 1
}

async function runPart(part: Part): Promise<PartLedger> {
  const length = Number(values[part.option] ?? (name === undefined ? part.together : part.alone))
  const limitMs = length * part.unitMsMax + restMs
  try {
    return await part.run({ seed, limitMs, say: (line) => console.log(line) }, length)
  } catch (error) {
    const problems = [`the run ended early: ${(error as Error).message}`]
    return { title: part.name, rows: { [part.name]: `seed ${seed}` }, problems, problemCount: 1, logLines: [] }
  }
}

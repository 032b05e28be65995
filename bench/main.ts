// Lists the figures and runs them: `npm run bench`, `npm run bench -- get-message`, `npm run bench -- all`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { comparisonOf } from './harness/comparison.ts'
import { benchmarksWithGoals, type FigureName } from './harness/goals.ts'
import { readResults, saveResults } from './harness/results.ts'
import { printTable } from './harness/table.ts'

const folder = import.meta.dirname
const benchmarks = globSync('*.ts', { cwd: folder })
  .map((file) => basename(file, '.ts'))
  .filter((name) => name !== 'main')
  .sort()

/** Runs one benchmark and returns the figures that it reports. `checkout` is that of an earlier server, which may lack what is measured. */
async function run(name: string, options: string[], checkout: string | null = null): Promise<Map<FigureName, number>> {
  const measured = new Map<FigureName, number>()
  const env = checkout === null ? process.env : { ...process.env, BENCH_CHECKOUT: checkout }
  const child = fork(join(folder, `${name}.ts`), options, { env, execArgv: ['--disable-warning=ExperimentalWarning'] })
  child.on('message', (figure: { name: FigureName; value: number }) => measured.set(figure.name, figure.value))
  const [code] = await once(child, 'exit')
  if (code !== 0 && checkout === null) process.exitCode = 1
  return measured
}

function printList(): void {
  const width = Math.max(...benchmarks.map((name) => name.length))
  const sentenceOf = (name: string) => (readFileSync(join(folder, `${name}.ts`), 'utf8').split('\n', 1)[0] as string).replace(/^\/\/ /, '')
  for (const name of benchmarks) console.log(`${name.padEnd(width)}  ${sentenceOf(name)}`)
  console.log('\nRun npm run bench -- NAME, or all as NAME. The options are --rounds 3, --seconds 3 and --connections 1,16,64.')
  console.log('--before DIR measures the server of an earlier checkout, with its node_modules, in turns with this one.')
  console.log(
    'all, which runs those with goals, or --save with a NAME, saves the figures in docs/performance.json. npm run docs then prints them in docs/performance.md.',
  )
}

const given = process.argv.slice(2)
const place = given.indexOf('--before')
/** The checkout of an earlier commit, whose figures are taken in turns with those of this one. */
const earlier = place < 0 ? null : resolve(given.splice(place, 2)[1] ?? '')
const [wanted, ...options] = given.filter((argument) => argument !== '--save')
const isSaved = wanted === 'all' || given.includes('--save')
if (wanted === undefined) {
  printList()
} else if (wanted !== 'all' && !benchmarks.includes(wanted)) {
  console.error(`${wanted} is not a benchmark. Run npm run bench to list them.`)
  process.exitCode = 2
} else {
  const saved = readResults()
  const measured = new Map<FigureName, number>()
  const before = earlier === null ? null : new Map<FigureName, number>()
  for (const name of wanted === 'all' ? benchmarksWithGoals : [wanted]) {
    if (before !== null) for (const [figure, value] of await run(name, options, earlier)) before.set(figure, value)
    for (const [figure, value] of await run(name, options)) measured.set(figure, value)
    // After each benchmark, so that a run that is stopped keeps what it measured.
    if (isSaved) saveResults(saved, measured, before)
  }
  if (measured.size > 0) {
    const { head, rows, losses } = comparisonOf(saved, measured, before)
    console.log('\n## Figures and goals\n')
    printTable(head, rows)
    for (const loss of losses) console.log(loss)
  }
}

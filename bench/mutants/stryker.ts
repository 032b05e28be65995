// Plants the mutants of Stryker's instrumenter in the code that needs neither a server nor a database.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import type { Plan, Verdict } from './mutant-runner.ts'
import { makeScratchCopy } from './scratch-copy.ts'

const root = join(import.meta.dirname, '..', '..')
const killedShareMin = 0.9
/** A mutant that takes longer than the limit that its process names, or than this before it names one, runs endlessly and counts as killed. */
const unnamedMsMax = 20_000

/**
 * `uncovered` mutants are in code that no test runs, and count as survivors. The following are not counted. `static` mutants run on import only.
 * `disabled` ones have a reason, and `left` ones are not in the sample. Only the tests of a whole server run the functions of `elsewhere` ones.
 */
type Planted = {
  id: string
  file: string
  line: number
  change: string
  verdict: Exclude<Verdict, 'started' | 'suspect'> | 'disabled' | 'left' | 'elsewhere'
}

/** Which mutants are planted (`sample` of them, or all) and which test files, by pattern, are left out. */
export type StrykerOptions = { sample: number; excluded: readonly string[] }

/** packages/mail, the core, and the files of the features with a pure test beside them. */
function pureFiles(): string[] {
  const sources = globSync(['packages/mail/src/**/*.ts', 'packages/server/src/core/**/*.ts', 'packages/server/src/features/**/*.ts'], {
    cwd: root,
  })
  const tests = new Set(sources.filter((file) => file.endsWith('.test.ts')))
  return sources
    .filter((file) => !tests.has(file))
    .filter((file) => !file.startsWith('packages/server/') || tests.has(file.replace(/\.ts$/, '.test.ts')))
    .sort()
}

/** Mutates the pure files below the path `below`. Resolves with true when enough mutants are killed. The report is written to a temporary file. */
export async function runStryker(below: string, { sample, excluded }: StrykerOptions): Promise<boolean> {
  const files = pureFiles().filter((file) => file.startsWith(below))
  if (files.length === 0) return true
  const copy = makeScratchCopy(root)
  try {
    const mutants = sampleOf(await instrument(files, copy.folder), sample)
    const verdicts = await runAll(mutants, copy.folder, argumentsFor(files, excluded))
    const results = mutants.map((mutant) => judged({ ...mutant, verdict: verdicts.get(mutant.id) ?? mutant.verdict }))
    const report = join(tmpdir(), 'callsign-mutants.json')
    writeFileSync(report, JSON.stringify(results))
    console.log(`${summarize(results)}\nThe report is ${report}.`)
    return shareOf(results) >= killedShareMin
  } finally {
    copy.remove()
  }
}

/** Replaces the files below `folder` by their instrumented form. A global then selects one mutant at a time. */
async function instrument(files: string[], folder: string): Promise<Planted[]> {
  const silent = { debug() {}, info() {}, warn() {}, isDebugEnabled: () => false }
  const sources = files.map((file) => ({ name: join(folder, file), mutate: true, content: readFileSync(join(folder, file), 'utf8') }))
  const options = { plugins: null, excludedMutations: [], ignorers: [] }
  const { files: written, mutants } = await new Instrumenter(silent as never).instrument(sources, options as never)
  for (const { name, content } of written) writeFileSync(name, content)
  return mutants.map(({ id, fileName, location: { start, end }, mutatorName, replacement, status }) => {
    const lines = (sources.find(({ name }) => name === fileName)?.content ?? '').split('\n')
    const original = lines
      .slice(start.line, end.line + 1)
      .join('\n')
      .slice(start.column, start.line === end.line ? end.column : undefined)
    const change = `${mutatorName}: ${shorten(original)} => ${shorten(replacement ?? '')}`
    const verdict = status === 'Ignored' ? 'disabled' : 'uncovered'
    return { id, file: fileName.slice(folder.length + 1), line: start.line + 1, change, verdict }
  })
}

const judged = (mutant: Planted): Planted =>
  mutant.verdict === 'uncovered' && mutant.file.startsWith('packages/server/src/features/') ? { ...mutant, verdict: 'elsewhere' } : mutant

const shorten = (code: string): string => code.replace(/\s+/g, ' ').slice(0, 120)

/** Chooses `size` mutants by the hash of their text, so that every run chooses the same ones, and a change of other code hardly moves the choice. */
function sampleOf(mutants: Planted[], size: number): Planted[] {
  const hashOf = ({ file, line, change }: Planted) => createHash('sha256').update(`${file} ${line} ${change}`).digest('hex')
  const candidates = mutants.filter(({ verdict }) => verdict !== 'disabled').map((mutant) => ({ mutant, hash: hashOf(mutant) }))
  const chosen = new Set(
    candidates
      .sort((a, b) => (a.hash < b.hash ? -1 : 1))
      .slice(0, size)
      .map(({ mutant }) => mutant.id),
  )
  return mutants.map((mutant) => (mutant.verdict === 'disabled' || chosen.has(mutant.id) ? mutant : { ...mutant, verdict: 'left' }))
}

/** Arguments of Vitest: the tests of the mutated files, but for the excluded ones. Tests of the server are loaded for mutants of the server only. */
function argumentsFor(files: readonly string[], excluded: readonly string[]): string[] {
  const outside = files.some((file) => file.startsWith('packages/server/')) ? [] : ['packages/server/**']
  const left = [...outside, ...excluded].flatMap((pattern) => ['--exclude', pattern])
  return ['related', ...files, '--run', '--config', 'bench/mutants/vitest.config.ts', ...left]
}

async function runAll(mutants: Planted[], folder: string, testArguments: string[]): Promise<Map<string, Planted['verdict']>> {
  const verdicts = new Map<string, Planted['verdict']>()
  const wanted = mutants.filter(({ verdict }) => verdict === 'uncovered').map(({ id }) => id)
  const besides = Object.fromEntries(mutants.map(({ id, file }) => [id, file.replace(/\.ts$/, '.test.ts')]))
  let suspect: string | null = null
  for (let left = wanted; left.length > 0; left = left.filter((mutant) => !verdicts.has(mutant))) {
    const plan = { mutants: left, besides, suspect, resultsFile: join(folder, 'results.txt') }
    const results = await runProcess(plan, folder, testArguments)
    const last = results.at(-1)
    if (!last) throw new Error('the tests fail without a mutant: run npm test')
    for (const [mutant, verdict] of results) if (verdict !== 'started' && verdict !== 'suspect') verdicts.set(mutant, verdict)
    suspect = last[1] === 'suspect' ? last[0] : null
    if (last[1] === 'started') verdicts.set(last[0], 'killed')
    console.log(`${verdicts.size} of ${wanted.length} mutants planted. The last one, ${last[0]}, was ${last[1]}.`)
  }
  return verdicts
}

/** Runs the tests once, and again for each of the mutants left. Resolves when the process ends, or one mutant takes too long. */
async function runProcess(plan: Plan, folder: string, testArguments: string[]): Promise<[string, Verdict][]> {
  const planFile = join(folder, 'plan.json')
  writeFileSync(planFile, JSON.stringify(plan))
  writeFileSync(plan.resultsFile, '')
  const args = [join(folder, 'node_modules/vitest/vitest.mjs'), ...testArguments]
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, CALLSIGN_MUTANTS: planFile }, stdio: 'ignore' })
  const ended = new Promise<'ended'>((resolve) => child.once('close', () => resolve('ended')))
  let seen = 0
  let sinceMs = performance.now()
  while ((await Promise.race([ended, sleep(500)])) !== 'ended') {
    const lines = linesOf(plan.resultsFile)
    // The first run has no limit.
    if (lines.length !== seen || lines.length === 0) sinceMs = performance.now()
    seen = lines.length
    const limitMs = Number(lines.at(-1)?.[2] || unnamedMsMax)
    if (performance.now() - sinceMs > limitMs) child.kill('SIGKILL')
  }
  return linesOf(plan.resultsFile).map(([mutant, verdict]) => [mutant as string, verdict as Verdict])
}

/** Mutant, verdict and time limit, per line. */
const linesOf = (file: string): string[][] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '))

const countOf = (results: Planted[], verdict: Planted['verdict']): number => results.filter((mutant) => mutant.verdict === verdict).length

function shareOf(results: Planted[]): number {
  const [killed, survived, uncovered] = [countOf(results, 'killed'), countOf(results, 'survived'), countOf(results, 'uncovered')]
  return killed + survived + uncovered === 0 ? 1 : killed / (killed + survived + uncovered)
}

const percent = (share: number): string => (share * 100).toFixed(1)

/** The interval that holds the share of all mutants with 95 % certainty, when only a sample was planted (Wilson's score). */
function intervalOf(killed: number, planted: number): string {
  const z = 1.96
  const share = killed / planted
  const middle = share + z ** 2 / (2 * planted)
  const reach = z * Math.sqrt((share * (1 - share)) / planted + z ** 2 / (4 * planted ** 2))
  const [low, high] = [middle - reach, middle + reach].map((bound) => percent(bound / (1 + z ** 2 / planted)))
  return `${low} to ${high} %`
}

function figures(name: string, results: Planted[]): string {
  const killed = countOf(results, 'killed')
  const planted = killed + countOf(results, 'survived') + countOf(results, 'uncovered')
  const left = countOf(results, 'left')
  const sample = left > 0 && planted > 0 ? `, ${left} left out of the sample: ${intervalOf(killed, planted)}` : ''
  const servers = countOf(results, 'elsewhere')
  const elsewhere = servers > 0 ? `, ${servers} for tests of a whole server` : ''
  return `${name}: ${killed} of ${planted} killed (${percent(shareOf(results))} %), ${countOf(results, 'static')} static, ${countOf(results, 'disabled')} disabled${elsewhere}${sample}`
}

function summarize(results: Planted[]): string {
  const lines = [...Map.groupBy(results, ({ file }) => file)].flatMap(([file, own]) => [
    figures(file, own),
    ...own.flatMap(({ verdict, line, change }) =>
      verdict === 'survived' || verdict === 'uncovered' ? [`  ${verdict}, line ${line}, ${change}`] : [],
    ),
  ])
  return [...lines, '', figures('Total', results)].join('\n')
}

// Plants the mutants of Stryker's instrumenter in the code that needs neither a server nor a database.
import { spawn } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import type { Plan, Verdict } from './mutant-runner.ts'
import { makeScratchCopy } from './scratch-copy.ts'

const root = join(import.meta.dirname, '..', '..')
const killedShareMin = 0.9
/** A mutant that takes longer than this, or than the limit that its process names, runs endlessly and counts as killed. */
const mutantMsMax = 20_000

/** `uncovered` mutants are in code that no test runs, and count as survivors. `static` ones run on import only, and `disabled` ones have a reason. */
type Planted = { id: string; file: string; line: number; change: string; verdict: Exclude<Verdict, 'started' | 'suspect'> | 'disabled' }

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

/**
 * Mutates the pure files below the path `below`. `excluded` are patterns of test files that are left out. Resolves with true when enough mutants are
 * killed. The report is written to a temporary file.
 */
export async function runStryker(below: string, excluded: readonly string[]): Promise<boolean> {
  const files = pureFiles().filter((file) => file.startsWith(below))
  if (files.length === 0) return true
  const copy = makeScratchCopy(root)
  try {
    const mutants = await instrument(files, copy.folder)
    const verdicts = await runAll(mutants, copy.folder, argumentsFor(files, excluded))
    const results = mutants.map((mutant) => ({ ...mutant, verdict: verdicts.get(mutant.id) ?? mutant.verdict }))
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

const shorten = (code: string): string => code.replace(/\s+/g, ' ').slice(0, 120)

/** Arguments of Vitest: the tests of the mutated files, but for the excluded ones. */
const argumentsFor = (files: readonly string[], excluded: readonly string[]): string[] => [
  'related',
  ...files,
  '--run',
  ...['--config', 'bench/mutants/vitest.config.ts'],
  ...excluded.flatMap((pattern) => ['--exclude', pattern]),
]

async function runAll(mutants: Planted[], folder: string, testArguments: string[]): Promise<Map<string, Planted['verdict']>> {
  const verdicts = new Map<string, Planted['verdict']>()
  const wanted = mutants.filter(({ verdict }) => verdict !== 'disabled').map(({ id }) => id)
  let suspect: string | null = null
  for (let left = wanted; left.length > 0; left = left.filter((mutant) => !verdicts.has(mutant))) {
    const plan = { mutants: left, suspect, resultsFile: join(folder, 'results.txt') }
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
    const limitMs = Math.min(mutantMsMax, Number(lines.at(-1)?.[2] || mutantMsMax))
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

const figures = (name: string, results: Planted[]): string => {
  const alive = countOf(results, 'survived') + countOf(results, 'uncovered')
  const killed = countOf(results, 'killed')
  return `${name}: ${killed} of ${killed + alive} killed (${(shareOf(results) * 100).toFixed(1)} %), ${countOf(results, 'static')} static, ${countOf(results, 'disabled')} disabled`
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

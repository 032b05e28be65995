// A Vitest runner that runs the tests once for their coverage, and then again for each mutant, in the same process.
import { appendFileSync, readFileSync } from 'node:fs'
import { type RunnerTask, type RunnerTestCase, type RunnerTestFile, type RunnerTestSuite, TestRunner } from 'vitest'
import { resetState } from './fresh-state.ts'

/**
 * Written by the parent process. `suspect` is a mutant whose result is accepted even when it leaves the process in another state. `besides` has the path of
 * the test file beside each mutant.
 */
export type Plan = { mutants: string[]; besides: Record<string, string>; suspect: string | null; resultsFile: string }
export type Verdict = 'started' | 'killed' | 'survived' | 'uncovered' | 'static' | 'suspect'

/** The global that Stryker's instrumented code reads and writes. */
type Namespace = {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> }
}
const shared = globalThis as unknown as { __stryker__?: Namespace }
shared.__stryker__ ??= {}
const namespace = shared.__stryker__

/** A mutant that is reached this many times as often as the original code runs endlessly. */
const hitFactor = 100
/** Tests that take more processor time, such as those of random input, are left out. */
const testMsMax = 8_000
/**
 * The covering tests run until they took this much processor time together without the mutant. Most survivors would else wait for the whole corpora. Processor
 * time, so that a loaded machine leaves out no more tests than another one.
 */
const coveringMsMax = 4_000
/** A mutant runs endlessly when its tests take this many times as long as without it, and 3 seconds more. */
const slowFactor = 30
const mutantMsMin = 3_000
/** No mutant gets more than this, unless its tests take a third of it without a mutant. */
const mutantMsMax = 20_000

// Taken before tests are skipped at their reading of it.
const threadCpuUsage = process.threadCpuUsage.bind(process)
const cpuMs = (): number => {
  const { user, system } = threadCpuUsage()
  return (user + system) / 1000
}
/** Processor time of each test in the first run, in milliseconds. */
const costs = new Map<string, number>()

const testsIn = (suite: RunnerTestSuite): RunnerTestCase[] =>
  suite.tasks.flatMap((task) => (task.type === 'suite' ? testsIn(task) : [task]))

const suitesOf = (test: RunnerTestCase): RunnerTestSuite[] => {
  const suites: RunnerTestSuite[] = []
  for (let suite = test.suite; suite; suite = suite.suite) suites.unshift(suite)
  return [test.file, ...suites.filter((suite) => suite !== test.file)]
}

async function passes(test: RunnerTestCase): Promise<boolean> {
  const suites = suitesOf(test)
  const hooks = (name: 'beforeEach' | 'afterEach') => suites.flatMap((suite) => TestRunner.getSuiteHooks(suite)?.[name] ?? [])
  let isPassed = true
  try {
    for (const hook of hooks('beforeEach')) await hook(test.context as never, test.file)
    await TestRunner.getTestFn(test)?.()
  } catch {
    isPassed = false
  }
  for (const hook of hooks('afterEach').toReversed()) await Promise.resolve(hook(test.context as never, test.file)).catch(() => {})
  return isPassed
}

export default class PlantedRun extends TestRunner {
  #files: RunnerTestFile[] = []
  #lastFile: RunnerTestFile | null = null

  override onBeforeTryTask(test: RunnerTask, options: Parameters<TestRunner['onBeforeTryTask']>[1]): void {
    // The first test of each file fills the caches again, so that it counts as covering the code that does so.
    if (test.file !== this.#lastFile) resetState()
    this.#lastFile = test.file
    namespace.currentTestId = test.id
    costs.set(test.id, -cpuMs())
    super.onBeforeTryTask(test, options)
  }

  override onAfterRunTask(test: RunnerTask): void {
    namespace.currentTestId = undefined
    if (costs.has(test.id)) costs.set(test.id, (costs.get(test.id) as number) + cpuMs())
    super.onAfterRunTask(test)
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void | Promise<void> {
    super.onAfterRunFiles(files)
    this.#files.push(...files)
    const expected = (this as unknown as { workerState: { ctx: { files: unknown[] } } }).workerState.ctx.files.length
    if (this.#files.length === expected) return runMutants(this.#files.flatMap(testsIn))
  }
}

async function runMutants(tests: RunnerTestCase[]): Promise<void> {
  const plan = JSON.parse(readFileSync(process.env.CALLSIGN_MUTANTS as string, 'utf8')) as Plan
  const note = (mutant: string, verdict: Verdict, limitMs = '') => appendFileSync(plan.resultsFile, `${mutant} ${verdict} ${limitMs}\n`)
  const { static: onImport, perTest } = namespace.mutantCoverage ?? { static: {}, perTest: {} }
  const costOf = (test: RunnerTestCase): number => costs.get(test.id) ?? 0
  const quickFirst = tests
    .filter((test) => test.result?.state === 'pass' && costOf(test) <= testMsMax)
    .sort((a, b) => costOf(a) - costOf(b))
  for (const mutant of plan.mutants) {
    let [usualMs, cost] = [0, 0]
    // The tests beside the code are those that were written for it.
    const isBeside = (test: RunnerTestCase) => test.file.filepath.endsWith(plan.besides[mutant] ?? '')
    const covering = [...quickFirst.filter(isBeside), ...quickFirst.filter((test) => !isBeside(test))].filter((test) => {
      const isPlanned = perTest[test.id]?.[mutant] !== undefined && cost <= coveringMsMax
      if (isPlanned) {
        usualMs += test.result?.duration ?? 0
        cost += costOf(test)
      }
      return isPlanned
    })
    note(mutant, 'started', String(Math.min(mutantMsMin + slowFactor * usualMs, Math.max(mutantMsMax, 3 * usualMs))))
    namespace.hitCount = 0
    namespace.hitLimit = hitFactor * covering.reduce((sum, test) => sum + (perTest[test.id]?.[mutant] ?? 0), 0)
    resetState()
    namespace.activeMutant = mutant
    let killer: RunnerTestCase | undefined
    for (const test of covering) {
      if (await passes(test)) continue
      killer = test
      break
    }
    namespace.activeMutant = undefined
    resetState()
    // The mutant may have left something else behind. The parent starts a new process then.
    const isClean = killer === undefined || (await passes(killer))
    if (!isClean && plan.suspect !== mutant) return note(mutant, 'suspect')
    note(mutant, killer ? 'killed' : covering.length > 0 ? 'survived' : onImport[mutant] ? 'static' : 'uncovered')
    if (!isClean) return
  }
}

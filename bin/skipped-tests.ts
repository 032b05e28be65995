// Lists the skipped tests with their reasons at the end of a test run.
import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'

type Skipped = { file: string; name: string; reason: string }

/** Reasons stand in `skip(reason)` or, for tests skipped before they start, in the name: "verifies (skipped: python3-dkim is missing)". */
function reasonOf(test: TestCase): string {
  const result = test.result()
  const note = result.state === 'skipped' ? result.note : undefined
  const inName = /\bskipped: (.+?)\)?(?: > |$)/.exec(test.fullName)?.[1]
  return note ?? inName ?? (test.options.mode === 'todo' ? 'to do' : 'no reason given, see the condition in the file')
}

/** Groups by reason and file: one line per file, with the only test's name or the number of tests. */
export function describeSkipped(skipped: readonly Skipped[]): string {
  if (skipped.length === 0) return 'Skipped tests: none'
  const lines = [`Skipped tests: ${skipped.length}`]
  for (const [reason, tests] of Map.groupBy(skipped, (test) => test.reason)) {
    lines.push(`  ${reason}`)
    for (const [file, ofFile] of Map.groupBy(tests, (test) => test.file))
      lines.push(`    ${file}: ${ofFile.length === 1 ? ofFile[0]!.name : `${ofFile.length} tests`}`)
  }
  return lines.join('\n')
}

/** Prints nothing when `-t` selects tests by name, which skips all others. */
export class SkippedTestsReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const vitest = this.#vitest
    if (!vitest || vitest.getGlobalTestNamePattern()) return
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map((test) => ({
        file: relative(vitest.config.root, module.moduleId),
        name: test.fullName,
        reason: reasonOf(test),
      })),
    )
    console.log(`${describeSkipped(skipped)}\n`)
  }
}

// A ledger of checks. Each prints one line with its time and result, and any failure makes the command end with 1.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const nameWidth = 58

export type Checklist = ReturnType<typeof createChecklist>

/** Prints `ok`, the name, the seconds and a detail per check, or `FAIL` with the error. */
export function createChecklist() {
  let passed = 0
  let failed = 0
  return {
    /** Runs one check. Its result is printed as the detail. A thrown error fails the check, and the run continues. */
    async check(name: string, run: () => Promise<string | undefined> | string | undefined): Promise<boolean> {
      const beganMs = performance.now()
      const seconds = () => `${((performance.now() - beganMs) / 1000).toFixed(1)} s`.padStart(8)
      try {
        const detail = (await run()) ?? ''
        passed++
        console.log(`ok    ${name.padEnd(nameWidth)} ${seconds()}  ${detail}`.trimEnd())
        return true
      } catch (error) {
        failed++
        console.log(`FAIL  ${name.padEnd(nameWidth)} ${seconds()}  ${(error as Error).message}`)
        return false
      }
    },

    /** Prints the sum and sets the exit code. */
    finish(): void {
      console.log(`\n${passed} passed, ${failed} failed`)
      if (failed > 0) process.exitCode = 1
    },
  }
}

/** Fails a check unless the condition holds. */
export function expectThat(condition: boolean, failure: string): asserts condition {
  if (!condition) throw new Error(failure)
}

/** Ends the process with a sentence that names the Debian packages of missing programs. */
export function requirePrograms(packages: Record<string, string>): void {
  const problem = findMissing(packages)
  if (problem === null) return
  console.error(problem)
  process.exit(1)
}

/** The sentence about missing programs, or null. */
export function findMissing(packages: Record<string, string>): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']
  const missing = Object.entries(packages).filter(([program]) => !folders.some((folder) => isProgram(join(folder, program))))
  if (missing.length === 0) return null
  const names = [...new Set(missing.map(([, name]) => name))].join(' ')
  return `${missing.map(([program]) => program).join(', ')} not found. Run apt-get install --no-install-recommends ${names}`
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

// Stryker over the code that needs neither a server nor a database.
import { spawn } from 'node:child_process'
import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const killedShareMin = 90

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

/** Mutates the pure files below the path `below`. Resolves with true when enough mutants are killed. The report is written to a temporary folder. */
export async function runStryker(below: string): Promise<boolean> {
  const folder = join(tmpdir(), 'callsign-stryker')
  const settings = {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'bench/mutants/vitest.config.ts' },
    // Stryker rewrites tsconfig.json through an interface that TypeScript 7 does not have. Nothing here needs the rewritten file.
    tsconfigFile: 'absent.json',
    mutate: pureFiles().filter((file) => file.startsWith(below)),
    reporters: ['clear-text', 'json'],
    clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
    jsonReporter: { fileName: join(folder, 'mutation.json') },
    tempDirName: join(folder, 'work'),
    ignoreStatic: true,
    concurrency: 2,
    thresholds: { high: killedShareMin, low: killedShareMin, break: killedShareMin },
    allowEmpty: true,
  }
  const settingsFile = join(folder, 'settings.json')
  mkdirSync(folder, { recursive: true })
  writeFileSync(settingsFile, JSON.stringify(settings))
  const program = join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js')
  const child = spawn(process.execPath, [program, 'run', settingsFile], { cwd: root, stdio: 'inherit' })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  console.log(`The report is ${settings.jsonReporter.fileName}.`)
  return code === 0
}

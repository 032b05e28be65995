// Runs every static check: format and lint, types, dead code. With --write it formats and applies safe fixes first.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const write = process.argv.includes('--write')
const checks: [string, string[]][] = [
  ['format and lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', ...(write ? ['--write'] : []), '.']],
  ['types', ['node_modules/typescript/bin/tsc', '-p', '.']],
  ['dead code', ['node_modules/knip/bin/knip.js']],
]
let failed = 0
for (const [name, command] of checks) {
  const started = performance.now()
  const run = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' })
  const passed = run.status === 0
  if (!passed) failed++
  console.log(`${passed ? 'ok' : 'FAILED'}  ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
}
process.exitCode = failed === 0 ? 0 : 1

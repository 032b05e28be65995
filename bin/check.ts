// Runs every static check: format, lint, types, dead code and the rules of the repository. With --write it formats and applies safe fixes first.
import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const isWriting = process.argv.includes('--write')

const format = () =>
  check('format and lint', [
    'node_modules/@biomejs/biome/bin/biome',
    'check',
    '--error-on-warnings',
    ...(isWriting ? ['--write'] : []),
    '.',
  ])
// The parser is loaded and the repository is read once.
const oneThread = ['--pool=threads', '--no-isolate', '--maxWorkers=1']
const readOnly = [
  () => check('types', ['node_modules/typescript/bin/tsc', '-p', '.']),
  () => check('types of the console', ['node_modules/typescript/bin/tsc', '-p', 'packages/console']),
  () => check('dead code', ['node_modules/knip/bin/knip.js', '--cache', '--cache-location', join(root, 'node_modules/.cache/knip')]),
  () =>
    check('architecture, documents, flows, sizes, style', ['node_modules/vitest/vitest.mjs', 'run', '--project', 'rules', ...oneThread]),
]

// With --write, Biome changes files that the other checks read.
const formatted = isWriting ? [await format()] : []
const passed = await Promise.all((isWriting ? readOnly : [format, ...readOnly]).map((start) => start()))
process.exitCode = [...formatted, ...passed].every(Boolean) ? 0 : 1

/** Runs one check. Its output is kept until it ends, because the checks run side by side, and printed when it fails. */
function check(name: string, command: string[]): Promise<boolean> {
  const started = performance.now()
  const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => output.push(bytes))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code !== 0) process.stdout.write(Buffer.concat(output))
      console.log(`${code === 0 ? 'ok' : 'FAILED'}  ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
      resolve(code === 0)
    })
  })
}

// Takes the pictures of docs/images: runs the tests of the console and copies the screenshots that the documents show.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** File names in docs/images, each with the screenshot of a test. */
const pictures: Record<string, string> = {
  'console-inbox': 'thread',
  'console-approval': 'approval',
  'console-quarantine': 'quarantine-open',
  'console-tunnel': 'tunnel-request',
  'console-vault': 'vault-secret-light',
}

const folder = mkdtempSync(join(tmpdir(), 'callsign-screenshots-'))
try {
  const tests = ['console.test.ts', 'tunnel-screen.test.ts', 'vault.test.ts'].map((name) => join('packages', 'console', 'tests', name))
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...tests], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, CALLSIGN_SCREENSHOTS: folder },
  })
  if (status !== 0) throw new Error('The tests of the console failed, so the pictures were not copied.')
  for (const [name, screenshot] of Object.entries(pictures))
    copyFileSync(join(folder, `${screenshot}.png`), join(root, 'docs', 'images', `${name}.png`))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

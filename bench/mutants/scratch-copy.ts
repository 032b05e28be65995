// A copy of the work tree in which mutants are applied, so that a stopped run leaves the repository unchanged.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Copies the files that Git tracks or would track, and links the installed packages. Workspace packages resolve inside the copy. */
export function makeScratchCopy(root: string): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'callsign-mutants-'))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, maxBuffer: 1 << 26 })
  for (const path of listed.toString().split('\0')) {
    if (path === '' || !existsSync(join(root, path))) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(root, path), join(folder, path), { preserveTimestamps: true })
  }
  linkPackages(join(root, 'node_modules'), join(folder, 'node_modules'))
  // Without these, bin/run installs the packages and builds the console again, and its messages fail the tests of the start.
  for (const path of ['node_modules/.callsign-lock', 'packages/console/dist'])
    if (existsSync(join(root, path))) cpSync(join(root, path), join(folder, path), { recursive: true, preserveTimestamps: true })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Links every installed package. Relative links, which point at workspace packages, are repeated as they are. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    const source = join(from, name)
    if (lstatSync(source).isSymbolicLink()) symlinkSync(readlinkSync(source), join(to, name))
    else if (name.startsWith('@')) linkPackages(source, join(to, name))
    // Caches of test runs are not shared with the repository.
    else if (name === '.bin' || !name.startsWith('.')) symlinkSync(source, join(to, name))
  }
}

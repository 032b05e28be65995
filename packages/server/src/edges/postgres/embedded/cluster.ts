// Creates the database files on first start, completely or not at all.
import { spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { identityOf, type Programs } from './binaries.ts'
import { type Engine, recordEngine, syncDirectory } from './engine.ts'

/** Names inside the embedded database. */
export const userName = 'callsign'
export const databaseName = 'callsign'

export const clusterPath = (dataDir: string): string => join(dataDir, 'postgres')

/** The user id that owns the existing files, or null before they are created. */
export function clusterOwner(dataDir: string): number | null {
  return statSync(clusterPath(dataDir), { throwIfNoEntry: false })?.uid ?? null
}

/**
 * PostgreSQL's path to its own directory, which is its working directory. On Linux this path also works below directories that its account
 * may not pass through, such as /root, and for any path length.
 */
export const directoryArgument = (directory: string): string => (process.platform === 'linux' ? '/proc/self/cwd' : directory)

/** Nothing of the server's environment is passed to PostgreSQL. */
export const programEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** Runs initdb in a temporary directory and renames it into place, unless the files exist. The caller holds the lock. */
export async function ensureCluster(options: {
  dataDir: string
  programs: Programs
  account: Account | null
  engine: Engine
}): Promise<void> {
  const { dataDir, programs, account, engine } = options
  const path = clusterPath(dataDir)
  if (!existsSync(path)) {
    if (existsSync(join(dataDir, 'engine')))
      throw new Error(
        `The database ${path} is missing, though ${join(dataDir, 'engine')} says that there was one. Restore it, or remove that file to begin with an empty database.`,
      )
    removeUnfinished(dataDir)
    const fresh = mkdtempSync(join(dataDir, unfinishedPrefix))
    if (account) chownSync(fresh, account.uid, account.gid)
    const where = directoryArgument(fresh)
    const layout = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    // Access to the socket is enough to connect, so its directory belongs to PostgreSQL's account alone.
    const access = ['--username', userName, '--auth-local=trust', '--auth-host=reject']
    await runProgram(programs.initdb, ['-D', where, ...layout, ...access], fresh, account)
    await runProgram(programs.postgres, ['--single', '-D', where, 'template1'], fresh, account, `CREATE DATABASE ${databaseName}\n`)
    renameSync(fresh, path)
    syncDirectory(dataDir)
  }
  recordEngine(dataDir, engine)
}

const unfinishedPrefix = 'postgres.new-'

/** An initdb whose server was killed may still be writing for a moment. The next start then removes its files. */
function removeUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.startsWith(unfinishedPrefix)) continue
    try {
      rmSync(join(dataDir, name), { recursive: true, force: true })
    } catch {}
  }
}

function runProgram(program: string, args: string[], cwd: string, account: Account | null, input = ''): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...identityOf(account), cwd, env: programEnvironment, stdio: ['pipe', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-2000)
    })
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`The embedded database could not be made (${program} ended with ${code ?? signal}): ${said.trim()}`))
    })
  })
}

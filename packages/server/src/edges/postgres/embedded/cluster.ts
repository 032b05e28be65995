// Creates the database files on first start, completely or not at all.
import { spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { changeOwner, ownName } from './access.ts'
import type { Account, Accounts } from './account.ts'
import { identityOf, type Programs } from './binaries.ts'
import { type Engine, recordEngine, syncDirectory } from './engine.ts'
import { clusterPath, databaseName, directoryArgument, programEnvironment, userName } from './names.ts'

/** The owner of the existing files, or null before they are created. */
export function clusterOwner(dataDir: string): { uid: number; gid: number } | null {
  const stat = statSync(clusterPath(dataDir), { throwIfNoEntry: false })
  return stat ? { uid: stat.uid, gid: stat.gid } : null
}

/** Runs initdb in a temporary directory and renames it into place, unless the files exist. The caller holds the lock. */
export async function ensureCluster(options: {
  dataDir: string
  programs: Programs
  accounts: Accounts | null
  engine: Engine
}): Promise<void> {
  const { dataDir, programs, accounts, engine } = options
  const creator = accounts?.create ?? null
  const path = clusterPath(dataDir)
  if (!creator) ownName()
  if (!existsSync(path)) {
    if (existsSync(join(dataDir, 'engine')))
      throw new Error(
        `The database ${path} is missing, though ${join(dataDir, 'engine')} says that there was one. Restore it, or remove that file to begin with an empty database.`,
      )
    removeUnfinished(dataDir)
    const fresh = mkdtempSync(join(dataDir, unfinishedPrefix))
    if (creator) chownSync(fresh, creator.uid, creator.gid)
    const where = directoryArgument(fresh)
    const layout = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    const access = ['--username', userName, '--auth-local=reject', '--auth-host=reject']
    await runProgram(programs.initdb, ['-D', where, ...layout, ...access], fresh, creator)
    await runProgram(programs.postgres, ['--single', '-D', where, 'template1'], fresh, creator, `CREATE DATABASE ${databaseName}\n`)
    if (accounts) changeOwner(fresh, accounts.run)
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

// The exclusive lock on a data directory, which ends with its process, and a note with the address of the lock holder's database.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Connection } from '../servers.ts'

/** The note of a running server, for other processes on the same machine. */
export type Holder = { pid: number; connection: Connection }

export type DataDirLock = { release: () => void }

const sqliteBusy = 5

/**
 * Takes the lock, or returns null when another process has it. It is the operating system's record lock on a file, taken through SQLite
 * because Node does not have a call for one.
 * It is atomic, ends with the process in every case, and works across containers that share a volume. Reading the file `lock` by other
 * calls in the same process would release the lock (POSIX), so the file is never read.
 */
export function tryLock(dataDir: string): DataDirLock | null {
  const file = new DatabaseSync(join(dataDir, 'lock'), { timeout: 0 })
  try {
    file.exec('PRAGMA journal_mode = MEMORY')
    file.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    if ((error as { errcode?: number }).errcode === sqliteBusy) return null
    throw new Error(`Cannot lock the data directory ${dataDir}: ${(error as Error).message}.`)
  }
  return { release: () => file.close() }
}

const notePath = (dataDir: string): string => join(dataDir, 'running.json')

/** Publishes the address of the database for other processes. */
export function writeHolder(dataDir: string, holder: Holder): void {
  const path = notePath(dataDir)
  writeFileSync(`${path}.new`, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** Removed before the lock is released, and by the next lock holder after a crash. */
export const clearHolder = (dataDir: string): void => rmSync(notePath(dataDir), { force: true })

/** The note, or null while the lock holder is starting, stopping or gone. */
export function readHolder(dataDir: string): Holder | null {
  try {
    return JSON.parse(readFileSync(notePath(dataDir), 'utf8')) as Holder
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

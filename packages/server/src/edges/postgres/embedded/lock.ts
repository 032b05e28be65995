// Who holds a data directory: an exclusive lock that ends with its process, and a note that says where the holder's database is.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Connection } from '../connect.ts'

/** The note of a running server, for other processes of the same machine. */
export type Holder = { pid: number; connection: Connection }

export type DataDirLock = { release: () => void }

const sqliteBusy = 5

/**
 * Takes the lock, or gives null when another process has it. The lock is the operating system's record lock on a file, taken through
 * SQLite because Node has no call for one: atomic, gone with the process however it ends, and seen across containers that share a
 * volume. Reading the file `lock` with other calls in the process that holds it would drop the lock (POSIX), so nothing does.
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

/** Tells other processes where the database is. */
export function writeHolder(dataDir: string, holder: Holder): void {
  const path = notePath(dataDir)
  writeFileSync(`${path}.new`, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** Taken away before the lock is released, and by the next holder after a crash. */
export const clearHolder = (dataDir: string): void => rmSync(notePath(dataDir), { force: true })

/** The note, or null while the holder is starting, stopping or gone. */
export function readHolder(dataDir: string): Holder | null {
  try {
    return JSON.parse(readFileSync(notePath(dataDir), 'utf8')) as Holder
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

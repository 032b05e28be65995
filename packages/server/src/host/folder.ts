// Makes the folders that the settings name, or says which account cannot use which path.
import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import type { Config } from '../config/settings.ts'

/**
 * Makes a folder with those above it, and throws an Error for the operator when this account cannot create, list or write it. `setting` is
 * the variable that names it. Made level by level, because Node's recursive mkdir does not return for paths such as /proc/x.
 */
export function requireFolder(path: string, setting: string): void {
  try {
    makeFolder(path)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new Error(
      `${setting}=${path} cannot be used by the account ${accountName()}: ${(error as Error).message}. Set ${setting} to a folder that this account may write.`,
    )
  }
}

function makeFolder(path: string): void {
  if (isFolder(path)) return
  makeFolder(dirname(path))
  try {
    // Under root, PostgreSQL's account may have to pass through the folder, but not list it.
    mkdirSync(path, { mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error
  }
}

function isFolder(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat && !stat.isDirectory()) throw new Error(`${path} is not a directory`)
  return stat !== undefined
}

/** Name and number of the account that this process runs as. */
export function accountName(): string {
  const uid = process.getuid?.()
  try {
    return uid === undefined ? userInfo().username : `${userInfo().username} (user number ${uid})`
  } catch {
    return `user number ${uid}`
  }
}

/** The folders that this server writes to, with their settings. */
export const ownFolders = ({ dataDir, blobs }: Config): [string, string][] => [
  [dataDir, 'CALLSIGN_DATA_DIR'],
  ...(blobs.kind === 'file' && blobs.folder !== null ? [[blobs.folder, 'CALLSIGN_BLOBS'] as [string, string]] : []),
]

/** The folders of this machine that incoming mail is stored in. */
export const foldersOf = ({ databaseUrl, dataDir, blobs }: Config): string[] => [
  ...(databaseUrl === null ? [dataDir] : []),
  ...(blobs.kind === 'file' ? [blobs.folder ?? dataDir] : []),
]

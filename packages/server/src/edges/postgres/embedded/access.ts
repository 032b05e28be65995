// Limits connections to the embedded PostgreSQL to this server's operating-system account and root.
import { randomUUID } from 'node:crypto'
import { closeSync, fchownSync, fsyncSync, lchownSync, lstatSync, openSync, readdirSync, renameSync, writeSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { directoryArgument, userName } from './names.ts'

const rulesName = 'pg_hba.conf'
const mapName = 'pg_ident.conf'

/**
 * Writes the two files that PostgreSQL reads its access rules from. The kernel names the account at the other end of the socket (peer
 * authentication), and the map lets this server's account and root in. Written before every start, so an earlier rule such as `trust` does
 * not stay.
 */
export function writeAccessRules(directory: string, account: Account | null): void {
  const note = '# Written by Callsign at every start. Changes are lost.\n'
  const names = [...new Set(['root', ownName()])]
  replaceFile(directory, mapName, `${note}${names.map((name) => `callsign "${name}" ${userName}\n`).join('')}`, account)
  replaceFile(directory, rulesName, `${note}local all ${userName} peer map=callsign\n`, account)
}

/** Settings that name the files, so that postgresql.conf in the data directory cannot name others. */
export const accessSettings = (directory: string): Record<string, string> => ({
  hba_file: join(directoryArgument(directory), rulesName),
  ident_file: join(directoryArgument(directory), mapName),
})

/** The name of the server's account. initdb and PostgreSQL need it to have one. */
export function ownName(): string {
  try {
    return userInfo().username
  } catch {
    throw new Error(
      `User number ${process.getuid?.()} has no entry in /etc/passwd, which the embedded PostgreSQL needs. Add one, start Callsign as another user, or set CALLSIGN_DATABASE_URL.`,
    )
  }
}

/** PostgreSQL's account owns the directory, so an existing name may be a link. The file is therefore new, and renamed into place. */
function replaceFile(directory: string, name: string, text: string, account: Account | null): void {
  const path = join(directory, name)
  const fresh = `${path}.${randomUUID()}`
  const file = openSync(fresh, 'wx', 0o600)
  try {
    writeSync(file, text)
    if (account) fchownSync(file, account.uid, account.gid)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(fresh, path)
}

/**
 * Gives a directory with its files to another account. PostgreSQL must not be running. Root owns the directory meanwhile, which keeps the
 * old account out and makes the next start finish an interrupted change.
 */
export function changeOwner(directory: string, account: Account): void {
  lchownSync(directory, 0, 0)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) changeOwner(path, account)
    // Another name of the file may be outside of the directory.
    else if (lstatSync(path).nlink > 1) throw new Error(`${path} has several hard links, so its owner is not changed. Remove the others.`)
    else lchownSync(path, account.uid, account.gid)
  }
  lchownSync(directory, account.uid, account.gid)
}

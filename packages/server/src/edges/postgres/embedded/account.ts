// Chooses the operating-system account of PostgreSQL, which refuses to run as root.
import { readFileSync } from 'node:fs'

/** An account other than the server's. Spawned programs take `uid` and `gid`. */
export type Account = { name: string; uid: number; gid: number }

const preferredNames = ['callsign', 'postgres', '_postgres', 'nobody']

/**
 * The account for PostgreSQL, or null to use the server's own, when it is not root. Under root it is the owner of existing data, or else
 * the first of callsign, postgres and nobody that exists. Throws when none exists.
 */
export function chooseAccount(dataOwnerUid: number | null): Account | null {
  if (process.getuid?.() !== 0) return null
  const accounts = readAccounts()
  if (dataOwnerUid !== null && dataOwnerUid !== 0) {
    const owner = accounts.find((account) => account.uid === dataOwnerUid)
    if (owner) return owner
    throw new Error(
      `The database files belong to user number ${dataOwnerUid}, which has no entry in /etc/passwd here. Add that user, or change the owner of the files to "postgres" or "nobody".`,
    )
  }
  for (const name of preferredNames) {
    const account = accounts.find((candidate) => candidate.name === name && candidate.uid !== 0)
    if (account) return account
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and this machine has neither a user "postgres" nor "nobody". Start Callsign as another user, or set CALLSIGN_DATABASE_URL.',
  )
}

function readAccounts(): Account[] {
  const accounts: Account[] = []
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , uid, gid] = line.split(':')
    // macOS writes negative ids of the account "nobody" as -2. The kernel expects them unsigned.
    if (name && uid && gid) accounts.push({ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 })
  }
  return accounts
}

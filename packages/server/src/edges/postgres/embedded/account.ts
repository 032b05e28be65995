// Chooses the operating-system accounts of PostgreSQL, which refuses to run as root.
import { readFileSync } from 'node:fs'

/** An account other than the server's. Spawned programs take `uid` and `gid`. */
export type Account = { name: string; uid: number; gid: number }

/** `run` owns the files and runs PostgreSQL. `create` runs initdb, which needs an entry in /etc/passwd, on a directory that `run` then gets. */
export type Accounts = { run: Account; create: Account }

/** First user number tried when the machine has no account "callsign". Above the ranges of people and packages, below 65,536. */
const dedicatedUid = 57_432

const creatingNames = ['postgres', '_postgres', 'bin', 'daemon']

/**
 * The accounts for PostgreSQL, or null to use the server's own, when it is not root. Under root, PostgreSQL runs as the owner of existing
 * data, or else as "callsign", or else as a user number that no entry of /etc/passwd has. It never runs as `nobody`, which other programs
 * share. Throws when no account can run initdb.
 */
export function chooseAccounts(owner: { uid: number; gid: number } | null): Accounts | null {
  if (process.getuid?.() !== 0) return null
  return chooseFor(owner, readFileSync('/etc/passwd', 'utf8'))
}

/** The choice under root, from the text of /etc/passwd. */
export function chooseFor(owner: { uid: number; gid: number } | null, passwd: string): Accounts {
  const accounts = readAccounts(passwd)
  const run = findOwner(owner, accounts) ?? accounts.find(({ name, uid }) => name === 'callsign' && uid !== 0) ?? findFreeNumber(accounts)
  const named = accounts.filter((account) => account.uid !== 0 && !isShared(account))
  const create =
    named.find(({ uid }) => uid === run.uid) ??
    creatingNames.flatMap((name) => named.filter((account) => account.name === name))[0] ??
    named[0]
  if (create) return { run, create }
  throw new Error(
    'PostgreSQL refuses to run as root, and this machine has no other account that may create its files. Run "useradd --system callsign", start Callsign as another user, or set CALLSIGN_DATABASE_URL.',
  )
}

function findOwner(owner: { uid: number; gid: number } | null, accounts: Account[]): Account | null {
  if (owner === null || owner.uid === 0) return null
  const account = accounts.find(({ uid }) => uid === owner.uid) ?? { name: `user number ${owner.uid}`, ...owner }
  return isShared(account) ? null : account
}

function findFreeNumber(accounts: Account[]): Account {
  let uid = dedicatedUid
  while (accounts.some((account) => account.uid === uid || account.gid === uid)) uid++
  return { name: `user number ${uid}`, uid, gid: uid }
}

/** True for `nobody`, as which several programs may run. 65534 is its number on Linux, also without an entry. */
const isShared = ({ name, uid }: Account): boolean => name === 'nobody' || uid === 65_534

function readAccounts(passwd: string): Account[] {
  const accounts: Account[] = []
  for (const line of passwd.split('\n')) {
    const [name, , uid, gid] = line.split(':')
    // macOS writes negative ids of the account `nobody` as -2. The kernel expects them unsigned.
    if (name && uid && gid) accounts.push({ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 })
  }
  return accounts
}

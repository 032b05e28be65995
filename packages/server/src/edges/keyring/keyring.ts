// The server's master secret, a file in the data directory. All other secret keys of the server are derived from it.
import { hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, open, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** Keys by purpose. */
export type Keyring = {
  /** 32 bytes for one purpose (`media-links`), the same on every start. A subkey reveals nothing about another. HKDF-SHA256, RFC 5869. */
  subkey(purpose: string): Buffer
}

// The marker identifies the file, and allows another format later.
const marker = 'callsign-master-1:'
const filePattern = new RegExp(`^${marker}([A-Za-z0-9_-]{43})\\n?$`)
const masterBytes = 32
const purposePattern = /^[a-z][a-z0-9-]{0,63}$/

/**
 * Opens `<dataDir>/keyring/master`, which is created on the first start. Processes that start at once agree on one.
 * Throws an Error for the operator when others than the owner may read the file or when it is damaged. A new secret in its place would make
 * everything sealed with the old one unreadable.
 */
export async function openKeyring(dataDir: string): Promise<Keyring> {
  const path = masterPath(dataDir)
  const master = (await readMaster(path)) ?? (await createMaster(path, randomBytes(masterBytes)))
  const subkeys = new Map<string, Buffer>()
  return {
    subkey(purpose) {
      if (!purposePattern.test(purpose)) throw new Error(`not a purpose of a key: ${JSON.stringify(purpose)}`)
      const known = subkeys.get(purpose)
      if (known) return known
      const derived = Buffer.from(hkdfSync('sha256', master, '', `callsign/1/${purpose}`, 32))
      subkeys.set(purpose, derived)
      return derived
    },
  }
}

const masterPath = (dataDir: string): string => join(resolve(dataDir), 'keyring', 'master')

/** The keyring as one line of text, for a backup, or null when it does not exist yet. Throws as openKeyring does. */
export async function exportKeyring(dataDir: string): Promise<string | null> {
  const master = await readMaster(masterPath(dataDir))
  return master && toLine(master)
}

/**
 * Installs an exported keyring. Returns false when the same keyring was already installed. Throws when the directory has another keyring or
 * the text is malformed.
 */
export async function importKeyring(dataDir: string, text: string): Promise<boolean> {
  const path = masterPath(dataDir)
  const wanted = fromLine(text)
  if (!wanted) throw new Error('the keyring of the backup is damaged')
  const found = await readMaster(path)
  const master = found ?? (await createMaster(path, wanted))
  if (!master.equals(wanted))
    throw new Error(`${path} is another installation's master secret. Move it away, or use another CALLSIGN_DATA_DIR.`)
  return found === null
}

/** Removes a keyring that importKeyring has just installed. */
export const removeKeyring = (dataDir: string): Promise<void> => unlink(masterPath(dataDir))

const toLine = (master: Buffer): string => `${marker}${master.toString('base64url')}\n`

function fromLine(text: string): Buffer | null {
  const master = Buffer.from(filePattern.exec(text)?.[1] ?? '', 'base64url')
  return master.length === masterBytes ? master : null
}

/** The master secret, or null without a file. */
async function readMaster(path: string): Promise<Buffer | null> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (!file) return null
  try {
    const { mode, size } = await file.stat()
    // Windows does not have these permission bits.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new Error(
        `the master secret ${path} can be read by others than its owner. If no other user has read it, run "chmod 600 ${path}".`,
      )
    }
    const master = size < 200 ? fromLine(await file.readFile('utf8')) : null
    if (!master) throw new Error(`the master secret ${path} is damaged, so restore it from a backup`)
    return master
  } finally {
    await file.close()
  }
}

/** Creates the file with this secret, unless another process is first. Returns the installed secret. */
async function createMaster(path: string, secret: Buffer): Promise<Buffer> {
  const directory = dirname(path)
  const above = (await mkdir(directory, { recursive: true, mode: 0o700 })) ?? directory
  const temporary = join(directory, `.master-${randomUUID()}`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(toLine(secret))
      await file.sync()
    } finally {
      await file.close()
    }
    // Linked and not renamed, so that the first of several processes wins and is never overwritten.
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await unlink(temporary).catch(() => {})
  }
  // The secret and its folders must survive a power cut before anything is sealed with it.
  for (let folder = directory; ; folder = dirname(folder)) {
    await syncFolder(folder)
    if (folder === dirname(above) || folder === dirname(folder)) break
  }
  const master = await readMaster(path)
  if (!master) throw new Error(`the master secret ${path} vanished while it was made`)
  return master
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

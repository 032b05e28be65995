// The server's one master secret: a file in the data directory, from which every other secret key of ours is derived.
import { hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, open, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** Keys by purpose. */
export type Keyring = {
  /** 32 bytes for one purpose (`media-links`), the same on every start; knowing one tells nothing about another. HKDF-SHA256, RFC 5869. */
  subkey(purpose: string): Buffer
}

// The marker says what the file is, and leaves room for another form later.
const marker = 'callsign-master-1:'
const filePattern = new RegExp(`^${marker}([A-Za-z0-9_-]{43})\\n?$`)
const masterBytes = 32
const purposePattern = /^[a-z][a-z0-9-]{0,63}$/

/**
 * Opens `<dataDir>/keyring/master`, made on the first start; processes that start at once agree on one. Throws an Error with a sentence for the operator
 * when others than the owner may read the file or when it is damaged: a new secret in its place would make everything sealed with the old one unreadable.
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

/** The keyring as one line of text, for a backup, or null when there is none yet. Throws as openKeyring does. */
export async function exportKeyring(dataDir: string): Promise<string | null> {
  const master = await readMaster(masterPath(dataDir))
  return master && toLine(master)
}

/**
 * Installs what exportKeyring gave, and returns whether it was not there already. Throws a sentence when the directory has another keyring or the
 * text is none.
 */
export async function importKeyring(dataDir: string, text: string): Promise<boolean> {
  const path = masterPath(dataDir)
  const wanted = fromLine(text)
  if (!wanted) throw new Error('the keyring of the backup is damaged')
  const found = await readMaster(path)
  const master = found ?? (await createMaster(path, wanted))
  if (!master.equals(wanted))
    throw new Error(`${path} is another installation's master secret; move it away, or use another CALLSIGN_DATA_DIR`)
  return found === null
}

/** Takes a keyring away again that importKeyring has just installed. */
export const removeKeyring = (dataDir: string): Promise<void> => unlink(masterPath(dataDir))

const toLine = (master: Buffer): string => `${marker}${master.toString('base64url')}\n`

function fromLine(text: string): Buffer | null {
  const master = Buffer.from(filePattern.exec(text)?.[1] ?? '', 'base64url')
  return master.length === masterBytes ? master : null
}

/** The master secret, or null when there is no file yet. */
async function readMaster(path: string): Promise<Buffer | null> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (!file) return null
  try {
    const { mode, size } = await file.stat()
    // Windows has no such permission bits.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new Error(`the master secret ${path} can be read by others than its owner; if nobody has, run: chmod 600 ${path}`)
    }
    const master = size < 200 ? fromLine(await file.readFile('utf8')) : null
    if (!master) throw new Error(`the master secret ${path} is damaged; restore it from a backup`)
    return master
  } finally {
    await file.close()
  }
}

/** Makes the file with this secret, unless another process is first; returns the one that is there then. */
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
    // Linked, not renamed: the first of several processes wins and is never written over.
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await unlink(temporary).catch(() => {})
  }
  // The secret must outlive a power cut before anything is sealed with it, and so must the folders that hold it.
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

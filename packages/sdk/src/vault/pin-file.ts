// Stores pins in a file for command lines and servers. The file is readable by its owner alone and replaced atomically by one writer at a time.
import { VaultError } from '../errors.ts'
import { encodeHex, nodeModule, randomBytes } from './crypto/bytes.ts'
import { createMemoryPins, type PinDocument, type PinStore, parsePins } from './pins.ts'

/** A lock of this age is stale, because a lock is held for a few milliseconds only. */
const lockAgeMsMax = 10_000
const lockPauseMs = 10

/** The file of the command line, `vault-pins.json` in `CALLSIGN_CLIENT_DIR` or in `callsign` in the folder for settings. null in browsers. */
export function defaultPinFile(): string | null {
  const os = nodeModule<typeof import('node:os')>('node:os')
  const path = nodeModule<typeof import('node:path')>('node:path')
  if (!os || !path) return null
  const { CALLSIGN_CLIENT_DIR, XDG_CONFIG_HOME } = process.env
  const folder = CALLSIGN_CLIENT_DIR || path.join(XDG_CONFIG_HOME || path.join(os.homedir(), '.config'), 'callsign')
  return path.join(folder, 'vault-pins.json')
}

/** Pins in the file of the command line in Node, Deno and Bun, and in memory in browsers. */
export function createDefaultPins(): PinStore {
  const file = defaultPinFile()
  return file === null ? createMemoryPins() : createFilePins(file)
}

/** Pins of every server in one JSON file. Needs Node, Deno or Bun. Creates the folder, accessible to its owner only. */
export function createFilePins(file: string): PinStore {
  const fs = nodeModule<typeof import('node:fs/promises')>('node:fs/promises')
  if (!fs) throw new VaultError('pins_unreadable', 'This runtime does not have files. Use createStoragePins or createMemoryPins.')

  async function readAll(): Promise<Record<string, PinDocument>> {
    let text: string
    try {
      text = await fs!.readFile(file, 'utf8')
    } catch (error) {
      if ((error as { code?: string }).code === 'ENOENT') return {}
      throw new VaultError('pins_unreadable', `The pins in ${file} cannot be read.`, { cause: error })
    }
    try {
      const all = JSON.parse(text) as Record<string, unknown>
      return Object.fromEntries(Object.entries(all).map(([server, document]) => [server, parsePins(JSON.stringify(document))]))
    } catch (error) {
      throw new VaultError('pins_unreadable', `The pins in ${file} cannot be read. Restore or remove the file yourself.`, { cause: error })
    }
  }

  async function makeFolder(): Promise<void> {
    const folder = file.replace(/[\\/][^\\/]*$/, '')
    if (folder === file || folder === '') return
    await fs!.mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: Error) => {
      throw new VaultError('pins_unreadable', `The pins cannot be stored in ${file}: ${cause.message}. Give vault.pins another place.`, {
        cause,
      })
    })
  }

  async function withLock<T>(work: () => Promise<T>): Promise<T> {
    const lock = `${file}.lock`
    for (;;) {
      try {
        await (await fs!.open(lock, 'wx', 0o600)).close()
        break
      } catch (error) {
        if ((error as { code?: string }).code !== 'EEXIST')
          throw new VaultError('pins_unreadable', `The pins cannot be stored in ${file}. Give vault.pins another place.`, { cause: error })
        const age = await fs!.stat(lock).then(
          ({ mtimeMs }) => Date.now() - mtimeMs,
          () => 0,
        )
        if (age > lockAgeMsMax) await fs!.rm(lock, { force: true })
        else await new Promise((resolve) => setTimeout(resolve, lockPauseMs))
      }
    }
    try {
      return await work()
    } finally {
      await fs!.rm(lock, { force: true })
    }
  }

  return {
    read: async (server) => (await readAll())[server],
    update: async (server, change) => {
      await makeFolder()
      await withLock(async () => {
        const all = await readAll()
        all[server] = change(all[server])
        const fresh = `${file}.${encodeHex(randomBytes(6))}`
        const handle = await fs.open(fresh, 'wx', 0o600)
        try {
          await handle.writeFile(`${JSON.stringify(all, null, 1)}\n`)
          await handle.sync()
        } finally {
          await handle.close()
        }
        await fs.rename(fresh, file)
      })
    },
  }
}

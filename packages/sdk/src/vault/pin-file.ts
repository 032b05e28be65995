// Stores pins in a file for command lines and servers. The file is readable by its owner alone and replaced atomically by one writer at a time.
import { VaultError } from '../errors.ts'
import { encodeHex, nodeModule, randomBytes } from './bytes.ts'
import { type PinDocument, type PinStore, parsePins } from './pins.ts'

/** A lock of this age is stale, because a lock is held for a few milliseconds only. */
const lockAgeMsMax = 10_000
const lockPauseMs = 10

/** Pins of every server in one JSON file. Needs Node, Deno or Bun. The folder must exist. */
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

  async function withLock<T>(work: () => Promise<T>): Promise<T> {
    const lock = `${file}.lock`
    for (;;) {
      try {
        await (await fs!.open(lock, 'wx', 0o600)).close()
        break
      } catch (error) {
        if ((error as { code?: string }).code !== 'EEXIST') throw error
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
    update: (server, change) =>
      withLock(async () => {
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
      }),
  }
}

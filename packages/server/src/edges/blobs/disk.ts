// Large bytes as files in a folder. A file is durable before it is acknowledged, and complete or absent.
import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, opendir, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { BlobMissing, type Blobs } from '../../core/blobs.ts'
import { nowMs } from '../../core/clock.ts'
import { checkBlobKey, checkBlobRange, isBlobKey } from './key.ts'

// A write takes seconds, so a temporary file this old belongs to a process that died.
const abandonedMs = 60 * 60 * 1000
const temporaryFolder = 'tmp'
const fanOutPattern = /^[0-9a-f]{2}$/

/**
 * Blobs in `directory`, which is created on first use. A path is `<two hex digits of SHA-256(key)>/<key with + for />`, so folders stay
 * small, a key is never a folder and every name can be turned back.
 * Errors of the file system (`code` ENOSPC, EACCES…) pass through. A power cut may undo the deletion of a blob, which is then an orphan and
 * swept.
 */
export function createDiskBlobs(directory: string): Blobs {
  const root = resolve(directory)
  const durableFolders = new Map<string, Promise<string>>()

  /**
   * A durable folder under the root (the root itself for ''). Cached as a promise, because a second writer must not continue before the
   * first has synced the parents.
   */
  function folder(name: string): Promise<string> {
    let made = durableFolders.get(name)
    if (!made) {
      made = name === '' ? makeFolder(root) : folder('').then(() => makeFolder(join(root, name)))
      // A failure, for example a full disk, is not cached.
      made.catch(() => durableFolders.delete(name))
      durableFolders.set(name, made)
    }
    return made
  }

  async function put(key: string, bytes: Buffer): Promise<void> {
    const target = pathOf(root, key)
    const [temporaries] = await Promise.all([folder(temporaryFolder), folder(fanOut(key))])
    const temporary = join(temporaries, randomUUID())
    try {
      const file = await open(temporary, 'wx', 0o600)
      try {
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(temporary, target)
    } catch (error) {
      await unlink(temporary).catch(() => {})
      throw error
    }
    await syncFolder(dirname(target))
  }

  /** The open file, and the range cut to its size. */
  async function openRange(key: string, range?: { start: number; end: number }): Promise<{ file: FileHandle; start: number; end: number }> {
    checkBlobRange(range)
    const file = await open(pathOf(root, key), 'r').catch((error: unknown) => {
      throw isMissing(error) ? new BlobMissing(`no blob ${key}`) : error
    })
    try {
      const { size } = await file.stat()
      return { file, start: Math.min(range?.start ?? 0, size), end: Math.min(range?.end ?? size, size) }
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async function sweepTemporaries(): Promise<void> {
    for await (const path of filesIn(join(root, temporaryFolder))) {
      if (await isOlder(path, abandonedMs)) await unlink(path).catch(ignoreMissing)
    }
  }

  return {
    put,

    async get(key, range) {
      const { file, start, end } = await openRange(key, range)
      try {
        const bytes = Buffer.allocUnsafe(end - start)
        let length = 0
        while (length < bytes.length) {
          const { bytesRead } = await file.read(bytes, length, bytes.length - length, start + length)
          if (bytesRead === 0) throw new Error(`blob ${key} became shorter while it was read`)
          length += bytesRead
        }
        return bytes
      } finally {
        await file.close()
      }
    },

    async stream(key, range) {
      const { file, start, end } = await openRange(key, range)
      if (start < end) return file.createReadStream({ start, end: end - 1 })
      await file.close()
      return Readable.from([])
    },

    async delete(key) {
      await unlink(pathOf(root, key)).catch(ignoreMissing)
    },

    async *list(olderThanMs) {
      await sweepTemporaries()
      for (const name of await foldersIn(root)) {
        if (!fanOutPattern.test(name)) continue
        for await (const path of filesIn(join(root, name))) {
          const key = keyOf(path)
          if (isBlobKey(key) && fanOut(key) === name && (await isOlder(path, olderThanMs))) yield key
        }
      }
    },
  }
}

const fanOut = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 2)

function pathOf(root: string, key: string): string {
  checkBlobKey(key)
  return join(root, fanOut(key), key.replaceAll('/', '+'))
}

const keyOf = (path: string): string => path.slice(dirname(path).length + 1).replaceAll('+', '/')

/**
 * Creates the folder and its ancestors. Syncs the parent of each new one, and its own parent in any case, because another process may just
 * have created it.
 */
async function makeFolder(path: string): Promise<string> {
  const first = (await mkdir(path, { recursive: true, mode: 0o700 })) ?? path
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    await syncFolder(parent)
    if (parent === dirname(first) || parent === dirname(parent)) return path
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The names in a folder of folders. Empty when it does not exist yet. */
async function foldersIn(path: string): Promise<string[]> {
  const names: string[] = []
  for await (const entry of entriesOf(path)) if (entry.isDirectory()) names.push(entry.name)
  return names
}

async function* filesIn(path: string): AsyncGenerator<string> {
  for await (const entry of entriesOf(path)) if (entry.isFile()) yield join(path, entry.name)
}

async function* entriesOf(path: string) {
  const folder = await opendir(path).catch(ignoreMissing)
  if (folder) yield* folder
}

/** False also for a file that was deleted meanwhile. */
async function isOlder(path: string, ageMs: number): Promise<boolean> {
  const found = await stat(path).catch(ignoreMissing)
  return found !== undefined && found.mtimeMs < nowMs() - ageMs
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

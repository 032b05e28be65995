// Places for backups: a folder, with one file per backup, or an S3-compatible store, with one object per piece.
import { randomUUID } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { type FileHandle, link, mkdir, open, readdir, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Config } from '../config/settings.ts'
import { bucketUrl } from '../config/values.ts'
import type { Blobs } from '../core/blobs.ts'
import { createBucket } from '../wiring/parts.ts'
import { DamagedArchive } from './archive.ts'
import { CommandFailed } from './failure.ts'

/** Backups by name. A name is complete or absent in `list`. */
export type BackupTarget = {
  /** Stores a backup, and resolves with its size once it is durable. */
  write(name: string, bytes: AsyncIterable<Buffer>): Promise<number>
  /** Names of complete backups made by a schedule, oldest first. */
  list(): Promise<string[]>
  read(name: string): AsyncIterable<Buffer>
  remove(name: string): Promise<void>
}

const namePattern = /^callsign-\d{8}t\d{6}z\.backup$/

/** The name of a backup made on a schedule. Names sort by time. */
export const backupName = (at: Date): string => `callsign-${at.toISOString().slice(0, 19).replace(/[-:]/g, '').toLowerCase()}z.backup`

/**
 * Writes a new file and resolves with its size. A file appears under its name only when it is complete and flushed. Only its owner can read
 * it, and it never replaces another file.
 */
export async function writeNewFile(path: string, bytes: AsyncIterable<Buffer>): Promise<number> {
  const target = resolve(path)
  if (existsSync(target)) throw new CommandFailed(`${target} exists already: name a new file`)
  const partial = `${target}.partial-${randomUUID().slice(0, 8)}`
  const file = await open(partial, 'wx', 0o600)
  try {
    let size = 0
    for await (const chunk of bytes) {
      await file.appendFile(chunk)
      size += chunk.length
    }
    await finishFile(file, partial, target)
    return size
  } finally {
    await file.close()
    await unlink(partial).catch(() => {})
  }
}

async function finishFile(file: FileHandle, partial: string, target: string): Promise<void> {
  await file.sync()
  // A link never replaces a file. On file systems without links (FAT), another file can appear between the check and the rename.
  await link(partial, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST' || existsSync(target)) throw new CommandFailed(`${target} exists already: name a new file`)
    return rename(partial, target)
  })
  const folder = await open(dirname(target), 'r')
  await folder.sync().finally(() => folder.close())
}

export function createFolderTarget(folder: string): BackupTarget {
  return {
    async write(name, bytes) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      return writeNewFile(join(folder, name), bytes)
    },
    list: async () => (existsSync(folder) ? (await readdir(folder)).filter((name) => namePattern.test(name)).sort() : []),
    read: (name) => createReadStream(join(folder, name)),
    remove: (name) => unlink(join(folder, name)),
  }
}

/** Bytes of one object. A backup is read and written with at most two of them in memory. */
const pieceBytes = 16 * 1024 * 1024

/** The last object of a backup. Without it, the backup is incomplete. */
const endName = 'end'
const pieceName = (index: number): string => String(index).padStart(8, '0')

/** Backups as objects `<name>/<number>` and `<name>/end`, which holds the number of pieces and of bytes. */
export function createBucketTarget(blobs: Blobs): BackupTarget {
  async function objectsOf(prefix: string): Promise<string[]> {
    const keys: string[] = []
    for await (const key of blobs.list(0)) if (key.startsWith(prefix)) keys.push(key)
    return keys
  }

  return {
    async write(name, bytes) {
      let pieces = 0
      let size = 0
      let pending: Buffer[] = []
      let pendingBytes = 0
      const flush = async () => {
        await blobs.put(`${name}/${pieceName(pieces++)}`, Buffer.concat(pending))
        pending = []
        pendingBytes = 0
      }
      for await (const chunk of bytes) {
        pending.push(chunk)
        pendingBytes += chunk.length
        size += chunk.length
        if (pendingBytes >= pieceBytes) await flush()
      }
      await flush()
      await blobs.put(`${name}/${endName}`, Buffer.from(JSON.stringify({ pieces, size })))
      return size
    },

    async list() {
      const ends = await objectsOf('callsign-')
      return ends
        .flatMap((key) => (key.endsWith(`/${endName}`) ? [key.slice(0, -endName.length - 1)] : []))
        .filter((name) => namePattern.test(name))
        .sort()
    },

    async *read(name) {
      const { pieces, size } = JSON.parse((await blobs.get(`${name}/${endName}`)).toString()) as { pieces: number; size: number }
      let read = 0
      for (let index = 0; index < pieces; index++) {
        const piece = await blobs.get(`${name}/${pieceName(index)}`)
        read += piece.length
        yield piece
      }
      if (read !== size) throw new DamagedArchive('the backup is damaged: a piece has another size')
    },

    async remove(name) {
      // The end goes first, so that an interrupted deletion leaves an incomplete backup.
      await blobs.delete(`${name}/${endName}`)
      for (const key of await objectsOf(`${name}/`)) await blobs.delete(key)
    },
  }
}

/** The target that the settings name. */
export function createTarget(config: Config): BackupTarget | null {
  const { backupTarget } = config
  if (backupTarget === null) return null
  return backupTarget.kind === 'file' ? createFolderTarget(backupTarget.folder) : createBucketTarget(createBucket(config, backupTarget))
}

/** The bytes of a backup: a file, or `s3://bucket/prefix/name`. */
export function readBackup(config: Config, path: string): AsyncIterable<Buffer> {
  const s3 = path.startsWith('s3://') ? bucketUrl(dirname(path)) : null
  if (s3) return createBucketTarget(createBucket(config, s3)).read(basename(path))
  return createReadStream(path)
}

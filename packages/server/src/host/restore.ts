// Runs `callsignd restore`. Restores a backup into an empty installation, or leaves the installation as it was.
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import { isId, timeOfId } from '@callsign/contract/ids'
import type { Config } from '../config/settings.ts'
import { BlobMissing, type Blobs } from '../core/blobs.ts'
import { nowMs } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { importKeyring, removeKeyring } from '../edges/keyring/keyring.ts'
import { BlobLedger } from '../edges/postgres/blob-ledger.ts'
import { type Copier, type Filling, openCopier, type Table } from '../edges/postgres/copier.ts'
import { findPending, makesTable, migrate, readApplied } from '../edges/postgres/migrate.ts'
import { cutsFor } from '../edges/postgres/partition-plan.ts'
import { createPartitions } from '../edges/postgres/partitions.ts'
import { createBlobs } from '../wiring/parts.ts'
import { DamagedArchive, type Entry, unpackArchive } from './archive.ts'
import { open } from './backup-cipher.ts'
import { blobPrefix, type End, entryNames, type Plan, readEnd, readHead, readPlan, tablePrefix } from './backup-format.ts'
import { readBackup } from './backup-targets.ts'
import { migrationsFolder, openUntouched, type StoredDatabase } from './database.ts'
import { CommandFailed } from './failure.ts'
import { requireFolder } from './folder.ts'

/** `path` is a file, `s3://bucket/prefix/name`, or `-` for standard input. `allowPlain` accepts one without encryption although a passphrase is set. */
export type BackupSource = { config: Config; path: string; allowPlain: boolean }

/** Restores a backup, and returns its contents in numbers. The whole file is checked before anything is changed. */
export async function restoreBackup(from: BackupSource, log: Log, stdin: Readable): Promise<End> {
  const { config, path } = from
  if (path !== '-') return restoreFile({ ...from, path: path.startsWith('s3://') ? path : resolve(path) }, log)
  // The archive is read twice, first to check all of it, then to restore it.
  requireFolder(config.dataDir, 'CALLSIGN_DATA_DIR')
  const spool = join(config.dataDir, `restore.partial-${randomUUID().slice(0, 8)}`)
  try {
    await pipeline(stdin, createWriteStream(spool, { mode: 0o600, flags: 'wx' }))
    return await restoreFile({ ...from, path: spool }, log)
  } finally {
    await unlink(spool).catch(() => {})
  }
}

type Contents = { plan: Plan; end: End; keyring: string | null; oldestMessageAt: number | null }

async function restoreFile(from: BackupSource, log: Log): Promise<End> {
  const contents = await check(from)
  const stored = await openUntouched(from.config, log)
  try {
    const copier = await openCopier(stored.target)
    try {
      await prepareTables(stored, copier, contents, log)
      await takeOver(from, copier, contents)
    } finally {
      await copier.close()
    }
    await migrate(stored.db, { folder: migrationsFolder, log })
    return contents.end
  } finally {
    await stored.close()
  }
}

async function* readArchive({ config, path, allowPlain }: BackupSource): AsyncGenerator<Entry> {
  const bytes = createZstdDecompress()
  // A failure of the pipe ends the stream that is read below.
  pipeline(open(readBackup(config, path), { passphrase: config.backupPassphrase, allowPlain }), bytes).catch(() => {})
  try {
    yield* unpackArchive(bytes as AsyncIterable<Buffer>)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (/^(E[A-Z]+)$/.test(code)) throw new CommandFailed(`${path} cannot be read: ${(error as Error).message}`)
    if (/^(ZSTD_|Z_|ERR_)/.test(code)) throw new DamagedArchive('this is not a backup of Callsign, or it is damaged')
    throw error
  } finally {
    bytes.destroy()
  }
}

/** Reads the whole archive. Throws a sentence if it is incomplete, damaged or of a newer version. */
async function check(from: BackupSource): Promise<Contents> {
  let keyring: string | null = null
  let plan: Plan | null = null
  let end: End | null = null
  let oldestMessageAt: number | null = null
  let isFirst = true
  for await (const entry of readArchive(from)) {
    if (isFirst) readHead(entry)
    isFirst = false
    if (entry.name === entryNames.keyring) keyring = entry.bytes.toString()
    if (entry.name === entryNames.plan) {
      plan = readPlan(entry)
      // Before the checksum, so that the error for a newer backup is about its version.
      findPending(migrationsFolder, plan.migrations, 'backup')
    }
    if (entry.name.startsWith(`${tablePrefix}messages/`)) oldestMessageAt ??= timeOfFirst(entry.bytes)
    if (entry.name === entryNames.end) end = readEnd(entry)
  }
  if (!plan || !end) throw new DamagedArchive('the backup is damaged: a part is missing')
  return { plan, end, keyring, oldestMessageAt }
}

/** The migration after which tables have partitions. */
const partitionsVersion = 36

const versionOf = (applied: { version: number }[]): number => applied.at(-1)?.version ?? 0

/** Creates empty tables of the backup's version. Throws a sentence when the installation is not empty. */
async function prepareTables(stored: StoredDatabase, copier: Copier, { plan, end, oldestMessageAt }: Contents, log: Log): Promise<void> {
  const applied = await readApplied(copier)
  findPending(migrationsFolder, applied, 'database')
  await requireUnused(copier, await copier.findTables())
  const wanted = versionOf(plan.migrations)
  if (versionOf(applied) > wanted) await dropTables(copier)
  await migrate(stored.db, { folder: migrationsFolder, log, through: wanted })
  if (wanted >= partitionsVersion && oldestMessageAt !== null)
    await createPartitions(stored.db, log).divide(cutsFor(end.rows.messages ?? 0, oldestMessageAt, nowMs()))
}

/** The first message in the rows of a table. Old partitions come first, so it is one of the oldest. */
function timeOfFirst(rows: Buffer): number | null {
  const id = rows.subarray(0, 64).toString('latin1').split('\t', 1)[0] as string
  return isId('message', id) ? timeOfId(id) : null
}

async function requireUnused(copier: Copier, tables: Table[]): Promise<void> {
  if (!(await copier.isInUse(tables))) return
  throw new CommandFailed('this installation is in use already: restore into a new CALLSIGN_DATA_DIR, or an empty database')
}

/** Drops the tables of an empty database of a newer version, so that tables of the backup's version can be created. */
async function dropTables(copier: Copier): Promise<void> {
  const tables = await copier.findTables()
  const foreign = tables.find(({ name }) => !makesTable(migrationsFolder, name))
  if (foreign) throw new CommandFailed(`the database holds a table that is not Callsign's (${foreign.name}): use a database of its own`)
  await copier.begin('write')
  await requireUnused(copier, tables)
  await copier.dropTables(tables)
  await copier.commit()
}

/** Writes the keyring, the blobs, and all rows in one transaction. On a failure it deletes the keyring and blobs that it wrote. */
async function takeOver(from: BackupSource, copier: Copier, contents: Contents): Promise<void> {
  const { config } = from
  const blobs = createBlobs(config)
  const written = new BlobLedger()
  const rows = createRowReceiver(copier, contents.plan)
  let isKeyringNew = false
  try {
    isKeyringNew = contents.keyring !== null && (await importKeyring(config.dataDir, contents.keyring))
    for await (const entry of readArchive(from)) {
      if (entry.name.startsWith(blobPrefix)) await writeBlob(blobs, written, entry.name.slice(blobPrefix.length), entry.bytes)
      else if (entry.name === entryNames.plan) await rows.begin()
      else if (entry.name.startsWith(tablePrefix)) await rows.take(entry.name.slice(tablePrefix.length).replace(/\/\d+$/, ''), entry.bytes)
    }
    await rows.end(contents.end.rows)
    await copier.commit()
  } catch (error) {
    await rows.abort()
    await copier.rollback().catch(() => {})
    for (const { key } of written.uncopied(1)) await blobs.delete(key).catch(() => {})
    if (isKeyringNew) await removeKeyring(config.dataDir)
    throw error
  } finally {
    written.close()
  }
}

/** Writes a blob, and records it if it is new. Other installations may use the same store, and a failed restore must keep their blobs. */
async function writeBlob(blobs: Blobs, written: BlobLedger, key: string, bytes: Buffer): Promise<void> {
  const isNew = await blobs.get(key, { start: 0, end: 0 }).then(
    () => false,
    (error: unknown) => {
      if (error instanceof BlobMissing) return true
      throw error
    },
  )
  if (isNew) written.add(key, 1)
  await blobs.put(key, bytes)
}

/** Fills the tables in the order of the archive. */
function createRowReceiver(copier: Copier, plan: Plan) {
  let current: { table: Table; filling: Filling } | null = null
  const counts: Record<string, number> = {}
  const finish = async () => {
    if (current) counts[current.table.name] = await current.filling.end()
    current = null
  }
  return {
    async begin() {
      await copier.begin('write')
      const known = await copier.findTables()
      await requireUnused(copier, known)
      for (const table of plan.tables) {
        const found = known.find(({ name }) => name === table.name)
        if (!found || !table.columns.every((column) => found.columns.includes(column)))
          throw new DamagedArchive(`the backup is damaged: its version of Callsign does not have its table ${table.name}`)
      }
      // The backup includes the rows that migrations insert.
      await copier.empty(known)
    },
    async take(name: string, bytes: Buffer) {
      if (current?.table.name !== name) {
        await finish()
        const table = plan.tables.find((one) => one.name === name)
        if (!table) throw new DamagedArchive(`the backup is damaged: it has rows of an unknown table ${name}`)
        current = { table, filling: copier.fill(table) }
      }
      await current.filling.write(bytes)
    },
    async abort() {
      await current?.filling.abort()
    },
    async end(expected: Record<string, number>) {
      await finish()
      for (const { name } of plan.tables) {
        if ((counts[name] ?? 0) !== expected[name]) throw new DamagedArchive(`the backup is damaged: the table ${name} has lost rows`)
      }
    },
  }
}

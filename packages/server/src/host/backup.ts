// Runs `callsignd backup`. Writes a whole installation into one file, as of one moment, while the server may run.
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import type { Config } from '../config/settings.ts'
import { BlobMissing, type Blobs } from '../core/blobs.ts'
import { now } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { exportKeyring } from '../edges/keyring/keyring.ts'
import { recordSuccess } from '../edges/postgres/backup-state.ts'
import { BlobLedger } from '../edges/postgres/blob-ledger.ts'
import { type Copier, openCopier, type Table } from '../edges/postgres/copier.ts'
import { readApplied } from '../edges/postgres/migrate.ts'
import type { Target } from '../edges/postgres/servers.ts'
import { createBlobs, version } from '../wiring/parts.ts'
import { type Entry, packArchive } from './archive.ts'
import { seal } from './backup-cipher.ts'
import { blobPrefix, type End, entryNames, formatVersion, jsonEntry, tablePrefix } from './backup-format.ts'
import { writeNewFile } from './backup-targets.ts'
import { openUntouched } from './database.ts'
import { CommandFailed } from './failure.ts'

const pieceBytes = 1024 * 1024
/** Blobs read ahead of the archive, to hide the latency of an object store. Each may be as large as a message. */
const blobsAhead = 4
/** Each round copies only the blobs written since the previous one. Two or three rounds are usual. */
const roundsMax = 20

/** Writes the backup to `path`, or to standard output for `-`, and returns its contents in numbers. */
export async function writeBackup(config: Config, log: Log, path: string, stdout: Writable & { isTTY?: boolean }): Promise<End> {
  if (path === '-' && stdout.isTTY)
    throw new CommandFailed('a backup is binary and cannot go to a terminal: name a file, or redirect the output to one', true)
  const stored = await openUntouched(config, log)
  try {
    const { end, size } = await makeBackup(config, stored.target, async (bytes) => {
      if (path !== '-') return writeNewFile(path, bytes)
      await pipeline(bytes, stdout)
      return 0
    })
    if (end.missing_blobs === 0) await recordSuccess(stored.db, { name: path, size, at: now() })
    return end
  } finally {
    await stored.close()
  }
}

/**
 * Passes the bytes of a backup of the database at `target` to `write`, compressed, and encrypted with the passphrase of the settings.
 * Resolves with its contents in numbers and its size. `signal` stops it.
 */
export async function makeBackup(
  config: Config,
  target: Target,
  write: (bytes: AsyncIterable<Buffer>) => Promise<number>,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ end: End; size: number }> {
  const copier = await openCopier(target)
  const ledger = new BlobLedger()
  const end: End = { blobs: 0, missing_blobs: 0, rows: {} }
  const { backupPassphrase } = config
  try {
    const at = now()
    const entries = readEntries({ config, copier, ledger, blobs: createBlobs(config), end, at })
    let size = 0
    await pipeline(
      Readable.from(packArchive(entries, at, () => end)),
      createZstdCompress(),
      async (bytes: AsyncIterable<Buffer>) => {
        size = await write(backupPassphrase === null ? bytes : seal(bytes, backupPassphrase))
      },
      { signal },
    )
    return { end, size }
  } finally {
    ledger.close()
    await copier.close()
  }
}

type Source = { config: Config; copier: Copier; ledger: BlobLedger; blobs: Blobs; end: End; at: Date }

async function* readEntries(source: Source): AsyncGenerator<Entry> {
  const { config, copier, end } = source
  const migrations = await readApplied(copier)
  if (migrations.length === 0) throw new CommandFailed('there is nothing to back up: the database is empty')
  yield jsonEntry(entryNames.head, {
    format: 'callsign-backup',
    version: formatVersion,
    callsign: version,
    created_at: source.at.toISOString(),
  })
  const keyring = await exportKeyring(config.dataDir)
  if (keyring !== null) yield { name: entryNames.keyring, bytes: Buffer.from(keyring) }
  const tables = yield* readBlobs(source)
  // In the transaction that readBlobs left open, so that every blob named by these rows is in the archive.
  yield jsonEntry(entryNames.plan, { migrations: await readApplied(copier), tables })
  for (const table of tables) yield* readTable(copier, table, end)
  await copier.commit()
}

/**
 * Blobs are deleted after the commit that deletes their rows, so that the rows of one moment may name blobs that vanish before they are
 * copied. Therefore blobs are copied first, in rounds. Each round copies the blobs that are named and not copied yet. The last round is
 * the one in which no blob vanished. Leaves its transaction open.
 */
async function* readBlobs({ copier, ledger, blobs, end }: Source): AsyncGenerator<Entry, Table[]> {
  for (let round = 1; round <= roundsMax; round++) {
    await copier.begin('read')
    const tables = await copier.findTables()
    await ledger.addAll(copier.blobKeys(tables), round)
    // The first round may take hours. An open transaction would keep the database from vacuuming deleted rows.
    const isShort = round > 1
    if (!isShort) await copier.commit()
    let vanished = 0
    end.missing_blobs = 0
    for await (const { key, bytes, wasGone } of readAhead(ledger.uncopied(round), blobs)) {
      if (bytes) {
        ledger.mark(key, 'copied')
        end.blobs++
        yield { name: blobPrefix + key, bytes }
      } else if (wasGone) {
        // Gone before this round began, and rows still name it. It is lost, not deleted.
        end.missing_blobs++
      } else {
        ledger.mark(key, 'gone')
        vanished++
      }
    }
    if (isShort && vanished === 0) return tables
    if (isShort) await copier.rollback()
  }
  throw new CommandFailed('files were deleted while they were copied: try again when fewer messages are being deleted')
}

type ReadBlob = { key: string; bytes: Buffer | null; wasGone: boolean }

/** The blobs in order, up to `blobsAhead` read in advance. `bytes` is null for a missing one. */
async function* readAhead(keys: Iterable<{ key: string; state: string }>, blobs: Blobs): AsyncGenerator<ReadBlob> {
  const ahead: Promise<ReadBlob>[] = []
  for (const { key, state } of keys) {
    const reading = readBlob(blobs, key).then((bytes) => ({ key, bytes, wasGone: state === 'gone' }))
    // Awaited later. Until then, a failure must not end the process.
    reading.catch(() => {})
    ahead.push(reading)
    if (ahead.length >= blobsAhead) yield await (ahead.shift() as Promise<ReadBlob>)
  }
  for (const reading of ahead) yield await reading
}

async function readBlob(blobs: Blobs, key: string): Promise<Buffer | null> {
  try {
    return await blobs.get(key)
  } catch (error) {
    if (error instanceof BlobMissing) return null
    throw error
  }
}

async function* readTable(copier: Copier, table: Table, end: End): AsyncGenerator<Entry> {
  const rows = copier.read(table)
  let piece = 0
  let held: Buffer[] = []
  let heldBytes = 0
  const cut = (): Entry => {
    const entry = { name: `${tablePrefix}${table.name}/${String(++piece).padStart(8, '0')}`, bytes: Buffer.concat(held) }
    held = []
    heldBytes = 0
    return entry
  }
  for await (const bytes of rows as AsyncIterable<Buffer>) {
    held.push(bytes)
    heldBytes += bytes.length
    if (heldBytes >= pieceBytes) yield cut()
  }
  if (heldBytes > 0) yield cut()
  end.rows[table.name] = rows.rowCount
}

// The names of a backup's entries, and the contents of its JSON entries.
import type { Applied } from '../edges/postgres/migrate.ts'
import { DamagedArchive, type Entry, readJson } from './archive.ts'

/**
 * The entries, in their order, are `callsign.json` (Head), `keyring/master` (absent if the installation never had one), `blobs/<key>` for
 * each blob, `database.json` (Plan), `tables/<table>/<piece>` and `end.json` (End). The pieces of a table are its rows in COPY format,
 * cut at any byte.
 */
export const entryNames = { head: 'callsign.json', keyring: 'keyring/master', plan: 'database.json', end: 'end.json' } as const
export const blobPrefix = 'blobs/'
export const tablePrefix = 'tables/'

export const formatVersion = 1

/** `End.rows` is the number of rows by table. */
export type Head = { format: 'callsign-backup'; version: number; callsign: string; created_at: string }
export type Plan = { migrations: Applied[]; tables: { name: string; columns: string[] }[] }
export type End = { blobs: number; missing_blobs: number; rows: Record<string, number> }

export const jsonEntry = (name: string, value: Head | Plan): Entry => ({ name, bytes: Buffer.from(`${JSON.stringify(value, null, 2)}\n`) })

/** Throws DamagedArchive with a sentence when this program cannot read the format. */
export function readHead(entry: Entry): Head {
  const head = entry.name === entryNames.head ? (readJson(entry) as Partial<Head>) : {}
  if (head.format !== 'callsign-backup' || !Number.isSafeInteger(head.version)) throw new DamagedArchive('this is not a backup of Callsign')
  if ((head.version as number) > formatVersion)
    throw new DamagedArchive(
      `this backup was made by a newer version of Callsign (${head.callsign}): restore it with that version or a later one`,
    )
  return head as Head
}

export function readPlan(entry: Entry): Plan {
  const { migrations, tables } = readJson(entry)
  const isPlan =
    Array.isArray(migrations) &&
    migrations.every((one) => Number.isSafeInteger(one?.version) && typeof one.name === 'string' && typeof one.checksum === 'string') &&
    Array.isArray(tables) &&
    tables.every((one) => typeof one?.name === 'string' && isTextList(one.columns))
  if (!isPlan) throw new DamagedArchive(`the backup is damaged: its ${entry.name} cannot be read`)
  return { migrations, tables }
}

export function readEnd(entry: Entry): End {
  const { blobs, missing_blobs, rows } = readJson(entry)
  if (typeof rows !== 'object' || rows === null) throw new DamagedArchive(`the backup is damaged: its ${entry.name} cannot be read`)
  return { blobs: Number(blobs), missing_blobs: Number(missing_blobs), rows: rows as Record<string, number> }
}

const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string')

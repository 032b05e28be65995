// Records which database a data directory belongs to. A silent switch would look like a loss of all data.
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** `embedded <major version>` or `external`. */
export type Engine = `embedded ${number}` | 'external'

/** The engine recorded in the directory, or null when none is recorded. */
function readEngine(dataDir: string): string | null {
  const path = join(dataDir, 'engine')
  if (existsSync(path)) return readFileSync(path, 'utf8').trim()
  // A crash between creating the database and writing the record leaves only the database.
  const madeBy = join(dataDir, 'postgres', 'PG_VERSION')
  return existsSync(madeBy) ? `embedded ${readFileSync(madeBy, 'utf8').trim()}` : null
}

/** Records the engine on first use. Throws when the directory belongs to another. */
export function recordEngine(dataDir: string, engine: Engine): void {
  requireEngine(dataDir, engine)
  const path = join(dataDir, 'engine')
  if (existsSync(path)) return
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  const file = openSync(`${path}.new`, 'w', 0o644)
  writeSync(file, `${engine}\n`)
  fsyncSync(file)
  closeSync(file)
  renameSync(`${path}.new`, path)
  syncDirectory(dataDir)
}

/** Throws when the directory records another engine than this one. */
export function requireEngine(dataDir: string, engine: Engine): void {
  const found = readEngine(dataDir)
  if (found === null || found === engine) return
  const path = join(dataDir, 'engine')
  if (engine === 'external')
    throw new Error(
      `CALLSIGN_DATABASE_URL is set, but ${path} says that this data directory holds its own database (${found}). Unset it, use another CALLSIGN_DATA_DIR, or remove that file once the data has been moved.`,
    )
  if (found === 'external')
    throw new Error(
      `CALLSIGN_DATABASE_URL is not set, but ${path} says that this data directory goes with an external database. Set it, use another CALLSIGN_DATA_DIR, or remove that file to begin with an empty embedded database.`,
    )
  throw new Error(
    `${path} says "${found}", and this version of Callsign brings "${engine}". Export the data with the version that wrote it, and import it here.`,
  )
}

/** Makes renames inside a directory survive a power cut. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  fsyncSync(directory)
  closeSync(directory)
}

// The built console, read into memory, so that a request can only name files that exist there.
import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** A file of the build. `br` and `gzip` are its precompressed forms, when the build has them. */
export type BuiltFile = { bytes: Buffer; br: Buffer | null; gzip: Buffer | null; type: string; etag: string; isHashed: boolean }

export interface BuiltFiles {
  /** A file by its path below the folder, with `/` between segments. Null when it does not exist. */
  find(path: string): Promise<BuiltFile | null>
}

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  webmanifest: 'application/manifest+json',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  wasm: 'application/wasm',
  txt: 'text/plain; charset=utf-8',
}

const typeOf = (path: string): string => types[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream'

/** Vite puts the hash of the content before the extension of every asset. */
const hashedPattern = /^assets\/.*-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/

/** Names of every file of the build below `folder`, sorted. Empty without a build. */
export async function listBuiltFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
}

async function readFiles(folder: string): Promise<Map<string, BuiltFile>> {
  const names = await listBuiltFiles(folder)
  const contents = new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)))
  const files = new Map<string, BuiltFile>()
  for (const [name, bytes] of contents) {
    if (/\.(br|gz|map)$/.test(name)) continue
    files.set(name, {
      bytes,
      br: contents.get(`${name}.br`) ?? null,
      gzip: contents.get(`${name}.gz`) ?? null,
      type: typeOf(name),
      etag: `"${createHash('sha256').update(bytes).digest('base64url')}"`,
      isHashed: hashedPattern.test(name),
    })
  }
  return files
}

/** Reads the build on first use, and again when its index.html has changed. */
export function createBuiltFiles(folder: string): BuiltFiles {
  let seen: { version: number; files: Promise<Map<string, BuiltFile>> } | null = null

  async function current(): Promise<Map<string, BuiltFile>> {
    const version = await stat(join(folder, 'index.html')).then(
      (index) => index.mtimeMs,
      () => 0,
    )
    if (version === 0) return new Map()
    if (seen?.version !== version) seen = { version, files: readFiles(folder) }
    return seen.files
  }

  return { find: async (path) => (await current()).get(path) ?? null }
}

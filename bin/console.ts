// Builds the web console into packages/console/dist. With --if-changed it does nothing when the sources are those of the last build.
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'packages', 'console')
const target = join(folder, 'dist')
/** Lies in the built folder and names the sources that it came from. */
const stampName = '.callsign-sources'

/** Hash over the contents of everything that the bundle is made of. */
function hashSources(): string {
  const patterns = [
    'packages/{console,sdk,contract}/src/**/*',
    'packages/console/{index.html,*.html,vite.config.ts,package.json}',
    'packages/console/public/**/*',
  ]
  const hash = createHash('sha256')
  for (const path of [...new Set(globSync([...patterns, 'package-lock.json'], { cwd: root }))].toSorted()) {
    const whole = join(root, path)
    if (statSync(whole).isFile()) hash.update(`${path}\0`).update(readFileSync(whole)).update('\0')
  }
  return hash.digest('hex')
}

/** Builds beside the target and replaces it at the end, so that a running server always has whole files. */
export async function buildConsole({ isForced = false } = {}): Promise<void> {
  const stamp = hashSources()
  const stampFile = join(target, stampName)
  if (!isForced && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) {
    // bin/run compares times.
    utimesSync(stampFile, new Date(), new Date())
    return
  }
  const { build } = await import('vite')
  const fresh = join(folder, `.callsign-build-${process.pid}`)
  try {
    const common = { configFile: join(folder, 'vite.config.ts'), logLevel: 'warn' } as const
    await build({ ...common, build: { outDir: fresh, emptyOutDir: true } })
    await build({ ...common, mode: 'vault', build: { outDir: fresh, emptyOutDir: false } })
    compress(fresh)
    writeFileSync(join(fresh, stampName), stamp)
    replace(fresh)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** Writes the compressed forms beside each text file. The server sends them as they are. */
function compress(folder: string): void {
  for (const name of globSync('**/*.{html,js,css,svg}', { cwd: folder })) {
    const bytes = readFileSync(join(folder, name))
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

/** Puts the built folder in place. Another process may do the same at the same time. */
function replace(fresh: string): void {
  for (let attempt = 0; ; attempt++) {
    const old = `${fresh}-old-${attempt}`
    try {
      if (existsSync(target)) renameSync(target, old)
      renameSync(fresh, target)
      return
    } catch (error) {
      if (attempt >= 5) throw error
    } finally {
      rmSync(old, { recursive: true, force: true })
    }
  }
}

if (import.meta.main) await buildConsole({ isForced: !process.argv.includes('--if-changed') })

// Builds the console, and the published packages for the npm registry: JavaScript, types, README, LICENSE and a manifest of their own, packed as dist/*.tgz.
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildConsole } from './console.ts'

const root = join(import.meta.dirname, '..')

export type PublishedPackage = {
  /** Folder below packages/ and name below @callsign/. */
  name: string
  /** True when every export can be bundled for browsers. */
  runsInBrowsers: boolean
}

/** The packages that are published, each after those that it depends on. */
export const published: PublishedPackage[] = [
  { name: 'contract', runsInBrowsers: true },
  { name: 'mail', runsInBrowsers: false },
  { name: 'sdk', runsInBrowsers: true },
  { name: 'cli', runsInBrowsers: false },
]

/** Syntax and library of Node 20, which has the strings of ES2024. The rest is as in tsconfig.json. A newer global, such as Object.groupBy, fails the build. */
const compilerOptions = {
  target: 'es2023',
  lib: ['es2023', 'es2024.string'],
  incremental: false,
  noEmit: false,
  noEmitOnError: true,
  declaration: true,
  rewriteRelativeImportExtensions: true,
}

/** Compiles one package into a folder. Throws with the compiler's output. */
function compile(name: string, target: string): void {
  const source = join(root, 'packages', name)
  // Below the package, because the compiler looks for its dependencies from there.
  const folder = mkdtempSync(join(source, '.callsign-build-'))
  try {
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { ...compilerOptions, rootDir: join(source, 'src'), outDir: target },
      include: [join(source, 'src')],
      exclude: [join(source, 'src', '**', '*.test.ts')],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const run = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
    if (run.status !== 0) throw new Error(`packages/${name} does not compile: ${run.stdout}${run.stderr}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes the manifest of the built package: exports and commands lead to built files, and scripts and devDependencies go. */
function writeManifest(source: string, target: string): void {
  const { scripts: _, devDependencies: __, ...manifest } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const builtEntry = (path: string) => {
    if (!path.endsWith('.ts')) return path
    const built = path.replace('./src/', './').replace(/\.ts$/, '')
    return { types: `${built}.d.ts`, default: `${built}.js` }
  }
  // `default` serves both import and require: Node 20.19 and later require ES modules that have no top-level await.
  manifest.exports = mapValues(manifest.exports, builtEntry)
  if (manifest.bin) {
    manifest.bin = mapValues(manifest.bin, () => 'main.js')
    const main = join(target, 'main.js')
    writeFileSync(main, `#!/usr/bin/env node\n${readFileSync(main, 'utf8')}`)
    chmodSync(main, 0o755)
  }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

const mapValues = <T>(map: Record<string, string>, change: (value: string) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]))

/** Builds every published package into `<folder>/@callsign/<name>`. */
export function build(folder: string): void {
  for (const { name } of published) {
    const source = join(root, 'packages', name)
    const target = join(folder, '@callsign', name)
    rmSync(target, { recursive: true, force: true })
    compile(name, target)
    writeManifest(source, target)
    copyFileSync(join(source, 'README.md'), join(target, 'README.md'))
    copyFileSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
  }
}

/** Packs folders with a package.json each as tarballs into `target`, named as npm names them. */
export function pack(folders: string[], target: string): void {
  mkdirSync(target, { recursive: true })
  const run = spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', target, ...folders], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(`npm pack failed: ${run.error?.message ?? run.stderr}`)
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist') } } })
  for (const stale of globSync('callsign-*.tgz', { cwd: values.out })) rmSync(join(values.out, stale))
  build(values.out)
  await buildConsole()
  pack(
    published.map(({ name }) => join(values.out, '@callsign', name)),
    values.out,
  )
  for (const tarball of globSync('callsign-*.tgz', { cwd: values.out })) console.log(join(values.out, tarball))
}

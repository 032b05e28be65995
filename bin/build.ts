// Builds contract, SDK and command line for publishing: JavaScript and types into packages/*/dist, each with a package.json of its own.
import { spawnSync } from 'node:child_process'
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const published = ['contract', 'sdk', 'cli'] as const

/** What browsers and Node 20 understand; the rest as in tsconfig.json. */
const compilerOptions = {
  target: 'es2023',
  lib: ['es2023'],
  noEmit: false,
  declaration: true,
  rewriteRelativeImportExtensions: true,
}

/** Builds one package into a folder. Throws with what the compiler said. */
function buildPackage(name: (typeof published)[number], target: string): void {
  const source = join(root, 'packages', name)
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
    if (run.status !== 0) throw new Error(`${name} does not build: ${run.stdout}${run.stderr}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  writeManifest(source, target)
}

/** The package as published: exports of what was built, and no mention of tests or sources. */
function writeManifest(source: string, target: string): void {
  const { devDependencies: _, exports: sources, bin, ...manifest } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const entry = (path: string) => {
    const built = path.replace('./src/', './').replace(/\.ts$/, '')
    return { types: `${built}.d.ts`, default: `${built}.js` }
  }
  const exports =
    sources && Object.fromEntries(Object.entries(sources as Record<string, string>).map(([name, path]) => [name, entry(path)]))
  writeFileSync(
    join(target, 'package.json'),
    `${JSON.stringify({ ...manifest, ...(exports && { exports }), ...(bin && { bin: { callsign: './main.js' } }) }, null, 2)}\n`,
  )
  if (!bin) return
  const main = join(target, 'main.js')
  writeFileSync(main, `#!/usr/bin/env node\n${readFileSync(main, 'utf8')}`)
  chmodSync(main, 0o755)
}

/** Builds every published package; without a folder into its own `dist`, else into `<folder>/@callsign/<name>`. */
export function build(folder?: string): void {
  for (const name of published) {
    const target = folder === undefined ? join(root, 'packages', name, 'dist') : join(folder, '@callsign', name)
    rmSync(target, { recursive: true, force: true })
    buildPackage(name, target)
    console.log(`${name}: ${globSync('**/*.js', { cwd: target }).length} modules`)
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string' } } })
  build(values.out)
}

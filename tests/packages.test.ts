// Installs the packed packages into an empty folder and checks their contents, types, import and require on Node 20, and browser bundles.
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createContext, Script } from 'node:vm'
import { operations } from '@callsign/contract'
import { codeSamples } from '@callsign/contract/reference/code-samples'
import { operationDetails } from '@callsign/contract/reference/details'
import { build as bundle } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PublishedPackage, published } from '../bin/build.ts'
import { browserTypes, consumerNode, nodeTypes, type Registry, readManifest, startRegistry, typeCheck } from './package-registry.ts'

const root = join(import.meta.dirname, '..')

let registry: Registry
let project: string
beforeAll(async () => {
  registry = await startRegistry()
  project = registry.createProject('consumer')
  const names = published.map(({ name }) => `@callsign/${name}`)
  const { code, stderr } = await registry.run(project, 'npm', ['install', ...names])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const { name } of published) {
    const specifiers = specifiersOf(name)
    const imported = consumerOf(specifiers, (as, from) => `import * as ${as} from '${from}'`)
    const required = consumerOf(specifiers, (as, from) => `import ${as} = require('${from}')`)
    writeFileSync(join(project, `${name}.mts`), imported)
    writeFileSync(join(project, `${name}.cts`), required)
  }
})
afterAll(() => registry?.stop())

const folderOf = (name: string) => join(project, 'node_modules', '@callsign', name)

/** Every path that can be imported, such as `@callsign/sdk/vault`; patterns are filled in. */
function specifiersOf(name: string): string[] {
  return Object.entries(readManifest(folderOf(name)).exports).flatMap(([path, target]) => {
    const specifier = `@callsign/${name}${path.slice(1)}`
    if (typeof target === 'string') return []
    if (!path.includes('*')) return [specifier]
    const [before = '', after = ''] = target.default.replace('./', '').split('*')
    const files = globSync(`${before}*${after}`, { cwd: folderOf(name) })
    return files.map((file) => specifier.replace('*', file.slice(before.length, -after.length))).toSorted()
  })
}

/** Prints the exported names by specifier. An export of type `any`, the result of a broken declaration, does not compile. */
const consumerOf = (specifiers: string[], importOf: (name: string, specifier: string) => string): string => `
type Untyped<M> = { [K in keyof M]: 0 extends 1 & M[K] ? K : never }[keyof M]
type IsTyped<M> = [Untyped<M>] extends [never] ? true : Untyped<M>
${specifiers.map((specifier, index) => importOf(`m${index}`, specifier)).join('\n')}
${specifiers.map((_, index) => `const typed${index}: IsTyped<typeof m${index}> = true`).join('\n')}
const typed: boolean[] = [${specifiers.map((_, index) => `typed${index}`)}]
console.log(JSON.stringify([${specifiers.map((_, index) => `Object.keys(m${index}).sort()`)}]), typed.length)
export {}
`

const isForBrowsers = published.filter(({ runsInBrowsers }) => runsInBrowsers)
const filesOf = (packages: PublishedPackage[], ...extensions: string[]) =>
  packages.flatMap(({ name }) => extensions.map((extension) => `${name}.${extension}`))

// The next tests of this file run the output of this one.
test('consumers type-check strictly, as ES modules and as CommonJS', async () => {
  const options = { ...nodeTypes, module: 'nodenext', skipLibCheck: true }
  expect(await typeCheck(registry, project, options, filesOf(published, 'mts', 'cts'))).toBe('')
})

test('the TypeScript examples of the API reference type-check', async () => {
  const examples = operations.flatMap((operation) => {
    const details = operationDetails[operation.id]
    const sample = details && codeSamples(operation, details, '').find(({ label }) => label === 'TypeScript')
    return sample ? [`export async function ${operation.id}() {\n${sample.source}\n}`] : []
  })
  expect(examples.length).toBeGreaterThan(90)
  const declared =
    "import type { Callsign } from '@callsign/sdk'\ndeclare const callsign: Callsign, vaultKey: string, newVaultKey: string\n"
  writeFileSync(join(project, 'reference.mts'), declared + examples.join('\n'))
  const options = { ...nodeTypes, module: 'nodenext', skipLibCheck: true, noEmit: true }
  expect(await typeCheck(registry, project, options, ['reference.mts'])).toBe('')
})

test('consumers type-check with bundler resolution', async () => {
  const options = { ...nodeTypes, module: 'preserve', moduleResolution: 'bundler', noEmit: true, skipLibCheck: true }
  expect(await typeCheck(registry, project, options, filesOf(published, 'mts'))).toBe('')
})

test('browser consumers and the declarations type-check without @types/node', async () => {
  const options = { ...browserTypes, module: 'node20', noEmit: true, skipDefaultLibCheck: true }
  expect(await typeCheck(registry, project, options, filesOf(isForBrowsers, 'mts'))).toBe('')
})

describe.each(published)('@callsign/$name', ({ name }) => {
  test('contains modules, types, README, LICENSE and manifest, and nothing else', () => {
    const sources = globSync('**/*.ts', { cwd: join(root, 'packages', name, 'src'), exclude: ['**/*.test.ts'] })
    const modules = sources.flatMap((path) => [path.replace(/\.ts$/, '.js'), path.replace(/\.ts$/, '.d.ts')])
    const entries = readdirSync(folderOf(name), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const files = entries.map((entry) => relative(folderOf(name), join(entry.parentPath, entry.name)))
    expect(files.toSorted()).toEqual([...modules, 'LICENSE', 'README.md', 'package.json'].toSorted())
    expect(readFileSync(join(folderOf(name), 'LICENSE'), 'utf8')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'))
  })

  test('has a publishable manifest', () => {
    const manifest = readManifest(folderOf(name))
    const { license, repository } = readManifest(root)
    const { version } = readManifest(join(root, 'packages', name))
    expect(manifest).toMatchObject({ name: `@callsign/${name}`, version, license, type: 'module' })
    expect(manifest.repository).toEqual({ ...(repository as object), directory: `packages/${name}` })
    expect(manifest.engines).toEqual({ node: expect.stringMatching(/^>=20(\.\d+)?$/) })
    expect(manifest.description).toMatch(/\.$/)
    expect((manifest.keywords as string[]).length).toBeGreaterThan(3)
    expect(manifest).toMatchObject({ files: ['**/*.js', '**/*.d.ts'] })
    for (const field of ['private', 'scripts', 'devDependencies', 'publishConfig']) expect(manifest).not.toHaveProperty(field)
    for (const [dependency, range] of Object.entries(manifest.dependencies ?? {}))
      if (dependency.startsWith('@callsign/')) expect(range).toBe(`^${version}`)
    const targets = [...Object.values(manifest.exports).flatMap((target) => Object.values(target)), ...Object.values(manifest.bin ?? {})]
    const missing = targets.filter((path) => path.length > 1 && !path.includes('*') && !existsSync(join(folderOf(name), path)))
    expect(missing).toEqual([])
  })

  test(`import and require export the same names on ${consumerNode.label}`, async () => {
    const byImport = await registry.run(project, consumerNode.path, [`${name}.mjs`])
    const byRequire = await registry.run(project, consumerNode.path, [`${name}.cjs`])
    expect(byImport).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('["') })
    expect(byRequire).toEqual(byImport)
  })
})

describe.each(isForBrowsers)('@callsign/$name in a browser', ({ name }) => {
  test('bundles with esbuild and runs without modules or globals of Node', async () => {
    const specifiers = specifiersOf(name)
    const names = specifiers.map((_, index) => `m${index}`)
    const contents = `${specifiers.map((from, index) => `import * as m${index} from '${from}'`).join('\n')}
globalThis.names = JSON.stringify([${names.map((one) => `Object.keys(${one}).sort()`)}])`
    const { outputFiles, metafile, warnings } = await bundle({
      stdin: { contents, resolveDir: project },
      bundle: true,
      platform: 'browser',
      format: 'iife',
      metafile: true,
      write: false,
      logLevel: 'silent',
    })
    expect(warnings).toEqual([])
    expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
    const text = outputFiles[0]?.text as string
    expect(text).not.toMatch(/\b(import|require|from)\b[\s(]*["']node:/)
    // The globals of pages and workers alone: no process, no Buffer, no require.
    const { TextEncoder, TextDecoder, URL, AbortController, Headers, Request, Response, btoa, atob, setTimeout, crypto, fetch } = globalThis
    const page = {
      TextEncoder,
      TextDecoder,
      URL,
      AbortController,
      Headers,
      Request,
      Response,
      btoa,
      atob,
      setTimeout,
      crypto,
      fetch,
      names: '',
    }
    new Script(text).runInContext(createContext(page))
    const onNode = await registry.run(project, consumerNode.path, [`${name}.mjs`])
    expect(onNode.stdout).toContain(page.names)
  })
})

test(`commands run on ${consumerNode.label}`, async () => {
  const manifests = published.map(({ name }) => readManifest(folderOf(name)))
  const commands = manifests.flatMap(({ bin, version }) => Object.keys(bin ?? {}).map((command) => ({ command, version })))
  expect(commands.map(({ command }) => command)).toContain('callsign')
  for (const { command, version } of commands) {
    const ran = await registry.run(project, 'npx', ['--no-install', command, '--version'])
    expect(ran).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  }
})

test('a bundle of one SDK function excludes the rest of the SDK', async () => {
  const stdin = { contents: `export { totpCode } from '@callsign/sdk'`, resolveDir: project }
  const { outputFiles } = await bundle({ stdin, bundle: true, platform: 'browser', format: 'esm', minify: true, write: false })
  expect(outputFiles[0]?.contents.length).toBeLessThan(10_000)
})

// Serves the packed packages and their dependencies as a registry on loopback, for consumers that install them as users do, offline.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { build, pack, published } from '../bin/build.ts'

const root = join(import.meta.dirname, '..')

export type Manifest = {
  name: string
  version: string
  exports: Record<string, string | { types: string; default: string }>
  bin?: Record<string, string>
  dependencies?: Record<string, string>
  [field: string]: unknown
}

export type Ran = { code: number | null; stdout: string; stderr: string }

export const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** The Node of consumers: Node 20.19 or a later 20 from PATH, else the Node of this process, which `label` says. */
export const consumerNode = findConsumerNode()

function findConsumerNode(): { path: string; label: string } {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  for (const path of candidates.filter((candidate) => existsSync(candidate))) {
    const version = spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout.trim()
    const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
    if (major === 20 && minor >= 19) return { path, label: `Node ${version}` }
  }
  const label = `Node ${process.version}, because PATH has no Node 20.19 or later 20`
  console.warn(`consumers of the packages run on ${label}`)
  return { path: process.execPath, label }
}

/** The folders of all packages that the published ones depend on, ours left out. */
function dependencyFolders(): string[] {
  const folders = new Map<string, string>()
  const visit = (folder: string) => {
    for (const name of Object.keys(readManifest(folder).dependencies ?? {})) {
      if (name.startsWith('@callsign/') || folders.has(name)) continue
      const found = [join(folder, 'node_modules', name), join(root, 'node_modules', name)].find(existsSync)
      if (!found) throw new Error(`${name}, a dependency of ${folder}, is not installed: run npm install`)
      folders.set(name, found)
      visit(found)
    }
  }
  for (const { name } of published) visit(join(root, 'packages', name))
  return [...folders.values()]
}

const tarballOf = ({ name, version }: Manifest): string => `${name.replace('@', '').replace('/', '-')}-${version}.tgz`

export type Registry = Awaited<ReturnType<typeof startRegistry>>

/** Builds and packs the published packages, and serves them with their dependencies until `stop`. */
export async function startRegistry() {
  const folder = mkdtempSync(join(tmpdir(), 'callsign-packages-'))
  const tarballs = join(folder, 'tarballs')
  build(folder)
  const folders = [...published.map(({ name }) => join(folder, '@callsign', name)), ...dependencyFolders()]
  pack(folders, tarballs)
  const manifests = folders.map(readManifest)
  const server = createRegistry(manifests, tarballs)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const environment = {
    PATH: `${dirname(consumerNode.path)}${delimiter}${process.env.PATH}`,
    HOME: folder,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    npm_config_registry: url,
    npm_config_cache: join(folder, 'cache'),
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  }

  /** Makes an empty consumer project. */
  function createProject(name: string): string {
    const project = join(folder, name)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
    return project
  }

  /** Runs a program in a project with its own commands and the consumers' Node first in PATH, and this registry as npm's. */
  function run(project: string, command: string, args: string[], settings: Record<string, string> = {}): Promise<Ran> {
    const PATH = `${join(project, 'node_modules', '.bin')}${delimiter}${environment.PATH}`
    const child = spawn(command, args, { cwd: project, env: { ...environment, PATH, ...settings }, stdio: ['ignore', 'pipe', 'pipe'] })
    const ran: Ran = { code: null, stdout: '', stderr: '' }
    child.stdout.on('data', (bytes: Buffer) => {
      ran.stdout += bytes
    })
    child.stderr.on('data', (bytes: Buffer) => {
      ran.stderr += bytes
    })
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve({ ...ran, code }))
    })
  }

  return {
    /** The folder of the packed packages. */
    tarballs,
    createProject,
    run,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Answers npm's two requests: the versions of a package, and a tarball. */
function createRegistry(manifests: Manifest[], tarballs: string): Server {
  return createServer((request, response) => {
    const path = decodeURIComponent(request.url as string).slice(1)
    const manifest = manifests.find((one) => one.name === path || `-/${tarballOf(one)}` === path)
    if (!manifest) return void response.writeHead(404).end('{}')
    const tarball = readFileSync(join(tarballs, tarballOf(manifest)))
    if (path.startsWith('-/')) return void response.end(tarball)
    const dist = {
      tarball: `http://${request.headers.host}/-/${tarballOf(manifest)}`,
      integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    }
    const { name, version } = manifest
    const versions = { [version]: { ...manifest, dist } }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }))
  })
}

/** Compiles files of a project strictly with the repository's TypeScript. Gives the compiler's output, empty when they are right. */
export async function typeCheck(
  registry: Registry,
  project: string,
  compilerOptions: Record<string, unknown>,
  files: string[],
): Promise<string> {
  const strict = { strict: true, exactOptionalPropertyTypes: true, target: 'es2023', noEmitOnError: true }
  const config = join(project, `tsconfig.${String(compilerOptions.module)}.json`)
  writeFileSync(config, JSON.stringify({ compilerOptions: { ...strict, rootDir: '.', ...compilerOptions }, files }))
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { code, stdout, stderr } = await registry.run(project, process.execPath, [compiler, '-p', config])
  return code === 0 ? '' : `${stdout}${stderr}` || `tsc ended with ${code}`
}

/** Compiler options for consumers with @types/node, which is the repository's. */
export const nodeTypes = { lib: ['es2023'], types: ['node'], typeRoots: [join(root, 'node_modules', '@types')] }
/** Compiler options for consumers without it. */
export const browserTypes = { lib: ['es2023', 'dom', 'dom.iterable'], types: [] }

// The printed part of the SDK: one class per resource, from the contract. `npm run docs` writes it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { operations } from '../packages/contract/src/index.ts'
import { callsOf } from './calls.ts'
import { printedFiles } from './sdk/names.ts'
import { camel, type Origins, printFile } from './sdk/print.ts'

const root = join(import.meta.dirname, '..')
const contract = join(root, 'packages/contract')
const folder = join(root, 'packages/sdk/src/resources')

/** The printed files by name, with their text. */
async function sdkFiles(): Promise<Record<string, string>> {
  const origins = await readOrigins()
  const calls = callsOf(operations, 'vaultCalls').filter(({ operation }) => !/By(Query|Body)$/.test(operation.id))
  const known = new Set(Object.values(printedFiles).flatMap(({ classes }) => Object.keys(classes)))
  const homeless = calls.filter(({ resource }) => !known.has(resource))
  if (homeless.length > 0) throw new Error(`bin/sdk/names.ts lacks a class of ${homeless.map(({ resource }) => resource).join(', ')}`)
  const printed = Object.entries(printedFiles).map(([name, file]): [string, string] => {
    const own = calls.filter(({ resource }) => resource in file.classes)
    return [`${name}.ts`, printFile(file, own, origins)]
  })
  return format(printed)
}

/** Finds the operations that each module of the contract exports. */
async function readOrigins(): Promise<Origins> {
  const { exports } = JSON.parse(readFileSync(join(contract, 'package.json'), 'utf8')) as { exports: Record<string, string> }
  const origins: Origins = { ofOperation: new Map(), ofNamespace: new Map() }
  for (const [path, file] of Object.entries(exports)) {
    if (path === '.' || path.includes('*') || !file.endsWith('.ts')) continue
    const [specifier, namespace] = [`@callsign/contract/${path.slice(2)}`, camel(path.slice(2))]
    const module = (await import(join(contract, file))) as Record<string, unknown>
    origins.ofNamespace.set(namespace, specifier)
    for (const [name, value] of Object.entries(module)) {
      const operation = operations.find((candidate) => candidate === value)
      if (operation && !origins.ofOperation.has(operation.id)) origins.ofOperation.set(operation.id, { specifier, namespace, name })
    }
  }
  return origins
}

/** Formats the files, in a folder of the package, so that the same settings hold. */
function format(files: [string, string][]): Record<string, string> {
  const draft = mkdtempSync(join(root, 'packages/sdk/.callsign-printed-'))
  try {
    for (const [name, text] of files) writeFileSync(join(draft, name), text)
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
    const run = spawnSync(process.execPath, [biome, 'format', '--write', draft], { cwd: root, encoding: 'utf8' })
    if (run.status !== 0) throw new Error(`the printed source of the SDK has errors: ${run.stdout}${run.stderr}`)
    return Object.fromEntries(files.map(([name]) => [name, readFileSync(join(draft, name), 'utf8')]))
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** The paths whose text is not what the contract generates. */
export const staleSdkFiles = async (): Promise<string[]> =>
  Object.entries(await sdkFiles()).flatMap(([path, text]) => (readFileSync(join(folder, path), 'utf8') === text ? [] : [path]))

export async function writeSdkFiles(): Promise<void> {
  for (const [path, text] of Object.entries(await sdkFiles())) writeFileSync(join(folder, path), text)
}

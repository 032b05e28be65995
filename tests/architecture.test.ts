// Architecture rules that the linter does not cover: imports between layers, I/O, file names and the vocabulary of features.
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { expectNone, product, type Source, sources, targetOf } from './architecture/product.ts'

/** The layer of a file: contract, mail, core, features, edges, host, wiring, app, config, main, sdk, cli, console. */
function layerOf(path: string): string {
  const [pack, src, first = ''] = path.split('/')
  return src === 'src' && pack === 'server' ? first.replace(/\.ts$/, '') : (pack as string)
}

/** The feature folders of features/ in dependency order. A feature may import only features before it. */
const featureOrder = [
  'account/organizations',
  'account/keys',
  'account/identities',
  'account/roles',
  'account/attempts',
  'account/members',
  'account/sessions',
  'account/passkeys',
  'account/links',
  'account/sign-in',
  'account/overview',
  'account/oauth',
  'account/requests',
  'events/log',
  'mail/domains/dkim',
  'mail/domains',
  'mail/attachments',
  'mail/suppressions',
  'mail/rules',
  'mail/usage',
  'mail/stored',
  'mail/messages',
  'mail/storage',
  'mail/inbound',
  'mail/outbound/mta-sts',
  'mail/outbound',
  'mail/reports',
  'mail/returned',
  'mail/drafts',
  'mail/labels',
  'mail/templates',
  'phone',
  'imessage',
  'tunnels',
  'vault',
  'events/webhooks',
  'simulator',
]

/** The feature of a file: the longest folder of the order that it lies in. */
const featureOf = (path: string): string => {
  const below = path.replace(/^server\/src\/features\//, '')
  return (
    featureOrder.filter((feature) => below.startsWith(`${feature}/`)).toSorted((one, other) => other.length - one.length)[0] ??
    dirname(below)
  )
}

/** The edge of a file: edges/smtp/server and edges/smtp/client are two. */
const edgeOf = (path: string): string => /^server\/src\/edges\/(smtp\/[^/]+|[^/]+)/.exec(path)?.[1] ?? ''

const pathsOf = (files: Source[]): string[] => files.map((source) => source.path)

const isOneOf = (path: string, ...names: string[]): boolean => names.includes(basename(path, '.ts'))

/** Layers that each layer of the server may import, besides itself and the contract. Host commands are on the level of app, and open the same parts. */
const serverLayers: Record<string, readonly string[]> = {
  core: ['mail'],
  features: ['mail', 'core'],
  edges: ['mail', 'core', 'features'],
  config: ['mail', 'core'],
  wiring: ['mail', 'core', 'features', 'edges', 'config'],
  host: ['mail', 'core', 'features', 'edges', 'config', 'wiring', 'app'],
  app: ['mail', 'core', 'features', 'edges', 'config', 'wiring', 'host'],
  main: ['mail', 'core', 'features', 'edges', 'config', 'wiring', 'host', 'app'],
}

const packageLayers: Record<string, readonly string[]> = {
  contract: [],
  mail: ['contract'],
  sdk: ['contract'],
  cli: ['contract', 'sdk'],
  console: ['contract', 'sdk'],
}

function mayImport(source: Source, target: string): boolean {
  const from = layerOf(source.path)
  const ours = target.startsWith('@callsign/') ? target.split('/')[1] : undefined
  if (ours === undefined && !/^(server|contract|mail|sdk|cli|console)\//.test(target)) return true
  const to = ours ?? layerOf(target)
  const allowed = packageLayers[from]
  if (allowed) return from === to || allowed.includes(to)
  if (to === 'contract') return true
  if (from === 'features' && to === 'features') {
    const [own, other] = [featureOf(source.path), featureOf(target)]
    return (
      own === other || (isOneOf(target, 'operations', 'model', 'mail-store') && featureOrder.indexOf(other) < featureOrder.indexOf(own))
    )
  }
  if (from === 'edges' && to === 'edges') return edgeOf(source.path) === edgeOf(target)
  if (from === 'edges' && to === 'features') return isOneOf(target, 'operations', 'model', 'provider')
  return from === to || serverLayers[from]?.includes(to) === true
}

test('imports point one way: contract, mail, core, features, edges, wiring, app, main', () => {
  expect(product.length).toBeGreaterThan(50)
  const wrong = product.flatMap((source) =>
    source.imports
      .filter((specifier) => !mayImport(source, targetOf(source, specifier)))
      .map((specifier) => `${source.path} imports ${specifier}`),
  )
  expectNone(
    'A file imports from earlier layers and features only, and from another feature only its operations, its model or the interface of stored mail.',
    'move the code to an earlier layer, or register a hook with the earlier feature',
    wrong.toSorted(),
  )
})

test('every feature has a place in the order', () => {
  const features = new Set(
    product.filter((source) => source.path.startsWith('server/src/features/')).map((source) => featureOf(source.path)),
  )
  expectNone(
    'Every feature folder is in featureOrder, and every entry has a folder.',
    'add the folder to featureOrder in tests/architecture.test.ts, or remove the entry',
    [...features.symmetricDifference(new Set(featureOrder))].toSorted(),
  )
})

test("no barrels: only a package's index, a feature's operations and the interface of stored mail re-export names", () => {
  const wrong = product.filter(
    (source) =>
      /^(server|mail)\//.test(source.path) &&
      !isOneOf(source.path, 'index', 'operations', 'mail-store') &&
      /^export (type )?(\*|\{[^}]*\}) from /m.test(source.text),
  )
  expectNone('A file does not re-export names of another file.', 'import from the defining file', pathsOf(wrong))
})

test('the mail library is pure: no sockets, no files, no clock, no environment', () => {
  const impure =
    /from 'node:(net|tls|http|https|http2|dgram|dns|dns\/promises|fs|fs\/promises|child_process|worker_threads)'|\bDate\.now\b|\bnew Date\(\)|process\./
  const wrong = product.filter((source) => source.path.startsWith('mail/') && impure.test(source.text))
  expectNone('The mail library has no I/O, clock or environment.', 'take the value or function as an argument', pathsOf(wrong))
})

test('the contract imports nothing of Node, so that it runs in a browser', () => {
  const wrong = product.filter(
    (source) => source.path.startsWith('contract/') && source.imports.some((specifier) => specifier.startsWith('node:')),
  )
  expectNone('The contract does not import Node modules.', 'move the code to the SDK or the server', pathsOf(wrong))
})

const offenders = (pattern: RegExp, isAllowed: (path: string) => boolean) =>
  product
    .filter((source) => source.path.startsWith('server/') && !isAllowed(source.path) && pattern.test(source.text))
    .map((source) => source.path)

test('SQL is only in stores and the postgres edge', () => {
  const sql = /\b(SELECT\s[\s\S]{0,400}?\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\s/
  const isAllowed = (path: string) => /\/features\/(?:[a-z-]+\/)+([a-z-]+-)?store\.ts$/.test(path) || path.includes('/edges/postgres/')
  expectNone(
    'SQL is only in *store.ts files and edges/postgres.',
    'move the statement to the store of its feature',
    offenders(sql, isAllowed),
  )
})

test('the environment is read only in config/', () => {
  expectNone(
    'Only config/ reads the environment.',
    'add a row to the settings table of the area, and take the value as an argument',
    offenders(/process\.env\b/, (path) => path.startsWith('server/src/config/')),
  )
})

test('the clock is read only in core/clock.ts', () => {
  expectNone(
    'Only core/clock.ts reads the clock.',
    'use now() or nowMs() of core/clock.ts',
    offenders(/\bDate\.now\(\)|\bnew Date\(\)/, (path) => path === 'server/src/core/clock.ts'),
  )
})

test('only edges and the start use sockets, disks and HTTP', () => {
  const io =
    /from 'node:(net|tls|http|https|http2|dgram|dns|dns\/promises|fs|fs\/promises|child_process)'|from '(undici|fastify|pg|aws4fetch)'/
  const isAllowed = (path: string) =>
    path.includes('/edges/') ||
    /^server\/src\/(app|wiring\/[a-z-]+|config\/[a-z-]+|main)\.ts$/.test(path) ||
    path.startsWith('server/src/host/')
  expectNone(
    'Only edges, host commands and the start do I/O.',
    'move it to an edge, and pass it in as a function or interface',
    offenders(io, isAllowed),
  )
})

test('requests to URLs of callers go through the outbound guard', () => {
  expectNone(
    'The server does not call fetch.',
    'use edges/outbound-http, which blocks private addresses',
    offenders(/[^.\w]fetch\(/, () => false),
  )
})

test('only main.ts ends the process', () => {
  expectNone(
    'Only main.ts calls process.exit.',
    'throw an error, or set process.exitCode',
    offenders(/process\.exit\(/, (path) => path === 'server/src/main.ts'),
  )
})

// The tools for agents are a part of the product, in the contract and the SDK.
const bannedNames = /(^|[-/])(utils?|helpers?|common|misc|shared|lib|(?<!^(?:contract|sdk)\/src\/)tools|base|manager)([-/.]|$)/

test('files have kebab-case names, and none is a catch-all such as utils', () => {
  const wrong = sources.filter(
    (source) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.tsx?$/.test(basename(source.path)) || bannedNames.test(source.path),
  )
  expectNone('File names are nouns in kebab-case, and no file is a catch-all.', 'name the file after its one concept', pathsOf(wrong))
})

test('every file starts with a comment about its purpose', () => {
  const silent = sources.filter((source) => !source.raw.startsWith('// '))
  expectNone(
    'The first line of a file is a comment about its purpose.',
    'write one sentence that starts with a noun or a verb',
    pathsOf(silent),
  )
})

/** Features whose contract file is not named after the last word of their folder. */
const namesInContract: Record<string, string> = {
  'account/organizations': 'accounts',
  'events/log': 'events',
  'mail/outbound': 'outbound-mail',
  'mail/reports': 'domain-reports',
  'mail/rules': 'mail-rules',
  phone: 'phones',
}

test('each feature with routes has a file of its name in the contract', () => {
  const withRoutes = product.flatMap((source) => /^server\/src\/features\/(.+)\/routes\.ts$/.exec(source.path)?.[1] ?? [])
  const contract = new Set(product.filter((source) => source.path.startsWith('contract/')).map((source) => basename(source.path, '.ts')))
  expect(withRoutes.length).toBeGreaterThan(10)
  expectNone(
    'A feature with routes has a file of its name in packages/contract/src.',
    'name the contract file after the feature, or add it to namesInContract',
    withRoutes.filter((feature) => !contract.has(namesInContract[feature] ?? basename(feature))),
  )
})

test('the import rule rejects one import of each forbidden kind', () => {
  const fileAt = (path: string): Source => ({ path, raw: '', text: '', imports: [] })
  const plant = (path: string, specifier: string) => mayImport(fileAt(path), targetOf(fileAt(path), specifier))
  expect(plant('server/src/features/account/keys/operations.ts', '../../../edges/api/server.ts')).toBe(false)
  expect(plant('server/src/features/account/keys/operations.ts', '../../mail/messages/operations.ts')).toBe(false)
  expect(plant('server/src/features/mail/messages/operations.ts', '../../account/keys/store.ts')).toBe(false)
  expect(plant('server/src/features/phone/operations.ts', '../events/webhooks/operations.ts')).toBe(false)
  expect(plant('server/src/edges/api/server.ts', '../smtp/server/listener.ts')).toBe(false)
  expect(plant('server/src/edges/smtp/client/relay.ts', '../server/listener.ts')).toBe(false)
  expect(plant('server/src/edges/api/server.ts', '../../wiring/parts.ts')).toBe(false)
  expect(plant('server/src/core/clock.ts', '../features/account/keys/model.ts')).toBe(false)
  expect(plant('server/src/wiring/parts.ts', '../app.ts')).toBe(false)
  expect(plant('server/src/app.ts', '@callsign/sdk')).toBe(false)
  expect(plant('contract/src/operations/account/keys.ts', '@callsign/server')).toBe(false)
  expect(plant('contract/src/operations/account/keys.ts', '@callsign/mail/dns')).toBe(false)
  expect(plant('mail/src/dns.ts', '../../server/src/core/clock.ts')).toBe(false)
  expect(plant('sdk/src/keys.ts', '@callsign/mail')).toBe(false)
  expect(plant('server/src/features/mail/messages/operations.ts', '../../account/identities/model.ts')).toBe(true)
  expect(plant('server/src/core/page.ts', '@callsign/mail/mail-address')).toBe(true)
})

test('docs/development/architecture.md names every folder with code, and no other', () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs/development/architecture.md'), 'utf8')
  const tables = [...page.matchAll(/^\| folder of `packages\/([\w/-]+)` [\s\S]*?(?=\n\n)/gm)]
  const named = tables.flatMap(([table, base]) =>
    table
      .split('\n')
      .slice(2)
      .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([\w/-]+)`/g)].map(([, name]) => `${base}/${name}`)),
  )
  const folders = product.map(({ path }) => dirname(path)).filter((folder) => !/^[a-z]+(\/src)?$/.test(folder))
  expectNone(
    'The page names each folder with code, and only those.',
    'add the folder to its table, or remove it',
    [...new Set(folders).symmetricDifference(new Set(named))].toSorted(),
  )
})

// The rules of the house that no linter knows: who may import whom, what a file may touch, names, sizes, and one word in every place.
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const packages = join(root, 'packages')
// We aim at 300; what is a table of statements or phrases may be a little longer than it would read well in two.
const linesMax = 350
// Every setting stands in one table in one file: it grows with the product.
const linesMaxOfSettings = 700

type Source = { path: string; text: string; imports: string[] }

// Static imports, re-exports and dynamic imports of a literal. Comments are cut first, so that an example in one does not count.
const importPattern = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"]+)['"]/g

function readSource(path: string): Source {
  const text = readFileSync(path, 'utf8')
  const code = text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  return { path: relative(packages, path), text: code, imports: [...code.matchAll(importPattern)].map((match) => match[1] as string) }
}

const sources = globSync('*/src/**/*.{ts,tsx}', { cwd: packages }).map((path) => readSource(join(packages, path)))
const isTest = (source: Source) => source.path.endsWith('.test.ts')
const product = sources.filter((source) => !isTest(source))

/** Where a relative import leads, from packages/; a package import stays as it is written. */
const targetOf = (source: Source, specifier: string): string =>
  specifier.startsWith('.') ? relative(packages, resolve(packages, dirname(source.path), specifier)) : specifier

/** The layer of a file: contract, core, features/<name>, edges/<name>, host, app, config, main, sdk, cli. */
function layerOf(path: string): string {
  const [pack, src, first = '', second = ''] = path.split('/')
  if (src !== 'src' || pack !== 'server') return pack as string
  if (first === 'features' || first === 'edges') return `${first}/${second}`
  return first.replace(/\.ts$/, '')
}

/** Features in the order of their dependencies: one may call only those before it. */
const featureOrder = [
  'accounts',
  'keys',
  'dkim',
  'mta-sts',
  'domains',
  'identities',
  'attachments',
  'codes',
  'suppressions',
  'mail-rules',
  'messages',
  'sender-authentication',
  'inbound-mail',
  'outbound-mail',
  'returned-mail',
  'drafts',
  'phones',
  'simulator',
  'imessage',
  'events',
  'webhooks',
  'tunnels',
  'vault',
]

function mayImport(source: Source, target: string): boolean {
  const from = layerOf(source.path)
  const ours = target.startsWith('@callsign/') ? target.split('/')[1] : undefined
  if (ours === undefined && !/^(server|contract|sdk|cli|console)\//.test(target)) return true
  const to = ours ?? layerOf(target)
  if (from === to) return true
  if (from === 'contract') return false
  if (from === 'sdk') return to === 'contract'
  if (from === 'cli' || from === 'console') return to === 'sdk' || to === 'contract'
  if (to === 'sdk') return false
  if (to === 'contract') return true
  if (to === 'core') return true
  if (from === 'core') return false
  const [fromKind, fromName = ''] = from.split('/')
  const [toKind, toName = ''] = to.split('/')
  if (fromKind === 'features') {
    const isDoor = /\/(operations|model)\.ts$/.test(target)
    return toKind === 'features' && isDoor && featureOrder.indexOf(toName) < featureOrder.indexOf(fromName)
  }
  if (fromKind === 'edges') return toKind === 'features' && /\/(operations|model|provider)\.ts$/.test(target)
  if (from === 'config') return to === 'setting-values'
  if (from === 'setting-values') return false
  if (from === 'host') return to !== 'main'
  if (from === 'app') return to !== 'main'
  return from === 'main'
}

test('imports point one way: contract, core, features, edges, app, main', () => {
  expect(product.length).toBeGreaterThan(50)
  const wrong = product.flatMap((source) =>
    source.imports
      .filter((specifier) => !mayImport(source, targetOf(source, specifier)))
      .map((specifier) => `${source.path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})

test('every feature has its place in the order', () => {
  const features = new Set(product.flatMap((source) => /^server\/src\/features\/([^/]+)\//.exec(source.path)?.[1] ?? []))
  expect([...features].sort()).toEqual([...featureOrder].sort())
})

test('the contract imports nothing of Node, so that it runs in a browser', () => {
  const wrong = product.filter(
    (source) => source.path.startsWith('contract/') && source.imports.some((specifier) => specifier.startsWith('node:')),
  )
  expect(wrong.map((source) => source.path)).toEqual([])
})

const offenders = (pattern: RegExp, isAllowed: (path: string) => boolean) =>
  product
    .filter((source) => source.path.startsWith('server/') && !isAllowed(source.path) && pattern.test(source.text))
    .map((source) => source.path)

test('SQL stands only in stores and the postgres edge', () => {
  const sql = /\b(SELECT\s[\s\S]{0,400}?\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\s/
  const isAllowed = (path: string) => /\/features\/[^/]+\/([a-z-]+-)?store\.ts$/.test(path) || path.includes('/edges/postgres/')
  expect(offenders(sql, isAllowed)).toEqual([])
})

test('the environment is read only in config.ts', () => {
  expect(offenders(/process\.env\b/, (path) => path === 'server/src/config/settings.ts')).toEqual([])
})

test('the clock is read only in core/clock.ts', () => {
  expect(offenders(/\bDate\.now\(\)|\bnew Date\(\)/, (path) => path === 'server/src/core/clock.ts')).toEqual([])
})

test('sockets, disks and HTTP are touched only in edges, and at the start', () => {
  const io =
    /from 'node:(net|tls|http|https|http2|dgram|dns|dns\/promises|fs|fs\/promises|child_process)'|from '(undici|fastify|pg|aws4fetch)'/
  const isAllowed = (path: string) =>
    path.includes('/edges/') || /^server\/src\/(app|app\/[a-z-]+|config|main)\.ts$/.test(path) || path.startsWith('server/src/host/')
  expect(offenders(io, isAllowed)).toEqual([])
})

test('fetches of what callers name go through the outbound guard alone', () => {
  expect(offenders(/[^.\w]fetch\(/, () => false)).toEqual([])
})

test('the process ends itself only in main.ts', () => {
  expect(offenders(/process\.exit\(/, (path) => path === 'server/src/main.ts')).toEqual([])
})

const bannedNames = /(^|[-/])(utils?|helpers?|common|misc|shared|lib|tools|base|manager)([-/.]|$)/

test('files are named by nouns in kebab-case, and none is a drawer', () => {
  const wrong = sources.filter(
    (source) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.tsx?$/.test(basename(source.path)) || bannedNames.test(source.path),
  )
  expect(wrong.map((source) => source.path)).toEqual([])
})

test(`files stay under ${linesMax} lines`, () => {
  const long = product
    .map((source) => ({ path: source.path, lines: source.text.split('\n').length }))
    .filter(({ path, lines }) => lines > (path === 'server/src/config/settings.ts' ? linesMaxOfSettings : linesMax))
  expect(long).toEqual([])
})

test('every file says in its first line what it is for', () => {
  const silent = sources.filter((source) => !readFileSync(join(packages, source.path), 'utf8').startsWith('// '))
  expect(silent.map((source) => source.path)).toEqual([])
})

const vocabulary = ['model', 'store', 'operations', 'routes', 'jobs', 'provider']

test('a concept file of a feature is pure: it reaches no store and no operation', () => {
  const concepts = product.filter((source) => {
    const name = basename(source.path, '.ts')
    return source.path.startsWith('server/src/features/') && !vocabulary.includes(name) && !name.endsWith('-store')
  })
  const wired = concepts.filter((source) => source.imports.some((specifier) => /\/([a-z-]+-)?store\.ts$|\/operations\.ts$/.test(specifier)))
  // These put stores and operations of their feature together; operations.ts would be too long with them.
  const operationsOfTheirOwn = [
    'server/src/features/imessage/outbox.ts',
    'server/src/features/imessage/receiving.ts',
    'server/src/features/imessage/simulation.ts',
    'server/src/features/mail/messages/filing.ts',
    'server/src/features/events/log/wait.ts',
    'server/src/features/mail/outbound/composer.ts',
    'server/src/features/mail/outbound/commit-results.ts',
    'server/src/features/mail/inbound/smtp-intake.ts',
    'server/src/features/mail/returned/smtp-intake.ts',
    'server/src/features/phone/arrivals.ts',
    'server/src/features/phone/inbox.ts',
    'server/src/features/tunnels/presence.ts',
    'server/src/features/tunnels/recorder.ts',
    'server/src/features/vault/proof.ts',
    'server/src/features/vault/secrets.ts',
  ]
  expect(wired.map((source) => source.path).sort()).toEqual(operationsOfTheirOwn.toSorted())
})

test('one word in every place: each feature with routes has its file in the contract', () => {
  const withRoutes = product.flatMap((source) => /^server\/src\/features\/([^/]+)\/routes\.ts$/.exec(source.path)?.[1] ?? [])
  const contract = new Set(product.filter((source) => source.path.startsWith('contract/')).map((source) => basename(source.path, '.ts')))
  expect(withRoutes.filter((feature) => !contract.has(feature))).toEqual([])
})

test('the rules bite: a planted import of each forbidden kind is refused', () => {
  const plant = (path: string, specifier: string) =>
    mayImport({ path, text: '', imports: [] }, targetOf({ path, text: '', imports: [] }, specifier))
  expect(plant('server/src/features/account/keys/operations.ts', '../../edges/http/server.ts')).toBe(false)
  expect(plant('server/src/features/account/keys/operations.ts', '../messages/operations.ts')).toBe(false)
  expect(plant('server/src/features/mail/messages/operations.ts', '../keys/store.ts')).toBe(false)
  expect(plant('server/src/edges/api/server.ts', '../smtp/listener.ts')).toBe(false)
  expect(plant('server/src/core/clock.ts', '../features/keys/model.ts')).toBe(false)
  expect(plant('server/src/app.ts', '@callsign/sdk')).toBe(false)
  expect(plant('contract/src/keys.ts', '@callsign/server')).toBe(false)
  expect(plant('server/src/features/mail/messages/operations.ts', '../identities/model.ts')).toBe(true)
})

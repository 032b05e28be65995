// The rules of the house that no linter knows: who may import whom, what a file may touch, names, sizes, and one word in every place.
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const packages = join(root, 'packages')
// We aim at 300; what is a table of statements or phrases may be a little longer than it would read well in two.
const linesMax = 350

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

/** The layer of a file: contract, mail, core, features, edges, host, wiring, app, config, main, sdk, cli, console. */
function layerOf(path: string): string {
  const [pack, src, first = ''] = path.split('/')
  return src === 'src' && pack === 'server' ? first.replace(/\.ts$/, '') : (pack as string)
}

/** The folders of features/ that are one feature each, in the order of their dependencies: one may call only those before it. */
const featureOrder = [
  'account/organizations',
  'account/keys',
  'account/identities',
  'events/log',
  'mail/domains/dkim',
  'mail/domains',
  'mail/attachments',
  'mail/suppressions',
  'mail/rules',
  'mail/messages',
  'mail/inbound',
  'mail/outbound/mta-sts',
  'mail/outbound',
  'mail/returned',
  'mail/drafts',
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

const isOneOf = (path: string, ...names: string[]): boolean => names.includes(basename(path, '.ts'))

/** What each layer of the server may import, itself and the contract aside. Host commands are app's equals: they open what app opens. */
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
    return own === other || (isOneOf(target, 'operations', 'model') && featureOrder.indexOf(other) < featureOrder.indexOf(own))
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
  expect(wrong.toSorted(), 'Import what stands before in the order, or register a hook there').toEqual([])
})

test('every feature has its place in the order', () => {
  const features = new Set(
    product.filter((source) => source.path.startsWith('server/src/features/')).map((source) => featureOf(source.path)),
  )
  expect([...features].sort()).toEqual([...featureOrder].sort())
})

/** Import cycles, types included: each as the files that reach one another (Tarjan's strongly connected components). */
function findCycles(): string[][] {
  const known = new Set(product.map((source) => source.path))
  const fileOf = (target: string): string => {
    const [, pack, name = 'index'] = /^@callsign\/(\w+)(?:\/(.*))?$/.exec(target) ?? []
    return pack ? `${pack}/src/${name}.ts` : target
  }
  const next = new Map(
    product.map((source) => [source.path, source.imports.map((one) => fileOf(targetOf(source, one))).filter((one) => known.has(one))]),
  )
  const places = new Map<string, number>()
  const open: string[] = []
  const cycles: string[][] = []
  const visit = (path: string): number => {
    const place = places.size
    let lowest = place
    places.set(path, place)
    open.push(path)
    for (const other of next.get(path) ?? []) {
      if (!places.has(other)) lowest = Math.min(lowest, visit(other))
      else if (open.includes(other)) lowest = Math.min(lowest, places.get(other) as number)
    }
    if (lowest === place) {
      const part = open.splice(open.indexOf(path))
      if (part.length > 1) cycles.push(part.sort())
    }
    return lowest
  }
  for (const path of known) if (!places.has(path)) visit(path)
  return cycles
}

test('no import cycles, types included', () => {
  expect(findCycles(), 'Move what both need into a file of its own').toEqual([])
})

test("no barrels: only a package's index, and the door of a feature, export what another file defines", () => {
  const wrong = product.filter(
    (source) =>
      /^(server|mail)\//.test(source.path) &&
      !isOneOf(source.path, 'index', 'operations') &&
      /^export (type )?(\*|\{[^}]*\}) from /m.test(source.text),
  )
  expect(
    wrong.map((source) => source.path),
    'Import from the file that defines',
  ).toEqual([])
})

test('the mail library is pure: no sockets, no files, no clock, no environment', () => {
  const impure =
    /from 'node:(net|tls|http|https|http2|dgram|dns|dns\/promises|fs|fs\/promises|child_process|worker_threads)'|\bDate\.now\b|\bnew Date\(\)|process\./
  const wrong = product.filter((source) => source.path.startsWith('mail/') && impure.test(source.text))
  expect(
    wrong.map((source) => source.path),
    'Take it as an argument',
  ).toEqual([])
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
  const isAllowed = (path: string) => /\/features\/(?:[a-z-]+\/)+([a-z-]+-)?store\.ts$/.test(path) || path.includes('/edges/postgres/')
  expect(offenders(sql, isAllowed)).toEqual([])
})

test('the environment is read only in config/', () => {
  expect(offenders(/process\.env\b/, (path) => path.startsWith('server/src/config/'))).toEqual([])
})

test('the clock is read only in core/clock.ts', () => {
  expect(offenders(/\bDate\.now\(\)|\bnew Date\(\)/, (path) => path === 'server/src/core/clock.ts')).toEqual([])
})

test('sockets, disks and HTTP are touched only in edges, and at the start', () => {
  const io =
    /from 'node:(net|tls|http|https|http2|dgram|dns|dns\/promises|fs|fs\/promises|child_process)'|from '(undici|fastify|pg|aws4fetch)'/
  const isAllowed = (path: string) =>
    path.includes('/edges/') ||
    /^server\/src\/(app|wiring\/[a-z-]+|config\/[a-z-]+|main)\.ts$/.test(path) ||
    path.startsWith('server/src/host/')
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
    .filter(({ lines }) => lines > linesMax)
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
    'server/src/features/account/identities/mailboxes.ts',
    'server/src/features/events/webhooks/endpoint-health.ts',
    'server/src/features/imessage/outbox.ts',
    'server/src/features/imessage/receiving.ts',
    'server/src/features/imessage/sending.ts',
    'server/src/features/imessage/simulation.ts',
    'server/src/features/mail/messages/filing.ts',
    'server/src/features/mail/messages/recipients.ts',
    'server/src/features/events/log/wait.ts',
    'server/src/features/mail/outbound/composer.ts',
    'server/src/features/mail/outbound/commit-results.ts',
    'server/src/features/mail/domains/hosted-domains.ts',
    'server/src/features/mail/domains/registration.ts',
    'server/src/features/mail/drafts/draft-queue.ts',
    'server/src/features/mail/messages/message-deletion.ts',
    'server/src/features/mail/messages/message-lists.ts',
    'server/src/features/mail/messages/participants.ts',
    'server/src/features/mail/messages/thread-joining.ts',
    'server/src/features/mail/outbound/outgoing-queue.ts',
    'server/src/features/mail/inbound/sender-check.ts',
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

/** Features whose file in the contract bears another name; the rest bear the last word of their folder. */
const namesInContract: Record<string, string> = {
  'account/organizations': 'accounts',
  'events/log': 'events',
  'mail/outbound': 'outbound-mail',
  'mail/rules': 'mail-rules',
  phone: 'phones',
}

test('one word in every place: each feature with routes has its file in the contract', () => {
  const withRoutes = product.flatMap((source) => /^server\/src\/features\/(.+)\/routes\.ts$/.exec(source.path)?.[1] ?? [])
  const contract = new Set(product.filter((source) => source.path.startsWith('contract/')).map((source) => basename(source.path, '.ts')))
  expect(withRoutes.length).toBeGreaterThan(10)
  expect(withRoutes.filter((feature) => !contract.has(namesInContract[feature] ?? basename(feature)))).toEqual([])
})

test('the rules bite: a planted import of each forbidden kind is refused', () => {
  const plant = (path: string, specifier: string) =>
    mayImport({ path, text: '', imports: [] }, targetOf({ path, text: '', imports: [] }, specifier))
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
  expect(plant('contract/src/keys.ts', '@callsign/server')).toBe(false)
  expect(plant('contract/src/keys.ts', '@callsign/mail/dns')).toBe(false)
  expect(plant('mail/src/dns.ts', '../../server/src/core/clock.ts')).toBe(false)
  expect(plant('sdk/src/keys.ts', '@callsign/mail')).toBe(false)
  expect(plant('server/src/features/mail/messages/operations.ts', '../../account/identities/model.ts')).toBe(true)
  expect(plant('server/src/core/page.ts', '@callsign/mail/mail-address')).toBe(true)
})

// Renders the Helm chart for several sets of values, and checks every object against the schemas of Kubernetes: `npm run chart`.
//
// It needs Debian's Go and sprig, which are the template engine of Helm, and the package kubernetes-models from npm. Helm itself is not used.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createChecklist, expectThat, requirePrograms } from '../harness/checklist.ts'

const root = join(import.meta.dirname, '..', '..')
const chart = join(root, 'deploy', 'helm', 'callsign')
const folder = join(root, 'node_modules', '.cache', 'callsign', 'chart')
const renderer = join(folder, 'render')

type KubernetesObject = { apiVersion: string; kind: string; metadata: { name: string }; spec: { replicas?: number } }

const roles = {
  secret: 'callsign-settings',
  keyringSecret: 'callsign-keyring',
  settings: { CALLSIGN_BLOBS: 's3://bucket/callsign', CALLSIGN_TUNNEL_CONNECT_URL: 'https://gateway.example.com' },
  roles: {
    api: { replicas: 3 },
    smtp: { replicas: 2, settings: { CALLSIGN_SMTP_CONNECTIONS_PER_CLIENT: '50' } },
    worker: {},
    gateway: { replicas: 2 },
  },
  ingress: {
    enabled: true,
    className: 'nginx',
    tunnelHost: 'tunnel.example.net',
    gatewayHost: 'gateway.example.com',
    tlsSecret: 'tls',
    tunnelTlsSecret: 'tunnel-tls',
  },
  nodeSelector: { disk: 'ssd' },
}

requirePrograms({ go: 'golang-go', npm: 'npm' })
const { check, finish } = createChecklist()
const isReady =
  (await check("renderer: Go's text/template with sprig", () => {
    mkdirSync(folder, { recursive: true })
    const environment = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(folder, 'go-cache') }
    const run = spawnSync('go', ['build', '-o', renderer, join(import.meta.dirname, 'render.go')], { env: environment, encoding: 'utf8' })
    expectThat(
      run.status === 0,
      `run apt-get install golang-github-masterminds-sprig-dev golang-github-ghodss-yaml-dev: ${run.stderr.slice(0, 300)}`,
    )
    return undefined
  })) &&
  (await check('schemas: kubernetes-models from npm', () => {
    writeFileSync(join(folder, 'package.json'), '{"private": true}\n')
    const run = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', 'kubernetes-models', 'yaml'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expectThat(run.status === 0, run.stderr.slice(0, 300))
    return undefined
  }))
if (isReady) await checkChart()
finish()

async function checkChart(): Promise<void> {
  await check('one pod with the embedded database', () => {
    const objects = valid(render({}))
    expectThat(!objects.some(({ kind }) => kind === 'Ingress'), 'there is an Ingress without ingress.enabled')
    return names(objects)
  })
  await check('roles on an external PostgreSQL', () => {
    const objects = valid(render(roles))
    const replicas = objects.flatMap(({ kind, spec }) => (kind === 'Deployment' ? [spec.replicas ?? 1] : []))
    expectThat(replicas.toSorted().join() === '1,2,2,3', `the Deployments have ${replicas} replicas`)
    expectThat(!objects.some(({ kind }) => kind === 'PersistentVolumeClaim'), 'there is a volume')
    return names(objects)
  })
  await check('a role overrides a setting of all', () => {
    const changed = { ...roles, settings: { ...roles.settings, CALLSIGN_SMTP_CONNECTIONS_PER_CLIENT: '10' } }
    const text = render(changed)
    const values = [...text.matchAll(/CALLSIGN_SMTP_CONNECTIONS_PER_CLIENT, value: "(\d+)"/g)].map((match) => match[1])
    expectThat(values.toSorted().join() === '10,10,10,50', `the values are ${values}`)
    return values.join()
  })
  await check('the schemas refuse a misspelt field and a wrong type', () => {
    const text = render(roles)
    for (const [right, wrong] of [
      ['replicas: 2', 'replicas: two'],
      ['containerPort: 8080', 'containerPorts: 8080'],
    ] as const) {
      let isRefused = false
      try {
        valid(text.replace(right, wrong))
      } catch {
        isRefused = true
      }
      expectThat(isRefused, `${wrong} passed`)
    }
    return undefined
  })
  const refusals: [string, object][] = [
    ['roles need secret', { ...roles, secret: '' }],
    ['roles need keyringSecret', { ...roles, keyringSecret: '' }],
    ['roles need settings.CALLSIGN_BLOBS', { ...roles, settings: {} }],
    ['is not a role', { ...roles, roles: { mail: {} } }],
  ]
  for (const [sentence, values] of refusals)
    await check(`refused: ${sentence}`, () => {
      const { status, stderr } = spawnRenderer(values)
      expectThat(status === 1 && stderr.includes(sentence), `it ended with ${status}: ${stderr}`)
      return undefined
    })
}

function spawnRenderer(values: object) {
  const file = join(folder, 'values.json')
  writeFileSync(file, JSON.stringify(values))
  return spawnSync(renderer, [chart, 'callsign', file], { encoding: 'utf8' })
}

function render(values: object): string {
  const { status, stdout, stderr } = spawnRenderer(values)
  expectThat(status === 0, stderr)
  return stdout
}

function names(objects: KubernetesObject[]): string {
  return objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(', ')
}

/** Parses the documents and checks each against the schema of its kind. */
function valid(text: string): KubernetesObject[] {
  const require = createRequire(join(folder, 'package.json'))
  const { parseAllDocuments } = require('yaml') as {
    parseAllDocuments: (text: string) => { errors: Error[]; toJS: () => KubernetesObject | null }[]
  }
  const documents = parseAllDocuments(text)
  for (const { errors } of documents) expectThat(errors.length === 0, String(errors[0]))
  const objects = documents.flatMap((document) => document.toJS() ?? [])
  for (const object of objects) {
    const models = require(`kubernetes-models/${object.apiVersion}`) as Record<string, new (data: object) => { validate: () => void }>
    const Model = models[object.kind]
    expectThat(Model !== undefined, `${object.apiVersion} has no ${object.kind}`)
    try {
      new Model(object).validate()
    } catch (error) {
      throw new Error(`${object.kind} ${object.metadata.name}: ${(error as Error).message}`)
    }
  }
  return objects
}

// Checks what an operator copies from deploy/ with Prometheus itself: the alerts and their tests, and every query of the dashboard against a running
// server: `npm run operations`.
//
// It needs Debian's prometheus.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { endProcess, findFreePort } from '../../packages/server/tests/harness/peer-process.ts'
import { ask, makeDirectory, startCallsign } from '../harness/callsign-server.ts'
import { createChecklist, expectThat, requirePrograms } from '../harness/checklist.ts'

const folder = join(import.meta.dirname, '..', '..', 'deploy')
const scrapeMs = 500
const startMsMax = 60_000

type Answer = { status: string; error?: string; data: { result: unknown[] } }
type Panel = { title: string; targets?: { expr: string }[] }

requirePrograms({ prometheus: 'prometheus', promtool: 'prometheus' })
const { check, finish } = createChecklist()

for (const [name, ...args] of [
  ['rules', 'check', 'rules', 'alerts.yaml'],
  ['configuration', 'check', 'config', 'prometheus.yaml'],
  ['tests of the alerts', 'test', 'rules', 'alerts.test.yaml'],
] as const)
  await check(`promtool: ${name}`, () => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: join(folder, 'prometheus') })
    expectThat(status === 0, `${stdout}${stderr}`)
    return undefined
  })

const directory = makeDirectory()
const [metricsPort, port] = [await findFreePort(), await findFreePort()]
const server = await startCallsign(directory.path, { settings: { CALLSIGN_METRICS_PORT: String(metricsPort) } })
let prometheus: ChildProcess | null = null
try {
  await ask(server, server.key as string, 'POST', '/api/v1/identities', { agent_handle: 'ann' })
  await ask(server, server.key as string, 'POST', '/api/v1/mail/send', { agent: 'ann', to: ['a@example.com'], subject: 's', text: 't' })
  const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const own = page.split('\n').filter((line) => /^(# (HELP|TYPE) )?(callsign|http)_/.test(line))
  await check('promtool: names and help of the metrics', () => {
    const lint = spawnSync('promtool', ['check', 'metrics'], { input: `${own.join('\n')}\n` })
    expectThat(lint.status === 0, String(lint.stderr))
    return `${own.length} lines`
  })
  prometheus = startPrometheus()
  if (await check('Prometheus scrapes the server', waitForScrapes)) {
    await checkDashboard()
    await checkRules()
  }
} finally {
  if (prometheus) await endProcess(prometheus)
  await server.stop()
  directory.remove()
}
finish()

function startPrometheus(): ChildProcess {
  const config = join(directory.path, 'prometheus.yaml')
  const text = readFileSync(join(folder, 'prometheus', 'prometheus.yaml'), 'utf8')
    .replaceAll('15s', `${scrapeMs}ms`)
    .replace('alerts.yaml', join(folder, 'prometheus', 'alerts.yaml'))
    .replace('127.0.0.1:9464', `127.0.0.1:${metricsPort}`)
  writeFileSync(config, text)
  const data = `--storage.tsdb.path=${join(directory.path, 'prometheus')}`
  return spawn('prometheus', [`--config.file=${config}`, data, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' })
}

/** Prometheus after several scrapes, so that rates have two points. */
async function waitForScrapes(): Promise<string> {
  const deadline = performance.now() + startMsMax
  while (performance.now() < deadline) {
    const found = await query('count_over_time(up{job="callsign"}[1m]) > 5 and up{job="callsign"} == 1').catch(() => null)
    if (found && found.data.result.length > 0) return `every ${scrapeMs} ms`
    await delay(scrapeMs)
  }
  throw new Error('Prometheus did not scrape the server within a minute')
}

async function query(expression: string): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?${new URLSearchParams({ query: expression })}`)
  return (await response.json()) as Answer
}

async function checkDashboard(): Promise<void> {
  const { panels } = JSON.parse(readFileSync(join(folder, 'grafana', 'callsign.json'), 'utf8')) as { panels: Panel[] }
  for (const { title, targets = [] } of panels)
    for (const { expr } of targets)
      await check(`dashboard: ${title}`, async () => {
        const answer = await query(expr.replaceAll('$job', 'callsign').replaceAll('$__rate_interval', '1m'))
        expectThat(answer.status === 'success', answer.error ?? answer.status)
        return `${answer.data.result.length} series`
      })
}

/** Alerts about the server itself must be inactive on a healthy one. */
async function checkRules(): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/rules?type=alert`)
  const { data } = (await response.json()) as { data: { groups: { rules: { name: string; state: string; health: string }[] }[] } }
  for (const { name, state, health } of data.groups.flatMap(({ rules }) => rules))
    await check(`alert: ${name}`, () => {
      expectThat(health === 'ok' && state !== 'firing', `${state}, ${health}`)
      return state
    })
}

// Metrics of a whole server: their own listener, what operators need, and the dashboard and alerts that use them. No worker runs, so that its
// work waits.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { createTransport } from 'nodemailer'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../src/config/settings.ts'
import { createLog } from '../src/core/log.ts'
import { writeBackup } from '../src/host/backup.ts'
import { addGauges } from '../src/wiring/metrics.ts'
import { listMetrics } from '../src/wiring/metrics-table.ts'
import { repository } from './harness/callsignd.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({
    CALLSIGN_ROLES: 'api,smtp,gateway',
    CALLSIGN_SUBMISSION_PORT: '0',
    CALLSIGN_SUBMISSIONS_PORT: '0',
    CALLSIGN_TUNNEL_HTTPS_PORT: '0',
    CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  })
})
afterAll(() => harness.stop())

/** The value of one series, or null. */
const seriesOf = (page: string, series: string): number | null => {
  const line = page.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? null : Number(line.slice(series.length + 1))
}

test('mail, queues, certificates and backups are measured, and no choice of a stranger becomes a label', async () => {
  await harness.createAgent('zelda')
  await harness.expectApi(201, 'POST', '/webhooks', { body: { url: 'http://127.0.0.1:19999/hook', events: ['*'] } })
  await harness.send('zelda', 'someone@example.com')
  await harness.deliver({ from: 'eve@stranger.example', to: 'zelda@agents.localhost', subject: 'In', text: 'x' })
  await expect(harness.deliver({ from: 'eve@stranger.example', to: 'stranger-box@agents.localhost', text: 'x' })).rejects.toThrow('550')
  await harness.api('GET', '/stranger-path')
  const sign = (pass: string) =>
    createTransport({
      host: '127.0.0.1',
      port: harness.submissionPorts[0] as number,
      auth: { user: 'zelda@agents.localhost', pass },
      tls: { rejectUnauthorized: false },
    })
  await expect(sign('stranger-secret').sendMail({ from: 'zelda@agents.localhost', to: 'b@example.com', text: 'x' })).rejects.toThrow('535')
  await sign(await harness.agentKey('zelda')).sendMail({ from: 'zelda@agents.localhost', to: 'b@example.com', text: 'x' })
  const before = Date.now() / 1000 - 1
  await writeBackup(readConfig(harness.environment), createLog('silent'), join(harness.dataDir, 'backup'), new PassThrough())

  const page = await harness.metrics()
  const values = (names: string[]) => Object.fromEntries(names.map((name) => [name, seriesOf(page, name)]))
  expect(
    values([
      'callsign_messages_accepted_total{status="received"}',
      'callsign_messages_queued_total',
      'callsign_mail_refused_total{listener="smtp",reply_code="550"}',
      'callsign_mail_refused_total{listener="submission",reply_code="535"}',
      'callsign_submission_sign_ins_tried_total{outcome="wrong"}',
      'callsign_submission_sign_ins_tried_total{outcome="ok"}',
      'callsign_mail_submitted_total',
      'callsign_jobs_due{kind="deliver-message"}',
      'callsign_jobs_waiting{kind="deliver-message"}',
      'callsign_jobs_due{kind="send-draft"}',
      'callsign_webhook_deliveries_due',
      'callsign_database_up',
      'callsign_database_connections_max',
      'callsign_database_connection_waiters',
      'callsign_work_in_flight{work="jobs"}',
    ]),
  ).toEqual({
    'callsign_messages_accepted_total{status="received"}': 1,
    callsign_messages_queued_total: 2,
    'callsign_mail_refused_total{listener="smtp",reply_code="550"}': 1,
    'callsign_mail_refused_total{listener="submission",reply_code="535"}': 1,
    'callsign_submission_sign_ins_tried_total{outcome="wrong"}': 1,
    'callsign_submission_sign_ins_tried_total{outcome="ok"}': 1,
    callsign_mail_submitted_total: 1,
    'callsign_jobs_due{kind="deliver-message"}': 2,
    'callsign_jobs_waiting{kind="deliver-message"}': 2,
    'callsign_jobs_due{kind="send-draft"}': 0,
    callsign_webhook_deliveries_due: 1,
    callsign_database_up: 1,
    callsign_database_connections_max: 10,
    callsign_database_connection_waiters: 0,
    'callsign_work_in_flight{work="jobs"}': 0,
  })
  expect(seriesOf(page, 'callsign_jobs_oldest_due_seconds{kind="deliver-message"}')).toBeGreaterThan(0)
  expect(seriesOf(page, 'callsign_webhook_deliveries_oldest_due_seconds')).toBeGreaterThan(0)
  expect(seriesOf(page, 'callsign_backup_timestamp_seconds')).toBeGreaterThan(before)
  expect(seriesOf(page, 'callsign_disk_free_bytes{volume="data"}')).toBeGreaterThan(0)
  for (const listener of ['smtp', 'submission', 'submissions', 'tunnels'])
    expect(seriesOf(page, `callsign_certificate_expiry_timestamp_seconds{listener="${listener}"}`)).toBeGreaterThan(before + 86_400 * 300)
  expect(page).not.toMatch(/stranger|eve@|zelda|_live_/)
})

test('a database that does not answer is reported, and its figures are left out', async () => {
  const registry = new Registry()
  const counts = { busy: 2, idle: 0, max: 2, waiting: 3 }
  const nothing = async () => null
  const replicaReads = () => ({ replica: 7, behind: 5, unavailable: 0 })
  const sources = { connections: () => counts, replicaReads, pending: () => ({}) }
  addGauges(registry, { ...sources, backlog: nothing, disks: nothing, certificates: nothing })
  const page = await registry.metrics()
  expect(seriesOf(page, 'callsign_database_up')).toBe(0)
  expect(seriesOf(page, 'callsign_database_connections{state="busy"}')).toBe(2)
  expect(seriesOf(page, 'callsign_database_connection_waiters')).toBe(3)
  expect(seriesOf(page, 'callsign_database_replica_reads{result="behind"}')).toBe(5)
  expect(page).not.toMatch(/^callsign_(jobs|webhook|backup|disk|certificate)\w*[{ ]/m)
})

test('metrics have a listener of their own, and the public port answers 404', async () => {
  const base = `http://127.0.0.1:${harness.metricsPort}`
  const page = await fetch(`${base}/metrics?name=x`)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  expect(await page.text()).toContain('# TYPE http_requests_total counter')
  const head = await fetch(`${base}/metrics`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  const post = await fetch(`${base}/metrics`, { method: 'POST', body: 'x' })
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  for (const path of ['/', '/healthz', '/api/v1/me', '/metrics/']) expect((await fetch(`${base}${path}`)).status).toBe(404)
  for (const key of [harness.organizationKey, null]) expect((await harness.api('GET', '/metrics', { key })).status).toBe(404)
})

test('the dashboard and the alerts use metrics and labels that the server prints', async () => {
  const page = await harness.metrics()
  const printed = new Set([...page.matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1] as string))
  const labelsOf = new Map(listMetrics().map(({ name, labels }) => [name, labels]))
  const files = globSync('deploy/{grafana,prometheus}/*.{json,yaml}', { cwd: repository })
  expect(files.length).toBeGreaterThan(3)
  const problems = files.flatMap((file) => {
    const text = readFileSync(join(repository, file), 'utf8').replaceAll('\\"', '"')
    return [...text.matchAll(/\b((?:callsign|http|nodejs|process)_\w+)(\{[^}]*\})?/g)].flatMap(([, used = '', selector = '']) => {
      const name = printed.has(used) ? used : used.replace(/_(bucket|count|sum)$/, '')
      if (!printed.has(name)) return [`${file}: ${used} is not printed`]
      const known = [...(labelsOf.get(name) ?? []), 'job', 'instance', 'le']
      const names = [...selector.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map((match) => match[1] as string)
      return names.filter((label) => !known.includes(label)).map((label) => `${file}: ${name} has no label ${label}`)
    })
  })
  expect(problems).toEqual([])
  // Every metric is on the dashboard or in an alert, except for those that are there to be looked up.
  const used = files.map((file) => readFileSync(join(repository, file), 'utf8')).join('\n')
  expect(listMetrics().flatMap(({ name }) => (new RegExp(`\\b${name}(_bucket)?\\b`).test(used) ? [] : [name]))).toEqual([
    'callsign_certificate_orders_total',
    'callsign_database_replica_reads',
    'callsign_imessage_callbacks_refused_total',
    'callsign_imessages_received_total',
  ])
})

test('every alert has a severity, a summary and an action, and a test that fires it', () => {
  const read = (name: string) => readFileSync(join(repository, 'deploy/prometheus', name), 'utf8')
  const rules = read('alerts.yaml')
    .split(/^ {6}- alert: /m)
    .slice(1)
  const tests = read('alerts.test.yaml')
  expect(rules.length).toBeGreaterThan(15)
  for (const rule of rules) {
    expect(rule).toMatch(/severity: (warning|critical)[\s\S]*summary: (['"]).+\2\s+action: (['"]).+\.\3/)
    const [name = ''] = rule.split('\n')
    const fires = tests.split(`alertname: ${name}\n`).slice(1)
    // CallsignWebhooksLate has the form of CallsignJobsLate.
    expect([name, name === 'CallsignWebhooksLate' || fires.some((one: Json) => /^\s+exp_alerts:\n/.test(one))]).toEqual([name, true])
  }
})

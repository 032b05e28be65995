// The whole server in this process, on free ports and its own database, with helpers for tests.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { SendMailOptions } from 'nodemailer'
import { createTransport } from 'nodemailer'
import { pino } from 'pino'
import { Agent, fetch as fetchBy, type RequestInit } from 'undici'
import { startDnsServer } from '../../../mail/tests/harness/dns-server.ts'
import { startApp } from '../../src/app.ts'
import { readConfig } from '../../src/config/settings.ts'
import { createLog } from '../../src/core/log.ts'
import { connect } from '../../src/edges/postgres/connect.ts'
import { generateKey } from '../../src/features/account/keys/model.ts'
import { createCredentials } from '../../src/wiring/parts.ts'
import { type ApiDocument, createContractCheck } from './contract-check.ts'
import { createDatabase } from './database.ts'
import { waitFor } from './wait.ts'

export const mailDomain = 'agents.localhost'

// biome-ignore lint/suspicious/noExplicitAny: every answer is held against the OpenAPI document before a test sees it
export type Json = any
export type Answer = { status: number; headers: Headers; body: Json }
/** `key: null` sends none, and without `key` the first organization's is sent. A string body is sent unchanged. */
export type Ask = { key?: string | null; body?: unknown; headers?: Record<string, string> }
export type Harness = Awaited<ReturnType<typeof startHarness>>

/** Starts a server with these CALLSIGN_ settings over the usual ones. */
export async function startHarness(settings: Record<string, string> = {}) {
  const database = await createDatabase()
  const dataDir = await mkdtemp(join(tmpdir(), 'callsign-harness-'))
  const organizationKey = generateKey()
  const dns = await startDnsServer()
  const environment: Record<string, string> = {
    CALLSIGN_PORT: '0',
    CALLSIGN_SMTP_PORT: '0',
    CALLSIGN_METRICS_PORT: '0',
    CALLSIGN_DATA_DIR: dataDir,
    CALLSIGN_DATABASE_URL: database.url,
    CALLSIGN_BOOTSTRAP_API_KEY: organizationKey,
    CALLSIGN_MAIL_RETRY_SECONDS: '0.05,0.05,0.05',
    CALLSIGN_DNS_SERVERS: dns.address,
    ...settings,
  }
  const lines: string[] = []
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString())
      done()
    },
  })
  const log = pino({ level: 'debug', base: null, formatters: { level: (label) => ({ level: label }) } }, sink)
  const app = await startApp(readConfig(environment), log)
  const db = connect({ connectionString: database.url }, { poolSize: 2, log: createLog('silent') })
  const baseUrl = `http://127.0.0.1:${app.httpPort}`

  // A separate agent that is closed before the server, because a stop gives other connections some time.
  const connections = new Agent()
  const document = (await (await fetchBy(`${baseUrl}/openapi.json`, { dispatcher: connections })).json()) as ApiDocument
  const checkContract = createContractCheck(document)

  /** Sends one request and checks its answer against the document. A path without a leading `/api/v1` gets one, except for pages outside the API. */
  async function api(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const whole = /^\/(api|media|hooks|healthz|readyz|metrics|openapi|docs)/.test(path) ? path : `/api/v1${path}`
    const { key = organizationKey, body } = ask
    const headers = new Headers(ask.headers)
    if (key !== null && !headers.has('authorization')) headers.set('authorization', `Bearer ${key}`)
    if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
    const init: RequestInit = { method, headers: [...headers], redirect: 'manual', dispatcher: connections }
    if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetchBy(`${baseUrl}${whole}`, init)
    const bytes = Buffer.from(await response.arrayBuffer())
    const answered = new Headers([...response.headers])
    const isJson = answered.get('content-type')?.startsWith('application/json')
    const parsed = isJson ? JSON.parse(bytes.toString()) : bytes.length > 0 ? bytes : null
    checkContract({ method, path: whole, status: response.status, headers: answered, body: parsed })
    return { status: response.status, headers: answered, body: parsed }
  }

  /** The body of an answer that must have this status. */
  async function expectApi(status: number, method: string, path: string, ask: Ask = {}): Promise<Json> {
    const answer = await api(method, path, ask)
    if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  const createAgent = (handle: string, more: Record<string, unknown> = {}, key = organizationKey): Promise<Json> =>
    expectApi(201, 'POST', '/identities', { key, body: { agent_handle: handle, ...more } })

  const agentKey = async (handle: string, more: Record<string, unknown> = {}, key = organizationKey): Promise<string> =>
    (await expectApi(201, 'POST', '/keys', { key, body: { name: `key of ${handle}`, type: 'agent', agent_handle: handle, ...more } })).key

  /** Sends a plain message from an agent. `more` changes its fields. */
  const send = (agent: string, to: string | string[], more: Record<string, unknown> = {}): Promise<Json> =>
    expectApi(201, 'POST', '/mail/send', { body: { agent, to: [to].flat(), subject: 'Hello', text: 'Hello there', ...more } })

  const getMessage = (handle: string, id: string): Promise<Json> => expectApi(200, 'GET', `/mailboxes/${handle}/messages/${id}`)

  /** The message once its status is one of these. */
  const waitForStatus = (handle: string, id: string, ...statuses: string[]): Promise<Json> =>
    waitFor(`message ${id} to be ${statuses.join(' or ')}`, async () => {
      const message = await getMessage(handle, id)
      return statuses.includes(message.status) && message
    })

  /** The whole message, once an inbound one with this subject is in the mailbox, or in its quarantine. */
  const waitForMail = (handle: string, subject: string, status: 'received' | 'quarantined' = 'received'): Promise<Json> =>
    waitFor(`mail "${subject}" in the mailbox of ${handle}`, async () => {
      const { data } = await expectApi(200, 'GET', `/mailboxes/${handle}/messages?direction=inbound&status=${status}`)
      const item = data.find((one: Json) => one.subject === subject)
      return item && getMessage(handle, item.id)
    })

  const transport = createTransport({ host: '127.0.0.1', port: app.smtpPort as number, tls: { rejectUnauthorized: false } })

  /** Events of a subject, oldest first, as they are in the database. */
  const eventsOf = async (subjectId: string): Promise<{ type: string; data: Json }[]> =>
    (
      await db.query<{ type: string; data: Json }>({
        text: 'SELECT type, data FROM events WHERE subject_id = $1 ORDER BY id',
        values: [subjectId],
      })
    ).rows

  const credentials = createCredentials(db)
  /** Another organization on the same server, with its first key. */
  async function createOrganization(name: string): Promise<{ id: string; key: string }> {
    return db.transact(async (tx) => {
      const { organizationId, userId } = await credentials.accounts.createOrganization(tx, name)
      const request = { organizationId, userId, name: 'First key', agents: null, scopes: [], allowedIps: [], expiresAt: null }
      return { id: organizationId, key: (await credentials.keys.insertFromHost(tx, request)).key }
    })
  }
  const otherOrganization = await createOrganization('Other organization')

  return {
    api,
    expectApi,
    organizationKey,
    otherOrganization,
    createOrganization,
    createAgent,
    agentKey,
    send,
    getMessage,
    waitForStatus,
    waitForMail,
    eventsOf,
    /** Makes the jobs of scheduled drafts due, as if their time had come. */
    makeDraftsDue: (...ids: string[]) =>
      db.query({ text: `UPDATE jobs SET run_at = now() WHERE kind = 'send-draft' AND subject = ANY($1)`, values: [ids] }),
    /** Delivers a message over SMTP, as nodemailer does it. */
    deliver: (mail: SendMailOptions) => transport.sendMail(mail),
    smtpPort: app.smtpPort as number,
    metricsPort: app.metricsPort,
    submissionPorts: app.submissionPorts,
    httpsPort: app.httpsPort as number,
    tunnelHttpsPort: app.tunnelHttpsPort as number,
    baseUrl,
    publicUrl: app.publicUrl,
    /** The console's address. It carries the one-time link of the first start. */
    consoleUrl: app.consoleUrl as string,
    document,
    db,
    dataDir,
    /** The DNS of this server, empty until a test adds records. */
    dns,
    environment,
    logLines: () => lines,
    /** The page of metrics. */
    metrics: () => readMetrics(app.metricsPort),
    async stop() {
      transport.close()
      const closed = connections.close()
      await app.stop()
      await closed
      await db.close()
      await database.drop()
      await dns.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** The page of metrics of a server on this machine. */
export const readMetrics = async (port: number | null): Promise<string> => (await fetchBy(`http://127.0.0.1:${port}/metrics`)).text()

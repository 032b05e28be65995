// Starts and stops the server: the database first, the listeners last, and back in reverse.
import type { Config } from './config/settings.ts'
import { createBusinessEvents } from './core/business-events.ts'
import { inMs, now } from './core/clock.ts'
import type { Log } from './core/log.ts'
import { keptMs } from './edges/api/idempotency.ts'
import type { HttpServer } from './edges/api/server.ts'
import { type FreeSpace, watchFreeSpace } from './edges/blobs/free-space.ts'
import { createWorker, type OnJobFailure } from './edges/jobs/runner.ts'
import { startScheduledTasks } from './edges/jobs/scheduled-tasks.ts'
import { openKeyring } from './edges/keyring/keyring.ts'
import type { MetricsListener } from './edges/metrics/listener.ts'
import { createPartitions } from './edges/postgres/partitions.ts'
import { createQueue } from './edges/postgres/queue.ts'
import { createReplays } from './edges/postgres/replays.ts'
import type { SmtpServer } from './edges/smtp/server/listener.ts'
import { linkUrl } from './features/account/links/operations.ts'
import { type OnStep, openDatabase, type StoredDatabase } from './host/database.ts'
import { checkBootstrapKey, ensureFirstKey, type FirstStart, organizationName } from './host/first-start.ts'
import { foldersOf, ownFolders, requireFolder } from './host/folder.ts'
import { startScheduledBackup } from './host/scheduled-backup.ts'
import { findProblems } from './host/server-findings.ts'
import { createHttp, type Serving } from './wiring/http.ts'
import { createMetrics } from './wiring/metrics.ts'
import { type Running, sealingOf } from './wiring/parts.ts'
import { createServerParts, type ServerParts } from './wiring/server.ts'
import { createSmtp, smtpOptions } from './wiring/smtp.ts'
import { createSubmission } from './wiring/submission.ts'
import { type TlsListener, tlsListeners } from './wiring/tls-listeners.ts'

/** A running server. */
export type App = {
  /** Listeners, one line each, for the operator. */
  listening: string[]
  publicUrl: string
  httpPort: number | null
  /** The port for HTTPS, or null. */
  httpsPort: number | null
  /** The port for HTTPS to tunnels, or null. */
  tunnelHttpsPort: number | null
  smtpPort: number | null
  /** The port of /metrics, or null. */
  metricsPort: number | null
  /** The ports for submission that are on: with STARTTLS, and with TLS from the first byte. */
  submissionPorts: number[]
  /** The key of a first start, shown once. Null at all other starts. */
  firstKey: string | null
  /** The console's address, or null when it is off. After a first start it signs the owner in once. */
  consoleUrl: string | null
  /** Rejects when the database has failed for good. */
  failed: Promise<never>
  /** The organization of a first start. */
  organizationName: string
  /** Work in flight by name. */
  pending: () => Record<string, number>
  /** Stops accepting work, finishes in-flight work, and closes all connections. */
  stop: () => Promise<void>
}

const hourMs = 3_600_000
/** The time for the last statements of a stopping server, after the grace for its work. */
const abortAfterMs = 5_000

/**
 * Starts the server. The database comes first, because everything reads it. The worker comes before the listeners, so that it can work on
 * their jobs. The first key comes after the listeners, so that a start that fails has not made it. Requests wait until it exists.
 * `signal` ends the wait for an external database.
 */
export async function startApp(config: Config, log: Log, onStep: OnStep = () => {}, signal: AbortSignal | null = null): Promise<App> {
  checkBootstrapKey(config.bootstrapApiKey)
  for (const [folder, setting] of ownFolders(config)) requireFolder(folder, setting)
  const database: StoredDatabase = await openDatabase(config, log, onStep, signal)
  try {
    onStep('Opening the ports')
    return await startOn(database, config, log)
  } catch (error) {
    await database.close()
    throw error
  }
}

async function startOn(database: StoredDatabase, config: Config, log: Log): Promise<App> {
  const { db } = database
  const businessEvents = createBusinessEvents(log)
  const running: Running = { worker: null, publicUrl: config.publicUrl ?? '' }
  const keyring = await openKeyring(config.dataDir)
  const parts = createServerParts({ config, db, keyring, log, businessEvents, running })
  await Promise.all([parts.dkim.ensureMailDomainKeys(), parts.certificates.load()])

  const replays = createReplays(db, sealingOf(keyring.subkey('idempotency-answers')))
  const background = await startBackground({ config, db, log, parts, replays, running, businessEvents, database: database.target })
  try {
    const space = await watchFreeSpace(foldersOf(config))
    const smtp = createSmtp(config, log, parts, space, businessEvents)
    const { servers: submission, pages } = createSubmission({
      config,
      parts,
      log,
      businessEvents,
      smtp: smtpOptions(config, parts.certificates, space),
    })
    const { worker } = background
    const problems = () => findProblems(config, running.publicUrl)
    const http = createHttp({ config, db, log, parts, replays, businessEvents, worker, running, findProblems: problems }, pages)
    const opening = { database, config, log, parts, running, background, space, smtp, submission, http, tlsListeners: [] }
    const metrics = createMetrics({
      config,
      registry: businessEvents.registry,
      db,
      kinds: parts.handlers.map(({ kind }) => kind),
      pending: () => pendingOf(opening),
      tlsListeners: opening.tlsListeners,
    })
    return await listen({ ...opening, metrics })
  } catch (error) {
    // The worker would report each statement as an error once the database is closed.
    await background.stop(0)
    throw error
  }
}

type Listening = {
  database: StoredDatabase
  config: Config
  log: Log
  parts: ServerParts
  running: Running
  background: Awaited<ReturnType<typeof startBackground>>
  space: FreeSpace
  smtp: SmtpServer | null
  submission: [string, SmtpServer][]
  http: HttpServer
  metrics: MetricsListener | null
  /** Filled in by `listen`. */
  tlsListeners: TlsListener[]
}

/** Opens every port, and then makes the first key. */
async function listen(opening: Listening): Promise<App> {
  const { database, config, log, parts, running, smtp, submission, http, metrics } = opening
  const listening: string[] = []
  const metricsPort = metrics ? await metrics.listen() : null
  if (metricsPort !== null) listening.push(`metrics ${config.metricsHost}:${metricsPort}`)
  const add = (name: string, port: number | null) => port !== null && listening.push(`${name} ${config.host}:${port}`)
  // Before the listener for clients, so that clients find a node.
  const gatewayPort = await parts.gateway.start()
  if (gatewayPort !== null) listening.push(`gateway nodes ${config.gatewayHost}:${gatewayPort}`)
  const { port: httpPort, httpsPort } = await http.listen()
  running.publicUrl = http.url
  add('http', httpPort)
  add('https', httpsPort)
  const tunnelHttpsPort = parts.tunnelHttps ? await parts.tunnelHttps.listen() : null
  add('https for tunnels', tunnelHttpsPort)
  const smtpPort = smtp ? (await smtp.listen()).port : null
  add('smtp', smtpPort)
  const submissionPorts: number[] = []
  for (const [name, server] of submission) {
    const { port } = await server.listen()
    submissionPorts.push(port)
    add(name, port)
  }
  const [submissionPort = null, submissionsPort = null] = config.submissionPort === null ? [null, ...submissionPorts] : submissionPorts
  const ports = { https: httpsPort, smtp: smtpPort, submission: submissionPort, submissions: submissionsPort, tunnels: tunnelHttpsPort }
  opening.tlsListeners.push(...tlsListeners(config, ports))
  const first = await ensureFirstKey(database.db, parts.accounts, parts.keys, config.bootstrapApiKey)
  const consoleUrl = await consoleUrlOf(config, http.url, parts, first).catch((error: unknown) => {
    // The key of a first start is stored by now and has to be shown.
    log.error({ err: error }, 'creating the sign-in link of the console failed')
    return null
  })
  http.open()
  parts.certificates.start()

  return {
    pending: () => pendingOf(opening),
    organizationName,
    listening,
    publicUrl: http.url,
    httpPort,
    httpsPort,
    tunnelHttpsPort,
    smtpPort,
    metricsPort,
    submissionPorts,
    firstKey: first.key,
    consoleUrl,
    failed: database.failed,
    stop: () => close(opening),
  }
}

/** Stops accepting work, finishes in-flight work, and closes all connections. */
async function close({ database, config, parts, background, space, smtp, submission, http, metrics }: Listening): Promise<void> {
  const graceMs = config.drainSeconds * 1000
  // Work that waits for a database without an answer would not end by itself.
  const aborting = setTimeout(() => database.db.abort(), graceMs + abortAfterMs)
  // The listeners stop first, so that no new work arrives. The worker may still need the database, which closes last.
  await Promise.all([
    http.drain(graceMs),
    ...[smtp, ...submission.map(([, server]) => server)].map((one) => one?.drain(graceMs)),
    parts.tunnelHttps?.drain(),
    parts.gateway.drain(graceMs),
  ])
  parts.tunnelHttps?.close()
  await background.stop(graceMs)
  space.stop()
  await Promise.all([parts.certificates.stop(), parts.close()])
  await metrics?.close()
  await database.close()
  clearTimeout(aborting)
}

/** Work in flight by name. */
const pendingOf = ({ parts, http, smtp, submission, background }: Omit<Listening, 'metrics'>): Record<string, number> => ({
  requests: http.inFlight(),
  'requests to tunnels': parts.gateway.inFlight,
  'SMTP sessions': [smtp, ...submission.map(([, server]) => server)].reduce((sum, server) => sum + (server?.connections() ?? 0), 0),
  jobs: background.worker?.running() ?? 0,
  'webhook deliveries': parts.deliverer.inFlight(),
})

/** The console's address, or null when this process does not serve it. A first start gets a link that signs the owner in. */
async function consoleUrlOf(config: Config, url: string, { console }: ServerParts, first: FirstStart): Promise<string | null> {
  if (!config.isConsoleOn || !config.roles.includes('api')) return null
  const token = first.organizationId && (await console.links.createForOwner(first.organizationId))
  return token ? linkUrl(url, token) : `${url}/console/`
}

type Starting = Omit<Serving, 'worker' | 'findProblems'>

type Background = Starting & { database: StoredDatabase['target'] }

/** Starts the worker, the scheduled tasks, the backups and the deliverer of webhooks, in a process with the worker role. */
async function startBackground({ config, db, log, parts, replays, running, businessEvents, database }: Background) {
  const queue = createQueue(db)
  const isWorker = config.roles.includes('worker')
  const onFailure: OnJobFailure = ({ id, kind }, reason) => businessEvents.jobFailed({ job_id: id, kind, reason })
  const worker = isWorker ? createWorker({ queue, handlers: parts.handlers, log: log.child({ part: 'worker' }), onFailure }) : null
  const scheduledTasks = worker
    ? startScheduledTasks(
        [
          { name: 'sweep idempotency keys', everyMs: hourMs, run: () => replays.sweep(inMs(-keptMs)) },
          { name: 'keep partitions', everyMs: hourMs, isDueAtStart: true, run: () => createPartitions(db, log).keep(now()) },
          ...parts.scheduledTasks,
        ],
        log.child({ part: 'scheduledTasks' }),
      )
    : null
  if (worker) {
    // The embedded database serves this process alone, so the leases in it belong to a process that has died.
    if (config.databaseUrl === null) await queue.releaseAll()
    running.worker = worker
    worker.start()
    await parts.deliverer.start({ isAlone: config.databaseUrl === null })
  }
  const backup = worker && startScheduledBackup({ config, db, database, log: log.child({ part: 'backup' }) })
  const stop = async (graceMs: number) => {
    await Promise.all([worker?.stop(graceMs), parts.deliverer.stop(graceMs), scheduledTasks?.stop(), backup?.stop()])
  }
  return { worker, stop }
}

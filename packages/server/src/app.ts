// The order of starting and stopping: the database first, the listeners last.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { messageBytesMax } from '@callsign/contract/attachments'
import { BadSetting, type Config } from './config/settings.ts'
import { createBusinessEvents } from './core/business-events.ts'
import { inMs } from './core/clock.ts'
import type { Log } from './core/log.ts'
import { keptMs } from './edges/api/idempotency.ts'
import { createHttpServer } from './edges/api/server.ts'
import { watchFreeSpace } from './edges/blobs/free-space.ts'
import { createClosedDoor } from './edges/gateway/unavailable-handler.ts'
import { createWorker } from './edges/jobs/runner.ts'
import { startScheduledTasks } from './edges/jobs/scheduled-tasks.ts'
import { openKeyring } from './edges/keyring/keyring.ts'
import { createQueue } from './edges/postgres/queue.ts'
import { createReplays } from './edges/postgres/replays.ts'
import { createSmtpServer } from './edges/smtp/server/listener.ts'
import { createSmtpIntake } from './features/mail/inbound/smtp-intake.ts'
import { createReturnIntake } from './features/mail/returned/smtp-intake.ts'
import { openDatabase, type StoredDatabase } from './host/database.ts'
import { checkBootstrapKey, ensureFirstKey } from './host/first-start.ts'
import { type Running, sealingOf, version } from './wiring/parts.ts'
import { createServerParts } from './wiring/server.ts'

/** A running server. */
export type App = {
  /** What was started, one line each, for people. */
  listening: string[]
  publicUrl: string
  httpPort: number | null
  /** The port of https:// to tunnels, or null. */
  tunnelHttpsPort: number | null
  smtpPort: number | null
  /** The key of a first start, shown once; null at every other start. */
  firstKey: string | null
  /** Rejects when a part that the server cannot do without has failed for good. */
  failed: Promise<never>
  /** Stops taking work, finishes what is under way, and lets go of everything. */
  stop: () => Promise<void>
}

const hourMs = 3_600_000

/**
 * Starts the server. Order: the database first, because everything reads it; the worker before the listeners, because what they take
 * must be worked on; the listeners last, because a listening port says that we are ready. `onFirstKey` gets the key of a first start as
 * soon as it is stored, so that a start that fails later does not lose it.
 */
export async function startApp(config: Config, log: Log, onFirstKey: (key: string) => void = () => {}): Promise<App> {
  const hasRole = (role: 'api' | 'smtp' | 'worker' | 'gateway') => config.roles.includes(role)
  checkBootstrapKey(config.bootstrapApiKey)
  const database: StoredDatabase = await openDatabase(config, log)
  try {
    const { db } = database
    const businessEvents = createBusinessEvents(log)
    const running: Running = { worker: null, publicUrl: config.publicUrl ?? '' }
    const keyring = await openKeyring(config.dataDir)
    const parts = createServerParts({ config, db, keyring, log, businessEvents, running })
    const firstKey = await ensureFirstKey(db, parts.accounts, parts.keys, config.bootstrapApiKey)
    if (firstKey !== null) onFirstKey(firstKey)
    await parts.dkim.ensureMailDomainKeys()

    const queue = createQueue(db)
    const worker = hasRole('worker') ? createWorker({ queue, handlers: parts.handlers, log: log.child({ part: 'worker' }) }) : null
    const replays = createReplays(db, sealingOf(keyring.subkey('idempotency-answers')))
    const scheduledTasks = worker
      ? startScheduledTasks(
          [{ name: 'sweep idempotency keys', everyMs: hourMs, run: () => replays.sweep(inMs(-keptMs)) }, ...parts.scheduledTasks],
          log.child({ part: 'scheduledTasks' }),
        )
      : null
    if (worker) {
      // Whoever has the embedded database to itself knows that the leases in it belong to a server that died.
      if (config.databaseUrl === null) await queue.releaseAll()
      running.worker = worker
      worker.start()
      await parts.deliverer.start({ isAlone: config.databaseUrl === null })
    }

    const space = await watchFreeSpace(foldersOf(config))
    const smtp =
      hasRole('smtp') && config.smtpPort !== null
        ? createSmtpServer(
            {
              host: config.host,
              port: config.smtpPort,
              hostname: config.mailDomain,
              sizeBytesMax: messageBytesMax,
              tls: readCertificate(config),
              log: log.child({ part: 'smtp' }),
              limits: { connectionsPerAddressMax: config.smtpConnectionsPerClient, isLoopbackLimited: false },
              freeBytes: space.bytes,
            },
            createReturnIntake(parts.returnedMail, createSmtpIntake(parts.inboundMail)),
          )
        : null
    const http = createHttpServer({
      host: config.host,
      port: config.port,
      version,
      publicUrl: config.publicUrl,
      routes: hasRole('api') ? parts.routes : [],
      authenticate: parts.keys.authenticate,
      transact: db.transact,
      replays,
      limits: {
        organizationKeyPerSecond: config.organizationKeyPerSecond,
        organizationKeyBurst: 2 * config.organizationKeyPerSecond,
        agentKeyPerSecond: config.agentKeyPerSecond,
        agentKeyBurst: 2 * config.agentKeyPerSecond,
      },
      readiness: async () => ({
        database: await db.query({ text: 'SELECT 1' }).then(
          () => true,
          () => false,
        ),
        ...(worker ? { worker: worker.isClaiming() && parts.deliverer.isDelivering() } : {}),
      }),
      door: hasRole('gateway') ? parts.gateway : createClosedDoor(config.tunnelDomain),
      businessEvents,
      log: log.child({ part: 'http' }),
    })

    const listening: string[] = []
    // Before the listener that clients come to, so that they find a node.
    const gatewayPort = await parts.gateway.start()
    if (gatewayPort !== null) listening.push(`gateway nodes ${config.gatewayHost}:${gatewayPort}`)
    const { port: httpPort } = await http.listen()
    running.publicUrl = http.url
    listening.push(`http ${config.host}:${httpPort}`)
    const tunnelHttpsPort = parts.tunnelHttps ? await parts.tunnelHttps.listen() : null
    if (tunnelHttpsPort !== null) listening.push(`https for tunnels ${config.host}:${tunnelHttpsPort}`)
    const smtpPort = smtp ? (await smtp.listen()).port : null
    if (smtpPort !== null) listening.push(`smtp ${config.host}:${smtpPort}`)

    const stop = async () => {
      const graceMs = config.drainSeconds * 1000
      // Listeners first, so that nothing new comes in; then the worker, which may still need the database; the database last.
      await Promise.all([http.drain(graceMs), smtp?.drain(graceMs), parts.tunnelHttps?.drain(), parts.gateway.drain(graceMs)])
      parts.tunnelHttps?.close()
      await Promise.all([worker?.stop(graceMs), parts.deliverer.stop(graceMs), scheduledTasks?.stop()])
      space.stop()
      await parts.close()
      await database.close()
    }
    return { listening, publicUrl: http.url, httpPort, tunnelHttpsPort, smtpPort, firstKey, failed: database.failed, stop }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Where on this machine's disks arriving mail ends up. */
const foldersOf = ({ databaseUrl, dataDir, blobs }: Config): string[] => [
  ...(databaseUrl === null ? [dataDir] : []),
  ...(blobs.kind === 'file' ? [blobs.folder ?? dataDir] : []),
]

/** Throws BadSetting when the files cannot be read or do not go together. */
function readCertificate(config: Config) {
  if (!config.smtpTlsCertFile || !config.smtpTlsKeyFile) return 'generate' as const
  try {
    const pair = { cert: readFileSync(config.smtpTlsCertFile, 'utf8'), key: readFileSync(config.smtpTlsKeyFile, 'utf8') }
    createSecureContext(pair)
    return pair
  } catch (error) {
    throw new BadSetting(`CALLSIGN_SMTP_TLS_CERT_FILE and CALLSIGN_SMTP_TLS_KEY_FILE cannot be used: ${(error as Error).message}`)
  }
}

// The one file that knows every part: what each is made of, and the order of starting and stopping.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { messageBytesMax } from '@callsign/contract/attachments'
import { BadSetting, type Config } from './config.ts'
import type { Blobs } from './core/blobs.ts'
import { inMs, nowMs } from './core/clock.ts'
import type { Journal } from './core/journal.ts'
import { createJournal } from './core/journal.ts'
import type { Log } from './core/log.ts'
import type { Sealing } from './core/replay.ts'
import type { Database } from './core/sql.ts'
import { createDiskBlobs } from './edges/blobs/disk.ts'
import { createS3Blobs } from './edges/blobs/s3.ts'
import { createWeb } from './edges/http/guarded-fetch.ts'
import { createHostLookup } from './edges/http/host-lookup.ts'
import { keptMs } from './edges/http/idempotency.ts'
import { TokenBuckets } from './edges/http/rate-limit.ts'
import { createHttpServer } from './edges/http/server.ts'
import { type Keyring, openKeyring } from './edges/keyring/keyring.ts'
import { createEmit } from './edges/postgres/event-log.ts'
import { cancelJob, createEnqueue } from './edges/postgres/job-maker.ts'
import { createQueue } from './edges/postgres/queue.ts'
import { createReplays } from './edges/postgres/replays.ts'
import { createSmtpServer } from './edges/smtp/listener.ts'
import { createRelayTransport } from './edges/smtp/relay.ts'
import { createSimulatorTransport } from './edges/suppliers/simulator-mail.ts'
import { startChores } from './edges/worker/chores.ts'
import { createWorker } from './edges/worker/runner.ts'
import { createAccounts } from './features/accounts/operations.ts'
import { accountRoutes } from './features/accounts/routes.ts'
import { createAttachments } from './features/attachments/operations.ts'
import { attachmentRoutes } from './features/attachments/routes.ts'
import { createScheduledSend } from './features/drafts/jobs.ts'
import { createDrafts } from './features/drafts/operations.ts'
import { draftRoutes } from './features/drafts/routes.ts'
import { createEvents } from './features/events/operations.ts'
import { eventRoutes } from './features/events/routes.ts'
import { createIdentities } from './features/identities/operations.ts'
import { identityRoutes } from './features/identities/routes.ts'
import { createInboundMail } from './features/inbound-mail/operations.ts'
import { createSmtpIntake } from './features/inbound-mail/smtp-intake.ts'
import { decodeAttachment } from './features/inbound-mail/transfer-encoding.ts'
import { createKeys, type FindAgent } from './features/keys/operations.ts'
import { keyRoutes } from './features/keys/routes.ts'
import { createMessages } from './features/messages/operations.ts'
import { messageRoutes } from './features/messages/routes.ts'
import { createCompose } from './features/outbound-mail/composer.ts'
import { createDelivery } from './features/outbound-mail/jobs.ts'
import { createOutboundMail } from './features/outbound-mail/operations.ts'
import { outboundMailRoutes } from './features/outbound-mail/routes.ts'
import { createVaults } from './features/vault/operations.ts'
import { vaultRoutes } from './features/vault/routes.ts'
import { createDeliverer } from './features/webhooks/jobs.ts'
import { createWebhooks } from './features/webhooks/operations.ts'
import { webhookRoutes } from './features/webhooks/routes.ts'
import { openSecret, sealSecret } from './features/webhooks/secret-seal.ts'
import { openDatabase, type StoredDatabase } from './host/database.ts'
import { checkBootstrapKey, ensureFirstKey } from './host/first-start.ts'

export const version: string = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')).version

/** A running server. */
export type App = {
  /** What was started, one line each, for people. */
  listening: string[]
  publicUrl: string
  httpPort: number | null
  smtpPort: number | null
  /** The key of a first start, shown once; null at every other start. */
  firstKey: string | null
  /** Rejects when a part that the server cannot do without has failed for good. */
  failed: Promise<never>
  /** Stops taking work, finishes what is under way, and lets go of everything. */
  stop: () => Promise<void>
}

/** Accounts and keys on an open database: what host commands need too. */
export function createCredentials(db: Database) {
  const accounts = createAccounts(db)
  // Keys name agents, and identities come after keys in the feature order.
  let findAgent: FindAgent = async () => null
  const keys = createKeys(db, accounts, (organizationId, handle) => findAgent(organizationId, handle))
  const handInAgents = (find: FindAgent) => {
    findAgent = find
  }
  return { accounts, keys, handInAgents, findAgent: (organizationId: string, handle: string) => findAgent(organizationId, handle) }
}

/** The store for large bytes that the settings name. */
export function createBlobs(config: Config): Blobs {
  const { blobs, aws, s3Endpoint } = config
  if (blobs.kind === 'file') return createDiskBlobs(blobs.folder ?? join(config.dataDir, 'blobs'))
  const { region, accessKeyId, secretAccessKey, sessionToken } = aws as NonNullable<typeof aws>
  // AWS itself names the bucket in the host; other servers are usually reached by one name for all buckets.
  return createS3Blobs({
    bucket: blobs.bucket,
    prefix: blobs.prefix,
    region,
    accessKeyId,
    secretAccessKey,
    sessionToken: sessionToken ?? undefined,
    endpoint: s3Endpoint ?? undefined,
    pathStyle: s3Endpoint !== null,
  })
}

const sealingOf = (key: Buffer): Sealing => ({
  seal: (scope, text) => sealSecret(key, scope, Buffer.from(text)).toString('base64'),
  open: (scope, sealed) => openSecret(key, scope, Buffer.from(sealed, 'base64')).toString(),
})

/** Every feature on its edges, nothing started yet. */
function createParts(
  config: Config,
  db: Database,
  keyring: Keyring,
  log: Log,
  journal: Journal,
  wake: () => void,
  publicUrl: () => string,
) {
  const blobs = createBlobs(config)
  const { accounts, keys, handInAgents } = createCredentials(db)
  const identities = createIdentities(db, accounts, config, (tx, organizationId, mailboxId) =>
    messages.emptyMailbox(tx, organizationId, mailboxId),
  )
  handInAgents(identities.findAgent)
  const web = createWeb({
    allowCidrs: config.outboundAllowCidrs,
    userAgent: `Callsign/${version}`,
    ...(config.dnsServers.length > 0 ? { lookup: createHostLookup(config.dnsServers) } : {}),
  })
  const attachments = createAttachments({ db, blobs, web, decode: decodeAttachment, linkKey: keyring.subkey('media-links'), publicUrl })
  const compose = createCompose(attachments, (messageId) => messages.findRecipients(messageId))
  const messages = createMessages({ db, blobs, identities, attachments, compose })
  const events = createEvents({ db, keys, identities, describers: { msg: messages.describe }, log: log.child({ part: 'events' }) })
  const sealKey = keyring.subkey('webhook-secrets')
  const deliverer = createDeliverer({
    db,
    accounts,
    events,
    web,
    sealKey,
    retrySeconds: config.webhookRetrySeconds,
    journal,
    log: log.child({ part: 'webhooks' }),
  })
  const pings = new TokenBuckets(1, 60)
  const takePing = (webhookId: string) => pings.take(webhookId, nowMs())
  const webhooks = createWebhooks({ db, accounts, identities, events, web, sealKey, takePing, wake: deliverer.wake })
  const emit = createEmit((webhookIds) => {
    deliverer.wake(webhookIds)
    events.hurry()
  })
  const inboundMail = createInboundMail({ db, blobs, identities, emit, journal })
  const enqueue = createEnqueue(wake)
  const outboundMail = createOutboundMail({
    transact: db.transact,
    identities,
    attachments,
    messages,
    enqueue,
    mailDomain: config.mailDomain,
    journal,
  })
  const drafts = createDrafts({ db, identities, attachments, messages, outboundMail, enqueue, cancelJob })
  const scheduledSend = createScheduledSend({ db, identities, drafts })
  const transport =
    config.mailTransport === 'relay'
      ? createRelayTransport({ url: config.smtpRelayUrl as string, hostname: config.mailDomain, log: log.child({ part: 'relay' }) })
      : createSimulatorTransport()
  const delivery = createDelivery({
    db,
    identities,
    messages,
    inboundMail,
    transport,
    compose,
    emit,
    retrySeconds: config.mailRetrySeconds,
    mailDomain: config.mailDomain,
    journal,
    log: log.child({ part: 'outbound-mail' }),
  })
  const routes = [
    ...accountRoutes(accounts),
    ...identityRoutes(identities),
    ...outboundMailRoutes(outboundMail),
    ...messageRoutes(messages),
    ...draftRoutes(drafts),
    ...attachmentRoutes(attachments),
    ...webhookRoutes(webhooks),
    ...eventRoutes(events),
    ...vaultRoutes(createVaults({ db, accounts, identities, journal })),
    ...keyRoutes(keys),
  ]
  return { accounts, keys, messages, inboundMail, transport, delivery, scheduledSend, events, deliverer, web, routes }
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/**
 * Starts the server. Order: the database first, because everything reads it; the worker before the listeners, because what they take
 * must be worked on; the listeners last, because a listening port says that we are ready. `onFirstKey` gets the key of a first start as
 * soon as it is stored, so that a start that fails later does not lose it.
 */
export async function startApp(config: Config, log: Log, onFirstKey: (key: string) => void = () => {}): Promise<App> {
  const hasRole = (role: 'api' | 'smtp' | 'worker') => config.roles.includes(role)
  checkBootstrapKey(config.bootstrapApiKey)
  const database: StoredDatabase = await openDatabase(config, log)
  try {
    const { db } = database
    const journal = createJournal(log)
    let wake = () => {}
    let publicUrl = () => config.publicUrl ?? ''
    const keyring = await openKeyring(config.dataDir)
    const parts = createParts(
      config,
      db,
      keyring,
      log,
      journal,
      () => wake(),
      () => publicUrl(),
    )
    const firstKey = await ensureFirstKey(db, parts.accounts, parts.keys, config.bootstrapApiKey)
    if (firstKey !== null) onFirstKey(firstKey)

    const queue = createQueue(db)
    const worker = hasRole('worker')
      ? createWorker({ queue, handlers: [parts.delivery, parts.scheduledSend], log: log.child({ part: 'worker' }) })
      : null
    const replays = createReplays(db, sealingOf(keyring.subkey('idempotency-answers')))
    const chores = worker
      ? startChores(
          [
            { name: 'sweep idempotency keys', everyMs: hourMs, run: () => replays.sweep(inMs(-keptMs)) },
            { name: 'sweep blobs', everyMs: 6 * hourMs, run: () => parts.messages.sweepBlobs(dayMs) },
            { name: 'place events', everyMs: 1000, run: () => parts.events.place() },
            { name: 'sweep deliveries and events', everyMs: hourMs, run: () => parts.deliverer.sweep() },
          ],
          log.child({ part: 'chores' }),
        )
      : null
    if (worker) {
      // Whoever has the embedded database to itself knows that the leases in it belong to a server that died.
      if (config.databaseUrl === null) await queue.releaseAll()
      wake = worker.wake
      worker.start()
      await parts.deliverer.start({ isAlone: config.databaseUrl === null })
    }

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
            },
            createSmtpIntake(parts.inboundMail),
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
      journal,
      log: log.child({ part: 'http' }),
    })

    const listening: string[] = []
    const { port: httpPort } = await http.listen()
    publicUrl = () => http.url
    listening.push(`http ${config.host}:${httpPort}`)
    const smtpPort = smtp ? (await smtp.listen()).port : null
    if (smtpPort !== null) listening.push(`smtp ${config.host}:${smtpPort}`)

    const stop = async () => {
      const graceMs = config.drainSeconds * 1000
      // Listeners first, so that nothing new comes in; then the worker, which may still need the database; the database last.
      await Promise.all([http.drain(graceMs), smtp?.drain(graceMs)])
      await Promise.all([worker?.stop(graceMs), parts.deliverer.stop(graceMs), chores?.stop()])
      parts.web.close()
      await parts.transport.close()
      await database.close()
    }
    return { listening, publicUrl: http.url, httpPort, smtpPort, firstKey, failed: database.failed, stop }
  } catch (error) {
    await database.close()
    throw error
  }
}

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

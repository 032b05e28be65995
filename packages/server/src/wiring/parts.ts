// What every part is made of: each feature on its edges, nothing started yet.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeAttachment } from '@callsign/mail/mime/transfer-encoding'
import type { Config } from '../config/settings.ts'
import type { Blobs } from '../core/blobs.ts'
import type { BusinessEvents } from '../core/business-events.ts'
import { nowMs } from '../core/clock.ts'
import type { LocalWorker } from '../core/job.ts'
import type { Log } from '../core/log.ts'
import type { Sealing } from '../core/replay.ts'
import { openSecret, sealSecret } from '../core/secret-seal.ts'
import type { Database } from '../core/sql.ts'
import { TokenBuckets } from '../edges/api/rate-limit.ts'
import { createDiskBlobs } from '../edges/blobs/disk.ts'
import { createS3Blobs } from '../edges/blobs/s3.ts'
import { createDnsResolver } from '../edges/dns/resolver.ts'
import { createResolverHealth } from '../edges/dns/resolver-health.ts'
import { reuseAnswers } from '../edges/dns/reused-answers.ts'
import type { ScheduledTask } from '../edges/jobs/scheduled-tasks.ts'
import type { Keyring } from '../edges/keyring/keyring.ts'
import { createMailReader } from '../edges/mail-worker/reader.ts'
import { createWeb } from '../edges/outbound-http/guarded-fetch.ts'
import { createHostLookup } from '../edges/outbound-http/host-lookup.ts'
import { createEmit } from '../edges/postgres/event-log.ts'
import { cancelJob, createEnqueue } from '../edges/postgres/job-maker.ts'
import { createIdentities } from '../features/account/identities/operations.ts'
import { identityRoutes } from '../features/account/identities/routes.ts'
import { createKeys, type FindAgent } from '../features/account/keys/operations.ts'
import { keyRoutes } from '../features/account/keys/routes.ts'
import { createAccounts } from '../features/account/organizations/operations.ts'
import { accountRoutes } from '../features/account/organizations/routes.ts'
import { createEvents } from '../features/events/log/operations.ts'
import { eventRoutes } from '../features/events/log/routes.ts'
import { createDeliverer } from '../features/events/webhooks/jobs.ts'
import { createWebhooks } from '../features/events/webhooks/operations.ts'
import { webhookRoutes } from '../features/events/webhooks/routes.ts'
import { type AttachmentSource, createAttachments } from '../features/mail/attachments/operations.ts'
import { attachmentRoutes } from '../features/mail/attachments/routes.ts'
import { createDkim } from '../features/mail/domains/dkim/operations.ts'
import { domainRoutes } from '../features/mail/domains/routes.ts'
import { createScheduledSend } from '../features/mail/drafts/jobs.ts'
import { createDrafts } from '../features/mail/drafts/operations.ts'
import { draftRoutes } from '../features/mail/drafts/routes.ts'
import { createInboundMail } from '../features/mail/inbound/operations.ts'
import { createMessages } from '../features/mail/messages/operations.ts'
import { messageRoutes } from '../features/mail/messages/routes.ts'
import { loopMessagesMax } from '../features/mail/outbound/agent-loop.ts'
import { createCompose } from '../features/mail/outbound/composer.ts'
import { createDelivery } from '../features/mail/outbound/jobs.ts'
import { createFreshLetters } from '../features/mail/outbound/message-cache.ts'
import { createMtaSts } from '../features/mail/outbound/mta-sts/operations.ts'
import { createOutboundMail } from '../features/mail/outbound/operations.ts'
import { createReturnPaths } from '../features/mail/outbound/return-path.ts'
import { outboundMailRoutes } from '../features/mail/outbound/routes.ts'
import { createReturnedMail } from '../features/mail/returned/operations.ts'
import { createMailRules } from '../features/mail/rules/operations.ts'
import { mailRuleRoutes } from '../features/mail/rules/routes.ts'
import { createSuppressions } from '../features/mail/suppressions/operations.ts'
import { suppressionRoutes } from '../features/mail/suppressions/routes.ts'
import { createVaults } from '../features/vault/operations.ts'
import { vaultRoutes } from '../features/vault/routes.ts'
import { createDomainParts } from './domains.ts'
import { createImessageParts, imessageDescribers } from './imessage.ts'
import { createTransport } from './mail-transport.ts'
import { createPhoneParts, phoneDescribers } from './phone.ts'
import { createTunnelParts } from './tunnels.ts'

export const version: string = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')).version

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

/** Seals the stored answers of idempotent requests: they may hold a new key. */
export const sealingOf = (key: Buffer): Sealing => ({
  seal: (scope, text) => sealSecret(key, scope, Buffer.from(text)).toString('base64'),
  open: (scope, sealed) => openSecret(key, scope, Buffer.from(sealed, 'base64')).toString(),
})

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Every feature on its edges, nothing started yet. */
export function createParts(
  config: Config,
  db: Database,
  keyring: Keyring,
  log: Log,
  businessEvents: BusinessEvents,
  localWorker: () => LocalWorker | null,
  publicUrl: () => string,
) {
  const blobs = createBlobs(config)
  const resolver = createDnsResolver({ servers: config.dnsServers })
  const resolverHealth = createResolverHealth(createDnsResolver({ servers: config.dnsServers, timeoutMs: 3_000 }))
  const reader = createMailReader({
    resolver: reuseAnswers(resolver, { health: resolverHealth }),
    hostname: config.mailDomain,
    log: log.child({ part: 'mail-reader' }),
  })
  const { accounts, keys, handInAgents } = createCredentials(db)
  const enqueue = createEnqueue(localWorker)
  const dkim = createDkim({ db, sealing: sealingOf(keyring.subkey('dkim-keys')), mailDomain: config.mailDomain })
  const userAgent = `Callsign/${version}`
  const domainParts = createDomainParts({
    config,
    db,
    accounts,
    dkim,
    dns: resolver,
    emit: (tx, list) => emit(tx, list),
    enqueue,
    cancelJob,
    moveMailboxes: (tx, organizationId, domainId) => identities.moveToMailDomain(tx, organizationId, domainId),
    userAgent,
    log: log.child({ part: 'domains' }),
  })
  const { domains } = domainParts
  const identities = createIdentities(db, accounts, domains, config, async (tx, { organizationId, identityId, mailboxId }) => {
    await messages.emptyMailbox(tx, organizationId, mailboxId)
    await phone.phones.releaseOf(tx, identityId)
  })
  handInAgents(identities.findAgent)
  const web = createWeb({
    allowCidrs: config.outboundAllowCidrs,
    userAgent,
    ...(config.dnsServers.length > 0 ? { lookup: createHostLookup(config.dnsServers) } : {}),
  })
  // Features whose messages are no mail put their files here.
  const attachmentSources: AttachmentSource[] = []
  const linkKey = keyring.subkey('media-links')
  const attachments = createAttachments({ db, blobs, web, decode: decodeAttachment, linkKey, publicUrl, attachmentSources })
  const compose = createCompose(attachments, (messageId) => messages.findRecipients(messageId), dkim)
  // What it wakes comes later: nothing is emitted before everything is made.
  const emit = createEmit((webhookIds) => {
    deliverer.wake(webhookIds)
    events.hurry()
  })
  const messages = createMessages({ db, blobs, accounts, identities, attachments, emit, compose, wait: (request) => events.wait(request) })
  const mailRules = createMailRules({ db, accounts, identities })
  const suppressions = createSuppressions({ db, accounts })
  const events = createEvents({
    db,
    keys,
    identities,
    describers: { msg: messages.describe, ...phoneDescribers(() => phone), ...imessageDescribers(() => imessage) },
    log: log.child({ part: 'events' }),
  })
  const sealKey = keyring.subkey('webhook-secrets')
  const deliverer = createDeliverer({
    db,
    accounts,
    events,
    web,
    sealKey,
    retrySeconds: config.webhookRetrySeconds,
    businessEvents,
    log: log.child({ part: 'webhooks' }),
  })
  const pings = new TokenBuckets(1, 60)
  const takePing = (webhookId: string) => pings.take(webhookId, nowMs())
  const webhooks = createWebhooks({ db, accounts, identities, events, web, sealKey, takePing, wake: deliverer.wake })
  const inboundMail = createInboundMail({
    db,
    blobs,
    identities,
    mailRules,
    emit,
    businessEvents,
    reader,
    resolverHealth,
    findHostedDomains: domains.findHosted,
    hostname: config.mailDomain,
  })
  const freshLetters = createFreshLetters()
  const outboundMail = createOutboundMail({
    db,
    identities,
    attachments,
    messages,
    mailRules,
    suppressions,
    enqueue,
    mailDomain: config.mailDomain,
    freshLetters: config.roles.includes('worker') ? freshLetters : null,
    businessEvents,
  })
  const phone = createPhoneParts({
    config,
    db,
    keyring,
    accounts,
    identities,
    attachments,
    web,
    emit,
    enqueue,
    wait: (request) => events.wait(request),
    publicUrl,
    userAgent,
    businessEvents,
    log: log.child({ part: 'phones' }),
  })
  attachmentSources.push(phone.attachmentSource)
  const drafts = createDrafts({ db, identities, attachments, messages, outboundMail, enqueue, cancelJob })
  const scheduledSend = createScheduledSend({ db, identities, drafts })
  const mtaSts = createMtaSts({ db, resolver, fetchFile: web.fetchFile, log: log.child({ part: 'mta-sts' }) })
  const transport = createTransport(config, resolver, mtaSts, log)
  const returnPaths = createReturnPaths(keyring.subkey('return-paths'), config.mailDomain)
  const returnedMail = createReturnedMail({
    db,
    messages,
    identities,
    suppressions,
    returnPaths,
    emit,
    businessEvents,
    mailDomain: config.mailDomain,
  })
  const delivery = createDelivery({
    db,
    identities,
    messages,
    inboundMail,
    suppressions,
    transport,
    returnPaths,
    loopRule: { messagesMax: loopMessagesMax, windowMs: config.agentLoopSeconds * 1000 },
    compose,
    freshLetters,
    emit,
    retrySeconds: config.mailRetrySeconds,
    mailDomain: config.mailDomain,
    businessEvents,
    log: log.child({ part: 'outbound-mail' }),
  })
  const imessage = createImessageParts({
    config,
    db,
    keyring,
    identities,
    attachments,
    web,
    simulatorState: phone.simulatorState,
    enqueue,
    emit,
    publicUrl,
    userAgent: `Callsign/${version}`,
    businessEvents,
    log: log.child({ part: 'imessage' }),
  })
  attachmentSources.push(imessage.attachmentSource)
  const tunnels = createTunnelParts({ config, db, keyring, accounts, keys, emit, businessEvents, log })
  const routes = [
    ...accountRoutes(accounts),
    ...identityRoutes(identities),
    ...outboundMailRoutes(outboundMail),
    ...messageRoutes(messages),
    ...draftRoutes(drafts),
    ...domainRoutes(domains),
    ...attachmentRoutes(attachments),
    ...mailRuleRoutes(mailRules),
    ...suppressionRoutes(suppressions),
    ...phone.routes,
    ...imessage.routes,
    ...webhookRoutes(webhooks),
    ...eventRoutes(events),
    ...tunnels.routes,
    ...vaultRoutes(createVaults({ db, accounts, identities, businessEvents })),
    ...keyRoutes(keys),
  ]
  const scheduledTasks: ScheduledTask[] = [
    { name: 'sweep blobs', everyMs: 6 * hourMs, run: () => messages.sweepBlobs(dayMs) },
    ...phone.scheduledTasks,
    { name: 'place events', everyMs: 1000, run: () => events.place() },
    { name: 'sweep deliveries and events', everyMs: hourMs, run: () => deliverer.sweep() },
    domainParts.chore,
    { name: 'sweep deferred mail', everyMs: hourMs, run: () => inboundMail.sweepDeferrals() },
    { name: 'sweep MTA-STS policies', everyMs: dayMs, run: () => mtaSts.sweep() },
    ...imessage.scheduledTasks,
    ...tunnels.scheduledTasks,
  ]
  return {
    accounts,
    keys,
    dkim,
    inboundMail,
    returnedMail,
    deliverer,
    gateway: tunnels.gateway,
    tunnelHttps: tunnels.https,
    routes,
    /** What the worker does, by kind of job. */
    handlers: [delivery, scheduledSend, domainParts.handler, ...phone.handlers, ...imessage.handlers],
    scheduledTasks,
    /** Lets go of connections that parts keep open to the outside. */
    close: async () => {
      web.close()
      await phone.close()
      await imessage.close()
      await transport.close()
      await reader.close()
    },
  }
}

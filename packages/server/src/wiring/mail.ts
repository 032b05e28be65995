// Builds the mail area: domains, attachments, rules, messages, mail in, mail out, returned mail and drafts.
import { createSecretKey } from 'node:crypto'
import { decodeAttachment } from '@callsign/mail/mime/transfer-encoding'
import { inMs } from '../core/clock.ts'
import { type Route, route } from '../core/route.ts'
import { createDnsResolver } from '../edges/dns/resolver.ts'
import { createResolverHealth } from '../edges/dns/resolver-health.ts'
import { reuseAnswers } from '../edges/dns/reused-answers.ts'
import { createContentWriter } from '../edges/mail-worker/content-writer.ts'
import { createFileReader } from '../edges/mail-worker/file-reader.ts'
import { createMailReader } from '../edges/mail-worker/reader.ts'
import { createSecretSearcher } from '../edges/mail-worker/secret-searcher.ts'
import { cancelJob } from '../edges/postgres/job-maker.ts'
import { type Attachments, createAttachments } from '../features/mail/attachments/operations.ts'
import { attachmentRoutes } from '../features/mail/attachments/routes.ts'
import { createDkim, type Dkim } from '../features/mail/domains/dkim/operations.ts'
import { domainRoutes } from '../features/mail/domains/routes.ts'
import { approvalPathOf } from '../features/mail/drafts/approval-link.ts'
import { createApprovalExpiry, createScheduledSend } from '../features/mail/drafts/jobs.ts'
import { createLinkDecisions } from '../features/mail/drafts/link-decisions.ts'
import type { LinkDecisions } from '../features/mail/drafts/model.ts'
import { createDrafts } from '../features/mail/drafts/operations.ts'
import { draftRoutes } from '../features/mail/drafts/routes.ts'
import { createInboundMail, type InboundMail } from '../features/mail/inbound/operations.ts'
import { createWakeGuard } from '../features/mail/inbound/wake-guard.ts'
import { createLabels } from '../features/mail/labels/operations.ts'
import { labelRoutes } from '../features/mail/labels/routes.ts'
import { createMessages, type Messages } from '../features/mail/messages/operations.ts'
import { createReadRaw } from '../features/mail/messages/raw-files.ts'
import { messageRoutes } from '../features/mail/messages/routes.ts'
import { loopMessagesMax } from '../features/mail/outbound/agent-loop.ts'
import { createCompose } from '../features/mail/outbound/composer.ts'
import { createDelivery } from '../features/mail/outbound/jobs.ts'
import { deliverJob } from '../features/mail/outbound/model.ts'
import { createMtaSts } from '../features/mail/outbound/mta-sts/operations.ts'
import { createOutboundMail } from '../features/mail/outbound/operations.ts'
import { createReturnPaths } from '../features/mail/outbound/return-path.ts'
import { outboundMailRoutes } from '../features/mail/outbound/routes.ts'
import { createSubmissions, type Submissions, submitMessage } from '../features/mail/outbound/submission.ts'
import { createDomainReports, type DomainReports } from '../features/mail/reports/operations.ts'
import { domainReportRoutes } from '../features/mail/reports/routes.ts'
import { createReturnedMail, type ReturnedMail } from '../features/mail/returned/operations.ts'
import { createMailRules } from '../features/mail/rules/operations.ts'
import { mailRuleRoutes } from '../features/mail/rules/routes.ts'
import { createStorage } from '../features/mail/storage/operations.ts'
import { createRetention } from '../features/mail/storage/retention.ts'
import { storageRoutes } from '../features/mail/storage/routes.ts'
import { createFindRecipients } from '../features/mail/stored/mail-store.ts'
import { createSuppressions } from '../features/mail/suppressions/operations.ts'
import { suppressionRoutes } from '../features/mail/suppressions/routes.ts'
import { createTemplates } from '../features/mail/templates/operations.ts'
import { templateRoutes } from '../features/mail/templates/routes.ts'
import { createUsage } from '../features/mail/usage/operations.ts'
import { usageRoutes } from '../features/mail/usage/routes.ts'
import type { AccountArea } from './account.ts'
import { createDomainParts } from './domains.ts'
import type { EventArea } from './events.ts'
import { createTransport } from './mail-transport.ts'
import { type Area, dayMs, hourMs, type SharedParts, sealingOf } from './parts.ts'

export type MailArea = Area & {
  /** Operations for calls inside of the process only. */
  innerRoutes: Route[]
  attachments: Attachments
  dkim: Dkim
  inboundMail: InboundMail
  messages: Messages
  returnedMail: ReturnedMail
  domainReports: DomainReports
  /** True for a custom domain whose mailboxes are on this server. */
  isServed: (domain: string) => Promise<boolean>
  linkDecisions: LinkDecisions
  submissions: Submissions
}

/** Changes that wait for less time than this are few. */
const usageEveryMs = 5000
const blobSweepEveryMs = 6 * hourMs
/** The time that messages stay in the trash. */
const trashedMs = 30 * dayMs
/** The health check's own DNS timeout. A failing server delays mail by no more than this. */
const healthTimeoutMs = 3_000

export function createMailArea(
  shared: SharedParts,
  { accounts, keys, identities, organizations, requests, limitDefaults }: AccountArea,
  { events, emit }: EventArea,
): MailArea {
  const { config, db, keyring, blobs, dns, web, enqueue, publicUrl, businessEvents, log } = shared
  const { mailDomain } = config

  const dkim = createDkim({ db, sealing: sealingOf(keyring.subkey('dkim-keys')), mailDomain })
  const domains = createDomainParts(shared, { accounts, identities, dkim, emit, cancelJob })
  identities.useDomains(domains.domains)

  const fileReader = createFileReader({ log: log.child({ part: 'file-reader' }) })
  const attachments = createAttachments({
    db,
    blobs,
    web,
    decode: decodeAttachment,
    fileReader,
    linkKey: createSecretKey(keyring.subkey('media-links')),
    publicUrl,
  })
  const content = createContentWriter()
  const compose = createCompose(attachments, createFindRecipients(db), dkim, content, createReadRaw(db, blobs))
  const messages = createMessages({
    db,
    blobs,
    accounts,
    identities,
    attachments,
    emit,
    compose,
    content,
    wait: events.wait,
    findUnusableKeys: keys.findUnusable,
  })
  events.describe('msg', messages.describe)
  identities.onDelete((tx, { organizationId, mailboxId }) => messages.emptyMailbox(tx, organizationId, mailboxId))

  const usage = createUsage(db)
  const storage = createStorage({ db, emit, serverMax: config.storageQuotaMax })
  const retention = createRetention({
    db,
    accounts,
    messages,
    attachments,
    deleteEvents: events.deleteBefore,
    deleteRequests: requests.deleteBefore,
  })
  const mailRules = createMailRules({ db, accounts, identities })
  const suppressions = createSuppressions({ db, accounts })

  const resolverHealth = createResolverHealth(createDnsResolver({ servers: config.dnsServers, timeoutMs: healthTimeoutMs }))
  const reader = createMailReader({
    resolver: reuseAnswers(dns, { health: resolverHealth }),
    hostname: mailDomain,
    log: log.child({ part: 'mail-reader' }),
  })
  const wakeGuard = createWakeGuard({ db, emit, enqueue })
  const inboundMail = createInboundMail({
    db,
    blobs,
    identities,
    mailRules,
    wakeGuard,
    businessEvents,
    reader,
    resolverHealth,
    storage,
    findHostedDomains: domains.domains.findHosted,
    hostname: mailDomain,
  })

  const loopRule = { messagesMax: loopMessagesMax, windowMs: config.agentLoopSeconds * 1000 }
  const secrets = createSecretSearcher({ log: log.child({ part: 'secret-searcher' }) })
  identities.usePatternCheck(secrets.findPatternProblem)
  const submissions = createSubmissions(reader)
  const outboundMail = createOutboundMail({
    db,
    blobs,
    identities,
    attachments,
    messages,
    mailRules,
    storage,
    suppressions,
    enqueue,
    limitDefaults,
    loopRule,
    mailDomain,
    content,
    businessEvents,
    secrets,
    submissions,
  })
  const mtaSts = createMtaSts({ db, resolver: dns, fetchFile: web.fetchFile, log: log.child({ part: 'mta-sts' }) })
  const transport = createTransport(config, dns, mtaSts, log)
  const returnPaths = createReturnPaths(keyring.subkey('return-paths'), mailDomain)
  organizations.onResume(deliverJob)
  identities.onDelete((tx, { identityId }) => outboundMail.forgetRecipients(tx, identityId))
  const delivery = createDelivery({
    db,
    identities,
    messages,
    inboundMail,
    suppressions,
    transport,
    returnPaths,
    loopRule,
    holdJob: organizations.holdJob,
    compose,
    emit,
    retrySeconds: config.mailRetrySeconds,
    mailDomain,
    businessEvents,
    log: log.child({ part: 'outbound-mail' }),
  })
  const returnedMail = createReturnedMail({ db, messages, identities, suppressions, returnPaths, emit, businessEvents, mailDomain })
  const domainReports = createDomainReports({
    db,
    domains: domains.domains,
    emit,
    mail: reader,
    reader: fileReader,
    decode: decodeAttachment,
    mailDomain,
  })
  const linkKey = keyring.subkey('approval-links')
  const linkUrl = (linkId: string) => `${publicUrl()}${approvalPathOf(linkId, linkKey)}`
  events.useApprovalLinks(linkUrl)
  const drafts = createDrafts({
    db,
    accounts,
    identities,
    attachments,
    messages,
    content,
    outboundMail,
    storage,
    enqueue,
    cancelJob,
    emit,
    approvalMs: config.approvalHours * hourMs,
    linkUrl,
  })

  return {
    attachments,
    dkim,
    inboundMail,
    messages,
    returnedMail,
    domainReports,
    isServed: domains.domains.isServed,
    linkDecisions: createLinkDecisions({ db, identities, drafts, key: linkKey }),
    submissions,
    innerRoutes: [
      {
        ...route(submitMessage, 'agent', (call, { params, body }) => outboundMail.submit(call, params.email_address, body)),
        sameness: submissions.samenessOf,
      },
    ],
    routes: [
      ...outboundMailRoutes(outboundMail),
      ...messageRoutes(messages, attachments),
      ...draftRoutes(drafts),
      ...domainRoutes(domains.domains),
      ...domainReportRoutes(domainReports),
      ...attachmentRoutes(attachments),
      ...mailRuleRoutes(mailRules),
      ...suppressionRoutes(suppressions),
      ...usageRoutes(usage),
      ...storageRoutes(storage, retention),
      ...labelRoutes(createLabels({ db, identities })),
      ...templateRoutes(createTemplates({ db, accounts })),
    ],
    handlers: [
      delivery,
      createScheduledSend({ db, identities, drafts }),
      createApprovalExpiry({ db, identities, drafts }),
      wakeGuard.handler,
      domains.handler,
    ],
    scheduledTasks: [
      { name: 'purge trash', everyMs: hourMs, isDueAtStart: true, run: () => messages.purgeTrash(inMs(-trashedMs)) },
      { name: 'sweep blobs', everyMs: blobSweepEveryMs, run: () => messages.sweepBlobs(dayMs) },
      { name: 'sweep shared links', everyMs: dayMs, run: () => messages.sweepShares(inMs(-dayMs)) },
      domains.recheckTask,
      { name: 'sweep domain reports', everyMs: dayMs, run: () => domainReports.sweep() },
      { name: 'sweep deferred mail', everyMs: hourMs, run: () => inboundMail.sweepDeferrals() },
      { name: 'sweep wake windows', everyMs: hourMs, run: () => wakeGuard.sweep() },
      { name: 'move usage changes', everyMs: usageEveryMs, run: () => usage.move() },
      { name: 'sweep usage', everyMs: dayMs, isDueAtStart: true, run: () => usage.sweep() },
      { name: 'apply retention', everyMs: hourMs, isDueAtStart: true, run: () => retention.apply() },
      { name: 'sweep send counts', everyMs: hourMs, run: () => outboundMail.sweepCounts() },
      { name: 'sweep MTA-STS policies', everyMs: dayMs, run: () => mtaSts.sweep() },
    ],
    close: async () => {
      await transport.close()
      await reader.close()
      await fileReader.close()
      await secrets.close()
      await content.close()
    },
  }
}

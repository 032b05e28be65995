// Builds every area on its edges in the order of the areas. Nothing is started yet.
import type { Authenticate } from '../core/caller.ts'
import type { JobHandler } from '../core/job.ts'
import type { Route } from '../core/route.ts'
import type { AccessLog } from '../edges/api/logs/access-log.ts'
import type { Gateway } from '../edges/gateway/gateway.ts'
import type { ScheduledTask } from '../edges/jobs/scheduled-tasks.ts'
import type { Identities } from '../features/account/identities/operations.ts'
import type { RequestRecorder } from '../features/account/requests/model.ts'
import type { Deliverer } from '../features/events/webhooks/jobs.ts'
import type { Dkim } from '../features/mail/domains/dkim/operations.ts'
import type { LinkDecisions } from '../features/mail/drafts/model.ts'
import type { InboundMail } from '../features/mail/inbound/operations.ts'
import type { Messages } from '../features/mail/messages/operations.ts'
import type { Submissions } from '../features/mail/outbound/submission.ts'
import type { DomainReports } from '../features/mail/reports/operations.ts'
import type { ReturnedMail } from '../features/mail/returned/operations.ts'
import { createSimulatorState } from '../features/simulator/operations.ts'
import { openAccessLog } from './access-log.ts'
import { createAccountArea } from './account.ts'
import { type Certificates, createCertificates } from './certificates.ts'
import type { ConsoleAccounts } from './console.ts'
import { createEventArea, createWebhookArea } from './events.ts'
import { createImessageArea } from './imessage.ts'
import { createMailArea } from './mail.ts'
import { type Area, type Credentials, createSharedParts, type ServerNeeds } from './parts.ts'
import { createPhoneArea } from './phone.ts'
import { createSimulatorArea } from './simulator.ts'
import { createTunnelArea, type HttpsListener } from './tunnels.ts'
import { createVaultArea } from './vault.ts'

export type ServerParts = Omit<Credentials, 'findAgent'> & {
  console: ConsoleAccounts
  dkim: Dkim
  identities: Identities
  messages: Messages
  inboundMail: InboundMail
  returnedMail: ReturnedMail
  domainReports: DomainReports
  /** True for a custom domain whose mailboxes are on this server. */
  isServed: (domain: string) => Promise<boolean>
  linkDecisions: LinkDecisions
  submissions: Submissions
  deliverer: Deliverer
  /** The caller of a token that opens event sockets only. */
  authenticateSocket: Authenticate
  gateway: Gateway
  tunnelHttps: HttpsListener | null
  certificates: Certificates
  /** Null when the log of API requests is off. */
  requestRecorder: RequestRecorder | null
  /** Null when it is off. */
  accessLog: AccessLog | null
  routes: Route[]
  /** Operations for calls inside of the process only. */
  innerRoutes: Route[]
  /** Handlers for the worker, one per kind of job. */
  handlers: JobHandler[]
  scheduledTasks: ScheduledTask[]
  /** Closes the connections to the outside that areas keep open. */
  close: () => Promise<void>
}

export function createServerParts(needs: ServerNeeds): ServerParts {
  const shared = createSharedParts(needs)
  const account = createAccountArea(shared)
  const events = createEventArea(shared, account)
  const mail = createMailArea(shared, account, events)
  const context = { ...shared, ...account, ...events, attachments: mail.attachments, simulatorState: createSimulatorState(shared.db) }
  const phone = createPhoneArea(context)
  const imessage = createImessageArea(context)
  const certificates = createCertificates(shared)
  const accessLog = openAccessLog(shared)
  const tunnels = createTunnelArea(shared, account, events, certificates, accessLog)
  const areas: Area[] = [
    account,
    events,
    mail,
    phone,
    imessage,
    tunnels,
    createVaultArea(shared, account),
    createSimulatorArea(shared, { ...account, ...mail, ...phone, simulatorState: context.simulatorState }),
  ]
  const webhooks = createWebhookArea(shared, account, events, mail.messages)
  areas.push(webhooks)
  return {
    accounts: account.accounts,
    keys: account.keys,
    console: account,
    dkim: mail.dkim,
    identities: account.identities,
    messages: mail.messages,
    inboundMail: mail.inboundMail,
    returnedMail: mail.returnedMail,
    domainReports: mail.domainReports,
    isServed: mail.isServed,
    linkDecisions: mail.linkDecisions,
    submissions: mail.submissions,
    deliverer: webhooks.deliverer,
    authenticateSocket: events.events.authenticateSocket,
    gateway: tunnels.gateway,
    tunnelHttps: tunnels.https,
    certificates,
    requestRecorder: account.requests.recorder,
    accessLog,
    routes: areas.flatMap((area) => area.routes ?? []),
    innerRoutes: mail.innerRoutes,
    handlers: areas.flatMap((area) => area.handlers ?? []),
    scheduledTasks: areas.flatMap((area) => area.scheduledTasks ?? []),
    close: async () => {
      shared.web.close()
      accessLog?.close()
      for (const area of [account, phone, imessage, mail]) await area.close?.()
    },
  }
}

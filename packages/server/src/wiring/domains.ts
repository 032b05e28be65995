// What custom domains are made of: the feature on its providers.
import type { Resolver } from '@callsign/mail/dns'
import type { Config } from '../config/settings.ts'
import type { Emit } from '../core/event.ts'
import type { CancelJob, Enqueue } from '../core/job.ts'
import type { Log } from '../core/log.ts'
import type { Database } from '../core/sql.ts'
import type { ScheduledTask } from '../edges/jobs/scheduled-tasks.ts'
import { createResendProvider } from '../edges/suppliers/resend-domains.ts'
import type { Accounts } from '../features/account/organizations/operations.ts'
import { createBuiltinProvider } from '../features/mail/domains/builtin.ts'
import type { Dkim } from '../features/mail/domains/dkim/operations.ts'
import { createRecheck, createUnregister } from '../features/mail/domains/jobs.ts'
import { createDomains, type MoveMailboxes } from '../features/mail/domains/operations.ts'

type Needs = {
  config: Config
  db: Database
  accounts: Accounts
  dkim: Dkim
  dns: Resolver
  emit: Emit
  enqueue: Enqueue
  cancelJob: CancelJob
  moveMailboxes: MoveMailboxes
  userAgent: string
  log: Log
}

const checkEveryMsMax = 60_000

/** The feature, its job and its chore. */
export function createDomainParts({ config, dkim, dns, userAgent, log, ...needs }: Needs) {
  const builtin = createBuiltinProvider({ keys: dkim, dns, mailHost: config.mailDomain })
  const { resendApiKey: apiKey, resendUrl: baseUrl } = config
  const resend = apiKey === null ? null : createResendProvider({ apiKey, baseUrl, userAgent })
  const providers = [builtin, ...(resend ? [resend] : [])].toSorted(
    (a, b) => Number(b.name === config.domainProvider) - Number(a.name === config.domainProvider),
  )
  const recheckMs = config.domainRecheckSeconds * 1000
  const domains = createDomains({ ...needs, providers, mailDomain: config.mailDomain, recheckMs, log })
  const recheck = createRecheck({ db: needs.db, domains, recheckMs, log })
  const chore: ScheduledTask = { name: 're-check domains', everyMs: Math.min(checkEveryMsMax, recheckMs), run: recheck }
  return { domains, handler: createUnregister({ db: needs.db, providers, log }), chore }
}

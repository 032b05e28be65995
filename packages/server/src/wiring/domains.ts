// Builds custom domains on their providers.
import type { Emit } from '../core/event.ts'
import type { CancelJob, JobHandler } from '../core/job.ts'
import type { ScheduledTask } from '../edges/jobs/scheduled-tasks.ts'
import { createResendProvider } from '../edges/suppliers/resend-domains.ts'
import type { Identities } from '../features/account/identities/operations.ts'
import type { Accounts } from '../features/account/organizations/operations.ts'
import { createBuiltinProvider } from '../features/mail/domains/builtin.ts'
import type { Dkim } from '../features/mail/domains/dkim/operations.ts'
import { createRecheck, createUnregister } from '../features/mail/domains/jobs.ts'
import { createDomains, type Domains } from '../features/mail/domains/operations.ts'
import type { SharedParts } from './parts.ts'

type Needs = { accounts: Accounts; identities: Identities; dkim: Dkim; emit: Emit; cancelJob: CancelJob }

const recheckEveryMsMax = 60_000

/** The feature, the handler of its job and its scheduled task. */
export function createDomainParts(
  { config, db, dns, enqueue, userAgent, log: serverLog }: SharedParts,
  { accounts, identities, dkim, emit, cancelJob }: Needs,
): { domains: Domains; handler: JobHandler; recheckTask: ScheduledTask } {
  const log = serverLog.child({ part: 'domains' })
  const builtin = createBuiltinProvider({ keys: dkim, dns, mailHost: config.mailDomain })
  const { resendApiKey: apiKey, resendUrl: baseUrl } = config
  const resend = apiKey === null ? null : createResendProvider({ apiKey, baseUrl, userAgent })
  const providers = [builtin, ...(resend ? [resend] : [])].toSorted(
    (a, b) => Number(b.name === config.domainProvider) - Number(a.name === config.domainProvider),
  )
  const recheckMs = config.domainRecheckSeconds * 1000
  const domains = createDomains({
    db,
    accounts,
    providers,
    mailDomain: config.mailDomain,
    recheckMs,
    moveMailboxes: identities.moveToMailDomain,
    emit,
    enqueue,
    cancelJob,
    log,
  })
  const recheck = createRecheck({ db, domains, recheckMs, log })
  return {
    domains,
    handler: createUnregister({ db, providers, log }),
    recheckTask: { name: 're-check domains', everyMs: Math.min(recheckEveryMsMax, recheckMs), run: recheck },
  }
}

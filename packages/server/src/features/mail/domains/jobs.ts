// Background work on custom domains: checks verified domains again, and takes back registrations of deleted ones.
import { inMs, now } from '../../../core/clock.ts'
import type { Finish, Job, JobHandler } from '../../../core/job.ts'
import type { Log } from '../../../core/log.ts'
import type { Database } from '../../../core/sql.ts'
import { unregisterJob } from './model.ts'
import type { Domains } from './operations.ts'
import { type DomainProvider, ProviderError } from './provider.ts'
import * as store from './store.ts'

const togetherMax = 20
const leaseMs = 60_000
/** After these attempts, a week in all, the registration is left to the operator. */
const triesMax = 40
const retryMs = 4 * 3_600_000

/** Checks the verified domains that are due, 20 at a time. A domain whose provider is not available keeps its status until the next check. */
export function createRecheck({ db, domains, recheckMs, log }: { db: Database; domains: Domains; recheckMs: number; log: Log }) {
  return async (): Promise<void> => {
    for (;;) {
      const due = await store.claimDue(db, now(), inMs(recheckMs), togetherMax)
      await Promise.all(
        due.map(async (row) => {
          try {
            await domains.commitCheck(row, await domains.inspect(row, false))
          } catch (err) {
            if (!(err instanceof ProviderError)) throw err
            log.warn({ err, domain: row.id }, 'checking a domain failed')
          }
        }),
      )
      if (due.length < togetherMax) return
    }
  }
}

/** Takes back a registration at the provider that the job's subject names. */
export function createUnregister({ db, providers, log }: { db: Database; providers: DomainProvider[]; log: Log }): JobHandler {
  async function run(job: Job, finish: Finish): Promise<void> {
    const [name = '', id = ''] = job.subject.split(' ')
    const provider = providers.find((one) => one.name === name)
    try {
      if (!provider) throw new ProviderError(`The provider ${name} is not set up any more.`)
      await provider.unregister(id)
      await db.transact((tx) => finish(tx, { done: true }))
    } catch (err) {
      if (!(err instanceof ProviderError)) throw err
      const isLast = job.attempts >= triesMax
      log.warn({ err, provider: name, registration: id, isLast }, 'removing a domain registration from the provider failed')
      await db.transact((tx) => finish(tx, isLast ? { done: true } : { done: false, retryInMs: retryMs }))
    }
  }
  return { kind: unregisterJob, leaseMs, concurrency: 2, run }
}

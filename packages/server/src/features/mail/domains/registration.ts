// Registers names at their providers, and takes registrations back.
import { inMs, now } from '../../../core/clock.ts'
import { ApiError } from '../../../core/errors.ts'
import type { CancelJob } from '../../../core/job.ts'
import type { Log } from '../../../core/log.ts'
import type { Database } from '../../../core/sql.ts'
import { type DomainClaim, type DomainProvider, NameTaken, ProviderError, type Registration } from './provider.ts'
import * as store from './store.ts'

/** An attempt to register whose answer was lost is continued by the next attempt within a day. */
const lostMs = 24 * 3_600_000

export function createRegistrar({ db, cancelJob, log }: { db: Database; cancelJob: CancelJob; log: Log }) {
  return {
    /** Registers a name at the provider. Records the attempt beforehand, so that a lost answer leaves a trace. */
    async register(provider: DomainProvider, claim: DomainClaim): Promise<Registration> {
      const triedAt = provider.isElsewhere ? await store.beginRegistration(db, claim, provider.name, now(), inMs(-lostMs)) : null
      try {
        return await provider.register(claim, triedAt)
      } catch (error) {
        const isOpen = error instanceof ProviderError && error.isOutcomeUnknown
        if (provider.isElsewhere && !isOpen && triedAt === null) await store.endRegistration(db, claim, provider.name)
        if (error instanceof NameTaken) throw new ApiError('domain_exists', error.message)
        if (error instanceof ProviderError) throw new ApiError('upstream_provider_error', error.message)
        throw error
      }
    },

    /** Takes back a registration whose domain could not be stored. */
    async undo(provider: DomainProvider, claim: DomainClaim, providerDomainId: string): Promise<void> {
      try {
        await provider.unregister(providerDomainId)
        await store.endRegistration(db, claim, provider.name)
      } catch (err) {
        log.warn(
          { err, provider: provider.name, registration: providerDomainId },
          'removing an unused domain registration from the provider failed',
        )
      }
    },

    /** Takes back the registration of a deleted domain and cancels the job that would do it. Leaves it to the job when that fails. */
    async unregister(provider: DomainProvider, providerDomainId: string, jobId: string): Promise<void> {
      try {
        await provider.unregister(providerDomainId)
        await db.transact((tx) => cancelJob(tx, jobId))
      } catch (err) {
        log.warn({ err, provider: provider.name }, 'removing a domain registration from the provider failed and is retried by a job')
      }
    },
  }
}

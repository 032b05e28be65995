// Buys numbers, connects them to texting, and releases them. Each run takes one step and commits it before the next.
import type { BusinessEvents } from '../../core/business-events.ts'
import { now, nowMs } from '../../core/clock.ts'
import type { Emit } from '../../core/event.ts'
import type { Enqueue, Finish, Job, JobEnd, JobHandler } from '../../core/job.ts'
import type { Log } from '../../core/log.ts'
import { type Database, isUniqueViolation } from '../../core/sql.ts'
import { advanceJob, type NumberRow, orderJob, releaseJob } from './model.ts'
import type { Order, OwnedNumber, PhoneProvider, ProviderName, Readiness } from './provider.ts'
import * as store from './store.ts'

const leaseMs = 30_000
/** Exceeds the longest chain of provider calls in one run. */
const runMsMax = 5 * 60_000
const concurrency = 8
/** Numbers that one run tries before it yields to other jobs. */
const offersTriedMax = 10
/** Exponential backoff after failures. */
const backoffMs = { first: 1_000, last: 5 * 60_000 }
/** Retry interval for a provider that is missing in the settings. It may be configured again at the next start. */
const absentProviderMs = 10 * 60_000

export type Providers = { get(name: ProviderName): PhoneProvider | undefined }

type Parts = { db: Database; providers: Providers; enqueue: Enqueue; emit: Emit; pollMs: number; businessEvents: BusinessEvents; log: Log }

export interface PhoneJobs {
  handlers: JobHandler[]
  /** Polls the provider now for the state of a pending number, independently of the number's job. */
  pollNow(numberId: string): Promise<void>
}

export function createPhoneJobs({ db, providers, enqueue, emit, pollMs, businessEvents, log }: Parts): PhoneJobs {
  const done: JobEnd = { done: true }
  const again = (retryInMs: number): JobEnd => ({ done: false, retryInMs })
  const afterFailure = (job: Job): JobEnd => again(Math.min(backoffMs.last, backoffMs.first * 2 ** Math.min(job.attempts - 1, 12)))

  const finishAs = (finish: Finish, end: JobEnd): Promise<void> => db.transact((tx) => finish(tx, end))

  const tried = (row: NumberRow, op: 'search' | 'order' | 'find' | 'advance' | 'release', outcome: string) =>
    businessEvents.phoneTried({ organization_id: row.organization_id, phone_number_id: row.id, provider: row.provider, op, outcome })

  /** Records a completed purchase. */
  async function activate(row: NumberRow, providerNumberId: string, finish: Finish): Promise<void> {
    await db.transact(async (tx) => {
      await finish(tx, done)
      // Cancelled in the meantime: the release job finds the number by its order key.
      if (!(await store.activate(tx, row.id, providerNumberId, now()))) return
      await enqueue(tx, [{ kind: advanceJob, organizationId: row.organization_id, subject: row.id }])
    })
  }

  async function fail(row: NumberRow, code: NumberRow['failure_code'], detail: string, finish: Finish): Promise<void> {
    await db.transact(async (tx) => {
      await finish(tx, done)
      await store.failOrder(tx, row.id, code, detail.slice(0, 500))
    })
  }

  /**
   * Orders one number, at most once. A number that may have been ordered before is looked up first, and a repeated order names the same
   * number, which cannot buy a second one. Another number is chosen only when this order is known to have failed.
   */
  async function orderOne(
    row: NumberRow,
    phoneNumber: string,
    provider: PhoneProvider,
  ): Promise<'next' | JobEnd | { owned: string } | { failed: string }> {
    const order: Order = { organizationId: row.organization_id, orderKey: row.id, phoneNumber }
    if (row.ordered_at !== null) {
      const found = await provider.findOrder(order)
      tried(row, 'find', found.kind)
      if (found.kind === 'owned') return { owned: found.providerNumberId }
      if (found.kind === 'pending') return again(pollMs)
      if (found.kind === 'failure') return again(Math.max(pollMs, backoffMs.first))
      if (found.kind === 'failed') return drop(row, phoneNumber)
    } else if (!(await store.beginOrder(db, row.id, phoneNumber))) return done
    // After a lost response the order may still be in progress, and "taken" may mean taken by this order.
    const isCertain = row.uncertain_at === null || nowMs() - row.uncertain_at.getTime() > provider.settleMs
    const answer = await provider.order(order)
    tried(row, 'order', answer.kind)
    switch (answer.kind) {
      case 'owned':
        return { owned: answer.providerNumberId }
      case 'pending':
        return again(pollMs)
      case 'refused':
        return isCertain ? { failed: `${answer.code}: ${answer.detail}` } : again(pollMs)
      case 'unknown':
        await store.markUncertain(db, row.id)
        log.warn(
          { phone_number_id: row.id, provider: row.provider, detail: answer.detail },
          'the response to an order was lost, so the order is looked up',
        )
        return again(pollMs)
      case 'taken':
        return isCertain ? drop(row, phoneNumber) : again(pollMs)
    }
  }

  async function drop(row: NumberRow, phoneNumber: string): Promise<'next'> {
    await store.dropOffer(db, row.id, phoneNumber)
    return 'next'
  }

  async function order(job: Job, finish: Finish): Promise<void> {
    for (let round = 0; round < offersTriedMax; round++) {
      const row = await store.findNumber(db, job.subject)
      if (row?.state !== 'ordering') return finishAs(finish, done)
      const provider = providers.get(row.provider)
      if (!provider) return finishAs(finish, again(absentProviderMs))
      let phoneNumber = row.phone_number
      if (phoneNumber === null) {
        const offer = await choose(row, provider)
        if ('failure' in offer) return fail(row, offer.failure, offer.detail, finish)
        phoneNumber = offer.number
      }
      const next = await orderOne(row, phoneNumber, provider).catch((error: unknown) => {
        // A concurrent purchase has this number. Try the next.
        if (isUniqueViolation(error, 'phone_numbers_one_a_number')) return 'next' as const
        throw error
      })
      if (next === 'next') continue
      if ('owned' in next) return activate(row, next.owned, finish)
      if ('failed' in next) return fail(row, 'upstream_provider_error', next.failed, finish)
      return finishAs(finish, next)
    }
    await finishAs(finish, again(pollMs))
  }

  async function choose(
    row: NumberRow,
    provider: PhoneProvider,
  ): Promise<{ number: string } | { failure: 'no_numbers_available' | 'upstream_provider_error'; detail: string }> {
    const answer = await provider.search({
      organizationId: row.organization_id,
      country: row.country_code,
      type: row.type,
      region: row.wanted_region,
      areaCode: row.wanted_area_code,
      without: row.taken_numbers,
    })
    tried(row, 'search', answer.kind)
    // Nothing has been ordered yet, so the request fails at once and can be repeated.
    if (answer.kind !== 'offers') return { failure: 'upstream_provider_error', detail: answer.detail }
    const held = await store.findHeld(db, answer.numbers)
    const number = answer.numbers.find((one) => !held.has(one) && !row.taken_numbers.includes(one))
    return number === undefined ? { failure: 'no_numbers_available', detail: 'the search found no numbers' } : { number }
  }

  /** Records the readiness of a pending number and its event, once. Later reports have no effect. */
  async function recordReadiness(row: NumberRow, readiness: Readiness, finish?: { finish: Finish; end: JobEnd }): Promise<boolean> {
    return db.transact(async (tx) => {
      if (finish) await finish.finish(tx, finish.end)
      if (readiness.kind !== 'ready' && readiness.kind !== 'failed') return false
      const change =
        readiness.kind === 'ready'
          ? ({ status: 'ready', code: null, detail: null } as const)
          : ({ status: 'assignment_failed', code: readiness.code.slice(0, 100), detail: readiness.detail.slice(0, 500) } as const)
      if (!(await store.recordSmsStatus(tx, row.id, change, now()))) return false
      await emit(tx, [
        {
          type: readiness.kind === 'ready' ? 'number.sms_ready' : 'number.sms_failed',
          organizationId: row.organization_id,
          identityId: row.identity_id,
          subjectId: row.id,
          data:
            change.status === 'ready'
              ? { sms_status: change.status }
              : { sms_status: change.status, sms_error: { code: change.code, detail: change.detail } },
        },
      ])
      return true
    })
  }

  const ownedOf = (row: NumberRow): OwnedNumber => ({
    organizationId: row.organization_id,
    phoneNumber: row.phone_number as string,
    providerNumberId: row.provider_number_id as string,
  })

  async function advance(job: Job, finish: Finish): Promise<void> {
    const row = await store.findNumber(db, job.subject)
    if (row?.state !== 'active' || row.sms_status !== 'pending') return finishAs(finish, done)
    const provider = providers.get(row.provider)
    if (!provider) return finishAs(finish, again(absentProviderMs))
    const readiness = await provider.advance(ownedOf(row))
    tried(row, 'advance', readiness.kind)
    const end = readiness.kind === 'pending' ? again(pollMs) : readiness.kind === 'failure' ? afterFailure(job) : done
    await recordReadiness(row, readiness, { finish, end })
  }

  async function release(job: Job, finish: Finish): Promise<void> {
    const row = await store.findNumber(db, job.subject)
    if (row?.state !== 'releasing') return finishAs(finish, done)
    const provider = providers.get(row.provider)
    if (!provider) return finishAs(finish, again(absentProviderMs))
    let owned = row.provider_number_id
    if (owned === null && row.phone_number !== null) {
      const found = await provider.findOrder({ organizationId: row.organization_id, orderKey: row.id, phoneNumber: row.phone_number })
      tried(row, 'find', found.kind)
      if (found.kind === 'owned') owned = found.providerNumberId
      // An order in progress at the time of the release may still complete.
      const isCertain = row.ordered_at === null || nowMs() - row.ordered_at.getTime() > provider.settleMs
      if (found.kind === 'pending' || found.kind === 'failure' || (owned === null && !isCertain)) return finishAs(finish, afterFailure(job))
    }
    if (owned !== null) {
      const answer = await provider.release({ ...ownedOf(row), providerNumberId: owned })
      tried(row, 'release', answer.kind)
      if (answer.kind === 'failure') return finishAs(finish, afterFailure(job))
    }
    await db.transact(async (tx) => {
      await finish(tx, done)
      await store.endRelease(tx, row.id)
    })
  }

  const handlers: JobHandler[] = [
    { kind: orderJob, leaseMs, runMsMax, concurrency, run: order },
    { kind: advanceJob, leaseMs, runMsMax, concurrency, run: advance },
    { kind: releaseJob, leaseMs, runMsMax, concurrency, run: release },
  ]

  return {
    handlers,

    async pollNow(numberId) {
      const row = await store.findNumber(db, numberId)
      const provider = row && providers.get(row.provider)
      if (!provider || row.state !== 'active' || row.sms_status !== 'pending') return
      const readiness = await provider.advance(ownedOf(row))
      tried(row, 'advance', readiness.kind)
      await recordReadiness(row, readiness)
    },
  }
}

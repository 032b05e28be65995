// Claims due deliveries by endpoint, and starts a post for each one that has a queue slot.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { nowMs } from '../../../core/clock.ts'
import type { Log } from '../../../core/log.ts'
import { recorded } from '../../../core/recorded.ts'
import type { Database } from '../../../core/sql.ts'
import type { GuardedPost } from '../../../core/web.ts'
import type { Accounts } from '../../account/organizations/operations.ts'
import type { Events } from '../log/operations.ts'
import { type Claim, createClaimReader } from './claims.ts'
import { createDeliveryEnds, type DeliveryParts, deliverWebhook, leaseMs } from './delivery.ts'
import * as deliveryStore from './delivery-store.ts'
import { createEventBodies } from './event-bodies.ts'
import { type BodyFormats, retentionMs, type Verdict } from './model.ts'
import { QueueSlots, type Slot } from './queue-slots.ts'

type Parts = {
  db: Database
  accounts: Accounts
  events: Events
  web: GuardedPost
  formats: BodyFormats
  /** Opens the signing secrets. */
  sealKey: Buffer
  /** Delays between attempts, in seconds. */
  retrySeconds: number[]
  businessEvents: BusinessEvents
  log: Log
}

/** Poll interval for deliveries of other processes and for scheduled retries. */
const pollMs = 500
const errorPauseMs = 1_000
/** Retries due within this time get a timer. Polling finds the later ones. */
const timedRetryMsMax = 60_000
/** Pause between claims while posts run, so that each statement claims more deliveries. */
const gatherMs = 5

/** The delivering part of a process. Any number of processes may deliver from one database. */
export interface Deliverer {
  wake(webhookIds: string[]): void
  start(options: { isAlone: boolean }): Promise<void>
  isDelivering(): boolean
  /** The number of deliveries in flight. */
  inFlight(): number
  stop(limitMs: number): Promise<void>
  sweep(): Promise<void>
}

export function createDeliverer({ db, accounts, events, web, formats, sealKey, retrySeconds, businessEvents, log }: Parts): Deliverer {
  const slots = new QueueSlots<Claim>()
  const open = new Set<Promise<void>>()
  const bodies = createEventBodies(events, formats)
  const claims = createClaimReader(db, bodies, sealKey)
  let state: 'idle' | 'running' | 'stopping' = 'idle'
  let isDelivering = false
  let isClaiming = false
  let isClaimScheduled = false
  let poll: NodeJS.Timeout | undefined

  function wake(webhookIds: string[]): void {
    if (state !== 'running' || webhookIds.length === 0) return
    slots.markDue(webhookIds)
    scheduleClaim()
  }

  const scheduleClaim = (): void => {
    if (isClaimScheduled || state !== 'running') return
    isClaimScheduled = true
    setImmediate(() => {
      isClaimScheduled = false
      void claimDue()
    })
  }

  async function pollDue(): Promise<void> {
    let pauseMs = pollMs
    try {
      const due = await deliveryStore.findDueWebhooks(db)
      slots.forgetIdle()
      isDelivering = true
      wake(due)
    } catch (err) {
      if (isDelivering) log.error({ err }, 'polling for deliveries failed')
      isDelivering = false
      pauseMs = errorPauseMs
    }
    if (state === 'running') poll = setTimeout(pollDue, pauseMs)
    scheduleClaim()
  }

  /** Starts the posts that have a slot, then claims deliveries for endpoints with free slots. */
  async function claimDue(): Promise<void> {
    startPosts()
    if (isClaiming || state !== 'running') return
    const wants = slots.wants(nowMs())
    if (wants.length === 0) return
    isClaiming = true
    try {
      slots.beginClaim(wants)
      const claimed = await deliveryStore.claim(db, wants, randomUUID(), leaseMs)
      await enqueue(claimed)
      const counts = Map.groupBy(claimed, (one) => one.webhook_id)
      slots.endClaim(wants, (webhookId) => counts.get(webhookId)?.length ?? 0)
    } catch (err) {
      // Leases of claimed deliveries expire, and the next poll finds the others.
      log.error({ err }, 'claiming deliveries failed')
    }
    startPosts()
    if (slots.running > 0) await sleep(gatherMs)
    isClaiming = false
    if (slots.wants(nowMs()).length > 0) scheduleClaim()
  }

  async function enqueue(claimed: deliveryStore.Claimed[]): Promise<void> {
    if (claimed.length === 0) return
    const read = await claims.read(claimed)
    const claimedMs = nowMs()
    for (const claim of read.claims) slots.add(claim.target.id, claim, claimedMs)
    if (read.unwanted.length > 0) await recorded(() => deliveryStore.end(db, read.unwanted, leaseMs))
  }

  function startPosts(): void {
    if (state !== 'running') return
    const { taken, stale } = slots.take(nowMs())
    for (const slot of taken) run(slot)
    for (const webhookId of stale) giveBack(webhookId)
  }

  /** Releases the claimed but unstarted deliveries of an endpoint, and claims again after its backoff. */
  function giveBack(webhookId: string): void {
    const { items, waitMs } = slots.empty(webhookId, nowMs())
    const resume = () => void setTimeout(scheduleClaim, waitMs + 1).unref()
    if (items.length === 0) {
      resume()
      return
    }
    const held = items.map((item) => item.claimed)
    // If this fails, the leases expire.
    const released = deliveryStore.release(db, held).catch((err) => log.warn({ err }, 'releasing deliveries failed'))
    track(released.then(resume))
  }

  const track = (work: Promise<void>): void => {
    open.add(work)
    work.finally(() => open.delete(work))
  }

  function run(slot: Slot<Claim>): void {
    track(
      deliverWebhook(delivery, slot).catch((err) => {
        log.error({ err, delivery: slot.item.claimed.id }, 'a delivery failed with an internal error and is retried when its lease expires')
      }),
    )
  }

  /** Frees the slot of a post. After a failure, the other deliveries of its endpoint are claimed again later. */
  function freeSlot({ endpoint, item, isOver }: Slot<Claim>, verdict: Verdict | null, durationMs: number): void {
    if (verdict?.isSuccess) endpoint.succeeded(durationMs)
    else if (verdict) {
      endpoint.failed(nowMs(), verdict.retryAfterMs)
      giveBack(item.target.id)
    }
    isOver()
    scheduleClaim()
  }

  function retryIn(webhookId: string, ms: number): void {
    if (ms < timedRetryMsMax) setTimeout(() => wake([webhookId]), ms + 5).unref()
  }

  const delivery: DeliveryParts = {
    bodies,
    web,
    retrySeconds,
    freeSlot,
    end: createDeliveryEnds(db, accounts, log),
    retryIn,
    businessEvents,
  }

  return {
    /** Starts to deliver. With `isAlone` no other process uses this database, so its leases belong to a dead process and are released. */
    async start({ isAlone }: { isAlone: boolean }): Promise<void> {
      if (isAlone) await deliveryStore.releaseAll(db)
      state = 'running'
      isDelivering = true
      void pollDue()
    },

    /** Marks webhooks as due. A cheap hint: polling finds them as well. */
    wake,

    isDelivering: () => isDelivering,
    inFlight: () => open.size,

    /** Starts no more posts and waits up to `limitMs` for the running ones. The others are claimed again when their leases expire. */
    async stop(limitMs: number): Promise<void> {
      state = 'stopping'
      isDelivering = false
      clearTimeout(poll)
      for (const id of slots.webhookIds()) giveBack(id)
      let timer: NodeJS.Timeout | undefined
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, limitMs)
      })
      const drained = async () => {
        while (open.size > 0) await Promise.all(open)
      }
      await Promise.race([drained(), limit])
      clearTimeout(timer)
    },

    /** Deletes old deliveries, then old events, so that no delivery loses its event. */
    async sweep(): Promise<void> {
      await deliveryStore.sweepDeliveries(db, new Date(nowMs() - retentionMs))
      await events.sweep()
    },
  }
}

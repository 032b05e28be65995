// Claims due deliveries by endpoint, signs and posts each one, and records the result.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { groupCommit } from '../../../core/batch.ts'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { nowMs } from '../../../core/clock.ts'
import type { Log } from '../../../core/log.ts'
import { recorded } from '../../../core/recorded.ts'
import { nextAttemptMs } from '../../../core/schedule.ts'
import type { Database } from '../../../core/sql.ts'
import type { GuardedPost } from '../../../core/web.ts'
import type { Accounts } from '../../account/organizations/operations.ts'
import type { Events } from '../log/operations.ts'
import { type Claim, createClaimReader, type Target } from './claims.ts'
import * as deliveryStore from './delivery-store.ts'
import { createEndpointHealth } from './endpoint-health.ts'
import { createEventBodies } from './event-bodies.ts'
import {
  type Attempt,
  attemptTimeoutMs,
  type BodyFormats,
  getsApprovalLinks,
  judge,
  retentionMs,
  snippetBytesMax,
  type Verdict,
} from './model.ts'
import { QueueSlots, type Slot } from './queue-slots.ts'
import { sign } from './signature.ts'

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

const jitter = 0.2
/** Exceeds the longest wait for a queue slot, plus one attempt and the commit of its result. */
const leaseMs = 60_000
/** Poll interval for deliveries of other processes and for scheduled retries. */
const pollMs = 500
const errorPauseMs = 1_000
/** Retries due within this time get a timer. Polling finds the later ones. */
const timedRetryMsMax = 60_000
/** Pause between claims while posts run, so that each statement claims more deliveries. */
const gatherMs = 5

type Ended = deliveryStore.Ended & { target: Target; verdict: Verdict }

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
  const health = createEndpointHealth(db, accounts)
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
      attempt(slot).catch((err) => {
        log.error({ err, delivery: slot.item.claimed.id }, 'a delivery failed with an internal error and is retried when its lease expires')
      }),
    )
  }

  async function attempt({ endpoint, item: { claimed, target, event }, isOver }: Slot<Claim>): Promise<void> {
    const startedMs = nowMs()
    let verdict: Verdict
    let durationMs: number
    try {
      const body = await bodies.bodyOf(event, getsApprovalLinks(target), target.format)
      const headers = { ...target.headers, 'content-type': 'application/json', ...sign(target.secrets, event.id, body, nowMs()) }
      const result = await web.post(target.url, { headers, body, timeoutMs: attemptTimeoutMs, snippetBytesMax, keepAlive: true })
      durationMs = result.durationMs
      verdict = judge(result, nowMs())
      if (verdict.isSuccess) endpoint.succeeded(durationMs)
      else {
        endpoint.failed(nowMs(), verdict.retryAfterMs)
        giveBack(target.id)
      }
    } finally {
      isOver()
      scheduleClaim()
    }
    await commitResult({
      claimed,
      target,
      verdict,
      attempt: toAttempt(claimed.attempt_count + 1, startedMs, durationMs, verdict),
      ...nextOf(claimed, verdict),
    })
  }

  function nextOf(claimed: deliveryStore.Claimed, verdict: Verdict): Pick<Ended, 'status' | 'retryInMs'> {
    if (verdict.isSuccess) return { status: 'delivered', retryInMs: null }
    const scheduledMs = verdict.isGone ? null : nextAttemptMs(retrySeconds, claimed.tries + 1, jitter, Math.random())
    return scheduledMs === null
      ? { status: 'failed', retryInMs: null }
      : { status: 'pending', retryInMs: Math.max(scheduledMs, verdict.retryAfterMs ?? 0) }
  }

  async function commitResult(ended: Ended): Promise<void> {
    const { claimed, target, status, retryInMs, attempt } = ended
    const isHeld = await commitGrouped(ended)
    businessEvents.webhookTried({
      organization_id: target.organization_id,
      webhook_id: target.id,
      delivery_id: claimed.id,
      outcome: isHeld ? (status === 'pending' ? 'retry' : status) : 'lease_lost',
      status_code: attempt.status_code,
      error_code: attempt.error_code,
      duration_ms: attempt.duration_ms,
      attempt: attempt.attempt,
    })
    if (retryInMs !== null && retryInMs < timedRetryMsMax) setTimeout(() => wake([target.id]), retryInMs + 5).unref()
  }

  const commitGrouped = groupCommit(
    async (group: Ended[]) => {
      const held = await recorded(() => deliveryStore.end(db, group, leaseMs))
      // Must not throw: a retry of the group would find every lease released.
      await health.judge(group).catch((err) => log.error({ err }, 'recording the health of webhooks failed'))
      return group.map((one) => held.has(one.claimed.id))
    },
    { groupMax: 128, inFlightMax: 2 },
  )

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

const toAttempt = (attempt: number, startedMs: number, durationMs: number, verdict: Verdict): Attempt => ({
  attempt,
  started_at: new Date(startedMs).toISOString(),
  duration_ms: durationMs,
  status_code: verdict.statusCode,
  error_code: verdict.errorCode,
  error: verdict.error,
  response_snippet: verdict.snippet,
})

// Claims due deliveries by endpoint, signs and posts each one, and records the result.
import { createSecretKey, type KeyObject, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { groupCommit } from '../../../core/batch.ts'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { nowMs } from '../../../core/clock.ts'
import type { Log } from '../../../core/log.ts'
import { nextAttemptMs } from '../../../core/schedule.ts'
import { openSecret } from '../../../core/secret-seal.ts'
import type { Database } from '../../../core/sql.ts'
import type { GuardedPost } from '../../../core/web.ts'
import type { Accounts } from '../../account/organizations/operations.ts'
import type { EventRow } from '../log/model.ts'
import type { Events } from '../log/operations.ts'
import * as deliveryStore from './delivery-store.ts'
import { createEndpointHealth } from './endpoint-health.ts'
import { createEventBodies } from './event-bodies.ts'
import { type Attempt, attemptTimeoutMs, judge, retentionMs, snippetBytesMax, type Verdict } from './model.ts'
import { type Turn, Turns } from './queue-slots.ts'
import { sign } from './signature.ts'
import * as store from './store.ts'

type Parts = {
  db: Database
  accounts: Accounts
  events: Events
  web: GuardedPost
  /** Opens the signing secrets. */
  sealKey: Buffer
  /** Delays between attempts, in seconds. */
  retrySeconds: number[]
  businessEvents: BusinessEvents
  log: Log
}

const jitter = 0.2
/** Longer than an attempt, its wait for its turn, and writing down its end. */
const leaseMs = 60_000
/** Deliveries made by other processes, and those whose time has come, are found within this. */
const pollMs = 500
const troubleMs = 1_000
/** A retry sooner than this is waited for, later ones are found by polling. */
const timedRetryMsMax = 60_000
/** While posts run, claims wait this long for others to end: fewer and fuller statements. */
const gatherMs = 5

/** An endpoint with its secrets opened: once for a whole claim. */
type Target = Omit<store.EndpointRow, 'secrets'> & { secrets: KeyObject[] }
type Claim = { claimed: deliveryStore.Claimed; target: Target; event: EventRow }
type Ended = deliveryStore.Ended & { target: Target; verdict: Verdict }

/** The delivering part of a process. Any number of processes may deliver from one database. */
export interface Deliverer {
  wake(webhookIds: string[]): void
  start(options: { isAlone: boolean }): Promise<void>
  isDelivering(): boolean
  stop(limitMs: number): Promise<void>
  sweep(): Promise<void>
}

export function createDeliverer({ db, accounts, events, web, sealKey, retrySeconds, businessEvents, log }: Parts): Deliverer {
  const turns = new Turns<Claim>()
  const open = new Set<Promise<void>>()
  const bodies = createEventBodies(events.tell)
  const health = createEndpointHealth(db, accounts)
  let state: 'idle' | 'running' | 'stopping' = 'idle'
  let isDelivering = false
  let isClaiming = false
  let isPoked = false
  let poll: NodeJS.Timeout | undefined

  function wake(webhookIds: string[]): void {
    if (state !== 'running' || webhookIds.length === 0) return
    turns.heat(webhookIds)
    poke()
  }

  const poke = (): void => {
    if (isPoked || state !== 'running') return
    isPoked = true
    setImmediate(() => {
      isPoked = false
      void pump()
    })
  }

  async function look(): Promise<void> {
    let pauseMs = pollMs
    try {
      const due = await deliveryStore.findDueWebhooks(db)
      turns.forgetIdle()
      isDelivering = true
      wake(due)
    } catch (err) {
      if (isDelivering) log.error({ err }, 'polling for deliveries failed')
      isDelivering = false
      pauseMs = troubleMs
    }
    if (state === 'running') poll = setTimeout(look, pauseMs)
    poke()
  }

  /** Begins what has its turn, and claims more for those that have room. */
  async function pump(): Promise<void> {
    begin()
    if (isClaiming || state !== 'running') return
    const wants = turns.wants(nowMs())
    if (wants.length === 0) return
    isClaiming = true
    try {
      turns.beginClaim(wants)
      const claimed = await deliveryStore.claim(db, wants, randomUUID(), leaseMs)
      await enqueue(claimed)
      const counts = Map.groupBy(claimed, (one) => one.webhook_id)
      turns.endClaim(wants, (webhookId) => counts.get(webhookId)?.length ?? 0)
    } catch (err) {
      // The leases of claimed deliveries run out, and the next poll finds the others.
      log.error({ err }, 'claiming deliveries failed')
    }
    begin()
    if (turns.running > 0) await sleep(gatherMs)
    isClaiming = false
    if (turns.wants(nowMs()).length > 0) poke()
  }

  async function enqueue(claimed: deliveryStore.Claimed[]): Promise<void> {
    if (claimed.length === 0) return
    const [rows, found] = await Promise.all([
      store.findEndpoints(db, [...new Set(claimed.map((one) => one.webhook_id))]),
      events.find([...new Set(claimed.map((one) => one.event_id))]),
    ])
    const targets = new Map([...rows].map(([id, row]) => [id, { ...row, secrets: openSecrets(row) }]))
    const claimedMs = nowMs()
    for (const one of claimed) {
      const target = targets.get(one.webhook_id)
      const event = found.get(one.event_id)
      // Its webhook or its event has gone since: both are swept with their deliveries.
      if (target && event) turns.add(one.webhook_id, { claimed: one, target, event }, claimedMs)
    }
  }

  const openSecrets = (row: store.EndpointRow): KeyObject[] =>
    row.secrets.map((sealed) => createSecretKey(openSecret(sealKey, row.id, sealed)))

  function begin(): void {
    if (state !== 'running') return
    const { turns: mine, stale } = turns.take(nowMs())
    for (const turn of mine) run(turn)
    for (const webhookId of stale) giveBack(webhookId)
  }

  /** Gives back what an endpoint holds unbegun, and comes back to it when its pause is over. */
  function giveBack(webhookId: string): void {
    const { items, waitMs } = turns.empty(webhookId, nowMs())
    const comeBack = () => void setTimeout(poke, waitMs + 1).unref()
    if (items.length === 0) {
      comeBack()
      return
    }
    const held = items.map((item) => item.claimed)
    // When this fails, their leases run out.
    const released = deliveryStore.release(db, held).catch((err) => log.warn({ err }, 'releasing deliveries failed'))
    track(released.then(comeBack))
  }

  const track = (work: Promise<void>): void => {
    open.add(work)
    work.finally(() => open.delete(work))
  }

  function run(turn: Turn<Claim>): void {
    track(
      attempt(turn).catch((err) => {
        log.error({ err, delivery: turn.item.claimed.id }, 'a delivery failed on our side; it is tried again when its lease runs out')
      }),
    )
  }

  async function attempt({ endpoint, item: { claimed, target, event }, isOver }: Turn<Claim>): Promise<void> {
    const startedMs = nowMs()
    let verdict: Verdict
    let durationMs: number
    try {
      const body = await bodies.bodyOf(event)
      const headers = { 'content-type': 'application/json', ...sign(target.secrets, event.id, body, nowMs()) }
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
      poke()
    }
    await settle({
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

  async function settle(ended: Ended): Promise<void> {
    const { claimed, target, status, retryInMs, attempt } = ended
    const isHeld = await endTogether(ended)
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

  const endTogether = groupCommit(
    async (group: Ended[]) => {
      const held = await deliveryStore.end(db, group)
      // A second try of the group would find every lease given up.
      await health.judge(group).catch((err) => log.error({ err }, 'recording the health of webhooks failed'))
      return group.map((one) => held.has(one.claimed.id))
    },
    { groupMax: 128, inFlightMax: 2 },
  )

  return {
    /** Starts to deliver. `isAlone`: no other process uses this database, so leases in it are those of a dead one. */
    async start({ isAlone }: { isAlone: boolean }): Promise<void> {
      if (isAlone) await deliveryStore.releaseAll(db)
      state = 'running'
      isDelivering = true
      void look()
    },

    /** Says which webhooks have something to deliver now. Cheap, and only a hint. */
    wake,

    isDelivering: () => isDelivering,

    /** Begins nothing more and waits for what runs, at most `limitMs`; what is left then is claimed again when its lease runs out. */
    async stop(limitMs: number): Promise<void> {
      state = 'stopping'
      isDelivering = false
      clearTimeout(poll)
      for (const id of turns.webhookIds()) giveBack(id)
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

    /** Forgets old deliveries, then old events: never an event that a delivery still needs. */
    async sweep(): Promise<void> {
      await deliveryStore.sweepDeliveries(db, new Date(nowMs() - retentionMs))
      await events.sweep(retentionMs + 24 * 3_600_000)
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

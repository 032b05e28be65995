// Delivers one event to one webhook: builds, signs and posts it, judges the response, and ends the attempt.
import { createHmac, type KeyObject } from 'node:crypto'
import { signatureHeader, signatureHeaders, signedPrefix } from '@callsign/contract/webhook-signature'
import { groupCommit } from '../../../core/batch.ts'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { nowMs } from '../../../core/clock.ts'
import type { Log } from '../../../core/log.ts'
import { recorded } from '../../../core/recorded.ts'
import { nextAttemptMs } from '../../../core/schedule.ts'
import type { Database } from '../../../core/sql.ts'
import type { GuardedPost } from '../../../core/web.ts'
import type { Accounts } from '../../account/organizations/operations.ts'
import type { Claim, Target } from './claims.ts'
import * as deliveryStore from './delivery-store.ts'
import type { EventBodies } from './event-bodies.ts'
import { type Attempt, attemptTimeoutMs, failingMsMax, getsApprovalLinks, judge, snippetBytesMax, type Verdict } from './model.ts'
import type { Slot } from './queue-slots.ts'
import * as store from './store.ts'

/** Exceeds the longest wait for a queue slot, plus one attempt and the commit of its result. */
export const leaseMs = 60_000

const jitter = 0.2

/** The end of an attempt, with the verdict on its webhook. */
type Ended = deliveryStore.Ended & { target: Target; verdict: Verdict }

export type DeliveryParts = {
  bodies: EventBodies
  web: GuardedPost
  /** Delays between attempts, in seconds. */
  retrySeconds: number[]
  /** Frees the slot of a post that has ended. The verdict is null after an error of this server. */
  freeSlot(slot: Slot<Claim>, verdict: Verdict | null, durationMs: number): void
  /** Commits the end of an attempt with others. Resolves with false when its lease was lost. */
  end(ended: Ended): Promise<boolean>
  /** Claims the retry of a webhook when it is due. */
  retryIn(webhookId: string, ms: number): void
  businessEvents: BusinessEvents
}

/** Delivers a claimed event. After an error of this server it is claimed again when its lease expires. */
export async function deliverWebhook(parts: DeliveryParts, slot: Slot<Claim>): Promise<void> {
  // Claimed with a lease, and read with its event, URL and secrets in one group with the others that were due.
  const { claimed, target, event } = slot.item
  const startedMs = nowMs()
  let verdict: Verdict | null = null
  let durationMs = 0
  try {
    // Every attempt sends the same bytes. A webhook that may approve drafts gets links for it.
    const body = await parts.bodies.bodyOf(event, getsApprovalLinks(target), target.format)
    const headers = { ...target.headers, 'content-type': 'application/json', ...sign(target.secrets, event.id, body, nowMs()) }
    // Through the outbound guard. A failure of the endpoint is a result.
    const result = await parts.web.post(target.url, { headers, body, timeoutMs: attemptTimeoutMs, snippetBytesMax, keepAlive: true })
    durationMs = result.durationMs
    verdict = judge(result, nowMs())
  } finally {
    // Before the commit, so that the next post need not wait for it.
    parts.freeSlot(slot, verdict, durationMs)
  }
  const attempt = toAttempt(claimed.attempt_count + 1, startedMs, durationMs, verdict)
  // Delivered, due again by the schedule or Retry-After, or a dead letter.
  const next = nextOf(parts.retrySeconds, claimed, verdict)
  const isHeld = await parts.end({ claimed, target, verdict, attempt, ...next })
  parts.businessEvents.webhookTried({
    organization_id: target.organization_id,
    webhook_id: target.id,
    delivery_id: claimed.id,
    outcome: isHeld ? (next.status === 'pending' ? 'retry' : next.status) : 'lease_lost',
    status_code: attempt.status_code,
    error_code: attempt.error_code,
    duration_ms: attempt.duration_ms,
    attempt: attempt.attempt,
  })
  if (next.retryInMs !== null) parts.retryIn(target.id, next.retryInMs)
}

function nextOf(retrySeconds: number[], { tries }: deliveryStore.Claimed, verdict: Verdict): Pick<Ended, 'status' | 'retryInMs'> {
  if (verdict.isSuccess) return { status: 'delivered', retryInMs: null }
  const scheduledMs = verdict.isGone ? null : nextAttemptMs(retrySeconds, tries + 1, jitter, Math.random())
  return scheduledMs === null
    ? { status: 'failed', retryInMs: null }
    : { status: 'pending', retryInMs: Math.max(scheduledMs, verdict.retryAfterMs ?? 0) }
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

/** The same three headers under the names that other receivers read. */
const svixHeaders = { id: 'svix-id', timestamp: 'svix-timestamp', signature: 'svix-signature' } as const

/** The three headers under both families of names, signed with every secret in force: several during a rotation. `eventId` is the `webhook-id` of every attempt. */
export function sign(secrets: (Buffer | KeyObject)[], eventId: string, body: Buffer, nowMs: number): Record<string, string> {
  const seconds = Math.floor(nowMs / 1000)
  const prefix = signedPrefix(eventId, seconds)
  const signature = signatureHeader(secrets.map((secret) => createHmac('sha256', secret).update(prefix).update(body).digest('base64')))
  return {
    [signatureHeaders.id]: eventId,
    [signatureHeaders.timestamp]: String(seconds),
    [signatureHeaders.signature]: signature,
    [svixHeaders.id]: eventId,
    [svixHeaders.timestamp]: String(seconds),
    [svixHeaders.signature]: signature,
  }
}

/** Commits the ends of attempts in groups. A lost lease is skipped. */
export function createDeliveryEnds(db: Database, accounts: Accounts, log: Log): DeliveryParts['end'] {
  const health = createEndpointHealth(db, accounts)
  return groupCommit(
    async (group: Ended[]) => {
      const held = await recorded(() => deliveryStore.end(db, group, leaseMs))
      // Must not throw: a retry of the group would find every lease released.
      await health.judge(group).catch((err) => log.error({ err }, 'recording the health of webhooks failed'))
      return group.map((ended) => held.has(ended.claimed.id))
    },
    { groupMax: 128, inFlightMax: 2 },
  )
}

/** Records when the failures of a webhook began, and disables a webhook that is gone or has failed for days. */
function createEndpointHealth(db: Database, accounts: Accounts) {
  async function disable(target: Target, reason: string, failingLongerThanMs: number | null): Promise<void> {
    await db.transact(async (tx) => {
      if (!(await store.disableWebhook(tx, target.id, reason, failingLongerThanMs))) return
      await accounts.audit(tx, target.organization_id, { type: 'host' }, 'webhook.disabled', target.id, { reason })
    })
  }

  return {
    /** Judges webhooks by a group of attempts that ended together. */
    async judge(group: Ended[]): Promise<void> {
      const byWebhook = Map.groupBy(group, (one) => one.target.id)
      const well: string[] = []
      const failing: string[] = []
      for (const [id, attempted] of byWebhook) {
        const { target } = attempted[0] as Ended
        if (attempted.some((one) => one.verdict.isGone)) await disable(target, 'The endpoint answered 410 Gone.', null)
        else if (attempted.some((one) => one.verdict.isSuccess)) {
          if (target.failing_since) well.push(id)
        } else if (!target.failing_since) failing.push(id)
        else if (nowMs() - target.failing_since.getTime() > failingMsMax)
          await disable(target, 'Every delivery of the last five days failed.', failingMsMax)
      }
      if (well.length > 0) await store.clearFailing(db, well)
      if (failing.length > 0) await store.startFailing(db, failing)
    },
  }
}

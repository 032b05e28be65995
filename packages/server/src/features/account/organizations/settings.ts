// Operations on the caller's organization: limits for sending, and the pause.

import type { BodyOf, ReplyOf } from '@callsign/contract/operation'
import type * as contract from '@callsign/contract/organization'
import type { Caller } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { invalid, notFound } from '../../../core/errors.ts'
import type { Finish, HastenJobs } from '../../../core/job.ts'
import type { Call } from '../../../core/route.ts'
import type { Database } from '../../../core/sql.ts'
import { effectiveLimits, effectiveQuota, type LimitDefaults } from './model.ts'
import { type Accounts, actorOf } from './operations.ts'
import * as store from './store.ts'

type OrganizationView = ReplyOf<typeof contract.getOrganization>

export interface OrganizationSettings {
  /** `GET /organization`. */
  getOrganization(caller: Caller): Promise<OrganizationView>
  /** `PATCH /organization`. */
  updateOrganization(call: Call, body: BodyOf<typeof contract.updateOrganization>): Promise<OrganizationView>
  /** `POST /organization/pause`: idempotent. */
  pauseOrganization(call: Call, body?: BodyOf<typeof contract.pauseOrganization>): Promise<OrganizationView>
  /** `POST /organization/resume`: idempotent. */
  resumeOrganization(call: Call): Promise<OrganizationView>
  /** True while sending is paused. */
  isPaused(organizationId: string): Promise<boolean>
  /** Returns a job that sends to the queue while its organization is paused. False when the pause has ended, and the job has to run. */
  holdJob(organizationId: string, finish: Finish): Promise<boolean>
  /** Registers a kind of job that a pause holds. */
  onResume(kind: string): void
}

/** Held jobs look again after this time. The end of a pause makes them due at once. */
const heldMs = 10 * 60_000

type Parts = { db: Database; accounts: Accounts; hastenJobs: HastenJobs; defaults: LimitDefaults; storageQuotaMax: number | null }

export function createOrganizationSettings({ db, accounts, hastenJobs, defaults, storageQuotaMax }: Parts): OrganizationSettings {
  const heldKinds: string[] = []

  async function getOrganization(caller: Caller): Promise<OrganizationView> {
    const row = await store.findOrganization(db, caller.organizationId)
    if (!row) throw notFound('organization')
    return {
      id: row.id,
      name: row.name,
      paused_at: row.paused_at?.toISOString() ?? null,
      pause_reason: row.pause_reason,
      sending_limits: effectiveLimits(row.sending_limits, defaults.organization),
      key_sending_limits: effectiveLimits(row.key_sending_limits, defaults.key),
      storage_quota_bytes: effectiveQuota(row.storage_quota_bytes, storageQuotaMax),
      retention: { messages_days: null, attachments_days: null, events_days: null, requests_days: null, ...row.retention },
      inbound_mode: row.inbound_mode,
      outbound_mode: row.outbound_mode,
      created_at: row.created_at.toISOString(),
    }
  }

  return {
    getOrganization,

    async updateOrganization(call, body) {
      const { organizationId } = call.caller
      const { storage_quota_bytes, retention, inbound_mode, outbound_mode, ...limits } = body
      const modes = { ...(inbound_mode && { inbound_mode }), ...(outbound_mode && { outbound_mode }) }
      if (storageQuotaMax !== null && (storage_quota_bytes ?? 0) > storageQuotaMax)
        throw invalid('/storage_quota_bytes', `storage_quota_bytes must be at most ${storageQuotaMax}, the quota of this server`)
      await call.transact(async (tx) => {
        if (Object.keys(limits).length > 0) {
          await store.changeLimits(tx, organizationId, limits.sending_limits ?? {}, limits.key_sending_limits ?? {})
          await accounts.audit(tx, organizationId, actorOf(call), 'organization.limits_changed', organizationId, limits)
        }
        if (inbound_mode || outbound_mode) {
          await store.changeModes(tx, organizationId, inbound_mode ?? null, outbound_mode ?? null)
          await accounts.audit(tx, organizationId, actorOf(call), 'organization.modes_changed', organizationId, modes)
        }
        if (storage_quota_bytes === undefined && retention === undefined) return
        await store.changeStorage(tx, organizationId, storage_quota_bytes, retention ?? {})
        const change = { storage_quota_bytes, retention }
        await accounts.audit(tx, organizationId, actorOf(call), 'organization.storage_changed', organizationId, change)
      })
      return getOrganization(call.caller)
    },

    async pauseOrganization(call, body = {}) {
      const { organizationId } = call.caller
      const reason = body.reason ?? null
      await call.transact(async (tx) => {
        if (!(await store.pause(tx, organizationId, reason, now()))) return
        await accounts.audit(tx, organizationId, actorOf(call), 'organization.paused', organizationId, { reason })
      })
      return getOrganization(call.caller)
    },

    async resumeOrganization(call) {
      const { organizationId } = call.caller
      await call.transact(async (tx) => {
        if (!(await store.resume(tx, organizationId))) return
        await hastenJobs(tx, organizationId, heldKinds)
        await accounts.audit(tx, organizationId, actorOf(call), 'organization.resumed', organizationId)
      })
      return getOrganization(call.caller)
    },

    isPaused: async (organizationId) => (await store.findOrganization(db, organizationId))?.paused_at != null,

    holdJob: (organizationId, finish) =>
      db.transact(async (tx) => {
        // Locked, so that the end of the pause finds this job in the queue.
        if (!(await store.lockPause(tx, organizationId))) return false
        await finish(tx, { done: false, retryInMs: heldMs })
        return true
      }),

    onResume(kind) {
      heldKinds.push(kind)
    },
  }
}

// Sends scheduled drafts, and ends requests for approval. A draft that cannot be sent stays one, with the reason in `send_error`. One that is
// held waits for approval.
import { now } from '../../../core/clock.ts'
import { ApiError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { Finish, Job, JobHandler } from '../../../core/job.ts'
import type { Database } from '../../../core/sql.ts'
import { approvalRequired, type Identities, needsApprovalWhenDue } from '../../account/identities/operations.ts'
import { HeldForApproval, isHeldForApproval } from '../outbound/model.ts'
import { expireApprovalJob } from './approval.ts'
import { inspectThenWrite, type PreparedDraft } from './draft-queue.ts'
import { type DraftRow, sendDraftJob } from './model.ts'
import type { Drafts } from './operations.ts'
import * as store from './store.ts'

const leaseMs = 30_000
const concurrency = 8
const errorCharactersMax = 500

const withoutSchedule = (row: DraftRow): DraftRow => ({
  ...row,
  send_at: null,
  job_id: null,
  scheduled_by_key_id: null,
  is_scheduled_by_approver: false,
  is_approved: false,
  version: row.version + 1,
  change_id: newId('draft'),
  updated_at: now(),
})

export function createScheduledSend({ db, identities, drafts }: { db: Database; identities: Identities; drafts: Drafts }): JobHandler {
  async function run(job: Job, finish: Finish): Promise<void> {
    const seen = (await store.findDrafts(db, [job.subject])).get(job.subject)
    const owner = seen ? await identities.findOwner(seen.mailbox_id) : null
    // The draft was sent, deleted or rescheduled, so this job is obsolete.
    if (!seen || !owner || seen.job_id !== job.id) return db.transact((tx) => finish(tx, { done: true }))
    /** The draft as it is now. Null when another job has replaced this one. */
    const prepare = async (): Promise<PreparedDraft | null> => {
      const row = (await store.findDrafts(db, [job.subject])).get(job.subject)
      return row?.job_id === job.id ? drafts.prepareDraft(owner, row, row.scheduled_by_key_id) : null
    }
    const send = (prepared: PreparedDraft | null): Promise<void> =>
      db.transact(async (tx) => {
        const row = await store.lockDraft(tx, seen.mailbox_id, seen.id)
        if (prepared !== null && row?.job_id === job.id) {
          if (row.approval_status !== null || needsApprovalWhenDue(row, owner)) throw approvalRequired()
          await drafts.queueDraft(tx, owner, row, prepared, { keyId: row.scheduled_by_key_id, isApproved: row.is_approved })
        }
        await finish(tx, { done: true })
      })
    try {
      await inspectThenWrite(prepare, send)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      await db.transact(async (tx) => {
        const row = await store.lockDraft(tx, seen.mailbox_id, seen.id)
        if (row?.job_id === job.id) {
          const stopped = { ...withoutSchedule(row), send_error: error.message.slice(0, errorCharactersMax) }
          if (isHeldForApproval(error) && row.approval_status === null)
            await drafts.approvals.request(tx, owner, stopped, error instanceof HeldForApproval ? error.reasons : [])
          else await store.updateDraft(tx, stopped)
        }
        await finish(tx, { done: true })
      })
    }
  }

  return { kind: sendDraftJob, leaseMs, concurrency, run }
}

export function createApprovalExpiry({ db, identities, drafts }: { db: Database; identities: Identities; drafts: Drafts }): JobHandler {
  async function run(job: Job, finish: Finish): Promise<void> {
    const seen = (await store.findDrafts(db, [job.subject])).get(job.subject)
    const owner = seen ? await identities.findOwner(seen.mailbox_id) : null
    await db.transact(async (tx) => {
      if (owner) await drafts.approvals.expire(tx, owner, job.subject, job.id)
      await finish(tx, { done: true })
    })
  }

  return { kind: expireApprovalJob, leaseMs, concurrency, run }
}

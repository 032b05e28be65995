// Requests for approval: made by agents and by holds of the server, decided by people, and ended by time.
import type * as contract from '@callsign/contract/approvals'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Caller, keyIdOf, mayApprove } from '../../../core/caller.ts'
import { now, nowMs } from '../../../core/clock.ts'
import { ApiError, notFound } from '../../../core/errors.ts'
import type { Emit, NewEvent } from '../../../core/event.ts'
import { newId } from '../../../core/ids.ts'
import type { CancelJob, Enqueue } from '../../../core/job.ts'
import { readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { type Identities, needsApproval } from '../../account/identities/operations.ts'
import type { Actor } from '../../account/organizations/model.ts'
import { type Accounts, actorOf } from '../../account/organizations/operations.ts'
import { HeldForApproval, type Inspection } from '../outbound/model.ts'
import {
  type ApprovalColumns,
  approvalExpired,
  checkMayApprove,
  checkReviewer,
  expireApprovalJob,
  isExpired,
  newApproval,
  noApproval,
  readExpiry,
} from './approval.ts'
import * as approvalStore from './approval-store.ts'
import { checkUnchanged, inspectThenWrite, type PreparedDraft } from './draft-queue.ts'
import { checkComplete, checkVersion, type DraftRow, missingParts } from './model.ts'
import * as store from './store.ts'

type DraftView = ReplyOf<typeof contract.requestApproval>

/** The API of requests for approval. */
export interface Approvals {
  /** `GET /approvals`: oldest request first. An agent key sees its own drafts. */
  listApprovals(caller: Caller, query: QueryOf<typeof contract.listApprovals>): Promise<ReplyOf<typeof contract.listApprovals>>
  /** `POST …/drafts/{draft_id}/request-approval`. */
  requestApproval(call: Call, mailbox: string, id: string, body?: BodyOf<typeof contract.requestApproval>): Promise<DraftView>
  /** `POST …/drafts/{draft_id}/approval-link`. */
  createApprovalLink(call: Call, mailbox: string, id: string): Promise<ReplyOf<typeof contract.createApprovalLink>>
  /** `DELETE …/drafts/{draft_id}/approval-link`. */
  revokeApprovalLink(call: Call, mailbox: string, id: string): Promise<ReplyOf<typeof contract.revokeApprovalLink>>
}

/** Changes of a request for approval, in the transactions of other operations on drafts. */
export interface ApprovalChanges {
  /** The columns after a change of the draft, made from `before`, or null for a new draft. Throws when the change would send an expired one. */
  columnsAfter(caller: Caller, owner: MailboxOwner, before: DraftRow | null, changed: DraftRow, inspection: Inspection): ApprovalColumns
  /** Writes job, event and audit entry of the difference between the two rows. */
  record(tx: Tx, owner: MailboxOwner, before: DraftRow | null, row: DraftRow, actor: Actor | null): Promise<void>
  /** Writes a draft with a new request for approval, which the server makes for these reasons. */
  request(tx: Tx, owner: MailboxOwner, row: DraftRow, reasons: string[]): Promise<void>
  /** Writes event and audit entry of a waiting draft that was sent. */
  recordSent(tx: Tx, owner: MailboxOwner, row: DraftRow, messageId: string, actor: Actor): Promise<void>
  /** Writes event and audit entry of a rejection. */
  recordRejected(tx: Tx, owner: MailboxOwner, row: DraftRow, reason: string | null, actor: Actor): Promise<void>
  /** Ends the request of a draft whose job this is. Does nothing for an obsolete job. */
  expire(tx: Tx, owner: MailboxOwner, draftId: string, jobId: string): Promise<void>
}

type Parts = {
  db: Database
  accounts: Accounts
  identities: Identities
  enqueue: Enqueue
  cancelJob: CancelJob
  emit: Emit
  show: (row: DraftRow) => Promise<DraftView>
  prepareDraft: (owner: MailboxOwner, row: DraftRow, keyId: string | null) => Promise<PreparedDraft>
  lastsMs: number
  linkUrl: (linkId: string) => string
}

const facts = (row: DraftRow) => ({ id: row.id, version: row.version, to: row.to_addresses, subject: row.subject })

export function createApprovals(parts: Parts): Approvals & ApprovalChanges {
  const { db, accounts, identities, enqueue, cancelJob, emit, show, prepareDraft, lastsMs, linkUrl } = parts

  const emitOne = (tx: Tx, owner: MailboxOwner, row: DraftRow, type: NewEvent['type'], data: Record<string, unknown>): Promise<void> =>
    emit(tx, [
      {
        type,
        organizationId: owner.organizationId,
        identityId: owner.identityId,
        subjectId: row.id,
        data: { ...facts(row), ...data },
      },
    ])

  const newRequest = (reasons: string[], at: Date): ApprovalColumns => newApproval(reasons, at, new Date(at.getTime() + lastsMs))

  /** Enqueues the end of a new request, cancels that of the one before, and announces it. */
  async function recordRequest(tx: Tx, owner: MailboxOwner, before: DraftRow | null, row: DraftRow): Promise<void> {
    const expiresAt = row.approval_expires_at as Date
    const job = {
      id: row.approval_job_id as string,
      kind: expireApprovalJob,
      organizationId: row.organization_id,
      subject: row.id,
      delayMs: Math.max(0, expiresAt.getTime() - nowMs()),
    }
    await Promise.all([
      before?.approval_job_id ? cancelJob(tx, before.approval_job_id) : null,
      enqueue(tx, [job]),
      emitOne(tx, owner, row, 'draft.approval_requested', {
        reasons: row.approval_reasons,
        expires_at: expiresAt.toISOString(),
        approval_link_id: row.approval_link_id,
      }),
    ])
  }

  /** Writes a draft with a new request, and returns it. */
  async function writeRequest(tx: Tx, owner: MailboxOwner, before: DraftRow, approval: ApprovalColumns): Promise<DraftRow> {
    const asked = { ...before, ...approval }
    await store.updateDraft(tx, asked)
    await recordRequest(tx, owner, before, asked)
    return asked
  }

  async function recordApproved(tx: Tx, owner: MailboxOwner, row: DraftRow, messageId: string | null, actor: Actor): Promise<void> {
    const sendAt = messageId === null ? (row.send_at?.toISOString() ?? null) : null
    await Promise.all([
      emitOne(tx, owner, row, 'draft.approved', { message_id: messageId, send_at: sendAt, decided_by: actor.type }),
      accounts.audit(tx, owner.organizationId, actor, 'draft.approved', row.id, { version: row.version, message_id: messageId }),
    ])
  }

  /** Locks a draft in the transaction of a call. Throws 404 without it. */
  async function requireLocked(tx: Tx, owner: MailboxOwner, id: string): Promise<DraftRow> {
    const row = await store.lockDraft(tx, owner.mailboxId, id)
    if (!row) throw notFound('draft')
    return row
  }

  return {
    columnsAfter(caller, owner, before, changed, { reasons, isHeld }) {
      const isWaiting = before !== null && before.approval_status !== null
      if (!mayApprove(caller)) {
        const asks = (isWaiting || isHeld || needsApproval(caller, owner)) && missingParts(changed).length === 0
        return asks ? newRequest(reasons, changed.updated_at) : { ...changed, approval_link_id: null }
      }
      if (!isWaiting) {
        if (isHeld && changed.send_at !== null) throw new HeldForApproval(reasons)
        return changed
      }
      const isScheduled = changed.send_at !== null && changed.send_at !== before.send_at
      if (!isScheduled) return { ...changed, approval_link_id: null }
      checkMayApprove(before, true, nowMs())
      return { ...noApproval, is_approved: true }
    },

    async record(tx, owner, before, row, actor) {
      if (row.approval_id !== null && row.approval_id !== before?.approval_id) return recordRequest(tx, owner, before, row)
      if (!before || before.approval_id === null || row.approval_id !== null) return
      if (before.approval_job_id !== null) await cancelJob(tx, before.approval_job_id)
      if (actor) await recordApproved(tx, owner, row, null, actor)
    },

    async request(tx, owner, row, reasons) {
      await writeRequest(tx, owner, row, newRequest(reasons, row.updated_at))
    },

    async recordSent(tx, owner, row, messageId, actor) {
      if (row.approval_status === null) return
      if (row.approval_job_id !== null) await cancelJob(tx, row.approval_job_id)
      await recordApproved(tx, owner, row, messageId, actor)
    },

    async recordRejected(tx, owner, row, reason, actor) {
      await Promise.all([
        emitOne(tx, owner, row, 'draft.rejected', { reason, decided_by: actor.type }),
        accounts.audit(tx, owner.organizationId, actor, 'draft.rejected', row.id, { version: row.version, reason }),
      ])
    },

    async expire(tx, owner, draftId, jobId) {
      const row = await store.lockDraft(tx, owner.mailboxId, draftId)
      if (row?.approval_job_id !== jobId) return
      await approvalStore.expireApproval(tx, row.id)
      await emitOne(tx, owner, row, 'draft.expired', { expired_at: (row.approval_expires_at as Date).toISOString() })
    },

    async listApprovals(caller, query) {
      const page = readPage(query, 'approval')
      const mailboxIds =
        query.agent === undefined
          ? (caller.agents?.map((agent) => agent.mailboxId) ?? null)
          : [(await identities.requireMailbox(caller, query.agent)).mailboxId]
      const rows = await approvalStore.listWaiting(db.reads, caller.organizationId, mailboxIds, page, query.order ?? 'asc')
      const { data, ...envelope } = toPage(
        rows,
        page.limit,
        (row) => row.approval_id as string,
        (row) => row,
      )
      const shownIds = [...new Set(data.map((row) => row.mailbox_id))]
      const owners = new Map(await Promise.all(shownIds.map(async (id) => [id, await identities.findOwner(id)] as const)))
      const shown = data.map(async (row) => {
        const owner = owners.get(row.mailbox_id)
        if (!owner) return []
        return [{ id: row.approval_id as string, agent_handle: owner.handle, email_address: owner.address, draft: await show(row) }]
      })
      return { ...envelope, data: (await Promise.all(shown)).flat() }
    },

    async requestApproval(call, mailbox, id, body = {}) {
      const owner = await identities.requireMailbox(call.caller, mailbox)
      const at = now()
      const expiresAt = body.expires_at === undefined ? new Date(at.getTime() + lastsMs) : readExpiry(body.expires_at, at.getTime())
      const check = (row: DraftRow): void => {
        checkReviewer(call.caller, row)
        checkVersion(row, body.version)
        checkComplete(row)
      }
      const inspect = async (): Promise<PreparedDraft> => {
        const [row] = (await store.findDrafts(db, [id])).values()
        if (row?.mailbox_id !== owner.mailboxId) throw notFound('draft')
        check(row)
        return prepareDraft(owner, row, keyIdOf(call))
      }
      const write = ({ row, inspection }: PreparedDraft): Promise<DraftRow> =>
        call.transact(async (tx) => {
          const before = await requireLocked(tx, owner, id)
          check(before)
          checkUnchanged(before.version, row.version)
          return writeRequest(tx, owner, before, newApproval(inspection.reasons, at, expiresAt))
        })
      return show(await inspectThenWrite(inspect, write))
    },

    async createApprovalLink(call, mailbox, id) {
      const owner = await identities.requireMailbox(call.caller, mailbox)
      return call.transact(async (tx) => {
        const row = await requireLocked(tx, owner, id)
        if (row.approval_status === null) throw new ApiError('conflict', 'This draft does not wait for approval. Request approval first.')
        if (isExpired(row, nowMs())) throw approvalExpired()
        const linkId = row.approval_link_id ?? newId('approvalLink')
        if (row.approval_link_id === null) await approvalStore.setLink(tx, row.id, linkId)
        const expires_at = (row.approval_expires_at as Date).toISOString()
        await accounts.audit(tx, owner.organizationId, actorOf(call), 'draft.approval_link_created', row.id, {
          link_id: linkId,
          expires_at,
        })
        return { draft_id: row.id, version: row.version, url: linkUrl(linkId), expires_at }
      })
    },

    async revokeApprovalLink(call, mailbox, id) {
      const owner = await identities.requireMailbox(call.caller, mailbox)
      return call.transact(async (tx) => {
        const row = await requireLocked(tx, owner, id)
        if (row.approval_link_id !== null) {
          await approvalStore.setLink(tx, row.id, null)
          const details = { link_id: row.approval_link_id }
          await accounts.audit(tx, owner.organizationId, actorOf(call), 'draft.approval_link_revoked', row.id, details)
        }
        return { draft_id: row.id, revoked: true as const }
      })
    },
  }
}

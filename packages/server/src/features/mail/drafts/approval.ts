// The request for approval of a draft: its columns, its view in the API, and the rules for sending.
import { approvalDaysMax } from '@callsign/contract/approvals'
import type { Draft } from '@callsign/contract/drafts'
import type { Static } from 'typebox'
import type { Caller } from '../../../core/caller.ts'
import { ApiError, forbidden, invalid } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'

/** The kind of the job that ends a request for approval. */
export const expireApprovalJob = 'expire-approval'

/** All null, and without reasons, unless approval was requested. */
export type ApprovalColumns = {
  /** True when a person approved exactly this version by scheduling it. */
  is_approved: boolean
  /** Sorts by time and orders the queue. */
  approval_id: string | null
  approval_status: 'requested' | 'expired' | null
  /** Why the server holds the message. */
  approval_reasons: string[]
  approval_requested_at: Date | null
  approval_expires_at: Date | null
  approval_job_id: string | null
  /** The id of the valid link, which is for the current version only. */
  approval_link_id: string | null
}

export const noApproval: ApprovalColumns = {
  is_approved: false,
  approval_id: null,
  approval_status: null,
  approval_reasons: [],
  approval_requested_at: null,
  approval_expires_at: null,
  approval_job_id: null,
  approval_link_id: null,
}

/** A new request, with a link of its own. */
export const newApproval = (reasons: string[], at: Date, expiresAt: Date): ApprovalColumns => ({
  is_approved: false,
  approval_id: newId('approval'),
  approval_status: 'requested',
  approval_reasons: reasons,
  approval_requested_at: at,
  approval_expires_at: expiresAt,
  approval_job_id: newId('job'),
  approval_link_id: newId('approvalLink'),
})

/** The end of a request as a caller gives it. Throws 400 unless it is in the future and near enough. */
export function readExpiry(text: string, nowMs: number): Date {
  const at = new Date(text)
  if (at.getTime() <= nowMs) throw invalid('/expires_at', 'expires_at must be in the future')
  if (at.getTime() > nowMs + approvalDaysMax * 24 * 3_600_000)
    throw invalid('/expires_at', `expires_at must be within ${approvalDaysMax} days`)
  return at
}

/** True after the end of a request, also while its job is late. */
export const isExpired = ({ approval_status, approval_expires_at }: ApprovalColumns, nowMs: number): boolean =>
  approval_status === 'expired' || (approval_expires_at !== null && approval_expires_at.getTime() <= nowMs)

/** Throws when a draft may not be sent by this caller, because it waits for a person or has waited too long. */
export function checkMayApprove(row: ApprovalColumns, mayApprove: boolean, nowMs: number): void {
  if (row.approval_status === null) return
  if (!mayApprove)
    throw new ApiError(
      'approval_required',
      'This draft waits for approval: only a key with the scope drafts:approve sends or schedules it.',
    )
  if (isExpired(row, nowMs)) throw approvalExpired()
}

/** Throws 403 for a reviewer unless the draft waits for approval and stays as it is. `changes` are the fields given with the decision. */
export function checkReviewer(caller: Caller, row: ApprovalColumns, changes: object = {}): void {
  const { scopes } = caller
  if (!scopes.has('drafts:approve') || scopes.has('mail:send') || scopes.has('drafts:write')) return
  if (row.approval_status === null) throw forbidden('A reviewer decides only on drafts that wait for approval. Ask an operator.')
  const [field] = Object.keys(changes).filter((name) => name !== 'version')
  if (field) throw forbidden(`A reviewer sends a draft unchanged. Leave out \`${field}\`, or ask an operator.`)
}

export const approvalExpired = (): ApiError =>
  new ApiError('approval_expired', 'The request for approval of this draft has expired. Request approval again.')

export function toApproval(row: ApprovalColumns): Static<typeof Draft>['approval'] {
  if (row.approval_status === null) return null
  return {
    id: row.approval_id as string,
    status: row.approval_status,
    reasons: row.approval_reasons,
    requested_at: (row.approval_requested_at as Date).toISOString(),
    expires_at: (row.approval_expires_at as Date).toISOString(),
  }
}

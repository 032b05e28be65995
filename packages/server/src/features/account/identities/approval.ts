// Decides which mail needs approval, and which callers can give it. Every way to send, schedule or write mail asks here.
import { type Caller, mayApprove } from '../../../core/caller.ts'
import { ApiError } from '../../../core/errors.ts'
import type { MailboxOwner } from './model.ts'

/** True when this caller only writes drafts for the agent, which a caller that can approve has to send. */
export const needsApproval = (caller: Caller, owner: MailboxOwner): boolean =>
  caller.mailApproval === 'always' || (owner.draftApproval === 'required' && !mayApprove(caller))

/** True when a scheduled draft needs approval at its time, because the caller that scheduled it could not give it. */
export const needsApprovalWhenDue = (draft: { is_scheduled_by_approver: boolean }, owner: MailboxOwner): boolean =>
  owner.draftApproval === 'required' && !draft.is_scheduled_by_approver

export const approvalRequired = (): ApiError =>
  new ApiError(
    'approval_required',
    'Mail of this agent needs approval: its own key writes drafts, and an organization key sends or schedules them. Create a draft, which waits for a person.',
  )

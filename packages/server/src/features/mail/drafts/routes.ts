// The endpoints of drafts.
import * as approvals from '@callsign/contract/approvals'
import { getDraftAttachmentText } from '@callsign/contract/attachments'
import * as lists from '@callsign/contract/draft-lists'
import * as contract from '@callsign/contract/drafts'
import { type Route, route } from '../../../core/route.ts'
import type { Drafts } from './operations.ts'

export const draftRoutes = (drafts: Drafts): Route[] => [
  route(contract.createDraft, 'agent', (call, { params, body }) => drafts.createDraft(call, params.email_address, body)),
  route(lists.listDrafts, 'agent', (call, { params, query }) => drafts.listDrafts(call.caller, params.email_address, query)),
  route(lists.listAllDrafts, 'agent', (call, { query }) => drafts.listAllDrafts(call.caller, query)),
  route(lists.getDraftById, 'agent', (call, { params }) => drafts.getDraftById(call.caller, params.draft_id)),
  route(contract.getDraft, 'agent', (call, { params }) => drafts.getDraft(call.caller, params.email_address, params.draft_id)),
  route(contract.updateDraft, 'agent', (call, { params, body }) => drafts.updateDraft(call, params.email_address, params.draft_id, body)),
  route(contract.listDraftVersions, 'agent', (call, { params }) =>
    drafts.listDraftVersions(call.caller, params.email_address, params.draft_id),
  ),
  route(contract.getDraftMessage, 'agent', (call, { params }) =>
    drafts.getDraftMessage(call.caller, params.email_address, params.draft_id),
  ),
  route(getDraftAttachmentText, 'agent', (call, { params, query }) => drafts.getDraftAttachmentText(call.caller, params, query)),
  route(contract.rejectDraft, 'agent', (call, { params, body }) => drafts.rejectDraft(call, params.email_address, params.draft_id, body)),
  route(approvals.listApprovals, 'agent', (call, { query }) => drafts.listApprovals(call.caller, query)),
  route(approvals.requestApproval, 'agent', (call, { params, body }) =>
    drafts.requestApproval(call, params.email_address, params.draft_id, body),
  ),
  route(approvals.reviewDraft, 'agent', (call, { params }) => drafts.reviewDraft(call.caller, params.email_address, params.draft_id)),
  route(approvals.createApprovalLink, 'organization', (call, { params }) =>
    drafts.createApprovalLink(call, params.email_address, params.draft_id),
  ),
  route(approvals.revokeApprovalLink, 'organization', (call, { params }) =>
    drafts.revokeApprovalLink(call, params.email_address, params.draft_id),
  ),
  route(contract.deleteDraft, 'agent', (call, { params }) => drafts.deleteDraft(call, params.email_address, params.draft_id)),
  route(contract.sendDraft, 'agent', (call, { params, body }) => drafts.sendDraft(call, params.email_address, params.draft_id, body)),
]

// Requests for the approval of drafts, and the one-time links that decide them.
import Type from 'typebox'
import { Draft } from './drafts.ts'
import { operation } from './operation.ts'
import { Cursor, HandleReference, id, Limit, MailboxParam, page, strict, Timestamp } from './schema.ts'

/** Maximum days that a draft waits for approval. */
export const approvalDaysMax = 30

/** A draft that waits, with the mailbox that its path needs. */
export const Approval = Type.Object(
  { id: Type.String(), agent_handle: Type.String(), email_address: Type.String(), draft: Draft },
  { $id: 'Approval' },
)

export const listApprovals = operation({
  id: 'listApprovals',
  method: 'GET',
  path: '/api/v1/approvals',
  summary: 'Lists the drafts that wait for approval in all mailboxes, oldest request first.',
  tag: 'Drafts',
  scopes: ['drafts:read'],
  query: strict({ agent: Type.Optional(HandleReference), limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(Approval),
  errors: ['not_found'],
})

const draftPath = '/api/v1/mailboxes/{email_address}/drafts/{draft_id}'
const draftParams = strict({ email_address: MailboxParam, draft_id: id('draft') })

export const requestApproval = operation({
  id: 'requestApproval',
  method: 'POST',
  path: `${draftPath}/request-approval`,
  summary: 'Requests approval of a draft, or renews a request that has expired.',
  tag: 'Drafts',
  scopes: ['drafts:write', 'drafts:approve'],
  params: draftParams,
  body: strict({
    version: Type.Optional(Type.Integer({ minimum: 1 })),
    expires_at: Type.Optional(
      Type.Unsafe<string>({
        ...Timestamp,
        description: `At most ${approvalDaysMax} days ahead. By default, the server's setting, 72 hours unless it was changed.`,
      }),
    ),
  }),
  bodyOptional: true,
  status: 200,
  reply: Draft,
  errors: ['draft_incomplete', 'draft_version_conflict', 'draft_not_editable'],
})

export const ApprovalLink = Type.Object(
  { draft_id: Type.String(), version: Type.Integer(), url: Type.String(), expires_at: Timestamp },
  { $id: 'ApprovalLink' },
)

export const createApprovalLink = operation({
  id: 'createApprovalLink',
  method: 'POST',
  path: `${draftPath}/approval-link`,
  summary: 'Returns the one-time link that approves or rejects this version of a draft without a key.',
  tag: 'Drafts',
  scopes: ['drafts:approve'],
  params: draftParams,
  status: 200,
  reply: ApprovalLink,
  errors: ['conflict', 'approval_expired'],
})

export const revokeApprovalLink = operation({
  id: 'revokeApprovalLink',
  method: 'DELETE',
  path: `${draftPath}/approval-link`,
  summary: 'Revokes the link of a draft. A new one can be created.',
  tag: 'Drafts',
  scopes: ['drafts:approve'],
  params: draftParams,
  status: 200,
  reply: Type.Object({ draft_id: Type.String(), revoked: Type.Literal(true) }, { $id: 'RevokedApprovalLink' }),
})

// Requests for the approval of drafts, and the one-time links that decide them.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { Cursor, HandleReference, id, Limit, MailboxParam, nullableString, Order, page, strict, Timestamp } from '../../schema.ts'
import { DraftVersionNumber } from './draft-inputs.ts'
import { Draft } from './drafts.ts'

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
  summary: 'Lists the drafts that wait for approval in all mailboxes, oldest request first by default.',
  tag: 'Drafts',
  scopes: ['drafts:read'],
  query: strict({ agent: Type.Optional(HandleReference), order: Order, limit: Limit, cursor: Cursor }),
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
    version: Type.Optional(DraftVersionNumber),
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

const reviewWarnings = [
  'held',
  'from_name',
  'reply_to',
  'external',
  'first_contact',
  'many_recipients',
  'hidden_recipients',
  'hidden_text',
  'html_styles',
  'images',
  'not_composed',
] as const

/** The message that approval would send, with everything that its recipients get. The console, the link and connected apps show it. */
export const DraftReview = Type.Object(
  {
    draft_id: Type.String(),
    version: Type.Integer(),
    agent_handle: Type.String(),
    fields: Type.Array(Type.Object({ name: Type.String(), values: Type.Array(Type.String()) }), {
      description: 'The header fields of the message: From, Reply-To, To, Cc, Bcc, Subject, and custom headers. Empty ones are left out.',
    }),
    text: Type.String(),
    html: nullableString(),
    html_text: nullableString({ description: 'All text of the HTML. Text that recipients do not see is marked as [not shown: …].' }),
    images: Type.Array(Type.String(), { description: 'The images that the HTML shows, at most 20.' }),
    attachments: Type.Array(
      Type.Object({
        filename: Type.String(),
        content_type: Type.String(),
        size_bytes: Type.Integer(),
        is_forwarded: Type.Boolean({ description: 'true for a file of the forwarded message.' }),
      }),
    ),
    warnings: Type.Array(
      Type.Object({
        code: Type.Unsafe<(typeof reviewWarnings)[number]>({ type: 'string', enum: [...reviewWarnings] }),
        text: Type.String(),
      }),
      { description: 'Reasons to read the message with care, the gravest first.' },
    ),
    expires_at: nullableString({ format: 'date-time', description: 'The end of the request for approval. null without one.' }),
  },
  { $id: 'DraftReview' },
)

export const reviewDraft = operation({
  id: 'reviewDraft',
  method: 'GET',
  path: `${draftPath}/review`,
  summary: 'Gets the message that a draft would be sent as, with warnings for the person that approves it.',
  tag: 'Drafts',
  scopes: ['drafts:read'],
  params: draftParams,
  status: 200,
  reply: DraftReview,
  errors: ['conflict'],
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

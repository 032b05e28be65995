// Drafts with optimistic versions, sent immediately or at a scheduled time.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { Deleted, described, id, MailboxParam, nullableString, page, strict, Timestamp } from '../../schema.ts'
import { ClientId, clientIdField } from '../client-id.ts'
import { Attachment, attachmentBodyBytesMax, attachmentsDescription, DraftAttachmentInput } from '../mail/attachments.ts'
import {
  CustomHeaders,
  FromAddress,
  forwardAttachmentsField,
  References,
  recipients,
  replyAllField,
  replyToField,
  Subject,
} from '../mail/outbound-mail.ts'
import { automaticField, Labels, markChanges, marks, metadataField, tagsField } from '../metadata.ts'
import {
  contentAliases,
  DraftVersionNumber,
  NullableHeaders,
  NullableSubject,
  nullableAddresses,
  nullableText,
  SendAt,
} from './draft-inputs.ts'

/** Maximum number of attachments per draft. */
export const draftAttachmentsMax = 50
/** Maximum scheduling horizon of a draft, in days. */
export const scheduleDaysMax = 366

const DraftStatus = Type.Unsafe<'draft' | 'sending' | 'sent'>({ type: 'string', enum: ['draft', 'sending', 'sent'] })

/** The request for approval of a draft. */
const DraftApprovalRequest = Type.Object({
  id: Type.String(),
  status: Type.Unsafe<'requested' | 'expired'>({
    type: 'string',
    enum: ['requested', 'expired'],
    description: 'An expired request has to be made again before the draft can be sent.',
  }),
  reasons: Type.Array(Type.String(), {
    description: 'Why the server holds the message. Empty if the agent, or a rule for all its mail, asked.',
  }),
  requested_at: Timestamp,
  expires_at: Timestamp,
})

export const Draft = Type.Object(
  {
    id: Type.String(),
    mailbox_id: Type.String(),
    thread_id: nullableString({ description: 'The thread that the message joins when it is sent. Set for replies.' }),
    in_reply_to_message_id: nullableString(),
    forward_of_message_id: nullableString(),
    reply_all: Type.Boolean(),
    forward_attachments: Type.Boolean(),
    from: nullableString({ description: 'The author. null for the primary address of the agent.' }),
    to: Type.Array(Type.String()),
    cc: Type.Array(Type.String()),
    bcc: Type.Array(Type.String()),
    reply_to: Type.Array(Type.String()),
    subject: nullableString(),
    snippet: nullableString(),
    text: nullableString(),
    html: nullableString(),
    status: DraftStatus,
    version: Type.Integer({ description: '1 on creation, incremented by every update.' }),
    has_attachments: Type.Boolean(),
    attachments: Type.Array(Attachment),
    headers: Type.Record(Type.String(), Type.String()),
    automatic: Type.Boolean(),
    labels: Type.Array(Type.String(), { description: 'The labels that its message gets.' }),
    tags: tagsField,
    metadata: metadataField,
    send_at: nullableString({ format: 'date-time', description: 'The scheduled time of sending.' }),
    client_id: clientIdField,
    send_error: nullableString({ description: 'The reason why the last scheduled send failed.' }),
    approval: Type.Union([DraftApprovalRequest, Type.Null()], { description: 'null unless approval was requested.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Draft' },
)

const DraftAttachmentInputs = Type.Array(DraftAttachmentInput, { maxItems: draftAttachmentsMax, description: attachmentsDescription })

const draftsPath = '/api/v1/mailboxes/{email_address}/drafts'
const mailboxParams = strict({ email_address: MailboxParam })
const draftParams = strict({ email_address: MailboxParam, draft_id: id('draft') })

export const createDraft = operation({
  id: 'createDraft',
  method: 'POST',
  path: draftsPath,
  summary: 'Creates a draft. You may set every field later. Replies and forwards take recipients and subject from their message.',
  tag: 'Drafts',
  scopes: ['drafts:write'],
  params: mailboxParams,
  body: strict({
    from: Type.Optional(FromAddress),
    ...recipients,
    reply_to: replyToField,
    subject: Type.Optional(Subject),
    ...contentAliases,
    in_reply_to: Type.Optional(described(id('message'), 'The message that the draft answers. Not together with forward_of.')),
    references: Type.Optional(References),
    reply_all: replyAllField,
    forward_of: Type.Optional(described(id('message'), 'The message that the draft forwards, below its text.')),
    client_id: Type.Optional(ClientId),
    forward_attachments: forwardAttachmentsField,
    attachments: Type.Optional(DraftAttachmentInputs),
    headers: Type.Optional(CustomHeaders),
    automatic: automaticField,
    ...marks,
    send_at: Type.Optional(SendAt),
  }),
  bodyOptional: true,
  status: 201,
  reply: Draft,
  errors: ['approval_required', 'conflict', 'draft_not_editable', 'storage_quota_exceeded'],
  idempotent: true,
  bodyBytesMax: attachmentBodyBytesMax,
})

export const getDraft = operation({
  id: 'getDraft',
  method: 'GET',
  path: `${draftsPath}/{draft_id}`,
  summary: 'Gets one draft with its attachments.',
  tag: 'Drafts',
  scopes: ['drafts:read'],
  params: draftParams,
  status: 200,
  reply: Draft,
})

export const updateDraft = operation({
  id: 'updateDraft',
  method: 'PATCH',
  path: `${draftsPath}/{draft_id}`,
  summary: 'Changes a draft. null clears a field, and omitted fields stay. If you give a version, it must be the current one.',
  tag: 'Drafts',
  scopes: ['drafts:write'],
  params: draftParams,
  body: strict({
    version: Type.Optional(DraftVersionNumber),
    from: Type.Optional(nullableString({ minLength: 3, maxLength: 900, description: 'The author. null for the primary address.' })),
    to: Type.Optional(nullableAddresses('Recipients. null clears them.')),
    cc: Type.Optional(nullableAddresses('Recipients of a copy. null clears them.')),
    bcc: Type.Optional(nullableAddresses('Recipients of a copy that the others do not see. null clears them.')),
    reply_to: Type.Optional(nullableAddresses('Addresses for answers. null clears them.')),
    subject: Type.Optional(NullableSubject),
    text: Type.Optional(nullableText('The body as plain text. null clears it.')),
    body_text: Type.Optional(nullableText('Another name of text.')),
    html: Type.Optional(nullableText('The body as HTML. null clears it.')),
    body_html: Type.Optional(nullableText('Another name of html.')),
    add_attachments: Type.Optional(DraftAttachmentInputs),
    remove_attachments: Type.Optional(
      Type.Array(id('attachment'), { maxItems: draftAttachmentsMax, uniqueItems: true, description: 'Ids of files that the draft loses.' }),
    ),
    headers: Type.Optional(NullableHeaders),
    automatic: automaticField,
    labels: Type.Optional(Labels),
    ...markChanges,
    send_at: Type.Optional(SendAt),
  }),
  status: 200,
  reply: Draft,
  errors: ['draft_version_conflict', 'draft_not_editable', 'approval_required', 'approval_expired', 'storage_quota_exceeded'],
  bodyBytesMax: attachmentBodyBytesMax,
})

/** Versions kept per draft. */
export const draftVersionsMax = 20

/** A version with more text and html than this, in bytes of UTF-8, is not kept. */
export const draftVersionBytesMax = 256 * 1024

export const DraftVersion = Type.Object(
  {
    version: Type.Integer(),
    from: nullableString(),
    to: Type.Array(Type.String()),
    cc: Type.Array(Type.String()),
    bcc: Type.Array(Type.String()),
    reply_to: Type.Array(Type.String()),
    subject: nullableString(),
    text: nullableString(),
    html: nullableString(),
    headers: Type.Record(Type.String(), Type.String()),
    automatic: Type.Boolean(),
    attachments: Type.Array(Type.Object({ filename: Type.String(), content_type: Type.String(), size_bytes: Type.Integer() }), {
      description: 'The names, types and sizes of its files.',
    }),
    written_by: Type.Unsafe<'agent' | 'organization'>({
      type: 'string',
      enum: ['agent', 'organization'],
      description: "agent for the agent's own key, organization for every other key and for people.",
    }),
    created_at: Timestamp,
  },
  { $id: 'DraftVersion' },
)

export const listDraftVersions = operation({
  id: 'listDraftVersions',
  method: 'GET',
  path: `${draftsPath}/{draft_id}/versions`,
  summary: 'Lists the earlier versions of a draft, newest first. The last 20 are kept until the draft is sent or deleted.',
  tag: 'Drafts',
  scopes: ['drafts:read'],
  params: draftParams,
  status: 200,
  reply: page(DraftVersion),
})

export const getDraftMessage = operation({
  id: 'getDraftMessage',
  method: 'GET',
  path: `${draftsPath}/{draft_id}/message`,
  summary: 'Gets the message that a draft became when it was sent, for example at its scheduled time.',
  tag: 'Drafts',
  scopes: ['drafts:read'],
  params: draftParams,
  status: 200,
  reply: Type.Object({ draft_id: Type.String(), message_id: Type.String(), sent_at: Timestamp }, { $id: 'DraftMessage' }),
})

export const rejectDraft = operation({
  id: 'rejectDraft',
  method: 'POST',
  path: `${draftsPath}/{draft_id}/reject`,
  summary: 'Deletes a draft and reports the reason to its agent with draft.rejected. Organization keys only.',
  tag: 'Drafts',
  scopes: ['drafts:approve'],
  params: draftParams,
  body: strict({
    version: Type.Optional(DraftVersionNumber),
    reason: Type.Optional(Type.String({ maxLength: 2000, description: 'The reason, which the agent reads.' })),
  }),
  bodyOptional: true,
  status: 200,
  reply: Type.Object({ id: Type.String(), rejected: Type.Literal(true) }, { $id: 'RejectedDraft' }),
  errors: ['draft_version_conflict'],
})

export const deleteDraft = operation({
  id: 'deleteDraft',
  method: 'DELETE',
  path: `${draftsPath}/{draft_id}`,
  summary: 'Deletes a draft and its attachments, and cancels its scheduled send.',
  tag: 'Drafts',
  scopes: ['drafts:write', 'drafts:approve'],
  params: draftParams,
  status: 200,
  reply: Deleted,
})

export const sendDraft = operation({
  id: 'sendDraft',
  method: 'POST',
  path: `${draftsPath}/{draft_id}/send`,
  summary: 'Sends a draft once. Fields given here apply to this send only. If you give a version, it must be the current one.',
  tag: 'Drafts',
  scopes: ['mail:send', 'drafts:approve'],
  params: draftParams,
  body: strict({
    version: Type.Optional(DraftVersionNumber),
    from: Type.Optional(FromAddress),
    ...recipients,
    subject: Type.Optional(Subject),
    ...contentAliases,
  }),
  bodyOptional: true,
  status: 201,
  reply: Type.Object({ id: Type.String(), thread_id: Type.String(), status: Type.Literal('sent') }, { $id: 'SentDraft' }),
  errors: [
    'draft_incomplete',
    'draft_send_in_progress',
    'draft_version_conflict',
    'conflict',
    'approval_required',
    'approval_expired',
    'recipient_not_allowed',
    'recipient_suppressed',
    'sending_limit_reached',
    'storage_quota_exceeded',
  ],
  idempotent: true,
  bodyBytesMax: attachmentBodyBytesMax,
})

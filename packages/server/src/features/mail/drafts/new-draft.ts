// The row of a new draft. A reply copies recipients, subject and thread from its message, a forward the subject. Given fields win.

import type { createDraft } from '@callsign/contract/drafts'
import type { BodyOf } from '@callsign/contract/operation'
import { forwardSubject } from '@callsign/mail/compose/reply'
import type { ParsedAddress } from '@callsign/mail/mime/addresses'
import { newId } from '../../../core/ids.ts'
import { readMetadata } from '../../../core/metadata.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { answerTo, type ThreadPlace } from '../outbound/model.ts'
import type { MessageRow } from '../stored/model.ts'
import { noApproval } from './approval.ts'
import { asEntries, type DraftFields, type DraftRow, previewOf } from './model.ts'

type Given = {
  owner: MailboxOwner
  /** One of the addresses of the agent. */
  author: ParsedAddress
  /** The addresses that an answer does not go to. */
  ownAddresses: string[]
  body: NonNullable<BodyOf<typeof createDraft>>
  fields: DraftFields
  /** The message that the draft answers or forwards. */
  message: MessageRow | null
  /** The place of a draft that names the Message-IDs that it answers. */
  place: ThreadPlace
  isByAgent: boolean
  /** True when the caller can approve drafts. */
  isByApprover: boolean
  /** The key of the call. Null for a member. */
  keyId: string | null
  at: Date
}

export function newDraft(given: Given): DraftRow {
  const { owner, author, ownAddresses, body, fields, message, place, isByAgent, isByApprover, keyId, at } = given
  const answer = message && body.in_reply_to !== undefined ? answerTo(message, ownAddresses, body.reply_all ?? false) : null
  const text = fields.text ?? null
  const html = fields.html ?? null
  const sendAt = fields.send_at ?? null
  return {
    ...noApproval,
    id: newId('draft'),
    organization_id: owner.organizationId,
    mailbox_id: owner.mailboxId,
    thread_id: answer && message ? message.thread_id : place.threadId,
    in_reply_to_message_id: body.in_reply_to ?? place.parent?.id ?? null,
    in_reply_to: answer?.parent.messageId ?? place.references?.at(-1) ?? null,
    reference_ids: answer?.parent.references ?? place.references ?? [],
    forward_of_message_id: body.forward_of ?? null,
    reply_all: body.reply_all ?? false,
    forward_attachments: body.forward_attachments ?? true,
    to_addresses: fields.to_addresses ?? asEntries(answer?.to ?? []),
    cc_addresses: fields.cc_addresses ?? asEntries(answer?.cc ?? []),
    bcc_addresses: fields.bcc_addresses ?? [],
    reply_to: fields.reply_to ?? [],
    subject: fields.subject ?? answer?.subject ?? (message && !answer ? forwardSubject(message.subject) : null),
    snippet: previewOf({ text, html }),
    text,
    html,
    headers: fields.headers ?? {},
    from_entry: fields.from_entry ?? (author.address === owner.address ? null : author.address),
    version: 1,
    attachment_count: body.attachments?.length ?? 0,
    send_at: sendAt,
    job_id: sendAt ? newId('job') : null,
    scheduled_by_key_id: sendAt ? keyId : null,
    is_scheduled_by_approver: sendAt !== null && isByApprover,
    send_error: null,
    is_written_by_agent: isByAgent,
    change_id: newId('draft'),
    client_id: body.client_id ?? null,
    is_automatic: fields.is_automatic ?? false,
    labels: fields.labels ?? [],
    tags: fields.tags ?? null,
    metadata: readMetadata(body.metadata),
    created_at: at,
    updated_at: at,
  }
}

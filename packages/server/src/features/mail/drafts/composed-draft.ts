// The message that a draft would be sent as. Review, outbound guard and queue all use it.
import { type ForwardBodies, forwardSubject } from '@callsign/mail/compose/reply'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { type OutgoingMessage, readAddress } from '../outbound/model.ts'
import type { MessageRow } from '../stored/model.ts'
import type { DraftRow } from './model.ts'

/** A message without its files, whose sender is not yet known. */
export type ComposedDraft = Omit<OutgoingMessage, 'attachments' | 'moved' | 'isApproved' | 'keyId'>

const read = (entries: string[]) => entries.flatMap((entry) => readAddress(entry) ?? [])

/** The message that a draft forwards, with the bodies of the forward. */
export type Forwarded = { message: MessageRow; bodies: ForwardBodies }

/** Composes a draft as it is, complete or not. `forwarded` is null without a message that it forwards. */
export function composeDraft(owner: MailboxOwner, row: DraftRow, forwarded: Forwarded | null): ComposedDraft {
  const author = row.from_entry === null ? null : readAddress(row.from_entry)
  const { text, html } = forwarded?.bodies ?? { text: row.text ?? '', html: row.html ?? '' }
  return {
    from: { name: author?.name || owner.displayName, address: author?.address ?? owner.address },
    recipients: { to: read(row.to_addresses), cc: read(row.cc_addresses), bcc: read(row.bcc_addresses) },
    replyTo: read(row.reply_to),
    subject: row.subject ?? (forwarded ? forwardSubject(forwarded.message.subject) : ''),
    text,
    html,
    headers: row.headers,
    labels: row.labels,
    tags: row.tags,
    metadata: row.metadata,
    autoSubmitted: row.is_automatic ? 'auto-generated' : null,
    parent:
      row.in_reply_to_message_id === null
        ? null
        : { id: row.in_reply_to_message_id, messageId: row.in_reply_to, references: row.reference_ids },
    ...(row.reference_ids.length > 0 && { references: row.reference_ids }),
    threadId: row.thread_id,
  }
}

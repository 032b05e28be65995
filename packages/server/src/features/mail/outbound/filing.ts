// A letter as the rows that it is filed as.
import { autoSubmittedField } from '@callsign/mail/compose/custom-headers'
import { now } from '../../../core/clock.ts'
import { newId } from '../../../core/ids.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { type MessageRow, snippetOf } from '../messages/model.ts'
import type { Guardrail } from '../rules/model.ts'
import { bodyBytes, type Letter, toRecipientRows } from './model.ts'

/** A letter and the mailbox that it leaves from. */
export type Addressed = { owner: MailboxOwner; letter: Letter }

/** The message that a letter is filed as, queued. */
export function toFiling({ owner, letter }: Addressed, guardrail: Guardrail, mailDomain: string) {
  const at = now()
  const id = newId('message')
  const threadId = letter.threadId ?? newId('thread')
  const rows = toRecipientRows(letter.recipients)
  const addresses = (kind: 'to' | 'cc' | 'bcc') => letter.recipients[kind].map((entry) => entry.address)
  const moved = letter.moved ?? { count: 0, sizeBytes: 0 }
  const message: Omit<MessageRow, 'thread_id' | 'in_reply_to_message_id'> = {
    id,
    organization_id: owner.organizationId,
    mailbox_id: owner.mailboxId,
    direction: 'outbound',
    status: 'queued',
    from_address: owner.address,
    from_name: owner.displayName,
    to_addresses: addresses('to'),
    cc_addresses: addresses('cc'),
    bcc_addresses: addresses('bcc'),
    reply_to: letter.replyTo.map((entry) => entry.address),
    subject: letter.subject,
    snippet: snippetOf(letter.text),
    text: letter.text,
    html: letter.html,
    extracted_text: letter.text,
    codes: [],
    rfc_message_id: `<${id.slice(id.indexOf('_') + 1)}@${mailDomain}>`,
    in_reply_to: letter.parent?.messageId ?? null,
    reference_ids: letter.parent?.references ?? [],
    headers: letter.autoSubmitted === null ? letter.headers : { ...letter.headers, [autoSubmittedField]: letter.autoSubmitted },
    authentication: null,
    envelope_from: letter.autoSubmitted === 'auto-replied' ? '' : owner.address,
    labels: [],
    is_read: true,
    is_starred: false,
    size_bytes: bodyBytes(letter) + letter.attachments.reduce((sum, row) => sum + row.size_bytes, 0) + moved.sizeBytes,
    attachment_count: letter.attachments.length + moved.count,
    raw_id: null,
    guardrail,
    flags: [],
    released_at: null,
    created_at: at,
    updated_at: at,
  }
  return {
    message,
    thread: { known: { threadId, isNew: letter.threadId === null, inReplyToMessageId: letter.parent?.id ?? null } },
    attachments: letter.attachments.map((row, position) => ({ ...row, position })),
    recipients: rows,
    sha256: null,
  }
}

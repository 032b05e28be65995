// Turns an outgoing message into the rows that are filed.

import { autoSubmittedField } from '@callsign/mail/compose/custom-headers'
import { now } from '../../../core/clock.ts'
import { newId } from '../../../core/ids.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Guardrail } from '../rules/model.ts'
import { type MessageRow, snippetOf } from '../stored/model.ts'
import { bodyBytes, type OutgoingMessage, type PreparedContent, toRecipientRows } from './model.ts'
import type { CountedMessage } from './sending-limits.ts'

/** An outgoing message and the mailbox that sends it, prepared before the transaction that files it. */
export type Addressed = PreparedContent & { owner: MailboxOwner; outgoing: OutgoingMessage }

/** An outgoing message as sending limits count it. */
export const toCounted = ({ owner, outgoing }: Addressed): CountedMessage => ({
  owner,
  keyId: outgoing.keyId,
  addresses: toRecipientRows(outgoing.recipients).map(({ address }) => address),
})

/** The rows of an outgoing message, queued. */
export function toFiling({ owner, outgoing, inspection, text }: Addressed, guardrail: Guardrail, mailDomain: string) {
  const at = now()
  const id = newId('message', at.getTime())
  const threadId = outgoing.threadId ?? newId('thread')
  const rows = toRecipientRows(outgoing.recipients)
  const addresses = (kind: 'to' | 'cc' | 'bcc') => outgoing.recipients[kind].map((entry) => entry.address)
  const raw = outgoing.submitted?.raw
  const moved = outgoing.moved ?? { count: 0, sizeBytes: 0 }
  const fileBytes = outgoing.attachments.reduce((sum, row) => sum + row.size_bytes, moved.sizeBytes)
  const message: Omit<MessageRow, 'thread_id' | 'in_reply_to_message_id'> = {
    id,
    organization_id: owner.organizationId,
    mailbox_id: owner.mailboxId,
    direction: 'outbound',
    status: 'queued',
    from_address: outgoing.from.address,
    from_name: outgoing.from.name,
    to_addresses: addresses('to'),
    cc_addresses: addresses('cc'),
    bcc_addresses: addresses('bcc'),
    reply_to: outgoing.replyTo.map((entry) => entry.address),
    subject: outgoing.subject,
    snippet: snippetOf(text),
    text,
    html: outgoing.html,
    extracted_text: text,
    codes: [],
    rfc_message_id: outgoing.submitted?.messageId ?? `<${id.slice(id.indexOf('_') + 1)}@${mailDomain}>`,
    in_reply_to: outgoing.references?.at(-1) ?? outgoing.parent?.messageId ?? null,
    reference_ids: outgoing.references ?? outgoing.parent?.references ?? [],
    headers: outgoing.autoSubmitted === null ? outgoing.headers : { ...outgoing.headers, [autoSubmittedField]: outgoing.autoSubmitted },
    authentication: null,
    envelope_from: outgoing.autoSubmitted === 'auto-replied' ? '' : outgoing.from.address,
    envelope_to: null,
    labels: outgoing.labels,
    tags: outgoing.tags,
    metadata: outgoing.metadata,
    is_read: true,
    is_starred: false,
    size_bytes: raw?.sizeBytes ?? bodyBytes({ text, html: outgoing.html }) + fileBytes,
    kept_bytes: null,
    attachment_count: outgoing.attachments.length + moved.count,
    raw_id: raw?.id ?? null,
    guardrail,
    flags: inspection.flags,
    released_at: null,
    trashed_at: null,
    created_at: at,
    updated_at: at,
  }
  return {
    message,
    owner,
    thread: { known: { threadId, isNew: outgoing.threadId === null, inReplyToMessageId: outgoing.parent?.id ?? null } },
    attachments: outgoing.attachments.map((row, position) => ({ ...row, position })),
    recipients: rows,
    sha256: null,
  }
}

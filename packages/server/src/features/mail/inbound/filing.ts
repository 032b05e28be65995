// Builds the rows of a received message, one set per mailbox.
import type { Code } from '@callsign/contract/codes'
import type { Verdicts } from '@callsign/mail/authentication/sender-checks'
import type { Flag } from '@callsign/mail/content/deception/flags'
import { addressDomain, type ParsedAddress } from '@callsign/mail/mime/addresses'
import { formatMediaType } from '@callsign/mail/mime/content-type'
import type { ParsedMessage } from '@callsign/mail/mime/parse'
import { now } from '../../../core/clock.ts'
import { newId } from '../../../core/ids.ts'
import { type MailboxOwner, mailboxAddressOf } from '../../account/identities/model.ts'
import { type MessageRow, snippetOf } from '../stored/model.ts'
import { type Arrival, addressesOf, headersOf, hostedVerdicts } from './model.ts'

/** A received message after parsing and authentication. */
type Received = {
  arrival: Arrival
  /** The address of the mailbox that it came to. */
  recipient: string
  parsed: ParsedMessage
  /** The displayed sender. */
  shown: ParsedAddress
  verdicts: Verdicts
  flags: Flag[]
  extractedText: string
  codes: Code[]
  sizeBytes: number
  rawId: string
  sha256: Buffer
}

export function toFiling(owner: MailboxOwner, received: Received) {
  const { arrival, recipient, parsed, shown, verdicts, flags, extractedText, codes, sizeBytes, rawId, sha256 } = received
  const at = now()
  const message: Omit<MessageRow, 'thread_id' | 'in_reply_to_message_id'> = {
    // Ranges of time compare ids of messages, so an id has the time of its message.
    id: newId('message', at.getTime()),
    organization_id: owner.organizationId,
    mailbox_id: owner.mailboxId,
    direction: 'inbound',
    status: 'received',
    from_address: shown.address,
    from_name: shown.name,
    to_addresses: addressesOf(parsed.to),
    cc_addresses: addressesOf(parsed.cc),
    bcc_addresses: addressesOf(parsed.bcc),
    reply_to: addressesOf(parsed.replyTo),
    subject: parsed.subject,
    snippet: snippetOf(extractedText || (parsed.text ?? '')),
    text: parsed.text ?? '',
    html: parsed.html ?? '',
    extracted_text: extractedText,
    rfc_message_id: parsed.messageId,
    in_reply_to: parsed.inReplyTo[0] ?? null,
    reference_ids: parsed.references,
    headers: headersOf(parsed),
    authentication: arrival.client ? verdicts : hostedVerdicts(addressDomain(shown.address) || null),
    envelope_from: arrival.from,
    envelope_to: mailboxAddressOf(recipient) ?? owner.address,
    labels: [],
    tags: null,
    metadata: null,
    is_read: false,
    is_starred: false,
    size_bytes: sizeBytes,
    kept_bytes: null,
    attachment_count: parsed.attachments.length,
    raw_id: rawId,
    // Set on filing, by the mailbox's rules.
    guardrail: null,
    flags,
    released_at: null,
    trashed_at: null,
    codes,
    created_at: at,
    updated_at: at,
  }
  return {
    message,
    owner,
    thread: { references: { inReplyTo: parsed.inReplyTo, references: parsed.references } },
    attachments: parsed.attachments.map(toAttachment),
    recipients: [],
    sha256,
  }
}

const toAttachment = (attachment: ParsedMessage['attachments'][number], position: number) => ({
  id: newId('attachment'),
  position,
  filename: attachment.filename,
  content_type: formatMediaType(attachment.contentType, attachment.parameters),
  content_id: attachment.contentId,
  is_inline: attachment.disposition === 'inline',
  size_bytes: attachment.sizeBytes,
  raw_start: attachment.start,
  raw_end: attachment.end,
  encoding: attachment.encoding,
  blob_key: null,
  bytes: null,
})

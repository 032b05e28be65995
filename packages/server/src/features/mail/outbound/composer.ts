// Composes and signs a stored outbound message from its fields and attachments, or from the content that a program submitted. The bytes are the
// same each time.
import { readFinishedContent } from '@callsign/mail/compose/finished-content'
import type { MessageDraft } from '@callsign/mail/compose/message-draft'
import { parseAddresses } from '@callsign/mail/mime/addresses'
import type { Attachments } from '../attachments/operations.ts'
import type { Dkim } from '../domains/dkim/operations.ts'
import type { ContentWriter } from '../messages/operations.ts'
import type { MessageRow, RecipientRow } from '../stored/model.ts'
import { splitHeaders } from './automatic-answer.ts'

/** Recipients of a message, for its To and Cc fields. */
export type FindRecipients = (messageId: string) => Promise<RecipientRow[]>

/** A function from a stored outbound message to its bytes, RFC 5322 with CRLF line ends, signed for the domain that it is from. */
export const createCompose =
  (
    attachments: Attachments,
    findRecipients: FindRecipients,
    dkim: Pick<Dkim, 'findSigningKeys'>,
    writer: ContentWriter,
    readRaw: (rawId: string) => Promise<Buffer>,
  ) =>
  async (message: MessageRow): Promise<Buffer> => {
    const [recipients, keys, source, files] = await Promise.all([
      findRecipients(message.id),
      dkim.findSigningKeys(message.organization_id, message.from_address),
      message.raw_id === null ? null : readRaw(message.raw_id),
      message.raw_id === null && message.attachment_count > 0 ? attachments.readAll(message.id) : [],
    ])
    const named = (kind: 'to' | 'cc') => recipients.filter((row) => row.kind === kind).map(({ name, address }) => ({ name, address }))
    const { custom, autoSubmitted } = splitHeaders(message.headers)
    const draft: MessageDraft = {
      boundarySeed: message.id,
      from: { name: message.from_name, address: message.from_address },
      to: named('to'),
      cc: named('cc'),
      replyTo: message.reply_to.flatMap((address) => parseAddresses(address, 1)),
      subject: message.subject,
      text: message.text,
      html: message.html,
      messageId: message.rfc_message_id as string,
      inReplyTo: message.in_reply_to,
      references: message.reference_ids,
      date: message.created_at,
      headers: custom,
      autoSubmitted,
      attachments: files,
      content: source && readFinishedContent(source),
    }
    return writer.compose(message.organization_id, draft, keys)
  }

// Turns a submitted message into the body of a send: recipients by its envelope, content by its MIME parts.
import type { BodyOf } from '@callsign/contract/operation'
import type { sendMessage } from '@callsign/contract/outbound-mail'
import { checkCustomHeaders } from '@callsign/mail/compose/custom-headers'
import { addressKey } from '@callsign/mail/mail-address'
import type { ParsedAddress } from '@callsign/mail/mime/addresses'
import { type ParsedMessage, parseMessage } from '@callsign/mail/mime/parse'
import { decodeAttachment } from '@callsign/mail/mime/transfer-encoding'
import { formatAddress } from '../../../features/mail/messages/model.ts'

export type SendBody = BodyOf<typeof sendMessage>

/** A submitted message. `references` are the messages that it answers, the nearest first. */
export type Submission = { body: SendBody; messageId: string | null; references: string[] }

/**
 * Reads a submitted message. To and Cc keep the addresses that the envelope has, and its other addresses are blind copies. Fields that Callsign or
 * mail systems write are left out.
 */
export function readSubmission(raw: Buffer, recipients: string[]): Submission {
  const parsed = parseMessage(raw)
  const wanted = new Map(recipients.map((address) => [addressKey(address), address]))
  const take = (entries: ParsedAddress[]): string[] =>
    entries.flatMap((entry) => (entry.address !== '' && wanted.delete(addressKey(entry.address)) ? [nameAddress(entry)] : []))
  const to = take(parsed.to)
  const cc = take(parsed.cc)
  const [from] = parsed.from
  const replyTo = parsed.replyTo.filter(({ address }) => address !== '').map(nameAddress)
  const attachments = parsed.attachments.map((file) => ({
    filename: file.filename,
    content_type: file.contentType,
    content: decodeAttachment(raw.subarray(file.start, file.end), file.encoding).toString('base64'),
    ...(file.contentId === null ? {} : { content_id: file.contentId }),
  }))
  const headers = customHeaders(parsed)
  const body: SendBody = {
    to,
    ...(cc.length === 0 ? {} : { cc }),
    ...(wanted.size === 0 ? {} : { bcc: [...wanted.values()] }),
    ...(from === undefined || from.address === '' ? {} : { from: nameAddress(from) }),
    ...(replyTo.length === 0 ? {} : { reply_to: replyTo }),
    subject: parsed.subject,
    text: parsed.text ?? '',
    ...(parsed.html === null ? {} : { html: parsed.html }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(isGenerated(parsed) ? { automatic: true } : {}),
  }
  return { body, messageId: parsed.messageId, references: [...new Set([...parsed.inReplyTo, ...parsed.references.toReversed()])] }
}

const nameAddress = ({ name, address }: ParsedAddress): string => formatAddress(name, address)

/** The fields of a program's own, each once. */
function customHeaders({ headers }: ParsedMessage): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const { name, value } of headers) {
    const next = { ...kept, [name]: value }
    if (checkCustomHeaders(next).length === 0) Object.assign(kept, next)
  }
  return kept
}

/** True for any value but `no` (RFC 3834 §5). Answers of programs are marked as generated, because Callsign did not choose their recipient. */
const isGenerated = ({ headers }: ParsedMessage): boolean =>
  headers.some(({ name, value }) => name.toLowerCase() === 'auto-submitted' && /^\s*(?!no\b)[a-z]/i.test(value))

// Reads a message that a program submits: recipients by its envelope, the other fields by its header.
import type { createDraft } from '@callsign/contract/drafts'
import type { BodyOf } from '@callsign/contract/operation'
import { checkCustomHeaders, joinReferences } from '@callsign/mail/compose/custom-headers'
import { hasShortLines, readFinishedContent, sealOf } from '@callsign/mail/compose/finished-content'
import type { FinishedContent } from '@callsign/mail/compose/message-draft'
import { addressKey } from '@callsign/mail/mail-address'
import type { ParsedAddress } from '@callsign/mail/mime/addresses'
import { readParameters } from '@callsign/mail/mime/content-type'
import { type Defect, type ParsedAttachment, type ParsedMessage, parseMessage } from '@callsign/mail/mime/parse'
import { decodeAttachment } from '@callsign/mail/mime/transfer-encoding'
import { ApiError } from '../../../core/errors.ts'
import { formatAddress } from '../messages/model.ts'

/** A submitted message. Addresses are as requests write them, and `attachments` are decoded. */
export type Submission = {
  from: string | undefined
  to: string[]
  cc: string[]
  bcc: string[]
  replyTo: string[]
  subject: string
  text: string
  html: string
  headers: Record<string, string>
  isAutomatic: boolean
  /** Null for one that a header cannot have. */
  messageId: string | null
  /** Message-IDs of the messages that it answers, oldest first. */
  references: string[]
  attachments: (ParsedAttachment & { bytes: Buffer })[]
  /** S/MIME and PGP/MIME, whose bytes stay as they are. */
  seal: 'signed' | 'encrypted' | null
  /** False for content with text that Callsign does not read, but its recipients may. */
  isReadable: boolean
  /** The content to send as it is. Null when it has lines that mail servers refuse, so that it is composed again. */
  content: FinishedContent | null
}

/**
 * Reads a submitted message. To and Cc keep the addresses that the envelope has, and its other addresses are blind copies. Fields that Callsign or
 * mail systems write are left out.
 */
export function readSubmission(raw: Buffer, recipients: string[]): Submission {
  const parsed = parseMessage(raw)
  const wanted = new Map(recipients.map((address) => [addressKey(address), address]))
  const take = (entries: ParsedAddress[]): string[] =>
    entries.flatMap((entry) => (entry.address !== '' && wanted.delete(addressKey(entry.address)) ? [nameAddress(entry)] : []))
  const [to, cc] = [take(parsed.to), take(parsed.cc)]
  const [from] = parsed.from
  const content = readFinishedContent(raw)
  const type = readParameters(parsed.headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? '')
  const seal = sealOf(type.value, type.parameters.get('smime-type'))
  return {
    from: from === undefined || from.address === '' ? undefined : nameAddress(from),
    to,
    cc,
    bcc: [...wanted.values()],
    replyTo: parsed.replyTo.filter(({ address }) => address !== '').map(nameAddress),
    subject: parsed.subject,
    text: parsed.text ?? '',
    html: parsed.html ?? '',
    headers: customHeaders(parsed),
    isAutomatic: isGenerated(parsed),
    messageId: parsed.messageId !== null && /^<[!-;=?-~]{1,250}@[!-;=?-~]{1,250}>$/.test(parsed.messageId) ? parsed.messageId : null,
    references: joinReferences(parsed.references, parsed.inReplyTo),
    attachments: parsed.attachments.map((file) => ({
      ...file,
      bytes: decodeAttachment(raw.subarray(file.start, file.end), file.encoding),
    })),
    seal,
    isReadable: seal !== 'encrypted' && !parsed.defects.some((defect) => unreadDefects.has(defect)),
    content: seal !== null || hasShortLines(content) ? content : null,
  }
}

/** The source of a message without the bodies of its attachments: header fields of parts, text before and after parts, and texts. */
export function sourceWithout(raw: Buffer, attachments: ParsedAttachment[]): Buffer {
  let at = 0
  const kept = attachments.map(({ start, end }) => {
    const before = raw.subarray(at, Math.max(at, start))
    at = Math.max(at, end)
    return before
  })
  return Buffer.concat([...kept, raw.subarray(at)])
}

/** The body of a draft with the content of a submitted message, for a person to approve. Throws 403 for content whose bytes must stay. */
export function toDraftBody(submission: Submission): NonNullable<BodyOf<typeof createDraft>> {
  const { from, to, cc, bcc, replyTo, subject, text, html, headers, isAutomatic, references, attachments, seal } = submission
  if (seal !== null)
    throw new ApiError(
      'approval_required',
      `This message needs approval, which a message that is ${seal} cannot wait for. Send it without.`,
    )
  return {
    to,
    ...(cc.length > 0 && { cc }),
    ...(bcc.length > 0 && { bcc }),
    ...(from !== undefined && { from }),
    ...(replyTo.length > 0 && { reply_to: replyTo }),
    subject,
    // A draft needs a text. One of files alone gets the empty line that a composed message has.
    text: text || (html === '' ? '\n' : ''),
    ...(html !== '' && { html }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(isAutomatic && { automatic: true }),
    ...(references.length > 0 && { references }),
    ...(attachments.length > 0 && {
      attachments: attachments.map(({ filename, contentType, contentId, bytes }) => ({
        filename,
        // A container that is nested too deep to be read.
        content_type: contentType.startsWith('multipart/') ? 'application/octet-stream' : contentType,
        content: bytes.toString('base64'),
        ...(contentId !== null && { content_id: contentId }),
      })),
    }),
  }
}

/** Defects of content of which a part is left out, or stays encoded. */
const unreadDefects = new Set<Defect>(['truncated-parts', 'too-deep', 'truncated-text', 'truncated-html', 'unknown-encoding'])

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

// Reads a message that a program submits: recipients by its envelope, the other fields by its header.
import { hash } from 'node:crypto'
import { checkCustomHeaders, joinReferences } from '../compose/custom-headers.ts'
import { hasShortLines, readFinishedContent, sealOf } from '../compose/finished-content.ts'
import type { FinishedContent } from '../compose/message-draft.ts'
import { addressKey, formatAddress } from '../mail-address.ts'
import type { ParsedAddress } from '../mime/addresses.ts'
import { readParameters } from '../mime/content-type.ts'
import { type Defect, type ParsedAttachment, type ParsedMessage, parseMessage } from '../mime/parse.ts'
import { decodeAttachment } from '../mime/transfer-encoding.ts'

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
  attachments: (ParsedAttachment & { bytes: Buffer; sha256: string })[]
  /** S/MIME and PGP/MIME, whose bytes stay as they are. */
  seal: 'signed' | 'encrypted' | null
  /** False for content with text that Callsign does not read, but its recipients may. */
  isReadable: boolean
  /** The content to send as it is. Its body is a range of the raw message. Null when it has lines that mail servers refuse, so that it is composed again. */
  content: FinishedContent | null
}

/**
 * Reads a submitted message, in up to a second. To and Cc keep the addresses that the envelope has, and its other addresses are blind copies. Fields that Callsign or
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
    attachments: parsed.attachments.map((file) => {
      const bytes = decodeAttachment(raw.subarray(file.start, file.end), file.encoding)
      return { ...file, bytes, sha256: hash('sha256', bytes) }
    }),
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

// Parses a raw message: addresses, subject, bodies, and attachments as byte ranges.
import { ADDRESSES_MAX, type ParsedAddress, parseAddresses } from './addresses.ts'
import { isAutomatic } from './automatic-mail.ts'
import { BodyCollector, type BodyDefect, findBodies, hasWords, isShown } from './bodies.ts'
import { readDate } from './dates.ts'
import { findEnclosedBodies } from './enclosed-bodies.ts'
import { decodeEncodedWords } from './encoded-words.ts'
import { cleanFilename, defaultFilename } from './filenames.ts'
import { findValue, findValues, type HeaderDefect, type HeaderField, readHeaderBlock } from './headers.ts'
import { readMessageId, readMessageIds } from './message-ids.ts'
import { type Leaf, type PartsDefect, splitParts } from './parts.ts'
import { cutText, storableLine } from './storable-text.ts'
import { hasBadBase64, measureDecoded, type TransferEncoding } from './transfer-encoding.ts'

/** An attachment as a byte range of the raw message. `decodeAttachment` of the slice `start..end` gives `sizeBytes` bytes. */
export type ParsedAttachment = {
  filename: string
  contentType: string
  /** The parameters of Content-Type by their name in lower case, such as `charset` or `method`. */
  parameters: Map<string, string>
  contentId: string | null
  disposition: 'attachment' | 'inline'
  start: number
  end: number
  encoding: TransferEncoding
  sizeBytes: number
}

/** A defect of a message, which is parsed all the same. */
export type Defect = HeaderDefect | PartsDefect | BodyDefect | 'truncated-addresses' | 'bad-date' | 'multiple-from' | 'no-from'

/** A parsed message. Every string is well-formed Unicode without NUL. */
export type ParsedMessage = {
  /** All header fields in order, unfolded and decoded for display. At most 256 KB and 1,000 lines. */
  headers: { name: string; value: string }[]
  /** With angle brackets. */
  messageId: string | null
  inReplyTo: string[]
  /** With angle brackets. Of more than 100, the first 50 and the last 50. */
  references: string[]
  /** The mailboxes of all From fields. More than one field is the defect `multiple-from`. The address of an entry with a name only is "". */
  from: ParsedAddress[]
  sender: ParsedAddress | null
  replyTo: ParsedAddress[]
  to: ParsedAddress[]
  cc: ParsedAddress[]
  bcc: ParsedAddress[]
  subject: string
  date: Date | null
  /** The plain text with LF line ends, converted from the HTML of a mail without plain text. Null without both. */
  text: string | null
  html: string | null
  attachments: ParsedAttachment[]
  /** True for automatic or bulk mail, which must not get an automatic answer (RFC 3834 §2). */
  autoSubmitted: boolean
  defects: Defect[]
}

const SUBJECT_CHARACTERS_MAX = 4000
/** Signed data may contain signed data. */
const CONTAINER_DEPTH_MAX = 3

/** Parses any bytes as a message. Linear in their number. Never throws. Content above the limits is left out and named in `defects`. */
export function parseMessage(raw: Buffer): ParsedMessage {
  return parse(raw, 0)
}

function parse(raw: Buffer, depth: number): ParsedMessage {
  const { header, leaves, defects: partsDefects } = splitParts(raw)
  const defects = new Set<Defect>([...header.defects, ...partsDefects])
  const collector = new BodyCollector(raw, defects)
  const bodies = findBodies(leaves)
  const files = leaves.filter((leaf) => !bodies.has(leaf))
  for (const leaf of bodies) collector.add(leaf)
  const attachments = files.map((leaf) => readAttachment(raw, leaf, defects))
  const fields = withSubjectIn([...bodies][0]?.parameters.get('charset'), raw, header.fields)
  const written = collector.finish()
  const isEmpty = !hasWords(written.text ?? '') && !isShown(written.html ?? '')
  const enclosed = isEmpty && depth < CONTAINER_DEPTH_MAX ? findEnclosedBodies(raw, files, (inner) => parse(inner, depth + 1)) : null
  const { text, html } = enclosed ?? written
  return {
    headers: fields.map(({ name, value }) => ({ name: storableLine(name), value: storableLine(decodeEncodedWords(value)) })),
    messageId: readMessageId(findValue(fields, 'message-id')),
    inReplyTo: readMessageIds(findValues(fields, 'in-reply-to')),
    references: readMessageIds(findValues(fields, 'references')),
    ...readPeople(fields, defects),
    subject: cutText(storableLine(decodeEncodedWords(findValue(fields, 'subject') ?? '')), SUBJECT_CHARACTERS_MAX),
    date: readDateField(fields, defects),
    text,
    html,
    attachments,
    autoSubmitted: isAutomatic(fields),
    defects: [...defects],
  }
}

/**
 * The fields with an 8-bit subject in the charset of the body, as programs without encoded words write it. Addresses stay, because they must mean the
 * same to every reader.
 */
function withSubjectIn(charset: string | undefined, raw: Buffer, fields: HeaderField[]): HeaderField[] {
  const isSubject = (key: string): boolean => key === 'subject'
  if (charset === undefined || !fields.some(({ key, value }) => isSubject(key) && /\P{ASCII}/u.test(value))) return fields
  const read = readHeaderBlock(raw, 0, null, isSubject, charset).fields.values()
  return fields.map((field) => (isSubject(field.key) ? (read.next().value ?? field) : field))
}

type People = Pick<ParsedMessage, 'from' | 'sender' | 'replyTo' | 'to' | 'cc' | 'bcc'>

// From is first, so that a flood of recipients does not exhaust the limit before it.
function readPeople(fields: readonly HeaderField[], defects: Set<Defect>): People {
  let left = ADDRESSES_MAX
  const read = (key: string): ParsedAddress[] => {
    const found: ParsedAddress[] = []
    for (const value of findValues(fields, key)) {
      const addresses = parseAddresses(value, left + 1)
      if (addresses.length > left) {
        defects.add('truncated-addresses')
        addresses.length = left
      }
      left -= addresses.length
      found.push(...addresses)
    }
    return found
  }
  const from = read('from')
  if (findValues(fields, 'from').length > 1) defects.add('multiple-from')
  if (from.length === 0) defects.add('no-from')
  return { from, sender: read('sender')[0] ?? null, replyTo: read('reply-to'), to: read('to'), cc: read('cc'), bcc: read('bcc') }
}

function readDateField(fields: readonly HeaderField[], defects: Set<Defect>): Date | null {
  const value = findValue(fields, 'date')
  const date = readDate(value)
  if (value !== null && date === null) defects.add('bad-date')
  return date
}

function readAttachment(raw: Buffer, leaf: Leaf, defects: Set<Defect>): ParsedAttachment {
  if (leaf.encoding === 'base64' && hasBadBase64(raw, leaf.start, leaf.end)) defects.add('bad-base64')
  const written = cleanFilename(leaf.dispositionParameters.get('filename')) ?? cleanFilename(leaf.parameters.get('name'))
  const isInline = leaf.disposition === 'inline' || (leaf.disposition === '' && leaf.parentKind === 'related' && leaf.contentId !== null)
  return {
    filename: written ?? defaultFilename(leaf.contentType),
    contentType: leaf.contentType,
    parameters: leaf.parameters,
    contentId: leaf.contentId,
    disposition: isInline ? 'inline' : 'attachment',
    start: leaf.start,
    end: leaf.end,
    encoding: leaf.encoding,
    sizeBytes: measureDecoded(raw, leaf.start, leaf.end, leaf.encoding),
  }
}

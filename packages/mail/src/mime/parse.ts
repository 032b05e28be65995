// Parses a raw message: addresses, subject, bodies, and attachments as byte ranges.
import { htmlToText, textToHtml } from '../html/text.ts'
import { ADDRESSES_MAX, type ParsedAddress, parseAddresses } from './addresses.ts'
import { isAutomatic } from './automatic-mail.ts'
import { decodeText } from './charsets.ts'
import { readDate } from './dates.ts'
import { decodeEncodedWords } from './encoded-words.ts'
import { cleanFilename, defaultFilename } from './filenames.ts'
import { joinFlowedLines } from './flowed-text.ts'
import { findValue, findValues, type HeaderDefect, type HeaderField } from './headers.ts'
import { readMessageId, readMessageIds } from './message-ids.ts'
import { charsetOf, type Leaf, type PartsDefect, splitParts } from './parts.ts'
import { cutText, storableLine, storableText, unifyLineEnds } from './storable-text.ts'
import { decodeBody, hasBadBase64, measureDecoded, type TransferEncoding } from './transfer-encoding.ts'

/** An attachment as a byte range of the raw message. `decodeAttachment` of the slice `start..end` gives `sizeBytes` bytes. */
export type ParsedAttachment = {
  filename: string
  contentType: string
  contentId: string | null
  disposition: 'attachment' | 'inline'
  start: number
  end: number
  encoding: TransferEncoding
  sizeBytes: number
}

/** A defect of a message, which is parsed all the same. */
export type Defect =
  | HeaderDefect
  | PartsDefect
  | 'truncated-text'
  | 'truncated-html'
  | 'truncated-addresses'
  | 'bad-base64'
  | 'unknown-charset'
  | 'bad-date'
  | 'multiple-from'
  | 'no-from'

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

export const TEXT_CHARACTERS_MAX = 1024 * 1024

const SUBJECT_CHARACTERS_MAX = 4000
// UTF-8 takes at most three bytes per UTF-16 unit.
const BYTES_A_CHARACTER = 3

/** Parses any bytes as a message. Linear in their number. Never throws. Content above the limits is left out and named in `defects`. */
export function parseMessage(raw: Buffer): ParsedMessage {
  const { header, leaves, defects: partsDefects } = splitParts(raw)
  const defects = new Set<Defect>([...header.defects, ...partsDefects])
  const bodies = new BodyCollector(raw, defects)
  const attachments: ParsedAttachment[] = []
  for (const leaf of leaves) {
    if (isBody(leaf)) bodies.add(leaf)
    else attachments.push(readAttachment(raw, leaf, defects))
  }
  const { fields } = header
  const { text, html } = bodies.finish()
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

// True for a part of the text, by the rule of JMAP (RFC 8621 §4.1.4): a text with a file name is an attachment unless it is the first part.
function isBody(leaf: Leaf): boolean {
  if (leaf.contentType !== 'text/plain' && leaf.contentType !== 'text/html') return false
  if (leaf.disposition === 'attachment') return false
  if (leaf.index === 0 || leaf.parentKind === 'alternative') return true
  return leaf.parentKind !== 'related' && !leaf.parameters.has('name') && !leaf.dispositionParameters.has('filename')
}

function readAttachment(raw: Buffer, leaf: Leaf, defects: Set<Defect>): ParsedAttachment {
  if (leaf.encoding === 'base64' && hasBadBase64(raw, leaf.start, leaf.end)) defects.add('bad-base64')
  const written = cleanFilename(leaf.dispositionParameters.get('filename')) ?? cleanFilename(leaf.parameters.get('name'))
  const isInline = leaf.disposition === 'inline' || (leaf.disposition === '' && leaf.parentKind === 'related' && leaf.contentId !== null)
  return {
    filename: written ?? defaultFilename(leaf.contentType),
    contentType: leaf.contentType,
    contentId: leaf.contentId,
    disposition: isInline ? 'inline' : 'attachment',
    start: leaf.start,
    end: leaf.end,
    encoding: leaf.encoding,
    sizeBytes: measureDecoded(raw, leaf.start, leaf.end, leaf.encoding),
  }
}

// The versions of one text. The parts of one multipart/alternative share a section. Every other body part has its own.
type Section = { plain: string[]; html: string[] }

class BodyCollector {
  readonly #raw: Buffer
  readonly #defects: Set<Defect>
  readonly #sections: Section[] = []
  readonly #alternatives = new Map<number, Section>()
  #plainLeft = TEXT_CHARACTERS_MAX
  #htmlLeft = TEXT_CHARACTERS_MAX

  constructor(raw: Buffer, defects: Set<Defect>) {
    this.#raw = raw
    this.#defects = defects
  }

  add(leaf: Leaf): void {
    const section = this.#sectionOf(leaf)
    if (leaf.contentType === 'text/html') {
      const html = this.#decode(leaf, this.#htmlLeft, 'truncated-html')
      this.#htmlLeft -= html.length
      section.html.push(html)
      return
    }
    const text = this.#decode(leaf, this.#plainLeft, 'truncated-text')
    this.#plainLeft -= text.length
    const isFlowed = leaf.parameters.get('format')?.toLowerCase() === 'flowed'
    section.plain.push(isFlowed ? joinFlowedLines(text, leaf.parameters.get('delsp')?.toLowerCase() === 'yes') : text)
  }

  /** Both bodies. A missing or blank version of a section is converted from the other one, to HTML only when the mail has any HTML. */
  finish(): { text: string | null; html: string | null } {
    if (this.#sections.length === 0) return { text: null, html: null }
    const hasHtml = this.#sections.some((section) => section.html.length > 0)
    const texts: string[] = []
    const htmls: string[] = []
    for (const { plain, html } of this.#sections) {
      const written = plain.filter((text) => !isBlank(text))
      texts.push(...(html.length > 0 && !written.some(hasWords) ? convertHtml(html, written) : written))
      if (hasHtml) htmls.push(...(html.some(isShown) ? html : written.map(textToHtml)))
    }
    return {
      text: this.#limit(joinTexts(texts, '\n\n'), 'truncated-text'),
      html: hasHtml ? this.#limit(joinTexts(htmls, '\n'), 'truncated-html') : null,
    }
  }

  #sectionOf(leaf: Leaf): Section {
    const shared = leaf.alternativeId > 0 ? this.#alternatives.get(leaf.alternativeId) : undefined
    if (shared !== undefined) return shared
    const section: Section = { plain: [], html: [] }
    this.#sections.push(section)
    if (leaf.alternativeId > 0) this.#alternatives.set(leaf.alternativeId, section)
    return section
  }

  // Decodes up to the limit only.
  #decode(leaf: Leaf, charactersLeft: number, defect: 'truncated-text' | 'truncated-html'): string {
    if (leaf.end > leaf.start && charactersLeft === 0) {
      this.#defects.add(defect)
      return ''
    }
    const bytesMax = (charactersLeft + 1) * BYTES_A_CHARACTER
    const bytes = decodeBody(this.#raw, leaf.start, leaf.end, leaf.encoding, bytesMax)
    if (leaf.encoding === 'base64' && hasBadBase64(this.#raw, leaf.start, leaf.end)) this.#defects.add('bad-base64')
    const { text, isKnown } = decodeText(bytes, charsetOf(leaf) ?? (leaf.contentType === 'text/html' ? sniffCharset(bytes) : null))
    if (!isKnown) this.#defects.add('unknown-charset')
    const unified = unifyLineEnds(storableText(text))
    if (unified.length > charactersLeft || bytes.length >= bytesMax || leaf.end - leaf.start > bytesMax * 3) this.#defects.add(defect)
    return cutText(unified, charactersLeft)
  }

  #limit(text: string, defect: 'truncated-text' | 'truncated-html'): string {
    if (text.length <= TEXT_CHARACTERS_MAX) return text
    this.#defects.add(defect)
    return cutText(text, TEXT_CHARACTERS_MAX)
  }
}

// The text of HTML whose plain version has no words. The plain version stays when the HTML has none either.
function convertHtml(html: readonly string[], written: string[]): string[] {
  const converted = htmlToText(html.join('\n'))
  return written.length === 0 || hasWords(converted) ? [converted] : written
}

// True for a text of blanks and the invisible characters that mailers write into an empty plain text.
function isBlank(text: string): boolean {
  const first = text.charCodeAt(0)
  if (first > 0x20 && first < 0x7f) return false
  return /^(?:[\s\p{Cf}\p{Cc}\u115f\u1160\u2800\u3164\uffa0]|\u034f)*$/u.test(text)
}

function hasWords(text: string): boolean {
  if (/^[\s>]{0,9}[A-Za-z]/.test(text)) return true
  return /[\p{L}\p{N}]/u.test(text.length < 1000 ? text.replaceAll('&nbsp;', ' ') : text)
}

const EMPTY_HTML_CHARACTERS_MAX = 1000

// False for short HTML without text and pictures, such as `<html><body></body></html>`.
function isShown(html: string): boolean {
  return html.length > EMPTY_HTML_CHARACTERS_MAX || /<(?:img|svg|object|embed|video)\b/i.test(html) || !isBlank(htmlToText(html))
}

// The last line end of a body is not part of its text.
function joinTexts(texts: readonly string[], separator: string): string {
  const trimmed = texts.map(withoutLastLineEnds)
  const filled = trimmed.filter((text) => text !== '')
  return filled.length > 0 ? filled.join(separator) : ''
}

function withoutLastLineEnds(text: string): string {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 0x0a) end--
  return text.slice(0, end)
}

// HTML without a declared charset often declares one in a meta element near its start.
function sniffCharset(bytes: Buffer): string | null {
  return /<meta[^>]{0,200}charset\s{0,5}=\s{0,5}["']?([\w.:-]{1,40})/i.exec(bytes.toString('latin1', 0, 2048))?.[1] ?? null
}

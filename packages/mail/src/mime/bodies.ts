// Collects the text and HTML of a message from its body parts.
import { htmlToText, textToHtml } from '../html/text.ts'
import { decodeText } from './charsets.ts'
import { joinFlowedLines } from './flowed-text.ts'
import { charsetOf, type Leaf } from './parts.ts'
import { readMarkup } from './rich-text.ts'
import { cutText, storableText, unifyLineEnds } from './storable-text.ts'
import { decodeBody, hasBadBase64 } from './transfer-encoding.ts'

export const TEXT_CHARACTERS_MAX = 1024 * 1024

/** A defect of the bodies, which are read all the same. */
export type BodyDefect = 'truncated-text' | 'truncated-html' | 'bad-base64' | 'unknown-charset'

/** Where defects are noted. */
type Defects = { add(defect: BodyDefect): unknown }

// UTF-8 takes at most three bytes per UTF-16 unit.
const BYTES_A_CHARACTER = 3

// Subtypes of text that are files for a program.
const FILES = new Set(
  'calendar x-vcalendar vcard x-vcard directory rfc822-headers css javascript ecmascript rtf xml x-amp-html watch-html x-watch-html'
    .split(' ')
    .map((subtype) => `text/${subtype}`),
)

/** The parts that are the text of a message. The others are attachments. */
export function findBodies(leaves: readonly Leaf[]): Set<Leaf> {
  const written = new Set(leaves.filter(isCommonBody).map((leaf) => leaf.alternativeId))
  const isFree = (leaf: Leaf): boolean => leaf.alternativeId === 0 || !written.has(leaf.alternativeId)
  return new Set(leaves.filter((leaf) => isCommonBody(leaf) || (isOtherBody(leaf) && isFree(leaf))))
}

// The rule of JMAP (RFC 8621 §4.1.4): a text with a file name is an attachment unless it is the first part.
function isCommonBody(leaf: Leaf): boolean {
  if (leaf.contentType !== 'text/plain' && leaf.contentType !== 'text/html') return false
  if (leaf.disposition === 'attachment') return false
  if (leaf.index === 0 || leaf.parentKind === 'alternative') return true
  return leaf.parentKind !== 'related' && !isNamed(leaf)
}

// An unknown subtype of text is plain text (RFC 2046 §4.1.4). In an alternative, it counts when no version is known.
function isOtherBody(leaf: Leaf): boolean {
  if (!leaf.contentType.startsWith('text/') || FILES.has(leaf.contentType) || isCommonBody(leaf)) return false
  return leaf.disposition !== 'attachment' && leaf.parentKind !== 'related' && !isNamed(leaf)
}

const isNamed = (leaf: Leaf): boolean => leaf.parameters.has('name') || leaf.dispositionParameters.has('filename')

// The versions of one text. The parts of one multipart/alternative share a section. Every other body part has its own.
type Section = { plain: string[]; html: string[] }

export class BodyCollector {
  readonly #raw: Buffer
  readonly #defects: Defects
  readonly #sections: Section[] = []
  readonly #alternatives = new Map<number, Section>()
  #plainLeft = TEXT_CHARACTERS_MAX
  #htmlLeft = TEXT_CHARACTERS_MAX

  constructor(raw: Buffer, defects: Defects) {
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
    const isFlowed = leaf.contentType === 'text/plain' && leaf.parameters.get('format')?.toLowerCase() === 'flowed'
    const written = readMarkup(text, leaf.contentType)
    section.plain.push(isFlowed ? joinFlowedLines(text, leaf.parameters.get('delsp')?.toLowerCase() === 'yes') : written)
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

/** True for a text with a letter or a digit. */
export function hasWords(text: string): boolean {
  if (/^[\s>]{0,9}[A-Za-z]/.test(text)) return true
  return /[\p{L}\p{N}]/u.test(text.length < 1000 ? text.replaceAll('&nbsp;', ' ') : text)
}

const EMPTY_HTML_CHARACTERS_MAX = 1000

/** False for short HTML without text and pictures, such as `<html><body></body></html>`. */
export function isShown(html: string): boolean {
  return html.length > EMPTY_HTML_CHARACTERS_MAX || /<(?:img|svg|object|embed|video)\b/i.test(html) || !isBlank(htmlToText(html))
}

// The last line end of a body is not part of its text.
function joinTexts(texts: readonly string[], separator: string): string {
  const trimmed = texts.map(withoutLastLineEnds)
  const filled = trimmed.filter((text) => text !== '')
  return filled.length > 0 ? filled.join(separator) : ''
}

/** The text without the line ends at its end. */
export function withoutLastLineEnds(text: string): string {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 0x0a) end--
  return text.slice(0, end)
}

/** The charset that HTML declares in a meta element near its start, or null. */
export function sniffCharset(bytes: Buffer): string | null {
  const label = /<meta[^>]{0,200}charset\s{0,5}=\s{0,5}["']?([\w.:-]{1,40})/i.exec(bytes.toString('latin1', 0, 2048))?.[1] ?? null
  // The element could not be read in UTF-16 (https://html.spec.whatwg.org/#determining-the-character-encoding).
  return label !== null && /^utf-?16/i.test(label) ? 'utf-8' : label
}

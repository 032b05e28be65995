// Converts an HTML body to readable plain text with a tokenizer, in one pass and without a tree.
import { cutText, storableText } from '../mime/storable-text.ts'
import { decodeEntities } from './entities.ts'
import { withTables } from './tables.ts'
import { findCommentEnd, findRawEnd, isHidden, isIndent, isMarkup, isRawElement, readAttribute, readTag } from './tags.ts'

/** HTML after these characters is left out. */
export const HTML_CHARACTERS_MAX = 1024 * 1024

const QUOTE_DEPTH_MAX = 10
const QUOTES_MAX = 1000
const LINK_CHARACTERS_MAX = 2000

// Elements with an empty line around them.
const PARAGRAPHS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'dl', 'blockquote', 'pre', 'table', 'figure', 'fieldset'])
// Elements on a line of their own.
const BLOCKS = new Set(
  'address article aside body center dd details dir div dt fieldset figcaption footer form header hgroup html legend li main menu nav section summary tr caption thead tbody tfoot option'.split(
    ' ',
  ),
)
/** True for an element on a line of its own. */
export const isBlock = (name: string): boolean => PARAGRAPHS.has(name) || BLOCKS.has(name)
const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))

/**
 * Converts HTML to its visible text. Blocks are on lines of their own, lists have dashes, quotations of other mail have `>`, and cells are separated. A link is followed by
 * `<address>` when its text differs. Images become their alternative text. Elements hidden by `display:none` or `hidden` are left out,
 * because agents must not read text that people cannot see. Linear in the input.
 */
export function htmlToText(html: string): string {
  return new TextWriter(cutText(html, HTML_CHARACTERS_MAX)).write()
}

/** The same as Markdown: headings have `#`, and rows of cells are tables. */
export function htmlToMarkdown(html: string): string {
  return new TextWriter(cutText(html, HTML_CHARACTERS_MAX), { isMarkdown: true }).write()
}

/** Plain text as HTML: escaped, line ends as `<br>`. */
export function textToHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `<div>${escaped.replaceAll('\n', '<br>\n')}</div>`
}

class TextWriter {
  readonly #html: string
  readonly #lines: string[] = []
  // The current line, in pieces. A growing string would be copied at each read.
  #pieces: string[] = []
  #needsSpace = false
  // Break before the next text: 0 none, 1 a line end, 2 an empty line.
  #breaks = 0
  #quoteDepth = 0
  // For each open blockquote, true when it quotes.
  readonly #quotes: boolean[] = []
  #preDepth = 0
  // Cells that began since the last text.
  #openCells = 0
  readonly #isMarkdown: boolean
  #heading = ''
  // While set, all content up to the end of this element is hidden.
  #hiddenTag: string | null = null
  #hiddenDepth = 0
  #link: { address: string; from: number; lineCount: number } | null = null
  readonly #lists: number[] = []

  constructor(html: string, { isMarkdown = false } = {}) {
    this.#html = html
    this.#isMarkdown = isMarkdown
  }

  write(): string {
    const html = this.#html
    let at = 0
    while (at < html.length) {
      // A "<" that does not start markup is text. It stays in one piece with its neighbours, so that a million of them are cheap.
      let open = html.indexOf('<', at)
      while (open >= 0 && !isMarkup(html.charCodeAt(open + 1))) open = html.indexOf('<', open + 1)
      if (open < 0) open = html.length
      this.#text(html.slice(at, open))
      at = open < html.length ? this.#readMarkup(open) : open
    }
    this.#closeLine()
    return cutText(storableText(trimEmptyLines(this.#isMarkdown ? withTables(this.#lines) : this.#lines)), HTML_CHARACTERS_MAX)
  }

  #readMarkup(open: number): number {
    const html = this.#html
    if (html.startsWith('<!--', open)) return findCommentEnd(html, open)
    const tag = readTag(html, open)
    if (typeof tag === 'number') return tag
    const { name, isEnd, attributes, tagEnd } = tag
    if (isEnd) this.#end(name)
    else {
      this.#start(name, attributes)
      if (isRawElement(name) && !attributes.endsWith('/')) return findRawEnd(html, name, tagEnd + 1)
    }
    return tagEnd + 1
  }

  #start(name: string, attributes: string): void {
    if (this.#hiddenTag !== null) {
      // A hidden paragraph without an end tag ends at the next block.
      if (this.#hiddenTag !== 'p' || !(PARAGRAPHS.has(name) || BLOCKS.has(name))) {
        if (name === this.#hiddenTag) this.#hiddenDepth++
        return
      }
      this.#hiddenTag = null
    }
    if (!VOID.has(name) && attributes.length > 0 && isHidden(attributes)) {
      this.#hiddenTag = name
      this.#hiddenDepth = 1
      return
    }
    if (name === 'br') this.#lineBreak()
    else if (name === 'hr') {
      this.#wantBreak(1)
      this.#text('---')
      this.#wantBreak(1)
    } else if (name === 'img') this.#text(decodeEntities(readAttribute(attributes, 'alt') ?? ''))
    else if (name === 'a') this.#startLink(attributes)
    else if (name === 'td' || name === 'th') this.#openCells++
    else if (name === 'li') this.#startItem()
    else if (PARAGRAPHS.has(name)) this.#startParagraph(name, attributes)
    else if (BLOCKS.has(name)) this.#wantBreak(1)
  }

  #end(name: string): void {
    if (this.#hiddenTag !== null) {
      if (name === this.#hiddenTag && --this.#hiddenDepth <= 0) this.#hiddenTag = null
      return
    }
    if (name === 'a') this.#endLink()
    else if (name === 'blockquote') {
      this.#wantBreak(1)
      this.#closeLine()
      if (this.#quotes.pop() ?? true) this.#quoteDepth = Math.max(0, this.#quoteDepth - 1)
      this.#breaks = 2
    } else if (name === 'pre') {
      this.#preDepth = Math.max(0, this.#preDepth - 1)
      this.#wantBreak(2)
    } else if (name === 'ul' || name === 'ol') {
      this.#lists.pop()
      this.#wantBreak(this.#lists.length > 0 ? 1 : 2)
    } else if (PARAGRAPHS.has(name)) this.#wantBreak(2)
    else if (BLOCKS.has(name)) this.#wantBreak(1)
  }

  #startParagraph(name: string, attributes: string): void {
    if (name === 'blockquote') {
      this.#closeLine()
      // The empty line before a quote belongs to the text above it.
      if (this.#lines.length > 0) this.#breaks = 2
      this.#flushBreaks()
      const isQuote = this.#isMarkdown || !isIndent(attributes)
      if (this.#quotes.length < QUOTES_MAX) this.#quotes.push(isQuote)
      if (isQuote) this.#quoteDepth = Math.min(QUOTE_DEPTH_MAX, this.#quoteDepth + 1)
      return
    }
    if (name === 'pre') this.#preDepth++
    if (name === 'ul' || name === 'ol') {
      if (this.#lists.length < 100) this.#lists.push(name === 'ol' ? 1 : 0)
      this.#wantBreak(this.#lists.length > 1 ? 1 : 2)
    } else this.#wantBreak(2)
    if (this.#isMarkdown && /^h[1-6]$/.test(name)) this.#heading = `${'#'.repeat(Number(name[1]))} `
  }

  #startItem(): void {
    this.#wantBreak(1)
    const depth = this.#lists.length
    const number = this.#lists[depth - 1] ?? 0
    if (number > 0) this.#lists[depth - 1] = number + 1
    this.#text(number > 0 ? `${number}.` : '-')
    this.#needsSpace = true
  }

  #startLink(attributes: string): void {
    this.#endLink()
    const address = decodeEntities((readAttribute(attributes, 'href') ?? '').trim())
    if (!/^(?:https?|mailto|tel|ftp):/i.test(address) || address.length > LINK_CHARACTERS_MAX) return
    this.#link = { address, from: this.#pieces.length, lineCount: this.#lines.length }
  }

  #endLink(): void {
    const link = this.#link
    if (link === null) return
    this.#link = null
    const text = this.#pieces
      .slice(this.#lines.length === link.lineCount ? link.from : 0)
      .join('')
      .trim()
    if (text === '' || isSameAddress(text, link.address)) return
    this.#append(` <${link.address.replace(/\s+/g, '')}>`)
  }

  #text(raw: string): void {
    if (this.#hiddenTag !== null || raw === '') return
    const decoded = decodeEntities(raw)
    if (this.#preDepth > 0) {
      const lines = decoded.replace(/\r\n?/g, '\n').split('\n')
      for (const [index, line] of lines.entries()) {
        if (index > 0) this.#lineBreak()
        if (line !== '') this.#append(line)
      }
      return
    }
    // Zero-width characters and soft hyphens are padding in the previews of newsletters.
    const words = decoded.replace(/\u034f|[\u00ad\u200b\u2007\u2060\ufeff]+/g, '').replace(/[\s\u00a0]+/g, ' ')
    if (words === '') return
    if (words === ' ') {
      this.#needsSpace = true
      return
    }
    const hasSpaceBefore = words.startsWith(' ')
    const hasSpaceAfter = words.endsWith(' ')
    this.#needsSpace ||= hasSpaceBefore
    this.#append(words.slice(hasSpaceBefore ? 1 : 0, hasSpaceAfter ? -1 : undefined))
    this.#needsSpace = hasSpaceAfter
  }

  #append(text: string): void {
    this.#flushBreaks()
    if (this.#pieces.length === 0) {
      const indent = '  '.repeat(Math.min(10, Math.max(0, this.#lists.length - 1)))
      const emptyCells = this.#isMarkdown ? '\t'.repeat(Math.max(0, this.#openCells - 1)) : ''
      this.#pieces.push(`${'> '.repeat(this.#quoteDepth)}${indent}${this.#heading}${emptyCells}`)
      this.#heading = ''
    } else if (this.#openCells > 0) this.#pieces.push(this.#isMarkdown ? '\t'.repeat(this.#openCells) : '\t')
    else if (this.#needsSpace) this.#pieces.push(' ')
    this.#openCells = 0
    this.#needsSpace = false
    this.#pieces.push(text)
  }

  #lineBreak(): void {
    if (this.#hiddenTag !== null) return
    this.#flushBreaks()
    if (this.#pieces.length === 0) this.#lines.push('> '.repeat(this.#quoteDepth).trimEnd())
    this.#closeLine()
  }

  #wantBreak(breaks: number): void {
    if (this.#hiddenTag !== null) return
    this.#closeLine()
    this.#breaks = Math.max(this.#breaks, breaks)
    this.#openCells = 0
  }

  #closeLine(): void {
    if (this.#pieces.length > 0) {
      this.#lines.push(this.#pieces.join('').trimEnd())
      this.#pieces = []
    }
    this.#needsSpace = false
  }

  // An empty line is written only between texts.
  #flushBreaks(): void {
    if (this.#breaks === 2 && this.#lines.length > 0 && !isEmptyLine(this.#lines.at(-1)!))
      this.#lines.push('> '.repeat(this.#quoteDepth).trimEnd())
    this.#breaks = 0
  }
}

const isEmptyLine = (line: string): boolean => /^[> ]*$/.test(line)

// At most two consecutive empty lines, and none at the ends.
function trimEmptyLines(lines: readonly string[]): string {
  const kept: string[] = []
  let empty = 0
  for (const line of lines) {
    empty = line === '' ? empty + 1 : 0
    if (empty <= 2 && (line !== '' || kept.length > 0)) kept.push(line)
  }
  while (kept.length > 0 && kept.at(-1) === '') kept.pop()
  return kept.join('\n')
}

/** True when the text of a link is its address, with or without the scheme. */
export function isSameAddress(text: string, address: string): boolean {
  const bare = (value: string) =>
    value
      .toLowerCase()
      .replace(/^(?:https?:\/\/|mailto:|tel:)/, '')
      .replace(/^www\./, '')
      .replace(/\/$/, '')
  return bare(text) === bare(address)
}

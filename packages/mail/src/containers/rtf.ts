// Reads the text of Rich Text Format documents (RTF 1.9.1), and HTML inside of them (MS-OXRTFEX), in one pass over their tokens.
import { decodeText } from '../mime/charsets.ts'
import { codePageOfCharset, destinationWords, documentCodePages, symbolWords } from './rtf-words.ts'

/** Takes the content of a document. Reading stops when it is full. */
export interface RtfOutput {
  readonly isFull: boolean
  /** Characters that still fit. */
  readonly room: number
  /** A paragraph, perhaps empty. */
  paragraph(text: string): void
  /** The cells of one row of a table. */
  row(cells: readonly string[]): void
  /** Text that a reader of the document cannot see, or hardly. */
  hide(text: string): void
  /** Pieces of the HTML that the document was made from. Without this method such a document is read as any other. */
  html?(text: string): void
}

const depthMax = 1_000
const fontsMax = 5_000
const tinySizeMax = 2

/** Properties that end with their group. `fallbacks` is the number of characters that follow each \u for old readers. */
type Group = {
  isSkipped: boolean
  isHidden: boolean
  isUnseen: boolean
  /** True for what only readers without HTML show, by \htmlrtf. */
  isRtfOnly: boolean
  fallbacks: number
  font: number
  isFontTable: boolean
}

const firstGroup: Group = {
  isSkipped: false,
  isHidden: false,
  isUnseen: false,
  isRtfOnly: false,
  fallbacks: 1,
  font: -1,
  isFontTable: false,
}

// A control word with its parameter, a byte in hexadecimal, a control symbol, a brace, or text.
const token = /\\(?:([a-z]{1,32})(-?\d{1,10})? ?|'([0-9a-f]{2})|([^a-z']))|([{}])|([^\\{}\r\n]+)|[\r\n]+/giy

/** Linear in the size of the document. False when its groups nest deeper than 1,000, and the rest is not read. */
export const readRtf = (bytes: Buffer, out: RtfOutput): boolean => new RtfReader(bytes.toString('latin1'), out).read()

class RtfReader {
  readonly #source: string
  readonly #out: RtfOutput
  #group: Group = firstGroup
  readonly #groups: Group[] = []
  #codePage = 1252
  readonly #fonts = new Map<number, number>()
  /** Bytes of one code page that are decoded together, because a character may have two. */
  #bytes: number[] = []
  #fallbacksLeft = 0
  #isGroupStart = false
  #line: string[] = []
  #lineCharacters = 0
  #cells: string[] = []
  #isTooDeep = false
  #isHtml = false

  constructor(source: string, out: RtfOutput) {
    this.#source = source
    this.#out = out
  }

  read(): boolean {
    token.lastIndex = 0
    while (!this.#isTooDeep && token.lastIndex < this.#source.length && !this.#out.isFull && this.#lineCharacters <= this.#out.room) {
      const at = token.lastIndex
      const found = token.exec(this.#source)
      if (found === null) {
        token.lastIndex = at + 1
        continue
      }
      const [, word, parameter, hex, symbol, brace, text] = found
      if (word !== undefined) this.#word(word, parameter === undefined ? null : Number(parameter))
      else if (hex !== undefined) this.#byte(Number.parseInt(hex, 16))
      else if (symbol !== undefined) this.#symbol(symbol)
      else if (brace === '{') this.#open()
      else if (brace === '}') this.#close()
      else if (text !== undefined) this.#text(text)
      // Line ends between tokens mean nothing.
      if (brace !== '{' && symbol !== '*' && !/^[\r\n]/.test(found[0])) this.#isGroupStart = false
    }
    if (this.#line.length > 0 || this.#bytes.length > 0) this.#endParagraph()
    return !this.#isTooDeep
  }

  #open(): void {
    this.#flushBytes()
    if (this.#groups.length >= depthMax) this.#isTooDeep = true
    this.#groups.push(this.#group)
    this.#group = { ...this.#group }
    this.#isGroupStart = true
  }

  #close(): void {
    this.#flushBytes()
    this.#group = this.#groups.pop() ?? firstGroup
    this.#fallbacksLeft = 0
  }

  #word(word: string, parameter: number | null): void {
    if (word === 'bin') {
      token.lastIndex += Math.max(0, parameter ?? 0)
      return
    }
    const group = this.#group
    if (this.#isGroupStart && destinationWords.has(word)) group.isSkipped = true
    if (word === 'fromhtml') this.#isHtml = this.#out.html !== undefined
    else if (word === 'htmltag') group.isSkipped = !this.#isHtml
    else if (word === 'htmlrtf') {
      this.#flushBytes()
      group.isRtfOnly = parameter !== 0
    } else if (word === 'fonttbl') group.isFontTable = true
    else if (word === 'ansicpg') this.#codePage = parameter ?? 1252
    else if (documentCodePages[word] !== undefined && this.#groups.length === 1) this.#codePage = documentCodePages[word] as number
    else if (word === 'f') this.#setFont(parameter ?? 0)
    else if (word === 'fcharset' && group.isFontTable && this.#fonts.size < fontsMax)
      this.#fonts.set(group.font, codePageOfCharset(parameter ?? 0, this.#codePage))
    else if (word === 'uc') group.fallbacks = Math.min(10, Math.max(0, parameter ?? 1))
    else if (word === 'u') {
      this.#flushBytes()
      this.#append(String.fromCharCode((parameter ?? 63) & 0xffff))
      this.#fallbacksLeft = group.fallbacks
    } else if (word === 'v' || word === 'deleted') group.isHidden = parameter !== 0
    else if (word === 'fs') group.isUnseen = (parameter ?? 24) <= tinySizeMax
    else if (word === 'plain') {
      group.isHidden = false
      group.isUnseen = false
    } else if (!group.isSkipped) this.#layout(word)
  }

  #layout(word: string): void {
    if (word === 'par' || word === 'line' || word === 'page' || word === 'sect') this.#endParagraph()
    else if (word === 'cell' || word === 'nestcell') {
      this.#flushBytes()
      this.#cells.push(this.#line.join(''))
      this.#lineCharacters++
      this.#line = []
    } else if (word === 'row' || word === 'nestrow') {
      this.#out.row(this.#cells)
      this.#cells = []
      this.#lineCharacters = 0
    } else if (symbolWords[word] !== undefined) {
      this.#flushBytes()
      this.#append(symbolWords[word] as string)
    }
  }

  #setFont(font: number): void {
    this.#flushBytes()
    this.#group.font = font
  }

  #symbol(symbol: string): void {
    if (symbol === '*') {
      // A destination that a reader may not know.
      if (this.#isGroupStart) this.#group.isSkipped = true
    } else if (symbol === '\n' || symbol === '\r') this.#endParagraph()
    else if (symbol === '~') this.#text('\u00a0')
    else if (symbol === '_') this.#text('-')
    else if ('\\{}'.includes(symbol)) this.#text(symbol)
  }

  #text(text: string): void {
    const from = Math.min(this.#fallbacksLeft, text.length)
    this.#fallbacksLeft -= from
    if (from === text.length) return
    this.#flushBytes()
    this.#append(text.slice(from))
  }

  #byte(byte: number): void {
    if (this.#fallbacksLeft > 0) this.#fallbacksLeft--
    else if (!this.#group.isSkipped) this.#bytes.push(byte)
    // A long run is decoded in parts.
    if (this.#bytes.length >= 65_536) this.#flushBytes()
  }

  #flushBytes(): void {
    if (this.#bytes.length === 0) return
    const bytes = Buffer.from(this.#bytes)
    this.#bytes = []
    const codePage = this.#fonts.get(this.#group.font) ?? this.#codePage
    this.#append(decodeText(bytes, `cp${codePage}`).text)
  }

  #append(text: string): void {
    const { isSkipped, isHidden, isUnseen, isRtfOnly } = this.#group
    if (isSkipped) return
    if (this.#isHtml) {
      if (!isRtfOnly) this.#out.html?.(text)
      return
    }
    if (isHidden || isUnseen) this.#out.hide(text)
    if (isHidden) return
    this.#line.push(text)
    this.#lineCharacters += text.length
  }

  #endParagraph(): void {
    this.#flushBytes()
    if (this.#isHtml) {
      this.#append('\r\n')
      return
    }
    const text = this.#line.join('')
    this.#line = []
    if (this.#cells.length > 0) {
      // A paragraph inside a cell.
      this.#line = [text, ' ']
      return
    }
    this.#lineCharacters = 0
    this.#out.paragraph(text)
  }
}

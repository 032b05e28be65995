// Splits a message into its leaf parts in one pass, as byte ranges of the raw message (RFC 2046 §5.1), within fixed limits of depth and number.
import { firstToken, type ParameterValue, readContentId, readMediaType, readParameters } from './content-type.ts'
import { DelimiterSearch } from './delimiters.ts'
import { findValue, type HeaderBlock, type HeaderField, readHeaderBlock } from './headers.ts'
import { readTransferEncoding, type TransferEncoding } from './transfer-encoding.ts'

/** A leaf part. `start..end` is the byte range of its body in the raw message. */
export type Leaf = {
  contentType: string
  parameters: Map<string, string>
  disposition: string
  dispositionParameters: Map<string, string>
  contentId: string | null
  encoding: TransferEncoding
  /** The subtype of the enclosing multipart, for example `mixed`, `alternative` or `related`. "" for a message of one part. */
  parentKind: string
  /** Its index among the parts of the enclosing multipart, from 0. */
  index: number
  /** Parts with the same number above 0 are versions of one text, because they share their outermost multipart/alternative. */
  alternativeId: number
  start: number
  end: number
}

/** Defects of the structure of a message. */
export type PartsDefect = 'truncated-parts' | 'too-deep' | 'no-boundary' | 'boundary-not-found' | 'no-end-boundary' | 'unknown-encoding'

/** The top header block and the leaves of a message, in order. */
export type SplitMessage = { header: HeaderBlock; leaves: Leaf[]; defects: Set<PartsDefect> }

export const DEPTH_MAX = 50
export const PARTS_MAX = 1000

// Longer than RFC 2046's 70 characters, since some senders exceed it.
const BOUNDARY_BYTES_MAX = 250

/** Splits a raw message. Linear in its size. A multipart below depth 50 stays a leaf, and parts after the 1,000th are left out. */
export function splitParts(raw: Buffer): SplitMessage {
  return new PartSplitter(raw).split()
}

/** True for the header of a message of a single plain text. */
export function isPlainText(header: Buffer): boolean {
  const { fields } = readHeaderBlock(header, 0, null, (key) => key === 'content-type')
  return mediaTypeOf(readParameters(findValue(fields, 'content-type') ?? ''), noValue, undefined) === 'text/plain'
}

const noValue: ParameterValue = { value: '', parameters: new Map() }

// An open multipart.
type OpenMultipart = {
  kind: string
  alternativeId: number
  childCount: number
  hasDelimiter: boolean
  leaf: Leaf
}

const PREAMBLE_BYTES_MAX = 8 * 1024
// A line that begins with dashes and has a Content field of a part below it.
const FIRST_DELIMITER = /^--([^\s-][^\r\n]{0,200}?|-[^\r\n]{1,200}?)[ \t]*\r?\nContent-[A-Za-z-]{1,40}[ \t]*:/im

const LF = 0x0a
const CR = 0x0d

class PartSplitter {
  readonly #raw: Buffer
  readonly #open: OpenMultipart[] = []
  readonly #leaves: Leaf[] = []
  readonly #defects = new Set<PartsDefect>()
  #current: Leaf | null = null
  #count = 0
  #alternatives = 0
  readonly #search: DelimiterSearch

  constructor(raw: Buffer) {
    this.#raw = raw
    this.#search = new DelimiterSearch(raw)
  }

  split(): SplitMessage {
    const header = readHeaderBlock(this.#raw, 0, null, null)
    this.#enter(header.fields, header.bodyStart)
    let at = header.bodyStart
    while (this.#open.length > 0) {
      const delimiter = this.#search.find(at)
      if (delimiter === null) {
        this.#defects.add('no-end-boundary')
        this.#closeDownTo(0, this.#raw.length)
        break
      }
      this.#closeDownTo(delimiter.level + 1, this.#bodyEndBefore(delimiter.lineStart))
      const multipart = this.#open[delimiter.level]!
      multipart.hasDelimiter = true
      at = delimiter.lineEnd
      if (delimiter.isEnd) {
        this.#open.pop()
        this.#search.keep(this.#open.length)
      } else if (this.#count >= PARTS_MAX) {
        this.#defects.add('truncated-parts')
        this.#open.length = 0
      } else {
        const block = readHeaderBlock(this.#raw, at, (lineStart) => this.#search.match(lineStart) !== null, isPartField)
        this.#enter(block.fields, block.bodyStart)
        at = block.bodyStart
      }
    }
    this.#finishCurrent(this.#raw.length)
    return { header, leaves: this.#leaves, defects: this.#defects }
  }

  // Starts a part: opens a multipart, or sets the current leaf.
  #enter(fields: readonly HeaderField[], bodyStart: number): void {
    this.#count++
    const parent = this.#open.at(-1)
    const type = readParameters(findValue(fields, 'content-type') ?? '')
    const disposition = readParameters(findValue(fields, 'content-disposition') ?? '')
    const transfer = readTransferEncoding(findValue(fields, 'content-transfer-encoding') ?? '')
    if (!transfer.isKnown) this.#defects.add('unknown-encoding')
    const leaf: Leaf = {
      contentType: mediaTypeOf(type, disposition, parent),
      parameters: type.parameters,
      disposition: disposition.value,
      dispositionParameters: disposition.parameters,
      contentId: readContentId(findValue(fields, 'content-id')),
      encoding: transfer.encoding,
      parentKind: parent?.kind ?? '',
      index: parent?.childCount ?? 0,
      alternativeId: parent?.alternativeId ?? 0,
      start: bodyStart,
      end: this.#raw.length,
    }
    if (parent !== undefined) parent.childCount++
    this.#current = leaf
    if (leaf.contentType.startsWith('multipart/')) this.#openMultipart(leaf)
  }

  #openMultipart(leaf: Leaf): void {
    const boundary = this.#boundaryOf(leaf)
    if (boundary.length === 0 || boundary.length > BOUNDARY_BYTES_MAX) {
      this.#defects.add('no-boundary')
      leaf.contentType = 'text/plain'
      return
    }
    // The raw bytes are the content, because encodings do not apply to a multipart (RFC 2045 §6.4).
    leaf.encoding = 'identity'
    if (this.#open.length >= DEPTH_MAX) {
      this.#defects.add('too-deep')
      return
    }
    const kind = leaf.contentType.slice('multipart/'.length)
    let alternativeId = leaf.alternativeId
    if (alternativeId === 0 && kind === 'alternative') alternativeId = ++this.#alternatives
    this.#search.open(boundary)
    this.#open.push({
      kind,
      alternativeId,
      childCount: 0,
      hasDelimiter: false,
      leaf,
    })
    this.#current = null
  }

  // A boundary that was lost or changed on the way is read from the first delimiter. Only the outermost is searched for, to stay linear.
  #boundaryOf(leaf: Leaf): Buffer {
    const declared = Buffer.from((leaf.parameters.get('boundary') ?? '').trimEnd(), 'utf8')
    if (declared.length > 0 && (this.#open.length > 0 || this.#raw.includes(`--${declared}`, leaf.start))) return declared
    const text = this.#raw.toString('latin1', leaf.start, Math.min(this.#raw.length, leaf.start + PREAMBLE_BYTES_MAX))
    const found = FIRST_DELIMITER.exec(text)
    if (found === null || this.#search.match(leaf.start + found.index) !== null) return declared
    this.#defects.add('no-boundary')
    return Buffer.from(found[1]!, 'latin1')
  }

  // Ends the current leaf and every open multipart above `level`. A multipart without its boundary is read as one text.
  #closeDownTo(level: number, end: number): void {
    this.#finishCurrent(end)
    while (this.#open.length > level) {
      const multipart = this.#open.pop()!
      if (multipart.hasDelimiter) {
        this.#defects.add('no-end-boundary')
      } else {
        this.#defects.add('boundary-not-found')
        this.#current = { ...multipart.leaf, contentType: 'text/plain' }
        this.#finishCurrent(end)
      }
    }
    this.#search.keep(this.#open.length)
  }

  #finishCurrent(end: number): void {
    const leaf = this.#current
    if (leaf === null) return
    leaf.end = Math.max(leaf.start, end)
    this.#leaves.push(leaf)
    this.#current = null
  }

  // The line end before a delimiter belongs to the delimiter.
  #bodyEndBefore(lineStart: number): number {
    const raw = this.#raw
    if (raw[lineStart - 1] !== LF) return lineStart
    return raw[lineStart - 2] === CR ? lineStart - 2 : lineStart - 1
  }
}

function isPartField(key: string): boolean {
  return key.startsWith('content-')
}

// Parts of a digest are messages by default (RFC 2046 §5.1.5). A part with an unreadable type is text, or bytes when it is an attachment.
function mediaTypeOf(type: ParameterValue, disposition: ParameterValue, parent: OpenMultipart | undefined): string {
  const fallback = parent?.kind === 'digest' ? 'message/rfc822' : 'text/plain'
  if (type.value === '') return fallback
  return readMediaType(type.value, disposition.value === 'attachment' ? 'application/octet-stream' : 'text/plain')
}

/** The charset label of a leaf, or null. */
export function charsetOf(leaf: Leaf): string | null {
  const written = leaf.parameters.get('charset')
  return written === undefined ? null : firstToken(written) || null
}

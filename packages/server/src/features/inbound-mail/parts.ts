// Splits a message into its leaf parts in one pass, as byte ranges of the raw message (RFC 2046 §5.1), within fixed limits of depth and number.
import { firstToken, type ParameterValue, readContentId, readMediaType, readParameters } from './content-type.ts'
import { findValue, type HeaderBlock, type HeaderField, readHeaderBlock } from './headers.ts'
import { readTransferEncoding, type TransferEncoding } from './transfer-encoding.ts'

/** A part that is not opened further. `start..end` are its body's bytes in the raw message. */
export type Leaf = {
  contentType: string
  parameters: Map<string, string>
  disposition: string
  dispositionParameters: Map<string, string>
  contentId: string | null
  encoding: TransferEncoding
  /** The kind of the multipart it stands in: `mixed`, `alternative`, `related`…; "" for a message of one part. */
  parentKind: string
  /** Its place among the parts of that multipart, from 0. */
  index: number
  /** Parts with the same number above 0 are versions of one text (they share their outermost multipart/alternative). */
  alternativeId: number
  start: number
  end: number
}

/** What can be wrong with the structure of a message. */
export type PartsDefect = 'truncated-parts' | 'too-deep' | 'no-boundary' | 'boundary-not-found' | 'no-end-boundary' | 'unknown-encoding'

/** The top header block and the leaves of a message, in order. */
export type SplitMessage = { header: HeaderBlock; leaves: Leaf[]; defects: Set<PartsDefect> }

export const DEPTH_MAX = 50
export const PARTS_MAX = 1000

// Longer than RFC 2046's 70 characters, since some senders exceed it.
const BOUNDARY_BYTES_MAX = 250

/** Splits a raw message. Linear in its size whatever it holds; a multipart below depth 50 stays one unopened leaf, parts after the 1,000th are left out. */
export function splitParts(raw: Buffer): SplitMessage {
  return new PartSplitter(raw).split()
}

// A multipart whose end was not seen yet.
type OpenMultipart = {
  boundary: Buffer
  hash: number
  kind: string
  alternativeId: number
  childCount: number
  hasDelimiter: boolean
  bodyStart: number
  leaf: Leaf
}

type Delimiter = { lineStart: number; lineEnd: number; level: number; isEnd: boolean }

const LF = 0x0a
const CR = 0x0d
const DASH = 0x2d
const HAND_SCAN_BYTES = 512
const LONG_NEEDLE_BYTES = 7

class PartSplitter {
  readonly #raw: Buffer
  readonly #open: OpenMultipart[] = []
  readonly #leaves: Leaf[] = []
  readonly #defects = new Set<PartsDefect>()
  #current: Leaf | null = null
  #count = 0
  #alternatives = 0
  #needle = Buffer.from('\n--')
  #longestBoundary = 0
  // Which low hash bits an open boundary has: turns nearly all false candidates away at once.
  readonly #filter = new Uint8Array(FILTER_MASK + 1)

  constructor(raw: Buffer) {
    this.#raw = raw
  }

  split(): SplitMessage {
    const header = readHeaderBlock(this.#raw, 0, null, null)
    this.#enter(header.fields, header.bodyStart)
    let at = header.bodyStart
    while (this.#open.length > 0) {
      const delimiter = this.#findDelimiter(at)
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
        this.#updateSearch()
      } else if (this.#count >= PARTS_MAX) {
        this.#defects.add('truncated-parts')
        this.#open.length = 0
      } else {
        const block = readHeaderBlock(this.#raw, at, (lineStart) => this.#matchDelimiter(lineStart) !== null, isPartField)
        this.#enter(block.fields, block.bodyStart)
        at = block.bodyStart
      }
    }
    this.#finishCurrent(this.#raw.length)
    return { header, leaves: this.#leaves, defects: this.#defects }
  }

  // Starts a part: opens it when it is a multipart, else makes it the current leaf.
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
    const boundary = Buffer.from((leaf.parameters.get('boundary') ?? '').trimEnd(), 'utf8')
    if (boundary.length === 0 || boundary.length > BOUNDARY_BYTES_MAX) {
      this.#defects.add('no-boundary')
      leaf.contentType = 'text/plain'
      return
    }
    // Only the bytes are shown: encodings do not apply to a multipart (RFC 2045 §6.4).
    leaf.encoding = 'identity'
    if (this.#open.length >= DEPTH_MAX) {
      this.#defects.add('too-deep')
      return
    }
    const kind = leaf.contentType.slice('multipart/'.length)
    let alternativeId = leaf.alternativeId
    if (alternativeId === 0 && kind === 'alternative') alternativeId = ++this.#alternatives
    this.#open.push({
      boundary,
      hash: hashBytes(boundary),
      kind,
      alternativeId,
      childCount: 0,
      hasDelimiter: false,
      bodyStart: leaf.start,
      leaf,
    })
    this.#current = null
    this.#updateSearch()
  }

  // Ends the current leaf and every open multipart above `level`. One whose boundary never came is read as one text.
  #closeDownTo(level: number, end: number): void {
    this.#finishCurrent(end)
    let hasPopped = false
    while (this.#open.length > level) {
      const multipart = this.#open.pop()!
      hasPopped = true
      if (multipart.hasDelimiter) {
        this.#defects.add('no-end-boundary')
      } else {
        this.#defects.add('boundary-not-found')
        this.#current = { ...multipart.leaf, contentType: 'text/plain' }
        this.#finishCurrent(end)
      }
    }
    if (hasPopped) this.#updateSearch()
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

  // The first delimiter line of any open multipart at or after the line that starts at `from`. Dense candidates are walked by hand, long stretches are
  // jumped over natively: a native call for each of millions of "--" lines would cost more than the walk.
  #findDelimiter(from: number): Delimiter | null {
    const raw = this.#raw
    const end = raw.length
    const canJump = this.#needle.length >= LONG_NEEDLE_BYTES
    let lineStart = from
    while (lineStart < end) {
      if (raw[lineStart] === DASH && raw[lineStart + 1] === DASH) {
        const delimiter = this.#matchDelimiter(lineStart)
        if (delimiter !== null) return delimiter
      }
      let at = lineStart
      const stop = canJump ? Math.min(end, at + HAND_SCAN_BYTES) : end
      while (at < stop && !(raw[at] === LF && raw[at + 1] === DASH && raw[at + 2] === DASH)) at++
      if (at >= end) return null
      if (at >= stop) at = raw.indexOf(this.#needle, at)
      if (at < 0) return null
      lineStart = at + 1
    }
    return null
  }

  // Whether the line is `--boundary` or `--boundary--` plus blanks. The whole line must match, so a boundary that begins like another is no trouble.
  // The innermost multipart wins when two share a boundary.
  #matchDelimiter(lineStart: number): Delimiter | null {
    const raw = this.#raw
    if (raw[lineStart + 1] !== DASH) return null
    const from = lineStart + 2
    const stop = Math.min(raw.length, from + this.#longestBoundary + 3)
    let at = from
    let tokenEnd = from
    while (at < stop && raw[at] !== LF) {
      if (!isBlank(raw[at]!)) tokenEnd = at + 1
      at++
    }
    if (tokenEnd === from || (at >= stop && !isLineRest(raw, at))) return null
    // The hashes of the token without its last two bytes, without its last byte, and whole.
    let hashBeforeTwo = 0
    let hashBeforeOne = 0
    let hash = HASH_START
    for (let index = from; index < tokenEnd; index++) {
      hashBeforeTwo = hashBeforeOne
      hashBeforeOne = hash
      hash = Math.imul(hash ^ raw[index]!, HASH_FACTOR)
    }
    const isMarkedEnd = tokenEnd - from > 2 && raw[tokenEnd - 1] === DASH && raw[tokenEnd - 2] === DASH
    if (this.#filter[hash & FILTER_MASK] === 0 && !(isMarkedEnd && this.#filter[hashBeforeTwo & FILTER_MASK] === 1)) return null
    for (let level = this.#open.length - 1; level >= 0; level--) {
      const { boundary, hash: wanted } = this.#open[level]!
      const isWhole = wanted === hash && isAt(raw, from, tokenEnd, boundary)
      if (!isWhole && !(isMarkedEnd && wanted === hashBeforeTwo && isAt(raw, from, tokenEnd - 2, boundary))) continue
      const newline = raw.indexOf(LF, at)
      return { lineStart, lineEnd: newline < 0 ? raw.length : newline + 1, level, isEnd: !isWhole }
    }
    return null
  }

  #updateSearch(): void {
    this.#longestBoundary = 0
    this.#filter.fill(0)
    for (const { boundary, hash } of this.#open) {
      this.#longestBoundary = Math.max(this.#longestBoundary, boundary.length)
      this.#filter[hash & FILTER_MASK] = 1
    }
    const first = this.#open[0]?.boundary ?? Buffer.alloc(0)
    let shared = first.length
    for (const { boundary } of this.#open) {
      let same = 0
      while (same < shared && boundary[same] === first[same]) same++
      shared = same
    }
    this.#needle = Buffer.concat([Buffer.from('\n--'), first.subarray(0, shared)])
  }
}

// FNV-1a, 32 bits: only a filter, every hit is compared byte by byte.
const HASH_START = 0x811c9dc5 | 0
const HASH_FACTOR = 0x01000193
const FILTER_MASK = 511

function hashBytes(bytes: Buffer): number {
  let hash = HASH_START
  for (const byte of bytes) hash = Math.imul(hash ^ byte, HASH_FACTOR)
  return hash
}

function isAt(raw: Buffer, from: number, to: number, boundary: Buffer): boolean {
  if (to - from !== boundary.length) return false
  for (let index = 0; index < boundary.length; index++) if (raw[from + index] !== boundary[index]) return false
  return true
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === CR
}

// Whether nothing but blanks (at most 1,000, so a flood stays cheap) is left of the line.
function isLineRest(raw: Buffer, from: number): boolean {
  let at = from
  const stop = Math.min(raw.length, from + 1000)
  while (at < stop && isBlank(raw[at]!)) at++
  return at >= raw.length || raw[at] === LF
}

function isPartField(key: string): boolean {
  return key.startsWith('content-')
}

// RFC 2046 §5.1.5: parts of a digest are messages unless they say otherwise. An unreadable type is text, or just bytes when it is meant to be saved.
function mediaTypeOf(type: ParameterValue, disposition: ParameterValue, parent: OpenMultipart | undefined): string {
  const fallback = parent?.kind === 'digest' ? 'message/rfc822' : 'text/plain'
  if (type.value === '') return fallback
  return readMediaType(type.value, disposition.value === 'attachment' ? 'application/octet-stream' : 'text/plain')
}

/** A leaf's charset label, or null when it names none. */
export function charsetOf(leaf: Leaf): string | null {
  const written = leaf.parameters.get('charset')
  return written === undefined ? null : firstToken(written) || null
}

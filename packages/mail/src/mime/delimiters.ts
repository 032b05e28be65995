// Finds the lines that divide a multipart message, for all open multiparts at once (RFC 2046 §5.1.1).

/** A delimiter line: the index of its open boundary (0 is the outermost), and the kind of the line, opening or closing. */
export type Delimiter = { lineStart: number; lineEnd: number; level: number; isEnd: boolean }

const LF = 0x0a
const CR = 0x0d
const DASH = 0x2d
const HAND_SCAN_BYTES = 512
const LONG_NEEDLE_BYTES = 7

/** Searches one raw message for the delimiters of the open boundaries. */
export class DelimiterSearch {
  readonly #raw: Buffer
  readonly #boundaries: Buffer[] = []
  readonly #hashes: number[] = []
  #needle = Buffer.alloc(0)
  #longestBoundary = 0
  // The low hash bits of the open boundaries, which rule out nearly all false candidates.
  readonly #filter = new Uint8Array(FILTER_MASK + 1)

  constructor(raw: Buffer) {
    this.#raw = raw
  }

  /** Adds the boundary of a multipart inside the open ones. */
  open(boundary: Buffer): void {
    this.#boundaries.push(boundary)
    this.#hashes.push(hashBytes(boundary))
    this.#update()
  }

  /** Removes all boundaries except the outermost `count`. */
  keep(count: number): void {
    if (this.#boundaries.length === count) return
    this.#boundaries.length = count
    this.#hashes.length = count
    this.#update()
  }

  /**
   * The first delimiter line of any open boundary at or after the line that starts at `from`. Dense candidates are scanned by a loop, and long stretches are
   * skipped by a native search. A native call per line would cost more than the loop for millions of "--" lines.
   */
  find(from: number): Delimiter | null {
    const raw = this.#raw
    const end = raw.length
    // Stryker disable next-line ConditionalExpression: the native search only saves time
    const canJump = this.#needle.length >= LONG_NEEDLE_BYTES
    let lineStart = from
    while (lineStart < end) {
      if (raw[lineStart] === DASH && raw[lineStart + 1] === DASH) {
        const delimiter = this.match(lineStart)
        if (delimiter !== null) return delimiter
      }
      let at = lineStart
      // Stryker disable next-line ArithmeticOperator: the native search only saves time
      const stop = canJump ? Math.min(end, at + HAND_SCAN_BYTES) : end
      while (at < stop && !(raw[at] === LF && raw[at + 1] === DASH && raw[at + 2] === DASH)) at++
      if (at >= end) return null
      if (at >= stop) at = raw.indexOf(this.#needle, at)
      if (at < 0) return null
      lineStart = at + 1
    }
    return null
  }

  /**
   * The delimiter on the line that starts at `lineStart` with a dash: `--boundary` or `--boundary--` plus blanks. The whole line must match, so that one
   * boundary may be a prefix of another. The innermost of equal boundaries wins.
   */
  match(lineStart: number): Delimiter | null {
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
    // Stryker disable next-line ConditionalExpression: the filter only saves time
    if (this.#filter[hash & FILTER_MASK] === 0 && !(isMarkedEnd && this.#filter[hashBeforeTwo & FILTER_MASK] === 1)) return null
    for (let level = this.#boundaries.length - 1; level >= 0; level--) {
      const wanted = this.#hashes[level]!
      const boundary = this.#boundaries[level]!
      // Stryker disable next-line ConditionalExpression: the hash only saves the comparison
      const isWhole = wanted === hash && isAt(raw, from, tokenEnd, boundary)
      // Stryker disable next-line ConditionalExpression: the hash only saves the comparison
      if (!isWhole && !(isMarkedEnd && wanted === hashBeforeTwo && isAt(raw, from, tokenEnd - 2, boundary))) continue
      const newline = raw.indexOf(LF, at)
      return { lineStart, lineEnd: newline < 0 ? raw.length : newline + 1, level, isEnd: !isWhole }
    }
    return null
  }

  #update(): void {
    this.#longestBoundary = 0
    this.#filter.fill(0)
    for (const hash of this.#hashes) this.#filter[hash & FILTER_MASK] = 1
    const first = this.#boundaries[0] ?? Buffer.alloc(0)
    let shared = first.length
    for (const boundary of this.#boundaries) {
      this.#longestBoundary = Math.max(this.#longestBoundary, boundary.length)
      let same = 0
      while (same < shared && boundary[same] === first[same]) same++
      shared = same
    }
    this.#needle = Buffer.concat([Buffer.from('\n--'), first.subarray(0, shared)])
  }
}

// FNV-1a, 32 bits. Only a filter: every hit is compared byte by byte.
const HASH_START = 0x811c9dc5 | 0
const HASH_FACTOR = 0x01000193
const FILTER_MASK = 511

function hashBytes(bytes: Buffer): number {
  let hash = HASH_START
  for (const byte of bytes) hash = Math.imul(hash ^ byte, HASH_FACTOR)
  return hash
}

function isAt(raw: Buffer, from: number, to: number, boundary: Buffer): boolean {
  // Stryker disable next-line ConditionalExpression: bytes of another length have another hash
  if (to - from !== boundary.length) return false
  for (let index = 0; index < boundary.length; index++) if (raw[from + index] !== boundary[index]) return false
  return true
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === CR
}

// True when the rest of the line is blank. At most 1,000 blanks are scanned, which bounds the cost of a flood.
function isLineRest(raw: Buffer, from: number): boolean {
  let at = from
  const stop = Math.min(raw.length, from + 1000)
  while (at < stop && isBlank(raw[at]!)) at++
  return at >= raw.length || raw[at] === LF
}

// Extracts the new text of a reply. Drops quotations, attributions and signatures of many mail programs and languages.
import { cutText, storableText, unifyLineEnds } from '../../mime/storable-text.ts'
import { findAttribution } from './attributions.ts'
import { findHeaderBlockEnd, isForwardMark, isOriginalMark, isQuoted, isReplyAboveMark, isRule, quoteMarkOf } from './quote-marks.ts'
import { findLastSignature, findSignatures, type IsExactSignature } from './signatures.ts'

/** Text after these characters is dropped. */
const REPLY_CHARACTERS_MAX = 64 * 1024

/**
 * Extracts the text that the sender of a reply wrote above, between and below quotations. Drops attributions ("On …, Ann wrote:"), header blocks,
 * original messages below the text, and signatures. A forwarded message is kept, with the words above it. `isForward` is true when the subject says that
 * the message is a forward, so that a header block begins the forwarded message. The result is empty only when all text is quoted. Reads the first 64 KB.
 * Linear.
 */
export function extractReplyText(text: string, isForward = false): string {
  const source = storableText(unifyLineEnds(cutText(text, REPLY_CHARACTERS_MAX)))
  const lines = source.split('\n')
  const isExact = findExactSignatures(lines)
  for (const [index, line] of lines.entries()) if (mayEndBlank(line)) lines[index] = withoutBlankEnd(line)
  const { kept, hasCut } = new QuoteRemover(lines, isForward).remove()
  const withoutSignatures = kept.flatMap((run) => (run.isForwarded ? [run] : findSignatures(lines, run, isExact)))
  const result = joinRuns(lines, withoutSignatures) || joinRuns(lines, kept)
  return result === '' && hasCut ? source.trim() : result
}

/**
 * The text of a message that answers nothing: everything but the signature. Lines that look like the header of a message, quotation marks and
 * separators are the author's own. Reads the first 64 KB. Linear.
 */
export function extractFirstText(text: string): string {
  const source = storableText(unifyLineEnds(cutText(text, REPLY_CHARACTERS_MAX)))
  const lines = source.split('\n')
  const isExact = findExactSignatures(lines)
  for (const [index, line] of lines.entries()) if (mayEndBlank(line)) lines[index] = withoutBlankEnd(line)
  return joinRuns(lines, [{ from: 0, to: findLastSignature(lines, isExact) }]) || joinRuns(lines, [{ from: 0, to: lines.length }])
}

/** False for a line that ends in printable ASCII, as most do. */
function mayEndBlank(line: string): boolean {
  const code = line.charCodeAt(line.length - 1)
  return !(code > 0x20 && code < 0x7f)
}

/** A line without the white space and the invisible characters at its end, which mail programs also put on lines of their own. */
function withoutBlankEnd(line: string): string {
  let end = line.length
  while (end > 0 && /[\s\u200b\u200e\u200f\u2060\ufeff]/.test(line[end - 1]!)) end--
  return line.slice(0, end)
}

// An exact "-- " differs from "--" by its blank, which trimming removes.
function findExactSignatures(lines: readonly string[]): IsExactSignature {
  const found = new Set<number>()
  for (const [index, line] of lines.entries()) if (line === '-- ') found.add(index)
  return (index) => found.has(index)
}

// A range of kept lines, from `from` to before `to`.
type Run = { from: number; to: number; isForwarded: boolean }

/** Finds the ranges of lines outside quotations. Shortens a line that holds own words and an attribution to the own words. */
class QuoteRemover {
  readonly #lines: string[]
  readonly #isForward: boolean
  readonly #nextText: Int32Array
  readonly #kept: Run[] = []
  // The first line that is not yet kept or dropped.
  #from = 0
  // True when a kept line has text.
  #hasText = false
  // The quote mark of this message besides ">", such as "|" or "AB>". Set by an attribution above such a line.
  #ownMark: string | null = null

  constructor(lines: string[], isForward: boolean) {
    this.#lines = lines
    this.#isForward = isForward
    this.#nextText = nextTextLines(lines)
  }

  /** `hasCut` is true when an unmarked quotation was cut off, which may contain new text. */
  remove(): { kept: Run[]; hasCut: boolean } {
    const lines = this.#lines
    let hasCut = false
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index]!
      if (line === '') continue
      if (isForwardMark(line)) {
        this.#keepForwarded(index)
        break
      }
      const end = this.#dropAttribution(index)
      if (end > index) {
        index = end - 1
        continue
      }
      if (this.#isQuoted(line)) {
        this.#drop(index, index + 1)
        continue
      }
      if (isReplyAboveMark(line) && this.#hasTextBefore(index)) {
        this.#drop(Math.max(this.#from, cutStart(lines, index)), lines.length)
        break
      }
      if (isOriginalMark(lines, index) && this.#isAttributionBelow(index)) {
        this.#drop(Math.max(this.#from, cutStart(lines, index)), index + 1)
        continue
      }
      const blockEnd = isOriginalMark(lines, index) ? this.#endOfOriginalMark(index) : findHeaderBlockEnd(lines, index)
      if (blockEnd < 0) continue
      if (this.#isForward) {
        this.#keepForwarded(index)
        break
      }
      hasCut = true
      const next = this.#nextText[blockEnd]!
      const isMarked = next < lines.length && this.#isQuoted(lines[next]!)
      this.#drop(Math.max(this.#from, cutStart(lines, index)), isMarked ? blockEnd : lines.length)
      if (!isMarked) break
      index = blockEnd - 1
    }
    if (this.#from < lines.length) this.#kept.push({ from: this.#from, to: lines.length, isForwarded: false })
    return { kept: this.#kept, hasCut }
  }

  #drop(start: number, next: number): void {
    this.#hasText ||= this.#hasTextBefore(start)
    if (start > this.#from) this.#kept.push({ from: this.#from, to: start, isForwarded: false })
    this.#from = next
  }

  #isQuoted(line: string): boolean {
    return isQuoted(line) || (this.#ownMark !== null && line.trimStart().startsWith(this.#ownMark))
  }

  #keepForwarded(index: number): void {
    this.#drop(index, this.#lines.length)
    this.#kept.push({ from: index, to: this.#lines.length, isForwarded: true })
  }

  #endOfOriginalMark(index: number): number {
    const next = this.#nextText[index + 1]!
    return Math.max(index + 1, next < this.#lines.length ? findHeaderBlockEnd(this.#lines, next) : -1)
  }

  #isAttributionBelow(index: number): boolean {
    const next = this.#nextText[index + 1]!
    return [next, next + 1].some((at) => at < this.#lines.length && findAttribution(this.#lines, at, next, true) !== null)
  }

  // Drops the attribution that ends on this line. Returns the next line to read, or `index` without an attribution.
  #dropAttribution(index: number): number {
    const lines = this.#lines
    const next = this.#nextText[index + 1]!
    const mark = next < lines.length ? quoteMarkOf(lines[next]!) : null
    const found = index >= this.#from ? findAttribution(lines, index, this.#from, mark !== null) : null
    if (found === null) return index
    const isFirst = !this.#hasTextBefore(found.start)
    this.#ownMark ??= mark === '>' ? null : mark
    if (found.before !== '') lines[found.start] = found.before
    if (found.behind !== '' && isFirst) lines[index] = found.behind
    const keepsBefore = found.before !== ''
    this.#drop(keepsBefore ? found.start + 1 : found.start, found.behind !== '' && isFirst ? index : index + 1)
    // An unmarked quotation below extends to the end. Without own words above, the text below is the reply.
    if (next < lines.length && mark === null && (!isFirst || keepsBefore)) {
      this.#from = lines.length
      return lines.length
    }
    if (found.behind !== '' && !isFirst) this.#from = lines.length
    return index + 1
  }

  #hasTextBefore(start: number): boolean {
    if (this.#hasText) return true
    for (let index = this.#from; index < start; index++) if (this.#lines[index] !== '') return true
    return false
  }
}

// For each line, the index of the first nonempty line at or after it.
function nextTextLines(lines: readonly string[]): Int32Array {
  const next = new Int32Array(lines.length + 1)
  next[lines.length] = lines.length
  for (let index = lines.length - 1; index >= 0; index--) next[index] = lines[index] === '' ? next[index + 1]! : index
  return next
}

// The start of a header block, including a dashed or underlined rule above it.
function cutStart(lines: readonly string[], index: number): number {
  let start = index
  for (let steps = 0; start > 0 && steps < 3; steps++) {
    const above = lines[start - 1]!
    if (above !== '' && !isRule(above)) break
    start--
  }
  return start
}

function joinRuns(lines: readonly string[], runs: readonly { from: number; to: number }[]): string {
  const pieces: string[] = []
  for (const { from, to } of runs) {
    let start = from
    let end = to
    while (start < end && lines[start] === '') start++
    while (end > start && lines[end - 1] === '') end--
    if (end > start) pieces.push(joinLines(lines, start, end))
  }
  return pieces.join('\n\n')
}

// Joins lines, with consecutive empty lines as one.
function joinLines(lines: readonly string[], from: number, to: number): string {
  const kept: string[] = []
  for (let index = from; index < to; index++) if (lines[index] !== '' || lines[index - 1] !== '' || index === from) kept.push(lines[index]!)
  return kept.join('\n')
}

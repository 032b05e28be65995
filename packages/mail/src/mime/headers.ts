// Splits the header block of a message or part into fields and finds where the body starts (RFC 5322 §2.2, §3.6.8, §4.5; RFC 6532).
import { isAscii } from 'node:buffer'
import { guessText } from './charsets.ts'

/** One header field: name as written, name in lower case, value unfolded and read as UTF-8 or windows-1252, encoded words still encoded. */
export type HeaderField = { name: string; key: string; value: string }

/** The fields of a header block, the offset of the body, and the defects. */
export type HeaderBlock = { fields: HeaderField[]; bodyStart: number; defects: HeaderDefect[] }

/** `no-header-end`: no blank line. `bad-header-line`: a line that is not a field was skipped. `long-header`: fields above the limits were left out. */
export type HeaderDefect = 'no-header-end' | 'bad-header-line' | 'long-header'

/** Fields above either limit are left out. The SMTP server refuses such mail with 552 5.3.4. */
export const HEADER_BYTES_MAX = 256 * 1024
export const HEADER_LINES_MAX = 1000

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09
const COLON = 0x3a
const DASH = 0x2d

/**
 * Reads the header block that starts at `start`. `isDelimiter` is true for the offset of a delimiter line of an enclosing multipart, which ends the block.
 * `isWanted` selects fields by key, null selects all. 8-bit values that are not UTF-8 are read in `charset`, or as windows-1252. When the first line is not a field, the header is empty and the body starts at `start`.
 */
export function readHeaderBlock(
  raw: Buffer,
  start: number,
  isDelimiter: ((lineStart: number) => boolean) | null,
  isWanted: ((key: string) => boolean) | null,
  charset?: string,
): HeaderBlock {
  const end = raw.length
  const lineStarts: number[] = []
  let at = start
  let blockEnd = start
  let bodyStart = -1
  let isLong = false
  while (at < end) {
    const byte = raw[at]!
    if (byte === LF) bodyStart = at + 1
    else if (byte === CR && raw[at + 1] === LF) bodyStart = at + 2
    else if (byte === DASH && isDelimiter?.(at) === true) bodyStart = at
    if (bodyStart >= 0) break
    let next = at
    while (next < end && raw[next] !== LF) next++
    next = Math.min(end, next + 1)
    if (lineStarts.length >= HEADER_LINES_MAX || next - start > HEADER_BYTES_MAX) {
      isLong = true
    } else if (!isLong) {
      lineStarts.push(at)
      blockEnd = next
    }
    at = next
  }
  const block: HeaderBlock = { fields: [], bodyStart: bodyStart < 0 ? end : bodyStart, defects: [] }
  if (bodyStart < 0) block.defects.push('no-header-end')
  if (isLong) block.defects.push('long-header')
  if (!readFields(raw, start, blockEnd, lineStarts, { isWanted, charset }, block) && !isLong) {
    block.bodyStart = start
    block.fields = []
    block.defects = ['no-header-end']
  }
  return block
}

// Builds the fields. False when the first line is not a field, so that the complete text is the body.
function readFields(
  raw: Buffer,
  start: number,
  blockEnd: number,
  lineStarts: number[],
  { isWanted, charset }: { isWanted: ((key: string) => boolean) | null; charset: string | undefined },
  block: HeaderBlock,
): boolean {
  const hasEightBit = !isAscii(raw.subarray(start, blockEnd))
  const text = raw.toString('latin1', start, blockEnd)
  let index = 0
  // Skips an mbox separator line before the first field.
  if (/^>?From /.test(text.slice(0, 6)) && lineStarts.length > 1) index = 1
  const first = index
  let isContentField = false
  while (index < lineStarts.length) {
    const from = lineStarts[index]! - start
    let until = index + 1
    while (until < lineStarts.length && isFold(raw[lineStarts[until]!]!)) until++
    const to = until < lineStarts.length ? lineStarts[until]! - start : text.length
    const colon = findNameEnd(text, from, to)
    if (isContentField && isStrayParameter(text, from)) {
      block.fields.at(-1)!.value += ` ${unfold(text.slice(from, to))}`
      if (!block.defects.includes('bad-header-line')) block.defects.push('bad-header-line')
    } else if (colon < 0) {
      if (index === first) return false
      if (!block.defects.includes('bad-header-line')) block.defects.push('bad-header-line')
    } else {
      const name = text.slice(from, colon).trimEnd()
      const key = name.toLowerCase()
      isContentField = key.startsWith('content-') && (isWanted === null || isWanted(key))
      if (isWanted === null || isWanted(key)) {
        const begin = text.indexOf(':', colon) + 1
        const folded = hasEightBit ? guessText(raw.subarray(start + begin, start + to), charset) : text.slice(begin, to)
        block.fields.push({ name, key, value: until - index > 1 ? unfold(folded) : folded.trim() })
      }
    }
    index = until
  }
  return true
}

// True for a parameter whose line lost its indent, such as "boundary=x" after "Content-Type: multipart/mixed;".
function isStrayParameter(text: string, from: number): boolean {
  return /^[a-z][\w-]{0,30}(?:\*\d{0,4}\*?)?=["\w]/i.test(text.slice(from, from + 50))
}

function isFold(byte: number): boolean {
  return byte === SPACE || byte === TAB
}

// The end of the field name, at its colon or at the blanks before it (RFC 5322 §4.5). -1 for a line that is not a field.
function findNameEnd(text: string, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code === COLON) return at === from ? -1 : at
    if (code > SPACE && code < 0x7f) continue
    if (at === from || (code !== SPACE && code !== TAB)) return -1
    let colon = at + 1
    while (colon < to && isFold(text.charCodeAt(colon))) colon++
    return text.charCodeAt(colon) === COLON ? at : -1
  }
  return -1
}

// Unfolds a value: a line end and the white space after it become one space.
function unfold(value: string): string {
  return value.replace(/\r?\n[ \t]*/g, ' ').trim()
}

/** The value of the first field with that key, or null. */
export function findValue(fields: readonly HeaderField[], key: string): string | null {
  for (const field of fields) if (field.key === key) return field.value
  return null
}

/** The values of all fields with that key, in order. */
export function findValues(fields: readonly HeaderField[], key: string): string[] {
  const values: string[] = []
  for (const field of fields) if (field.key === key) values.push(field.value)
  return values
}

// The canonical forms of header fields and bodies (RFC 6376 §3.4), which are hashed and tolerate changes of white space.

import { octetsBelow, type Words, wordsOf } from '../../text/word-scan.ts'

/** One header field: its name in lower case, and its raw text with folding, without the last CRLF. Octets as Latin-1. */
export type RawField = { key: string; text: string }

const space = 32
const tab = 9
const cr = 13
const lf = 10

/** Splits a message with CRLF line ends at the empty line. Octets above 127 are kept as Latin-1. */
export function splitMessage(raw: Buffer): { fields: RawField[]; body: Buffer } {
  const end = raw.indexOf('\r\n\r\n')
  const header = raw.toString('latin1', 0, end === -1 ? raw.length : end)
  const fields = header.split(/\r\n(?![ \t])/).flatMap((text): RawField[] => {
    const colon = text.indexOf(':')
    return colon < 1 ? [] : [{ key: text.slice(0, colon).trimEnd().toLowerCase(), text }]
  })
  return { fields, body: end === -1 ? Buffer.alloc(0) : raw.subarray(end + 4) }
}

/** A field in its relaxed form, without the last CRLF. */
export function relaxedField({ key, text }: RawField): string {
  let value = text.slice(text.indexOf(':') + 1)
  // Fast path: most fields have one line with single blanks.
  if (/[\t\r]| {2}/.test(value)) value = value.replace(/\r\n/g, '').replace(/[ \t]+/g, ' ')
  return `${key}:${value.slice(value.startsWith(' ') ? 1 : 0, value.endsWith(' ') ? -1 : undefined)}`
}

/** Bytes that are scanned one by one after a change, because white space is often dense and a search has a fixed cost. */
const nearBytes = 512

/**
 * A body in its relaxed form. Empty for a body of empty lines. An unchanged body is a part of `body` itself, so that most mail is hashed without a
 * copy.
 */
export function relaxedBody(body: Buffer): Buffer {
  const end = relaxedEnd(body)
  if (end === 0) return body.subarray(0, 0)
  const words = wordsOf(body)
  let found = findChanging(body, words, 0, end)
  if (found < 0) return withLineEnd(body, end)
  const out = Buffer.allocUnsafe(end + 2)
  let at = 0
  let from = 0
  while (found >= 0) {
    at += body.copy(out, at, from, found)
    from = found
    const near = Math.min(end, from + nearBytes)
    while (from < near) {
      const byte = body[from++] as number
      if (!isBlank(byte)) out[at++] = byte
      else {
        while (isBlank(body[from])) from++
        if (body[from] !== cr || body[from + 1] !== lf) out[at++] = space
      }
    }
    found = findChanging(body, words, from, end)
  }
  at += body.copy(out, at, from, end)
  out[at++] = cr
  out[at++] = lf
  return out.subarray(0, at)
}

/** The offset of the first white space in body[from, end) that the relaxed form changes: a tab, several blanks, or a blank before a line end. -1 without one. */
function findChanging(body: Buffer, words: Words, from: number, end: number): number {
  for (let index = from; index < end; ) {
    const block = body.subarray(index, Math.min(end, index + blockBytes))
    const blockEnd = index + block.length
    const tabAt = block.indexOf(tab)
    const stop = tabAt < 0 ? blockEnd : index + tabAt
    const blankAt = block.indexOf(space)
    const found = blankAt < 0 ? -1 : findChangingBlank(body, words, index + blankAt, stop)
    if (found >= 0) return found
    if (tabAt >= 0) return stop
    index = blockEnd
  }
  return -1
}

/** Bytes per native search for the next tab and blank. Attachments have long stretches without them, and other text must not be searched far ahead. */
const blockBytes = 4096
const spaces = 0x2020_2020

/** The offset of a blank in body[from, stop) with white space or a CR after it, or -1. */
function findChangingBlank(body: Buffer, { words, skew }: Words, from: number, stop: number): number {
  let index = from
  for (; index < stop && (index + skew) % 4 !== 0; index++) if (isChanging(body, index)) return index
  const last = ((stop + skew) >> 2) - 1
  let word = (index + skew) >> 2
  if (word < last) {
    // Skips four octets at a time while each blank in them is followed by neither a blank nor a line end.
    let four = words[word] as number
    for (; word < last; word++) {
      const next = words[word + 1] as number
      if ((octetsBelow(four ^ spaces, 1) & octetsBelow((four >>> 8) | (next << 24), space + 1)) !== 0) {
        const at = word * 4 - skew
        for (let near = at; near < at + 4; near++) if (isChanging(body, near)) return near
      }
      four = next
    }
    index = word * 4 - skew
  }
  for (; index < stop; index++) if (isChanging(body, index)) return index
  return -1
}

/** True for a blank at this offset that the relaxed form may remove or join with the next. */
const isChanging = (body: Buffer, index: number): boolean => body[index] === space && (isBlank(body[index + 1]) || body[index + 1] === cr)

const isBlank = (byte: number | undefined): boolean => byte === space || byte === tab

/** A body in its simple form (RFC 6376 §3.4.3): unchanged, with exactly one CRLF at its end. */
export function simpleBody(body: Buffer): Buffer {
  let end = body.length
  while (body[end - 1] === lf && body[end - 2] === cr) end -= 2
  return withLineEnd(body, end)
}

/** The end of the last nonempty line, without its trailing white space. 0 without such a line. */
function relaxedEnd(body: Buffer): number {
  let end = body.length
  while (end > 0) {
    if (isBlank(body[end - 1])) end--
    else if (body[end - 1] === lf && body[end - 2] === cr) end -= 2
    else break
  }
  return end
}

/** The body up to `end` and a CRLF. Not copied when a CRLF follows `end`. */
function withLineEnd(body: Buffer, end: number): Buffer {
  if (body[end] === cr && body[end + 1] === lf) return body.subarray(0, end + 2)
  const out = Buffer.allocUnsafe(end + 2)
  body.copy(out, 0, 0, end)
  out[end] = cr
  out[end + 1] = lf
  return out
}

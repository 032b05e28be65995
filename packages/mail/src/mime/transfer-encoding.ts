// Decodes and measures base64 and quoted-printable bodies (RFC 2045 §6.7, §6.8) in place in the raw message.

/** The encoding of a body. 7bit, 8bit, binary and unknown encodings are `identity`. */
export type TransferEncoding = 'base64' | 'quoted-printable' | 'identity'

const EQUALS = 0x3d
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09
const CHUNK_BYTES = 48 * 1024

// The six-bit value of each base64 byte, 255 for the others. The URL alphabet is accepted, as Buffer does.
const SIX_BITS = new Uint8Array(256).fill(255)
for (const [value, character] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  SIX_BITS[character.charCodeAt(0)] = value
SIX_BITS[0x2d] = 62
SIX_BITS[0x5f] = 63

// The number of alphabet bytes in each 16-bit word, which halves the cost of a count.
const PAIR_COUNTS = new Uint8Array(65_536)
for (let word = 0; word < 65_536; word++) PAIR_COUNTS[word] = (SIX_BITS[word & 255]! < 64 ? 1 : 0) + (SIX_BITS[word >> 8]! < 64 ? 1 : 0)

const HEX = new Int8Array(256).fill(-1)
for (const [value, character] of [...'0123456789ABCDEF'].entries()) {
  HEX[character.charCodeAt(0)] = value
  HEX[character.toLowerCase().charCodeAt(0)] = value
}

/** Reads a Content-Transfer-Encoding value. `isKnown` is true for an encoding of RFC 2045. Quotes, comments and a stray semicolon are tolerated. */
export function readTransferEncoding(value: string): { encoding: TransferEncoding; isKnown: boolean } {
  const written = value.slice(0, 200).replace(/\([^)]*\)/g, '')
  const word = /[a-z0-9-]+/.exec(written.toLowerCase())?.[0] ?? ''
  if (word === 'base64' || word === 'quoted-printable') return { encoding: word, isKnown: true }
  return { encoding: 'identity', isKnown: word === '' || word === '7bit' || word === '8bit' || word === 'binary' }
}

/** Decodes a body. Base64 skips bytes outside its alphabet and continues after padding. Quoted-printable keeps invalid escapes. */
export function decodeAttachment(raw: Buffer, encoding: TransferEncoding): Buffer {
  return decodeBody(raw, 0, raw.length, encoding, Number.POSITIVE_INFINITY)
}

/** Decodes `raw[start..end)` to about `bytesMax` bytes at most. Identity is not copied. */
export function decodeBody(raw: Buffer, start: number, end: number, encoding: TransferEncoding, bytesMax: number): Buffer {
  if (encoding === 'identity') return raw.subarray(start, Math.min(end, start + bytesMax))
  if (encoding === 'base64') return decodeBase64(raw, start, Math.min(end, start + bytesMax * 2))
  const encodedEnd = Math.min(end, start + bytesMax * 3)
  const decoded = Buffer.allocUnsafe(Math.min(encodedEnd - start, bytesMax))
  return decoded.subarray(0, readQuotedPrintable(raw, start, encodedEnd, decoded))
}

/** The size of `raw[start..end)` after `decodeAttachment`, without decoding it. */
export function measureDecoded(raw: Buffer, start: number, end: number, encoding: TransferEncoding): number {
  if (encoding === 'identity') return end - start
  if (encoding === 'quoted-printable') return readQuotedPrintable(raw, start, end, null)
  const dataEnd = findCleanEnd(raw, start, end)
  return dataEnd < 0 ? readPaddedBase64(raw, start, end, null) : Math.floor((countBase64(raw, start, dataEnd) * 3) / 4)
}

/** True when the first 4 KB of a base64 body contain bytes outside its alphabet, padding and white space. */
export function hasBadBase64(raw: Buffer, start: number, end: number): boolean {
  const stop = Math.min(end, start + 4096)
  for (let at = start; at < stop; at++) {
    const byte = raw[at]!
    if (SIX_BITS[byte] === 255 && byte !== EQUALS && byte !== LF && byte !== CR && byte !== SPACE && byte !== TAB) return true
  }
  return false
}

// The end of the data before its padding, or -1 when data follows padding, as in joined base64 texts.
function findCleanEnd(raw: Buffer, start: number, end: number): number {
  const padding = raw.subarray(start, end).indexOf(EQUALS)
  if (padding < 0) return end
  for (let at = start + padding; at < end; at++) if (SIX_BITS[raw[at]!]! < 64) return -1
  return start + padding
}

function countBase64(raw: Buffer, start: number, end: number): number {
  let count = 0
  let at = start
  if (at < end && (raw.byteOffset + at) % 2 === 1) {
    if (SIX_BITS[raw[at]!]! < 64) count++
    at++
  }
  if (end - at >= 2) {
    const words = new Uint16Array(raw.buffer, raw.byteOffset + at, (end - at) >> 1)
    for (let index = 0; index < words.length; index++) count += PAIR_COUNTS[words[index]!]!
    at += words.length * 2
  }
  if (at < end && SIX_BITS[raw[at]!]! < 64) count++
  return count
}

function decodeBase64(raw: Buffer, start: number, end: number): Buffer {
  const dataEnd = findCleanEnd(raw, start, end)
  const decoded = Buffer.allocUnsafe(Math.ceil(((end - start) * 3) / 4) + 3)
  if (dataEnd < 0) return decoded.subarray(0, readPaddedBase64(raw, start, end, decoded))
  // In chunks of complete quanta, because one 14 MB string would cost more than the decoding.
  let written = 0
  let at = start
  while (at < dataEnd) {
    let stop = Math.min(dataEnd, at + CHUNK_BYTES)
    let count = countBase64(raw, at, stop)
    while (count % 4 !== 0 && stop < dataEnd) {
      if (SIX_BITS[raw[stop]!]! < 64) count++
      stop++
    }
    written += decoded.write(raw.toString('latin1', at, stop), written, 'base64')
    at = stop
  }
  return decoded.subarray(0, written)
}

// Base64 with padding in the middle, where each padding ends a text. One pass, because there may be millions of texts.
function readPaddedBase64(raw: Buffer, start: number, end: number, into: Buffer | null): number {
  let written = 0
  let bits = 0
  let held = 0
  for (let at = start; at < end; at++) {
    const byte = raw[at]!
    const six = SIX_BITS[byte]!
    if (six < 64) {
      bits = ((bits << 6) | six) & 0xffff
      held += 6
      if (held >= 8) {
        held -= 8
        if (into !== null) into[written] = (bits >> held) & 255
        written++
      }
    } else if (byte === EQUALS) {
      held = 0
    }
  }
  return written
}

// Decodes into a buffer until it is full, or only counts without one. White space before a line end is removed (RFC 2045 §6.7 rule 3).
function readQuotedPrintable(raw: Buffer, start: number, end: number, into: Buffer | null): number {
  const limit = into === null ? Number.POSITIVE_INFINITY : into.length
  let written = 0
  let kept = 0
  let at = start
  while (at < end && written < limit) {
    let byte = raw[at]!
    if (byte > SPACE && byte !== EQUALS) {
      // Fast path: most octets are literal and in runs.
      do {
        if (into !== null) into[written] = byte
        written++
        at++
        if (at === end || written === limit) break
        byte = raw[at]!
      } while (byte > SPACE && byte !== EQUALS)
      kept = written
      continue
    }
    if (byte === EQUALS) {
      const high = at + 2 < end ? HEX[raw[at + 1]!]! : -1
      const low = high < 0 ? -1 : HEX[raw[at + 2]!]!
      if (low >= 0) {
        if (into !== null) into[written] = (high << 4) | low
        kept = ++written
        at += 3
        continue
      }
      const next = findSoftBreakEnd(raw, at + 1, end)
      if (next >= 0) {
        kept = written
        at = next
        continue
      }
    } else if (byte === LF || (byte === CR && raw[at + 1] === LF)) {
      written = kept
    }
    if (into !== null) into[written] = byte
    written++
    if (byte !== SPACE && byte !== TAB) kept = written
    at++
  }
  return at >= end ? kept : written
}

// After `=`, optional white space and a line end or the end of the body are a soft line break. At most 78 blanks are skipped, so that a flood stays linear.
function findSoftBreakEnd(raw: Buffer, from: number, end: number): number {
  let at = from
  if (from < end && raw[from]! > SPACE) return -1
  const stop = Math.min(end, from + 78)
  while (at < stop && (raw[at] === SPACE || raw[at] === TAB)) at++
  if (at >= end) return end
  if (raw[at] === CR && raw[at + 1] === LF) return at + 2
  if (raw[at] === LF || raw[at] === CR) return at + 1
  return -1
}

// Decodes the encoded words of header text (RFC 2047), joining characters that were split over neighbouring words.
import { decodeText, encodeGuessed } from './charsets.ts'

/** An encoded word in a text: its charset, its encoded text, and the offset of its end. */
type EncodedWord = { charset: string; isBase64: boolean; text: string; end: number }

const CHARSET_CHARACTERS_MAX = 60

/**
 * Finds the encoded word `=?charset?B|Q?text?=` that starts at `at`, or null. A language suffix of the charset (RFC 2231 §5) is dropped. Blanks inside the
 * text are tolerated, and question marks in the Q encoding. A failed try never looks past the next candidate, so any number of tries stays linear.
 */
export function readEncodedWord(value: string, at: number): EncodedWord | null {
  if (value.charCodeAt(at) !== 0x3d || value.charCodeAt(at + 1) !== 0x3f) return null
  const charsetEnd = findQuestionMark(value, at + 2, at + 2 + CHARSET_CHARACTERS_MAX)
  if (charsetEnd <= at + 2 || value.charCodeAt(charsetEnd + 2) !== 0x3f) return null
  const kind = value.charCodeAt(charsetEnd + 1) | 0x20
  if (kind !== 0x62 && kind !== 0x71) return null
  let textEnd = value.indexOf('?', charsetEnd + 3)
  // Some senders do not encode the question marks of "=?utf-8?Q?Really??=".
  while (kind === 0x71 && textEnd >= 0 && isTextMark(value, textEnd)) textEnd = value.indexOf('?', textEnd + 1)
  if (textEnd < 0 || value.charCodeAt(textEnd + 1) !== 0x3d) return null
  const label = value.slice(at + 2, charsetEnd)
  const star = label.indexOf('*')
  return {
    charset: (star < 0 ? label : label.slice(0, star)).toLowerCase(),
    isBase64: kind === 0x62,
    text: value.slice(charsetEnd + 3, textEnd),
    end: textEnd + 2,
  }
}

// True for a `?` that neither ends a word nor begins one.
function isTextMark(value: string, at: number): boolean {
  return value.charCodeAt(at + 1) !== 0x3d && value.charCodeAt(at - 1) !== 0x3d
}

function findQuestionMark(value: string, from: number, stop: number): number {
  for (let at = from; at < stop; at++) {
    const code = value.charCodeAt(at)
    if (code === 0x3f) return at
    if (Number.isNaN(code) || code <= 0x20 || code === 0x3d) return -1
  }
  return -1
}

/** Decodes the encoded words of a text. Drops white space between neighbouring words (RFC 2047 §6.2). Keeps malformed words unchanged. */
export function decodeEncodedWords(value: string): string {
  let at = value.indexOf('=?')
  if (at < 0) return value
  const pieces: string[] = []
  let run: WordRun | null = null
  let last = 0
  while (at >= 0) {
    const found = readEncodedWord(value, at)
    if (found === null) {
      at = value.indexOf('=?', at + 1)
      continue
    }
    const word = toBytes(found)
    const gap = value.slice(last, at)
    if (run !== null && (run.charset !== word.charset || !isBlank(gap))) {
      pieces.push(finishRun(run))
      if (!isBlank(gap)) pieces.push(gap)
      run = null
    } else if (run === null) {
      pieces.push(gap)
    }
    run ??= { charset: word.charset, bytes: [], base64: '' }
    addWord(run, word)
    last = word.end
    at = value.indexOf('=?', last)
  }
  if (run !== null) pieces.push(finishRun(run))
  pieces.push(value.slice(last))
  return pieces.join('')
}

// Neighbouring words of one charset: their bytes are joined before decoding, and unpadded base64 is joined before that.
type WordRun = { charset: string; bytes: Buffer[]; base64: string }

// An encoded word after the Q encoding. `quoted` is null for base64.
type ByteWord = { charset: string; quoted: Buffer | null; base64: string; end: number }

// Unencoded characters beyond ASCII become the bytes that they were read from.
function toBytes({ charset, isBase64, text, end }: EncodedWord): ByteWord {
  if (isBase64) return { charset, quoted: null, base64: text, end }
  const { bytes, label } = encodeGuessed(text, charset)
  return { charset: label, quoted: decodeQ(bytes), base64: '', end }
}

function addWord(run: WordRun, word: ByteWord): void {
  if (word.quoted !== null) {
    flushBase64(run)
    run.bytes.push(word.quoted)
    return
  }
  run.base64 += word.base64
  if (run.base64.length % 4 === 0 || run.base64.endsWith('=')) flushBase64(run)
}

function flushBase64(run: WordRun): void {
  if (run.base64 === '') return
  run.bytes.push(Buffer.from(run.base64, 'base64'))
  run.base64 = ''
}

function finishRun(run: WordRun): string {
  flushBase64(run)
  return decodeText(Buffer.concat(run.bytes), run.charset).text
}

// The Q encoding (RFC 2047 §4.2), decoded in place.
function decodeQ(bytes: Buffer): Buffer {
  let written = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === 0x5f) {
      bytes[written++] = 0x20
      continue
    }
    const high = byte === 0x3d && at + 2 < bytes.length ? hexValue(bytes[at + 1]!) : -1
    const low = high < 0 ? -1 : hexValue(bytes[at + 2]!)
    if (low >= 0) {
      bytes[written++] = (high << 4) | low
      at += 2
    } else {
      bytes[written++] = byte
    }
  }
  return bytes.subarray(0, written)
}

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

function isBlank(gap: string): boolean {
  for (let at = 0; at < gap.length; at++) if (gap.charCodeAt(at) > 0x20) return false
  return true
}

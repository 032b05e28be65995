// Decodes text by the charset label of a mail, including the aliases and wrong labels of real mail.
import { isAscii, isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { decodeOther, widen } from './other-charsets.ts'

/** A decoded text. `isKnown` is false for an unknown charset label, with which bytes are read as UTF-8 or windows-1252. */
export type DecodedText = { text: string; isKnown: boolean }

// Keys are labels in lower case without anything but letters and digits. Values are names of the Encoding Standard (https://encoding.spec.whatwg.org/#names-and-labels).
const ENCODINGS = new Map<string, string>([
  ['utf16', 'utf-16'],
  ['utf16be', 'utf-16be'],
  ['utf16le', 'utf-16le'],
  ['ucs2', 'utf-16'],
  ['iso10646ucs2', 'utf-16'],
  ['utf7', 'utf-7'],
  ['unicode11utf7', 'utf-7'],
  ['csunicode11utf7', 'utf-7'],
  ['gb18030', 'gb18030'],
  ['gb180302000', 'gb18030'],
  ['hkscs', 'big5'],
  ['macintosh', 'macintosh'],
  ['mac', 'macintosh'],
  ['macroman', 'macintosh'],
  ['xmacroman', 'macintosh'],
  ['xmaccyrillic', 'x-mac-cyrillic'],
  ['maccyrillic', 'x-mac-cyrillic'],
])
for (const label of ['utf8', 'unicode11utf8', 'utf8mb4', 'utf8mb3', 'utf8sig', 'utf08', 'xunicode20utf8']) ENCODINGS.set(label, 'utf-8')
for (const label of [
  'shiftjis',
  'sjis',
  'xsjis',
  'mskanji',
  'csshiftjis',
  'windows31j',
  'ms932',
  'cp932',
  'windows932',
  'shiftjis2004',
  'cp943',
])
  ENCODINGS.set(label, 'shift_jis')
for (const label of ['eucjp', 'xeucjp', 'eucjpms', 'cp51932', 'ujis', 'cseucpkdfmtjapanese']) ENCODINGS.set(label, 'euc-jp')
for (const label of ['iso2022jp', 'iso2022jp1', 'iso2022jp2', 'iso2022jpms', 'csiso2022jp', 'cp50220', 'cp50221', 'cp50222', 'jis'])
  ENCODINGS.set(label, 'iso-2022-jp')
for (const label of [
  'euckr',
  'cseuckr',
  'ksc56011987',
  'ksc56011989',
  'ksc5601',
  'cp949',
  'ms949',
  'windows949',
  'uhc',
  'korean',
  'isoir149',
  'csksc56011987',
])
  ENCODINGS.set(label, 'euc-kr')
for (const label of [
  'gbk',
  'xgbk',
  'gb2312',
  'gb231280',
  'csgb2312',
  'csiso58gb231280',
  'isoir58',
  'chinese',
  'cp936',
  'ms936',
  'windows936',
  'euccn',
  'xeuccn',
])
  ENCODINGS.set(label, 'gbk')
for (const label of ['big5', 'big5hkscs', 'cnbig5', 'csbig5', 'xxbig5', 'cp950', 'ms950', 'windows950', 'big5eten'])
  ENCODINGS.set(label, 'big5')
for (const label of ['koi8r', 'koi8', 'koi', 'cskoi8r']) ENCODINGS.set(label, 'koi8-r')
for (const label of ['koi8u', 'koi8ru']) ENCODINGS.set(label, 'koi8-u')
for (const label of ['ibm866', 'cp866', '866', 'csibm866', 'dos866']) ENCODINGS.set(label, 'ibm866')
for (const label of ['windows874', 'cp874', 'dos874', 'tis620', 'iso885911']) ENCODINGS.set(label, 'windows-874')
for (let page = 1250; page <= 1258; page++)
  for (const prefix of ['windows', 'win', 'cp', 'xcp', 'ms', 'ansi']) ENCODINGS.set(`${prefix}${page}`, `windows-${page}`)
for (const part of [2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16])
  for (const prefix of ['iso8859', '8859', 'iso']) ENCODINGS.set(`${prefix}${part}`, `iso-8859-${part}`)
for (const label of ['iso88591', '88591', 'latin1', 'l1', 'isolatin1', 'csisolatin1', 'cp819', 'ibm819', 'isoir100', 'ansi'])
  ENCODINGS.set(label, 'windows-1252')
for (const label of ['iso88599', '88599', 'latin5', 'l5', 'csisolatin5']) ENCODINGS.set(label, 'windows-1254')
for (const [label, part] of [
  ['latin2', 2],
  ['l2', 2],
  ['csisolatin2', 2],
  ['latin3', 3],
  ['latin4', 4],
  ['csisolatincyrillic', 5],
  ['cyrillic', 5],
  ['arabic', 6],
  ['csisolatinarabic', 6],
  ['greek', 7],
  ['csisolatingreek', 7],
  ['hebrew', 8],
  ['visual', 8],
  ['csisolatinhebrew', 8],
  ['iso88598e', 8],
  ['iso88598i', 8],
  ['logical', 8],
  ['latin6', 10],
  ['latin9', 15],
] as const)
  ENCODINGS.set(label, `iso-8859-${part}`)

// Labels of plain ASCII. The charset of 8-bit bytes is guessed, because such a label is often wrong.
const UNDECLARED = new Set([
  '',
  'usascii',
  'ascii',
  'ansix341968',
  'ansix341986',
  'iso646us',
  'isoir6',
  '646',
  '7bit',
  '8bit',
  'binary',
  'unknown8bit',
  'xunknown',
  'unknown',
  'default',
])

// One decoder per encoding name, so that the table above bounds their number.
const decoders = new Map<string, TextDecoder>()

function decoderOf(encoding: string): TextDecoder {
  let decoder = decoders.get(encoding)
  if (decoder === undefined) {
    decoder = new TextDecoder(encoding, { ignoreBOM: false })
    decoders.set(encoding, decoder)
  }
  return decoder
}

/** Reads bytes as UTF-8 when they are valid, else in this charset if it has them, else as windows-1252, the usual charset of undeclared 8-bit text. */
export function guessText(bytes: Buffer, charset?: string): string {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (isUtf8(bytes)) return utf8Text(bytes)
  const { text, isKnown } = charset === undefined ? { text: '', isKnown: false } : decodeText(bytes, charset)
  return isKnown && !text.includes('\ufffd') ? text : decoderOf('windows-1252').decode(bytes)
}

/**
 * The bytes behind a text that `guessText` read before its charset label was known, and the charset to decode them by. Characters that windows-1252 has
 * become its bytes again, so that the label decides. Other characters were valid UTF-8 already, whatever the label. Without a label the bytes are UTF-8.
 */
export function encodeGuessed(text: string, label: string): { bytes: Buffer; label: string } {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length === text.length || label === '' || ENCODINGS.get(labelKey(label)) === 'utf-8') return { bytes, label }
  westernBytes ??= readWesternBytes()
  for (let at = 0; at < text.length; at++) {
    const byte = westernBytes.get(text.charCodeAt(at))
    if (byte === undefined) return { bytes, label: 'utf-8' }
    bytes[at] = byte
  }
  return { bytes: bytes.subarray(0, text.length), label }
}

// The windows-1252 byte of each of its characters. Built on first use.
let westernBytes: Map<number, number> | null = null

function readWesternBytes(): Map<number, number> {
  const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
  return new Map([...decoderOf('windows-1252').decode(all)].map((character, byte) => [character.charCodeAt(0), byte]))
}

function utf8Text(bytes: Buffer): string {
  const hasMark = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return hasMark ? bytes.toString('utf8', 3) : bytes.toString('utf8')
}

const labelKey = (label: string): string => label.toLowerCase().replace(/[^a-z0-9]/g, '')

/** Decodes bytes by a charset label, which is `null` without one. Malformed sequences become U+FFFD. A byte order mark is dropped. */
export function decodeText(bytes: Buffer, label: string | null): DecodedText {
  const key = label === null ? '' : labelKey(label)
  if (UNDECLARED.has(key)) return { text: guessText(bytes), isKnown: true }
  const encoding = ENCODINGS.get(key)
  if (encoding === undefined) return decodeOutside(bytes, key)
  if (encoding === 'utf-8') return { text: utf8Text(bytes), isKnown: true }
  if (encoding === 'utf-7') return { text: decodeUtf7(bytes), isKnown: true }
  if (encoding === 'utf-16') return { text: decoderOf(hasLittleEndianMark(bytes) ? 'utf-16le' : 'utf-16be').decode(bytes), isKnown: true }
  return { text: decoderOf(encoding).decode(encoding === 'iso-2022-jp' ? withoutIdleEscapes(bytes) : bytes), isKnown: true }
}

// A charset outside the Encoding Standard, or an unknown one.
function decodeOutside(bytes: Buffer, key: string): DecodedText {
  const wide = widen(bytes, key)
  const text = wide === null ? decodeOther(bytes, key) : decoderOf(wide.encoding).decode(wide.bytes)
  return text === null ? { text: guessText(bytes), isKnown: false } : { text, isKnown: true }
}

const ESCAPE = 0x1b
const ESCAPE_LENGTH = 3

/**
 * Drops escape sequences of ISO-2022-JP directly before another one. Adjacent encoded words cause such pairs, which the decoder replaces by U+FFFD as
 * the WHATWG Encoding Standard requires.
 */
function withoutIdleEscapes(bytes: Buffer): Buffer {
  const kept: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(ESCAPE); at >= 0; at = bytes.indexOf(ESCAPE, at + ESCAPE_LENGTH)) {
    if (bytes[at + ESCAPE_LENGTH] !== ESCAPE) continue
    kept.push(bytes.subarray(from, at))
    from = at + ESCAPE_LENGTH
  }
  return from === 0 ? bytes : Buffer.concat([...kept, bytes.subarray(from)])
}

// UTF-16 without a byte order mark is big-endian (RFC 2781 §4.3).
function hasLittleEndianMark(bytes: Buffer): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xfe
}

const PLUS = 0x2b
const MINUS = 0x2d

/** UTF-7 (RFC 2152): runs of modified base64 between `+` and the first byte outside its alphabet hold UTF-16BE. */
function decodeUtf7(bytes: Buffer): string {
  const units = new Uint16Array(bytes.length)
  let written = 0
  let at = 0
  while (at < bytes.length) {
    if (bytes[at] !== PLUS) {
      units[written++] = bytes[at++]!
      continue
    }
    const start = ++at
    let bits = 0
    let held = 0
    for (let value = base64Value(bytes[at]); value >= 0; value = base64Value(bytes[++at])) {
      bits = ((bits << 6) | value) & 0x3fffff
      held += 6
      if (held >= 16) {
        held -= 16
        units[written++] = (bits >> held) & 0xffff
      }
    }
    if (at === start) units[written++] = PLUS
    if (bytes[at] === MINUS) at++
  }
  return Buffer.from(units.buffer, 0, written * 2)
    .toString('utf16le')
    .toWellFormed()
}

function base64Value(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x41 && byte <= 0x5a) return byte - 0x41
  if (byte >= 0x61 && byte <= 0x7a) return byte - 0x47
  if (byte >= 0x30 && byte <= 0x39) return byte + 4
  return byte === 0x2b ? 62 : byte === 0x2f ? 63 : -1
}

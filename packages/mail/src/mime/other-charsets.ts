// Decodes charsets that mail uses and the Encoding Standard lacks: code pages of DOS and of the classic Mac, and 7-bit encodings of Korean and Chinese.
import iconv from 'iconv-lite'

// Code pages of DOS, IBM and the classic Mac by number (https://www.iana.org/assignments/character-sets), as iconv-lite names them.
const BY_NUMBER = new Map<number, string>(
  [
    437, 720, 737, 775, 850, 852, 855, 856, 857, 858, 860, 861, 862, 863, 864, 865, 869, 922, 1046, 1124, 1125, 1129, 1133, 1161, 1162,
    1163,
  ].map((page) => [page, `cp${page}`]),
)
for (const [page, name] of [
  [10000, 'macroman'],
  [10006, 'macgreek'],
  [10007, 'maccyrillic'],
  [10010, 'macromania'],
  [10017, 'macukraine'],
  [10021, 'macthai'],
  [10029, 'maccenteuro'],
  [10079, 'maciceland'],
  [10081, 'macturkish'],
  [10082, 'maccroatian'],
] as const)
  BY_NUMBER.set(page, name)

// Keys are labels in lower case without anything but letters and digits.
const BY_LABEL = new Map<string, string>(
  'macgreek macturkish macromania macthai macukraine maccroatian maciceland maccenteuro koi8t armscii8 rk1048 tcvn viscii georgianps georgianacademy pt154 hproman8 utf32 utf32le utf32be'
    .split(' ')
    .map((name) => [name, name]),
)
for (const [label, name] of [
  ['csviscii', 'viscii'],
  ['tcvn5712', 'tcvn'],
  ['hproman', 'hproman8'],
  ['roman8', 'hproman8'],
  ['strk10482002', 'rk1048'],
  ['macce', 'maccenteuro'],
  ['maccentraleurope', 'maccenteuro'],
  ['macicelandic', 'maciceland'],
  ['macromanian', 'macromania'],
  ['macukrainian', 'macukraine'],
  ['cspc8codepage437', 'cp437'],
  ['cspc775baltic', 'cp775'],
  ['cspc850multilingual', 'cp850'],
  ['cspcp852', 'cp852'],
  ['pcmultilingual850euro', 'cp858'],
  ['cspc862latinhebrew', 'cp862'],
] as const)
  BY_LABEL.set(label, name)

// "cp850", "csIBM850", "dos-850", "CCSID00858", "850".
const NUMBERED = /^(?:cs)?(?:x|cp|ccsid|ibm|dos|oem|pc|windows|mac){0,2}0{0,2}(\d{3,5})$/

const nameOf = (key: string): string | undefined => BY_LABEL.get(key.replace(/^x/, '')) ?? BY_NUMBER.get(Number(NUMBERED.exec(key)?.[1]))

/** Bytes in the shift states of a 7-bit encoding, as bytes of an 8-bit one. */
export type Widened = { bytes: Buffer; encoding: 'gbk' | 'euc-kr' }

/** The same text in an encoding of the Encoding Standard, for HZ (RFC 1843) and ISO-2022-KR (RFC 1557). `key` has only lower-case letters and digits. */
export function widen(bytes: Buffer, key: string): Widened | null {
  if (key === 'hzgb2312' || key === 'hz') return { bytes: widenHz(bytes), encoding: 'gbk' }
  if (key === 'iso2022kr' || key === 'csiso2022kr') return { bytes: widenKorean(bytes), encoding: 'euc-kr' }
  return null
}

/** The text of a code page, or null for an unknown label. `key` has only lower-case letters and digits. */
export function decodeOther(bytes: Buffer, key: string): string | null {
  const name = nameOf(key)
  return name === undefined ? null : iconv.decode(bytes, name)
}

const TILDE = 0x7e
const OPEN = 0x7b
const CLOSE = 0x7d
const LF = 0x0a

// "~{" begins characters of two bytes and "~}" ends them. "~~" is a tilde, and a tilde at the end of a line joins it with the next one.
function widenHz(bytes: Buffer): Buffer {
  const wide = Buffer.allocUnsafe(bytes.length)
  let written = 0
  let isWide = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    const next = bytes[at + 1]
    if (byte === TILDE && (next === OPEN || next === CLOSE || next === LF || (next === TILDE && !isWide))) {
      at++
      if (next === TILDE) wide[written++] = TILDE
      else if (next !== LF) isWide = next === OPEN
      continue
    }
    // A line ends the state, whatever its writer forgot.
    if (byte === LF) isWide = false
    wide[written++] = isWide && byte > 0x20 ? byte | 0x80 : byte
  }
  return wide.subarray(0, written)
}

const ESCAPE = 0x1b
const SHIFT_OUT = 0x0e
const SHIFT_IN = 0x0f
const DESIGNATOR = Buffer.from('\x1b$)C', 'latin1')

// The designator announces KS X 1001. Characters between SO and SI have two bytes.
function widenKorean(bytes: Buffer): Buffer {
  const wide = Buffer.allocUnsafe(bytes.length)
  let written = 0
  let isWide = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === SHIFT_OUT || byte === SHIFT_IN) isWide = byte === SHIFT_OUT
    else if (byte === ESCAPE && bytes.compare(DESIGNATOR, 0, DESIGNATOR.length, at, at + DESIGNATOR.length) === 0)
      at += DESIGNATOR.length - 1
    else {
      if (byte === LF) isWide = false
      wide[written++] = isWide && byte > 0x20 ? byte | 0x80 : byte
    }
  }
  return wide.subarray(0, written)
}

// Finds signatures at the end of a text.
import { DEVICE_SIGNATURES } from './device-phrases.ts'

/** True for the index of an exact "-- " line (RFC 3676 §4.3). */
export type IsExactSignature = (index: number) => boolean

const SIGNATURE_LINES_MAX = 10

/** The range of lines without its signature, which follows a "-- " line or a bare "--" near the end, or is the last line of a device. Empty when nothing else is left. */
export function findSignatures<T extends { from: number; to: number }>(lines: readonly string[], run: T, isExact: IsExactSignature): T[] {
  let to = run.to
  let textLinesBelow = 0
  for (let index = run.to - 1; index >= run.from; index--) {
    const line = lines[index]!
    if (isExact(index) || (isSignatureRule(line) && textLinesBelow <= SIGNATURE_LINES_MAX && textLinesBelow > 0)) to = index
    else if (isListFooter(lines, index, run.to)) to = index
    if (line !== '') textLinesBelow++
  }
  let last = to - 1
  while (last >= run.from && lines[last] === '') last--
  if (last >= run.from && isDeviceSignature(lines[last]!)) to = last
  else to = findDeviceParagraph(lines, run.from, to)
  return to > run.from ? [{ ...run, to }] : []
}

// The paragraph of a device below own text. The text below it is a quotation without marks, unless it is a postscript. Without one, `to`.
function findDeviceParagraph(lines: readonly string[], from: number, to: number): number {
  let textLines = 0
  for (let index = from; index < to; index++) {
    const line = lines[index]!
    if (line === '') continue
    const isParagraph = textLines > 0 && lines[index - 1] === '' && lines[index + 1] === ''
    if (isParagraph && NAMED_DEVICE.test(line) && isDeviceSignature(line)) {
      const next = lines.findIndex((below, at) => at > index && below !== '')
      return next >= 0 && POSTSCRIPT.test(lines[next]!) ? to : index
    }
    textLines++
  }
  return to
}

// Other phrases may begin a paragraph too.
const NAMED_DEVICE =
  /^\W*(?:sent from my|get outlook for)\s|iphone|ipad|android|phone|mobil|handy|tablet|outlook|galaxy|samsung|huawei|xiaomi|blackberry|windows/i
const POSTSCRIPT = /^\s*p\.? ?s\b/i

const FOOTER_LINES_MAX = 6

// The rule of Mailman and its relatives, above the name and the address of the list.
function isListFooter(lines: readonly string[], index: number, to: number): boolean {
  if (!/^\s?_{20,}$/.test(lines[index]!)) return false
  let textLines = 0
  let isNamed = false
  for (let at = index + 1; at < to; at++) {
    const line = lines[at]!
    if (line === '') continue
    if (++textLines > FOOTER_LINES_MAX) return false
    isNamed ||= /\bmailing list\b|\/(?:listinfo|mailman\d?|postorius)\//i.test(line)
  }
  return isNamed
}

/** The line at which the last signature begins: an exact "-- " with at most ten lines below, or the last line of a device. Without one, the number of lines. */
export function findLastSignature(lines: readonly string[], isExact: IsExactSignature): number {
  let last = lines.length - 1
  while (last >= 0 && lines[last] === '') last--
  if (last >= 0 && isDeviceSignature(lines[last]!)) return last
  let textLinesBelow = 0
  for (let index = last; index >= 0 && textLinesBelow <= SIGNATURE_LINES_MAX; index--) {
    if (isExact(index) || isListFooter(lines, index, lines.length)) return index
    if (lines[index] !== '') textLinesBelow++
  }
  return lines.length
}

function isSignatureRule(line: string): boolean {
  return line === '--' || line === '—' || line === '__' || line === '-- \u00a0'
}

const DEVICE_CHARACTERS_MAX = 120
const DEVICE_WORDS_MAX = 7

function isDeviceSignature(line: string): boolean {
  if (line.length > DEVICE_CHARACTERS_MAX) return false
  // Arabic and Hebrew lines begin with marks of direction.
  const lower = line
    .trim()
    .replace(/^[<([*\u200e\u200f\u202a-\u202e\u2066-\u2069]+/, '')
    .toLowerCase()
  const isPhrase = DEVICE_SIGNATURES.some((phrase) => lower.startsWith(phrase))
  return (isPhrase || DEVICE.test(lower)) && !isSentence(lower)
}

const DEVICE = /\bfrom my (?:iphone|ipad|android|mobile|phone|blackberry|galaxy|pixel|smartphone|tablet|cell)\b/

// "Sent from my desk, is much easier than my phone." continues behind its comma. "Sent from my phone, please excuse typos" is an apology.
function isSentence(lower: string): boolean {
  const withoutLinks = lower.replace(/[<([]?https?:\/\/\S*/g, '')
  const [head = '', tail = ''] = withoutLinks.split(/[,;.!–—](?=\s|$)(.*)/s)
  if (head.split(/\s+/).length > DEVICE_WORDS_MAX) return true
  return tail.trim() !== '' && !APOLOGY.test(tail)
}

const APOLOGY =
  /excuse|pardon|typo|brevity|brief|error|mistake|apolog|sorry|spell|autocorrect|auto-correct|short|entschuldig|tippfehler|kürze|excus|disculp|perd|scus|verontschuldig|ursäkta|undskyld|beklager|anteeksi|прости|извин|powered|on the|via|network/

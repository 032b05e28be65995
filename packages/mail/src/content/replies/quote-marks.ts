// Recognizes the lines by which mail programs mark a quoted or forwarded message.
import { type HeaderKind, inlineLabelKinds, labelKind } from './header-labels.ts'
import { FORWARDED_MESSAGE, ORIGINAL_MESSAGE } from './reply-phrases.ts'

/** True for a line that begins with ">". A line that begins with ">From " is text that a mailbox file escaped. */
export function isQuoted(line: string): boolean {
  let at = 0
  while (at < 3 && line.charCodeAt(at) === 0x20) at++
  const code = line.charCodeAt(at)
  return (code === 0x3e && !line.startsWith('>From ')) || code === 0xff1e
}

/** The quote mark of the line below an attribution, which is ">", "|" or initials such as "AB>". Null for text. */
export function quoteMarkOf(line: string): string | null {
  if (isQuoted(line)) return '>'
  return /^\s{0,3}(\||[A-Z][A-Za-z]{0,3}>)(?:\s|$)/.exec(line)?.[1] ?? null
}

/** True for a line of dashes or similar characters. */
export const isRule = (line: string): boolean => /^\s*[_\-=*—–]{3,}\s*$/.test(line)

/** True for "---------- Forwarded message ---------" or "Begin forwarded message:". */
export function isForwardMark(line: string): boolean {
  if (line.length > TITLE_CHARACTERS_MAX) return false
  const title = titleOf(line)
  if (title !== null) return FORWARDED_MESSAGE.some((phrase) => title.startsWith(phrase))
  return COLON_END.test(line.slice(-3)) && FORWARDED_MESSAGE.includes(plainTitle(line.replace(/^[\s*]+|[\s*]+$/g, '')))
}

/** True for "-----Original Message-----", or for other words between dashes above the label of an author or a date. */
export function isOriginalMark(lines: readonly string[], index: number): boolean {
  const line = lines[index]!
  if (line.length > TITLE_CHARACTERS_MAX) return false
  const title = titleOf(line)
  if (title === null) return MESSAGE_OF.test(line) && isLabelBelow(lines, index)
  return ORIGINAL_MESSAGE.includes(title) || (/^[\p{L}\p{M}' .:’-]{3,50}$/u.test(title) && isLabelBelow(lines, index))
}

const TITLE_CHARACTERS_MAX = 120
const COLON_END = /[:：]\s?\*{0,2}$/

// "Message du 03/03/26 09:15" or "Message du : 03/03/26" of Orange.
const MESSAGE_OF = /^ {0,3}message du(?: ?:)? \d/i

// The words between dashes or equals signs, in lower case. Null for other lines.
function titleOf(written: string): string | null {
  const line = written.startsWith('*') && written.endsWith('*') ? written.slice(1, -1) : written
  let at = 0
  while (at < 3 && line.charCodeAt(at) === 0x20) at++
  const first = line.charCodeAt(at)
  if ((first !== 0x2d && first !== 0x5f && first !== 0x3d) || line.charCodeAt(at + 1) !== first) return null
  const inner = /^\s*[-_=]{2,}\s*([^-_=].*?)\s*[-_=]{2,}\s*$/.exec(line)?.[1]
  return inner === undefined ? null : plainTitle(inner)
}

const plainTitle = (text: string): string =>
  text
    .replace(/&nbsp;|\u00a0/g, ' ')
    .replace(/[:：]\s*$/, '')
    .trim()
    .toLowerCase()

// True when one of the next two lines with text is the label of an author or a date.
function isLabelBelow(lines: readonly string[], index: number): boolean {
  let seen = 0
  for (let at = index + 1; at < lines.length && at <= index + 4 && seen < 2; at++) {
    if (lines[at] === '') continue
    seen++
    const kind = labelKind(lines[at]!)
    if (kind === 'from' || kind === 'date') return true
  }
  return false
}

// "##- Please type your reply above this line -##" of ticket systems, by language.
const ABOVE = new RegExp(
  [
    '(?:reply|respond|response|answer|type|write|comment|text)[^\\n]{0,60}above (?:this|the) line',
    '(?:reply|respond|type|write|edit)[^\\n]{0,40}below (?:this|the) line',
    'above this line[^\\n]{0,40}(?:reply|respond|comment)',
    '(?:antwort|schreib)[^\\n]{0,60}(?:oberhalb|über) diese[rn]? (?:zeile|linie)',
    '(?:oberhalb|über) diese[rn]? (?:zeile|linie)[^\\n]{0,40}(?:antwort|schreib)',
    '(?:répon|écri|saisi)[^\\n]{0,60}au[ -]dessus de cette ligne',
    '(?:respon|respuesta|escrib)[^\\n]{0,60}(?:encima|arriba) de esta línea',
    '(?:respo|escrev|digit)[^\\n]{0,60}acima desta linha',
    '(?:rispo|scriv)[^\\n]{0,60}(?:sopra|al di sopra di) (?:a )?questa (?:riga|linea)',
    '(?:antwoord|reageer|typ|schrijf)[^\\n]{0,60}boven deze (?:regel|lijn)',
    'svar[^\\n]{0,60}(?:ovanför (?:den här|denna) (?:rad|linje)|(?:over|ovenfor) denne linje)',
    '(?:odpow|napisz)[^\\n]{0,60}powyżej tej linii',
    'odpov[^\\n]{0,60}nad (?:tento řádek|tímto řádkem|touto čarou)',
    '(?:ответ|пиш|напиш)[^\\n]{0,60}(?:над|выше) этой (?:строк|лини)',
    '(?:yanıt|cevap)[^\\n]{0,60}bu satırın üst',
    'bu satırın üst[^\\n]{0,60}(?:yanıt|cevap)',
    'この(?:行|線|ライン)(?:より|の)上[^\\n]{0,40}返信',
    '(?:此|这|這|本)(?:行|线|線)(?:之上|上方|以上|上面)[^\\n]{0,40}(?:回复|回覆|答复)',
    '이 (?:줄|선)[^\\n]{0,4} ?위[^\\n]{0,40}(?:답장|회신|답변)',
  ].join('|'),
  'u',
)
const ABOVE_CHARACTERS_MAX = 160

/** True for the line of a ticket system above which the reply stands. Such a line has marks around it, or begins with the request. */
export function isReplyAboveMark(line: string): boolean {
  if (line.length > ABOVE_CHARACTERS_MAX || line.length < 8) return false
  const lower = line.toLowerCase()
  if (!ABOVE.test(lower)) return false
  return (
    /^[\s>]*[-=#*_~<[({|—–+]/.test(lower) ||
    /[-=#*_~>\])}|—–+]\s*$/.test(lower) ||
    !/^\s*(?:i|we|my|our|the|you|he|she|they|ich|wir|je|nous)\b/.test(lower)
  )
}

const BLOCK_LINES_MAX = 9
const TIME = /\d[:.h]\d\d/

/**
 * The line after the header block that begins at `index`, with the labels From, Sent, To and Subject in any order, or -1. A block names an author or a
 * date, two more fields, and a subject or an address, so that an itinerary is not a block.
 */
export function findHeaderBlockEnd(lines: readonly string[], index: number): number {
  if (isInlineHeader(lines[index]!)) return index + 1
  const first = labelKind(lines[index]!)
  if (first === null) return -1
  const kinds = new Set<HeaderKind>([first])
  let hasAddress = lines[index]!.includes('@')
  let hasTime = first === 'date' && TIME.test(lines[index]!)
  let end = index + 1
  for (let at = index + 1; at < lines.length && at < index + BLOCK_LINES_MAX; at++) {
    const line = lines[at]!
    if (line === '') {
      // Text from HTML may have an empty line between the labels.
      if (lines[at - 1] === '') break
      continue
    }
    const kind = labelKind(line)
    if (kind === null) {
      // A wrapped value, or the text below the block.
      if (lines[at - 1] === '' || at - end > 2) break
      continue
    }
    kinds.add(kind)
    hasAddress ||= line.includes('@')
    hasTime ||= kind === 'date' && TIME.test(line)
    end = at + 1
  }
  const isComplete = (kinds.has('from') || kinds.has('date')) && kinds.size >= 3 && (kinds.has('subject') || hasAddress)
  // Some programs write a time and one person only.
  const isShort = kinds.size === 2 && hasTime && (kinds.has('to') || kinds.has('from')) && hasAddress
  return isComplete || isShort ? end : -1
}

const INLINE_CHARACTERS_MAX = 600
const MARK_IN_FRONT = /^[\s*]*[-_=]{2,}\s*([^-_=\n]{3,50}?)\s*[-_=]{2,}\s*/

/**
 * True for a header block on one line, such as "Subject: Offer From: Ann Date: 03.03.2026", to which some programs join the lines of HTML. The line begins
 * with a label, or with "-----Original Message-----" and a label, and names a subject and two more fields.
 */
function isInlineHeader(line: string): boolean {
  if (line.length > INLINE_CHARACTERS_MAX || !/[:：].*[:：].*[:：]/.test(line)) return false
  const mark = MARK_IN_FRONT.exec(line)
  const rest = mark !== null && ORIGINAL_MESSAGE.includes(plainTitle(mark[1]!)) ? line.slice(mark[0].length) : line
  if (labelKind(rest) === null) return false
  const kinds = inlineLabelKinds(rest)
  return kinds.size >= 3 && kinds.has('subject') && (kinds.has('from') || kinds.has('date'))
}

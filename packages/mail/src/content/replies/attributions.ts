// Finds the attribution above a quotation, such as "On …, Ann wrote:", in many languages.

import { withAsciiDigits } from '../../text/digits.ts'
import { isQuoted } from './quote-marks.ts'
import { DATE_OPENERS, WROTE_WORDS } from './reply-phrases.ts'

/** An attribution that begins on line `start`. `before` and `behind` are own words on its first and last line. */
export type Attribution = { start: number; before: string; behind: string }

const LINES_MAX = 6
const CHARACTERS_MAX = 400

/**
 * The attribution that ends on line `index`, or null. It contains a verb of writing or an address, and a time or a year unless it precedes a quotation. It
 * has at most six lines after line `from`. An address may be wrapped over blank lines.
 */
export function findAttribution(lines: readonly string[], index: number, from: number, isAboveQuote: boolean): Attribution | null {
  const line = lines[index]!
  if (line.length > CHARACTERS_MAX) return null
  const kind = endOf(line, isAboveQuote)
  if (kind === null || (kind === 'address' && isVerbAlone(lines[index + 1] ?? ''))) return null
  if (kind === 'dashes') return findDashed(lines, index, from)
  if (kind === 'verb') return { start: index, before: '', behind: '' }
  if (kind === 'arrows') return { start: index, before: '', behind: '' }
  if (!hasHint(lines, index, from)) return null
  const isWrapped = isQuoted(line)
  let joined = ''
  let likely = -1
  let start = index
  for (let count = 0; count < LINES_MAX && start >= from; start--) {
    const part = lines[start]!
    if (part === '') {
      if (!mayCrossBlank(joined)) break
      continue
    }
    if (part.length > CHARACTERS_MAX || (isQuoted(part) && start !== index)) break
    // A line above that ends a sentence is part of the text.
    if (count > 0 && /[.!?:：]$/.test(part) && !/\d\.$/.test(part) && !hasOpener(normalize(part))) break
    const isUndated = !/\d/.test(joined) && !hasDate(normalize(part))
    joined = joined === '' ? part.trim() : `${part.trim()} ${joined}`
    if (joined.length > CHARACTERS_MAX) break
    // Without a date, only a line of its own is an attribution.
    const certainty = judge(normalize(joined), isAboveQuote, joined === line.trim())
    // A line of own words above a complete attribution may begin with a number too.
    if (certainty === 'certain' && (likely < 0 || isUndated || hasDay(normalize(part)))) return { start, before: '', behind: '' }
    if (certainty === 'likely' && likely < 0 && !isWrapped) likely = start
    count++
  }
  if (isWrapped) return null
  return findBehindWords(line, index, isAboveQuote) ?? (likely < 0 ? null : { start: likely, before: '', behind: '' })
}

// False for most lines that end in a colon, because no line that an attribution may span has a verb of writing or an address.
function hasHint(lines: readonly string[], index: number, from: number): boolean {
  let joined = ''
  for (let at = index, count = 0; at >= from && count < LINES_MAX && joined.length <= CHARACTERS_MAX; at--) {
    const part = lines[at]!
    if (part === '') continue
    joined = `${part} ${joined}`
    count++
  }
  const text = normalize(joined)
  return text.includes('@') || text.includes('mailto:') || text.includes('sent:') || hasVerb(text)
}

type LineEnd = 'colon' | 'dashes' | 'arrows' | 'address' | 'verb'

// The end of an attribution on this line. Null for most lines, by their last character.
function endOf(line: string, isAboveQuote: boolean): LineEnd | null {
  let last = line.charCodeAt(line.length - 1)
  // Marks of direction stand behind the colon in Hebrew and Arabic.
  if (last >= 0x200e && last <= 0x2069)
    last = line
      .trimEnd()
      .replace(FORMAT_CHARACTERS, '')
      .charCodeAt(line.replace(FORMAT_CHARACTERS, '').length - 1)
  if (last === 0x3a || last === 0xff1a) return !isQuoted(line) || isVerbAlone(line) ? 'colon' : null
  if (last === 0x2d) return DASHED_END.test(line) ? 'dashes' : null
  if (last !== 0x3e && last !== 0x29) return isVerbAtEnd(line) ? 'verb' : null
  // GroupWise writes ">>> Ann <ann@example.com> 3/3/2026 9:15 AM >>>" above a text without marks.
  if (/^>>> ?[^>\s].{2,200}>>>$/.test(line) && hasDate(line)) return 'arrows'
  return isAboveQuote && !isQuoted(line) ? 'address' : null
}

// Some webmail programs leave out the colon. A date, an address in brackets and the verb at the end distinguish the line from a sentence.
function isVerbAtEnd(line: string): boolean {
  if (!line.includes('@') || isQuoted(line)) return false
  const lower = normalize(line)
  return hasAddress(lower) && hasDay(lower) && hasOpener(lower) && VERB_AT_END.test(lower)
}

const FORMAT_CHARACTERS = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
const DASHED_END = /\S\s?-{2,}$/

// True while the address of an attribution is open, so that a blank line is part of it.
function mayCrossBlank(joined: string): boolean {
  return joined.length < 200 && (/^[<>]/.test(joined) || joined.length < 25)
}

// True for "> wrote:" or ">:", the last line of a wrapped attribution whose address ends there.
function isVerbAlone(line: string): boolean {
  const text = line.replace(/^>\s*/, '')
  return text.length < 30 && text !== line && /[:：]$/.test(text) && (text.length === 1 || hasVerb(normalize(text)))
}

// "---- On …, Ann wrote ----" of Zoho and Android, perhaps over two lines.
function findDashed(lines: readonly string[], index: number, from: number): Attribution | null {
  let joined = lines[index]!.trim()
  let start = index
  if (!joined.startsWith('--') && start > from) joined = `${lines[--start]!} ${joined}`
  const inner = /^(.{0,200}?)-{2,}(.{1,300}?)-{2,}$/.exec(joined)
  if (inner === null || !hasVerb(normalize(inner[2]!))) return null
  return { start, before: inner[1]!.trim(), behind: '' }
}

const certain = (text: string): boolean => judge(text, false, false) === 'certain'

// Own words before the attribution, or behind its colon, on the same line.
function findBehindWords(line: string, index: number, isAboveQuote: boolean): Attribution | null {
  if (!isAboveQuote && !/--/.test(line)) return null
  const match = OPENER_IN_LINE.exec(line)
  if (match === null || match.index === 0) return null
  const at = match.index + match[1]!.length
  return certain(normalize(line.slice(at))) ? { start: index, before: line.slice(0, match.index).trim(), behind: '' } : null
}

/** Normalizes white space, digits, and marks of direction. In lower case, without dashes in front. */
function normalize(text: string): string {
  const plain = isPlain.test(text)
    ? text
    : withAsciiDigits(text)
        .replace(FORMAT_CHARACTERS, '')
        .replace(/[\u00a0\u202f]/g, ' ')
  return plain
    .replace(/ \s+|[^\S ]\s*/g, ' ')
    .replace(/^[-–—*_\s]+/, '')
    .toLowerCase()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds characters beyond ASCII
const isPlain = /^[\x00-\x7f]*$/

const hasDate = (text: string): boolean => /\d[:.h時时시]\s?\d{2}|\b(?:19|20)\d\d\b|\d{4}[年년]|\d[-./]\d{1,2}[-./]\d/.test(text)
// A time alone also occurs in sentences.
const hasDay = (text: string): boolean =>
  /\b(?:19|20)\d\d\b|\d{4}[年년]|\d[-./]\s?\d{1,2}[-./]\s?\d|\d[-./ ]\p{L}{3,10}\.?[-./ ]\d{2}/u.test(text)
// One pattern takes a tenth of the time of a search for each word.
const verb = new RegExp(WROTE_WORDS.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'))
const VERB_AT_END = new RegExp(`[>)\\]]\\s?(?:${verb.source})$`)
const hasVerb = (text: string): boolean => verb.test(text)
const hasAddress = (text: string): boolean =>
  /<\s?[^<>\s]{1,200}@[^<>\s]{1,200}\s?>/.test(text) ||
  /[(<]?mailto:/.test(text) ||
  /[([][^()[\]\s]{1,100}@[^()[\]\s]{1,100}[)\]]/.test(text)
// A number within the first four words begins a date in any language.
const hasOpener = (text: string): boolean =>
  /^(?:\p{L}{1,12}[.,،]{0,2} ){0,3}\d{1,4}/u.test(text) || DATE_OPENERS.some((opener) => text.startsWith(opener))

const OPENER_IN_LINE = /(\s|-{2,}\s?)(?:On|Am|Le|El|Em|Il|Op|Den|Dnia|W dniu|Dne|På|Pada|Στις|В|At) (?=[^\n]{0,40}\d)/u

// `certain` when the opening matches too. A `likely` attribution may begin on a line above.
function judge(lower: string, isAboveQuote: boolean, isAlone: boolean): 'certain' | 'likely' | 'no' {
  const isDated = hasDate(lower)
  // Fast path: most lines that end in a colon have neither.
  if (!isDated && !isAboveQuote && !(isAlone && lower.includes('@'))) return 'no'
  const isVerb = hasVerb(lower) || /\ssent:$/.test(lower)
  const isAddress = hasAddress(lower)
  const isOpened = hasOpener(lower)
  const isDay = isAddress || hasDay(lower)
  if (isVerb && isDated && isOpened && (isDay || isAboveQuote)) return 'certain'
  // A date without a year and a time, wrapped before the address.
  if (isAboveQuote && isVerb && isAddress && isOpened && /^[^<]{0,60}\d/.test(lower)) return 'certain'
  if (isAlone && isVerb && authorAndVerb.test(lower)) return 'likely'
  if (isVerb && isDated && (isAddress || (isDay && verbBesideDate.test(lower)))) return 'likely'
  // Catalan attributions have no verb either, but end with the time.
  if (isAddress && isDated && hasDay(lower) && /\d{1,2}[:.h]\d{2}/.test(lower) && lower.length < 200 && /[:：]$/.test(lower))
    return 'likely'
  // Attributions such as "2024年1月3日(水) 10:00 Ann <ann@example.com>:" have no verb.
  if (isAddress && isDated && /[>)\]][\s\p{L}]{0,20}\s?[:：]?$/u.test(lower)) return isOpened ? 'certain' : 'likely'
  return isAboveQuote && isAlone && /[:：]$/.test(lower) && (isVerb || (isAddress && lower.length < 200)) ? 'likely' : 'no'
}

// A name and an address, or an address alone, before the verb.
const authorAndVerb = /^(?:[^<>]{1,60}<[^<>\s]{1,200}@[^<>\s]{1,200}>|[^<>\s@]{1,100}@[^<>\s@]{1,200}\s)[\s\p{L}]{1,40}[:：]$/u

// The date follows the verb, as in "Ann schrieb am 03.03.2026 um 09:15".
const verbBesideDate =
  /(?:wrote|schrieb|écrit|escribió|escreveu|scritto|schreef|skrev|kirjoitti|napisał(?:\(a\)|a)?|napsal|írta|yazdı|написал(?:\(а\)|а)?) (?:\p{L}{1,10}\.?,? ){0,2}\(?\d/u

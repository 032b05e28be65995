// Finds one-time codes: scores every number-like token by the phrases around it and by its format.
import type { Code } from '@callsign/contract/codes'
import { findAppCode } from './app-messages.ts'
import { type Candidate, findCandidates, mayHoldCandidates } from './candidates.ts'
import { findHits, type Hit, withCompounds } from './code-phrases.ts'
import { type Context, contextOf, isCode, type Page } from './context.ts'
import {
  behindStart,
  breakPattern,
  connected,
  explicit,
  fewWords,
  hanGap,
  instructed,
  notAddressed,
  opening,
  possessive,
  stated,
  technical,
  tight,
  verbBehind,
} from './grammar.ts'
import { purposeOf } from './purposes.ts'
import { readable, withoutAppHash } from './readable.ts'
import { instructionCharactersMax, isShortInstruction } from './short-instructions.ts'

const nearCharactersMax = 160

/** The codes of a message, the likeliest first. */
export function findOneTimeCodes(subject: string, text: string): Code[] {
  const read = readable(text)
  const whole = withoutAppHash(read)
  const bound = findBoundCode(whole)
  const unquoted = whole.startsWith('>') || whole.includes('\n>') ? whole.replace(/^>.*$/gm, '') : whole
  const title = toPage(readable(subject).replaceAll('\n', ' '))
  const found = judgeAll(title, unquoted)
  // Some designs put the code in a quotation, so quotations are searched too, except in replies.
  const all =
    found.length > 0 || unquoted === whole || /^\s*(?:re|aw|sv|antw|ynt|odp|回复|答复|fwd?|wg)\s*:/i.test(subject)
      ? found
      : judgeAll(title, whole.replace(/^(?:> ?)+/gm, ''))
  const certain = bound ?? (all.length === 0 ? findAppCode(subject, read) : null)
  const byValue = new Map<string, Code>()
  for (const code of [...(certain ? [certain] : []), ...all]) {
    const known = byValue.get(code.value)
    if (!known) byValue.set(code.value, code)
    else if (known.purpose === null) known.purpose = code.purpose
  }
  return [...byValue.values()]
}

function judgeAll(title: Page, text: string): Code[] {
  if (!mayHoldCandidates(text) && !mayHoldCandidates(title.text)) return []
  const page = toPage(text)
  title.hits = findHits(title.lower)
  page.hits = findHits(page.lower)
  if (text.length <= longTextCharactersMin && page.hits.every(({ kind }) => kind !== 'strong'))
    page.hits = withCompounds(page.lower, page.hits)
  // Every code needs one of these phrases, which most messages lack.
  const isAnnounced = [...title.hits, ...page.hits].some((hit) => hit.kind !== 'other') || isPrefixedCode(page)
  if (!isAnnounced && text.length > instructionCharactersMax) return []
  const inTitle = findCandidates(title.text)
  const inText = findCandidates(text)
  if (inText.length === 0) page.hits = []
  const context = contextOf(title, page)
  const judged = [
    ...inText.map((candidate) => ({ candidate, page, score: judge(candidate, page, title, context) })),
    ...inTitle.map((candidate) => ({ candidate, page: title, score: judge(candidate, title, null, context) - 0.5 })),
  ].filter((one) => one.score > 0)
  const best = Math.max(...judged.map((one) => one.score))
  return (
    judged
      // A weak candidate beside an explicit code is another number.
      .filter((one) => one.score >= best - 5)
      .toSorted((a, b) => b.score - a.score)
      .map(({ candidate, page: at }) => toCode(candidate, at, title))
  )
}

const toPage = (text: string): Page => ({ text, lower: text.toLowerCase().replace(/[-\n]/g, ' '), hits: [] })

/** The last line of a message bound to a site: `@example.com #123456` (Safari's and WebOTP's origin-bound one-time codes). */
function findBoundCode(text: string): Code | null {
  const match = /(?:^|\n)@([a-z0-9.-]{1,253}\.[a-z]{2,63}|localhost) #([!-~]{3,20})(?: [@%][^\s]{1,260})?\s*$/.exec(text)
  if (!match) return null
  const around = text.slice(Math.max(0, match.index - nearCharactersMax), match.index)
  return {
    kind: 'one_time_code',
    value: match[2] as string,
    purpose: purposeOf(around.toLowerCase()),
    near: clip(`${around} ${match[0]}`),
    domain: match[1] as string,
  }
}

const isYear = (value: string): boolean => /^(?:19|20)\d\d$/.test(value)
const isDay = (value: string): boolean => /^20[0-4]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/.test(value)

/** The score of a candidate. 0 for a token that is not a code. */
function judge(candidate: Candidate, page: Page, title: Page | null, context: Context): number {
  const line = lineOf(candidate, page.text)
  const before = page.hits.findLast((hit) => hit.end <= candidate.start)
  const gapBefore = before ? page.text.slice(before.end, candidate.start) : ''
  const isNear = before !== undefined && gapBefore.length <= 90 && !breakPattern.test(gapBefore) && !/\d{4}/.test(gapBefore)
  const isOther = isNear && before.kind === 'other' && gapBefore.length <= 30 && (gapBefore.match(/\n/g) ?? []).length < 2
  const score = Math.max(
    isNear && isAddressed(candidate, before, page) ? judgeBefore(candidate, before, gapBefore, context, line.isAlone) : 0,
    isOther && !line.isAlone ? 0 : judgeBehind(candidate, page, context),
    isNear && before.kind === 'enter' ? judgeAcross(candidate, page, context) : 0,
    isNear && before.kind === 'enter' ? judgeInstruction(candidate, page, gapBefore, title) : 0,
    isOther ? 0 : judgeSentence(candidate, page, context),
    candidate.start < 6 && isPrefixedCode(page) ? 5 : 0,
    isPlainNumber(candidate) && candidate.value.length >= 5 && isShortInstruction(page.text, candidate.start, candidate.end) ? 7 : 0,
    line.isAlone && title ? judgeAlone(candidate, page, context) : 0,
  )
  if (score === 0 || (candidate.isDoubtful && score < doubtfulScoreMin)) return 0
  if (candidate.isDigits && !candidate.isGrouped && (isYear(candidate.value) || isDay(candidate.value)) && score < 8.5) return 0
  // Words and names with digits are common, so a code of letters needs a clear phrase.
  if (!candidate.isDigits && score < 5) return 0
  return score + (candidate.value.length === 6 && candidate.isDigits ? 0.4 : 0)
}

/** True for a short text that begins with a code and the letter of its sender, such as "G-123456". */
const isPrefixedCode = ({ text }: Page): boolean => text.length <= 100 && /^(?:<#> ?)?[A-Z]-\d{6}(?!\d)/.test(text)

const isPlainNumber = ({ isDigits, isGrouped }: Candidate): boolean => isDigits && !isGrouped

/** The score that a doubtful candidate needs, which it has beside a phrase with a colon or a verb. */
const doubtfulScoreMin = 7.4

/**
 * True when a doubtful candidate beside a weak phrase is for the reader: behind "your", or in a short text, which is rarely about devices.
 */
function isAddressed(candidate: Candidate, hit: Hit, page: Page): boolean {
  if (!candidate.isDoubtful || hit.kind !== 'weak') return true
  const before = page.text.slice(Math.max(0, hit.start - 40), hit.start)
  return possessive.test(before) || (page.text.length <= shortTextCharactersMax && !notAddressed.test(before))
}

const shortTextCharactersMax = 200

function judgeBefore(candidate: Candidate, hit: Hit, gap: string, context: Context, isAlone: boolean): number {
  if (!isCode(hit, context)) return 0
  const isTight = tight.test(gap.toLowerCase())
  if (hit.kind === 'weak' && !isTight && !(connected.test(gap.toLowerCase()) && gap.length <= 70 && !technical.test(gap))) return 0
  if (
    (candidate.isDoubtful || (!candidate.isDigits && !candidate.isGrouped && hit.kind === 'weak')) &&
    !(isTight && (explicit.test(gap.toLowerCase()) || isPlainNumber(candidate)))
  )
    return 0
  if (!candidate.isDigits && !/\d/.test(candidate.value))
    return isTight && (isAlone || candidate.isGrouped || /[:\n]|\bis\b/.test(gap)) ? 6 : 0
  if (!candidate.isDigits && !isTight && !connected.test(gap.toLowerCase())) return 0
  const base = hit.kind === 'strong' ? 9 : 8
  return isTight ? base : connected.test(gap.toLowerCase()) ? base - 0.7 : Math.max(0, base - 2 - gap.length / 15)
}

/** Scores `The code to enter for your order is 482913`, with an instruction between the phrase and the verb. */
function judgeAcross(candidate: Candidate, page: Page, context: Context): number {
  const hit = page.hits.findLast((one) => one.end <= candidate.start && one.kind !== 'enter')
  const gap = hit ? page.text.slice(hit.end, candidate.start) : ''
  const isOpen = candidate.isDigits && gap.length <= 70 && !breakPattern.test(gap) && !/\d{4}/.test(gap)
  return hit && isOpen && isCode(hit, context) && stated.test(gap.toLowerCase()) ? 7.2 : 0
}

/** Scores `The code for your payment to account 1234 is 482913`, with the phrase and the number at the ends of a sentence, and a code that is a sentence. */
function judgeSentence(candidate: Candidate, page: Page, context: Context): number {
  if (!candidate.isDigits) return 0
  const hit = page.hits.findLast((one) => one.end <= candidate.start && one.kind === 'strong')
  const gap = hit ? page.text.slice(hit.end, candidate.start) : ''
  if (hit && isCode(hit, context) && gap.length <= 140 && !breakPattern.test(gap) && stated.test(gap.toLowerCase())) return 7.9
  const isSentence =
    /(?:^|[.!?。！？:] ?)$/.test(page.text.slice(0, candidate.start)) && /^\.?(?:\s|$)/.test(page.text.slice(candidate.end))
  const isShort = page.text.length <= 200 && candidate.value.length >= 5
  return isSentence && isShort && page.hits.every((one) => one.kind === 'enter' || isCode(one, context)) && page.hits.length > 0 ? 5 : 0
}

function judgeBehind(candidate: Candidate, page: Page, context: Context): number {
  const hit = page.hits.find(
    (one) => one.start >= candidate.end && one.kind !== 'enter' && !(one.kind === 'other' && one.start - candidate.end > 12),
  )
  if (!hit || !isCode(hit, context) || !isAddressed(candidate, hit, page)) return 0
  const gap = page.text.slice(candidate.end, hit.start)
  if (gap.length > 70 || breakPattern.test(gap) || /\d{4}/.test(gap)) return 0
  const isJoined = behindStart.test(gap.toLowerCase().replaceAll('\n', ' ')) || gap.trim().length <= 1 || hanGap.test(gap)
  // A number that begins the message, a few words in any language, and a clear phrase, as in "123456 är din … kod".
  if (
    !isJoined &&
    !(hit.kind === 'strong' && candidate.isDigits && fewWords.test(gap) && opening.test(page.text.slice(0, candidate.start)))
  )
    return 0
  if ((candidate.isDoubtful || !candidate.isDigits) && !verbBehind.test(gap.toLowerCase())) return 0
  if (!candidate.isDigits && !/\d/.test(candidate.value)) return 0
  return hit.kind === 'strong' ? 8.6 - gap.length / 50 : 7.8 - gap.length / 40
}

/** Scores `Use 123456 to sign in`, an instruction without a word for the code. */
function judgeInstruction(candidate: Candidate, page: Page, gap: string, title: Page | null): number {
  if (!candidate.isDigits || gap.trim().length > 12 || isYear(candidate.value) || candidate.value.length < 4) return 0
  const rest = page.lower.slice(candidate.end, candidate.end + 90)
  const end = rest.search(/[.!?。](?:\s|$)/)
  return instructed.test(end < 0 ? rest : rest.slice(0, end)) || (title !== null && instructed.test(title.lower)) ? 7 : 0
}

const aloneLinesMax = 4
const longTextCharactersMin = 2000
const aloneCharactersMax = 320

/** Scores a code on a line of its own, by the lines before it, the lines after it, or the subject. */
function judgeAlone(candidate: Candidate, page: Page, context: Context): number {
  const above = page.text.slice(Math.max(0, candidate.start - aloneCharactersMax), candidate.start)
  const aboveStart = candidate.start - tail(above, aloneLinesMax).length
  const announced = page.hits.findLast(
    (hit) => hit.end <= candidate.start && hit.start >= aboveStart && hit.kind !== 'enter' && !isDistantOther(hit, candidate, page),
  )
  const gap = announced ? page.text.slice(announced.end, candidate.start) : ''
  const isLetters = !candidate.isDigits && !/\d/.test(candidate.value)
  if (announced && isCode(announced, context) && isAddressed(candidate, announced, page) && !/(?:^|\n)\d{4,}\n/.test(gap)) {
    if ((isLetters || candidate.isDoubtful) && !/^[^.\n]{0,60}[:：.]?\n+$/.test(gap)) return 0
    if (announced.kind === 'strong') return 8.6
    // In a long text the word may be about program code.
    return candidate.isDigits ? (page.text.length <= longTextCharactersMin ? 7.5 : 0) : explicit.test(gap) && gap.length <= 40 ? 7.5 : 0
  }
  if (isLetters || announced?.kind === 'other') return 0
  const behind = page.hits.find((hit) => hit.start >= candidate.end && hit.kind !== 'enter')
  if (behind && isCode(behind, context) && behind.start - candidate.end <= 120 && candidate.isDigits) return 6
  const isLikely = candidate.isDigits && candidate.value.length >= 5
  return isLikely && context.titleHit && isCode(context.titleHit, context) ? 5 : 0
}

/** True for the phrase of another number in a sentence that ended before the candidate. */
function isDistantOther(hit: Hit, candidate: Candidate, page: Page): boolean {
  return hit.kind === 'other' && /[.!?。！？।]\s/.test(page.text.slice(hit.end, candidate.start))
}

/** The last `count` nonempty lines, with the empty lines between them. */
function tail(text: string, count: number): string {
  const lines = text.split('\n')
  let kept = 0
  let from = lines.length
  while (from > 0 && kept < count) if ((lines[--from] as string).trim() !== '') kept++
  return lines.slice(from).join('\n')
}

function lineOf({ start, end }: Candidate, text: string): { isAlone: boolean; start: number; end: number } {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const next = text.indexOf('\n', end)
  const lineEnd = next < 0 ? text.length : next
  const isAlone =
    /^[\s*_>|"'`\-–—=~.•[(【「]*$/.test(text.slice(lineStart, start)) && /^[\s*_|"'`\-=~.•\])】」]*$/.test(text.slice(end, lineEnd))
  return { isAlone, start: lineStart, end: lineEnd }
}

function toCode(candidate: Candidate, page: Page, title: Page): Code {
  const line = lineOf(candidate, page.text)
  const before = tail(page.text.slice(Math.max(0, candidate.start - 240), line.start), 2)
  const behind = page.text.slice(line.end, line.end + 160)
  const own = page.text.slice(Math.max(line.start, candidate.start - 120), Math.min(line.end, candidate.end + 80))
  const around = line.isAlone ? `${before} ${own}${behind.slice(0, 60)}` : own
  return {
    kind: 'one_time_code',
    value: candidate.value,
    purpose: purposeOf(own.toLowerCase()) ?? purposeOf(`${title.lower} ${before} ${behind}`.toLowerCase()),
    near: clip(around),
    domain: null,
  }
}

const clip = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, nearCharactersMax).toWellFormed()

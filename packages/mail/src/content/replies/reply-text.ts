// Finds what is new in a reply: drops quotes, the lines above them, and signatures, in any language and mail program we know.
import { cutText, storableText, unifyLineEnds } from '../../mime/storable-text.ts'
import { HEADER_LABELS } from './header-labels.ts'
import { DATE_OPENERS, DEVICE_SIGNATURES, FORWARDED_MESSAGE, ORIGINAL_MESSAGE, WROTE_WORDS } from './reply-phrases.ts'

/** Text past this many characters is not looked at. */
const REPLY_CHARACTERS_MAX = 64 * 1024

const ATTRIBUTION_LINES_MAX = 4
const ATTRIBUTION_CHARACTERS_MAX = 400
const SIGNATURE_LINES_MAX = 10

/**
 * Only what the sender of a reply wrote: text above, between and below quotes, without attributions ("On …, Ann wrote:"), header blocks, original and
 * forwarded messages below the text, and signatures. A mail that begins with a forwarded message or header block is kept whole. The first 64 KB count; linear.
 */
export function extractReplyText(text: string): string {
  const source = storableText(unifyLineEnds(cutText(text, REPLY_CHARACTERS_MAX)))
  const lines = source.split('\n')
  for (const [index, line] of lines.entries()) if (mayEndBlank(line)) lines[index] = line.trimEnd()
  // An exact "-- " is told from "--" before the blank is lost.
  const isExactSignature = (index: number) => lines[index] === '--' && source.length > 0 && exactSignatures.has(index)
  const exactSignatures = findExactSignatures(source)
  const { kept, hasCut } = dropQuotes(lines)
  const withoutSignatures = kept.flatMap((run) => dropSignature(lines, run, isExactSignature))
  const result = joinRuns(lines, withoutSignatures)
  return result === '' && hasCut ? source.trim() : result
}

/** Letters and the common marks end most lines; what else a line may end in is left to `trimEnd`. */
function mayEndBlank(line: string): boolean {
  const code = line.charCodeAt(line.length - 1)
  return !(code > 0x20 && code < 0x7f)
}

// Neighbouring lines that survive, as offsets `from` to before `to`.
type Run = { from: number; to: number }

function findExactSignatures(source: string): Set<number> {
  const found = new Set<number>()
  if (!source.includes('-- ')) return found
  for (const [index, line] of source.split('\n').entries()) if (line === '-- ') found.add(index)
  return found
}

// The runs of lines outside quotes. `hasCut` says that an unmarked quote (header block, original or forwarded message) was cut off, from which text may have gone too.
function dropQuotes(lines: readonly string[]): { kept: Run[]; hasCut: boolean } {
  const kept: Run[] = []
  let from = 0
  let hasCut = false
  const drop = (start: number, next: number) => {
    if (start > from) kept.push({ from, to: start })
    from = next
  }
  const nextText = nextTextLines(lines)
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!
    if (line === '') continue
    if (isQuoted(line)) {
      drop(index, index + 1)
      continue
    }
    if (isMessageMark(line) || isHeaderBlock(lines, index)) {
      drop(Math.max(from, cutStart(lines, index)), lines.length)
      hasCut = true
      break
    }
    const start = index >= from ? findAttribution(lines, index, from, nextText[index + 1]!) : -1
    if (start < 0) continue
    const next = nextText[index + 1]!
    if (next < lines.length && !isQuoted(lines[next]!)) {
      // Nothing marks the quote below: it goes on to the end.
      drop(start, lines.length)
      break
    }
    drop(start, index + 1)
  }
  if (from < lines.length) kept.push({ from, to: lines.length })
  return { kept, hasCut }
}

// For each line the index of the first line at or after it that is not empty.
function nextTextLines(lines: readonly string[]): Int32Array {
  const next = new Int32Array(lines.length + 1)
  next[lines.length] = lines.length
  for (let index = lines.length - 1; index >= 0; index--) next[index] = lines[index] === '' ? next[index + 1]! : index
  return next
}

// The dashed or underlined rule above a header block goes with it.
function cutStart(lines: readonly string[], index: number): number {
  let start = index
  for (let steps = 0; start > 0 && steps < 3; steps++) {
    const above = lines[start - 1]!
    if (above !== '' && !/^[_\-=*—–]{3,}$/.test(above.trim())) break
    start--
  }
  return start
}

function isQuoted(line: string): boolean {
  let at = 0
  while (at < 3 && line.charCodeAt(at) === 0x20) at++
  const code = line.charCodeAt(at)
  return code === 0x3e || code === 0xff1e
}

/**
 * Where the attribution that ends on this line starts (it may be wrapped over four lines), or -1. It ends with a colon, holds a word for writing or an address,
 * and shows a time, a year, or stands right above a quote.
 */
function findAttribution(lines: readonly string[], index: number, from: number, next: number): number {
  const line = lines[index]!
  if (line.length > ATTRIBUTION_CHARACTERS_MAX || !endsWithColon(line)) return -1
  const isAboveQuote = next < lines.length && isQuoted(lines[next]!)
  let joined = ''
  let likely = -1
  let start = index
  for (let count = 0; count < ATTRIBUTION_LINES_MAX && start >= from; count++, start--) {
    const part = lines[start]!
    if (part === '' || part.length > ATTRIBUTION_CHARACTERS_MAX || isQuoted(part)) break
    // A line above that itself ends a sentence belongs to the text.
    if (count > 0 && /[.!?:]$/.test(part) && !/\d\.$/.test(part)) break
    joined = joined === '' ? part.trim() : `${part.trim()} ${joined}`
    if (joined.length > ATTRIBUTION_CHARACTERS_MAX) break
    const lower = joined.replace(/[\s\u00a0\u202f]+/g, ' ').toLowerCase()
    const likeness = judgeAttribution(lower, isAboveQuote)
    if (likeness === 'certain') return start
    if (likeness === 'likely' && likely < 0) likely = start
  }
  return likely
}

// `certain` when it also begins like one; a `likely` one may begin on a line above.
function judgeAttribution(lower: string, isAboveQuote: boolean): 'certain' | 'likely' | 'no' {
  const hasDate = /\d{1,2}[:.h時时시]\s?\d{2}|\b(?:19|20)\d\d\b|\d{4}[年년]/.test(lower)
  // Asked first: most lines that end in a colon have neither.
  if (!hasDate && !isAboveQuote) return 'no'
  const hasVerb = WROTE_WORDS.some((word) => lower.includes(word))
  const hasAddress = /<[^<>\s]{1,200}@[^<>\s]{1,200}>/.test(lower) || /\(?mailto:/.test(lower)
  const hasOpener = DATE_OPENERS.some((opener) => lower.startsWith(opener)) || /^\d{1,4}[-/. 年년]/.test(lower)
  if (hasVerb && hasDate && hasOpener) return 'certain'
  if (hasVerb && hasDate && hasAddress) return 'likely'
  // "2024年1月3日(水) 10:00 Ann <ann@example.com>:" and its like name no verb.
  if (hasAddress && hasDate && /<[^<>]*>\)?[\s\p{L}]{0,20}\s?[:：]$/u.test(lower)) return hasOpener ? 'certain' : 'likely'
  return isAboveQuote && (hasVerb || (hasAddress && lower.length < 200)) ? 'likely' : 'no'
}

function endsWithColon(line: string): boolean {
  const code = line.charCodeAt(line.length - 1)
  return code === 0x3a || code === 0xff1a
}

// "-----Original Message-----", "---------- Forwarded message ---------", "Begin forwarded message:".
function isMessageMark(line: string): boolean {
  if (line.length > 120) return false
  const first = line.trimStart().charCodeAt(0)
  if (first === 0x2d || first === 0x5f) {
    const inner = /^\s*[-_]{2,}\s?([^-_].*?)\s?[-_]{2,}$/
      .exec(line)?.[1]
      ?.trim()
      .toLowerCase()
      .replace(/[:：]$/, '')
      .trim()
    return inner !== undefined && (ORIGINAL_MESSAGE.includes(inner) || FORWARDED_MESSAGE.some((phrase) => inner.startsWith(phrase)))
  }
  return (
    endsWithColon(line) &&
    FORWARDED_MESSAGE.includes(
      line
        .slice(0, -1)
        .trim()
        .toLowerCase()
        .replace(/^\*+|\*+$/g, ''),
    )
  )
}

// A line "From: …" with at least two other labels in the lines right below it.
function isHeaderBlock(lines: readonly string[], index: number): boolean {
  if (!HEADER_LABELS.from.includes(labelOf(lines[index]!))) return false
  let labels = 0
  for (let at = index + 1; at < lines.length && at <= index + 8; at++) {
    const line = lines[at]!
    if (line === '') {
      // html bodies may put an empty line between the labels.
      if (lines[at - 1] === '') break
      continue
    }
    if (HEADER_LABELS.others.includes(labelOf(line))) labels++
    if (labels >= 2) return true
  }
  return false
}

function labelOf(line: string): string {
  if (!line.includes(':') && !line.includes('：')) return ''
  const head = line.slice(0, 40)
  const match = /[:：]/.exec(head)
  if (match === null) return ''
  return head
    .slice(0, match.index)
    .replace(/^[\s*]+|[\s*]+$/g, '')
    .replace(/\u00a0/g, ' ')
    .toLowerCase()
}

// A run without its signature: what follows a "-- " line (or a bare "--" near the end), or a device's line at its end.
function dropSignature(lines: readonly string[], run: Run, isExact: (index: number) => boolean): Run[] {
  let to = run.to
  let textLinesBelow = 0
  for (let index = run.to - 1; index >= run.from; index--) {
    const line = lines[index]!
    if (isExact(index) || (isSignatureRule(line) && textLinesBelow <= SIGNATURE_LINES_MAX && textLinesBelow > 0)) to = index
    if (line !== '') textLinesBelow++
  }
  let last = to - 1
  while (last >= run.from && lines[last] === '') last--
  if (last >= run.from && isDeviceSignature(lines[last]!)) to = last
  return to > run.from ? [{ from: run.from, to }] : []
}

function isSignatureRule(line: string): boolean {
  return line === '--' || line === '—' || line === '__' || line === '-- \u00a0'
}

function isDeviceSignature(line: string): boolean {
  if (line.length > 120) return false
  const lower = line
    .trim()
    .replace(/^[<([*]+/, '')
    .toLowerCase()
  return DEVICE_SIGNATURES.some((phrase) => lower.startsWith(phrase)) || /\bfrom my (?:iphone|ipad|android|mobile|phone)\b/.test(lower)
}

function joinRuns(lines: readonly string[], runs: readonly Run[]): string {
  const pieces: string[] = []
  for (const { from, to } of runs) {
    let start = from
    let end = to
    while (start < end && lines[start] === '') start++
    while (end > start && lines[end - 1] === '') end--
    if (end > start) pieces.push(joinLines(lines, start, end))
  }
  return pieces.join('\n\n')
}

// More than one empty line in a row becomes one.
function joinLines(lines: readonly string[], from: number, to: number): string {
  const kept: string[] = []
  for (let index = from; index < to; index++) if (lines[index] !== '' || lines[index - 1] !== '' || index === from) kept.push(lines[index]!)
  return kept.join('\n')
}

// Extracts the new text of a reply: drops quotations, attributions and signatures of many mail programs and languages.
import { cutText, storableText, unifyLineEnds } from '../../mime/storable-text.ts'
import { HEADER_LABELS } from './header-labels.ts'
import { DATE_OPENERS, DEVICE_SIGNATURES, FORWARDED_MESSAGE, ORIGINAL_MESSAGE, WROTE_WORDS } from './reply-phrases.ts'

/** Text after these characters is dropped. */
const REPLY_CHARACTERS_MAX = 64 * 1024

const ATTRIBUTION_LINES_MAX = 4
const ATTRIBUTION_CHARACTERS_MAX = 400
const SIGNATURE_LINES_MAX = 10

/**
 * Extracts the text that the sender of a reply wrote above, between and below quotations. Drops attributions ("On …, Ann wrote:"), header blocks,
 * original and forwarded messages below the text, and signatures. A mail that begins with a forwarded message or a header block is kept whole.
 * Reads the first 64 KB. Linear.
 */
export function extractReplyText(text: string): string {
  const source = storableText(unifyLineEnds(cutText(text, REPLY_CHARACTERS_MAX)))
  const lines = source.split('\n')
  for (const [index, line] of lines.entries()) if (mayEndBlank(line)) lines[index] = line.trimEnd()
  // An exact "-- " differs from "--" by its blank, which trimming removes.
  const isExactSignature = (index: number) => lines[index] === '--' && source.length > 0 && exactSignatures.has(index)
  const exactSignatures = findExactSignatures(source)
  const { kept, hasCut } = dropQuotes(lines)
  const withoutSignatures = kept.flatMap((run) => dropSignature(lines, run, isExactSignature))
  const result = joinRuns(lines, withoutSignatures)
  return result === '' && hasCut ? source.trim() : result
}

/** False for a line that ends in printable ASCII, as most do. `trimEnd` handles the others. */
function mayEndBlank(line: string): boolean {
  const code = line.charCodeAt(line.length - 1)
  return !(code > 0x20 && code < 0x7f)
}

// A range of kept lines, from `from` to before `to`.
type Run = { from: number; to: number }

function findExactSignatures(source: string): Set<number> {
  const found = new Set<number>()
  if (!source.includes('-- ')) return found
  for (const [index, line] of source.split('\n').entries()) if (line === '-- ') found.add(index)
  return found
}

// The ranges of lines outside quotations. `hasCut` is true when an unmarked quotation (header block, original or forwarded message) was cut off, perhaps with new text.
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
      // The quotation below is unmarked and extends to the end.
      drop(start, lines.length)
      break
    }
    drop(start, index + 1)
  }
  if (from < lines.length) kept.push({ from, to: lines.length })
  return { kept, hasCut }
}

// For each line, the index of the first nonempty line at or after it.
function nextTextLines(lines: readonly string[]): Int32Array {
  const next = new Int32Array(lines.length + 1)
  next[lines.length] = lines.length
  for (let index = lines.length - 1; index >= 0; index--) next[index] = lines[index] === '' ? next[index + 1]! : index
  return next
}

// The start of a header block, including a dashed or underlined rule above it.
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
 * The first line of the attribution that ends on this line, or -1. An attribution has at most four lines and ends with a colon. It contains a verb of
 * writing or an address. It contains a time or a year, or precedes a quotation.
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
    // A line above that ends a sentence is part of the text.
    if (count > 0 && /[.!?:]$/.test(part) && !/\d\.$/.test(part)) break
    joined = joined === '' ? part.trim() : `${part.trim()} ${joined}`
    if (joined.length > ATTRIBUTION_CHARACTERS_MAX) break
    const lower = joined.replace(/[\s\u00a0\u202f]+/g, ' ').toLowerCase()
    const certainty = judgeAttribution(lower, isAboveQuote)
    if (certainty === 'certain') return start
    if (certainty === 'likely' && likely < 0) likely = start
  }
  return likely
}

// `certain` when the opening matches too. A `likely` attribution may begin on a line above.
function judgeAttribution(lower: string, isAboveQuote: boolean): 'certain' | 'likely' | 'no' {
  const hasDate = /\d{1,2}[:.h時时시]\s?\d{2}|\b(?:19|20)\d\d\b|\d{4}[年년]/.test(lower)
  // Fast path: most lines that end in a colon have neither.
  if (!hasDate && !isAboveQuote) return 'no'
  const hasVerb = WROTE_WORDS.some((word) => lower.includes(word))
  const hasAddress = /<[^<>\s]{1,200}@[^<>\s]{1,200}>/.test(lower) || /\(?mailto:/.test(lower)
  const hasOpener = DATE_OPENERS.some((opener) => lower.startsWith(opener)) || /^\d{1,4}[-/. 年년]/.test(lower)
  if (hasVerb && hasDate && hasOpener) return 'certain'
  if (hasVerb && hasDate && hasAddress) return 'likely'
  // Attributions such as "2024年1月3日(水) 10:00 Ann <ann@example.com>:" have no verb.
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

// A line "From: …" with at least two other labels in the next eight lines.
function isHeaderBlock(lines: readonly string[], index: number): boolean {
  if (!HEADER_LABELS.from.includes(labelOf(lines[index]!))) return false
  let labels = 0
  for (let at = index + 1; at < lines.length && at <= index + 8; at++) {
    const line = lines[at]!
    if (line === '') {
      // Text from HTML may have an empty line between the labels.
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

// A range without its signature, which follows a "-- " line or a bare "--" near the end, or is the last line of a device.
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

// Joins lines, with consecutive empty lines as one.
function joinLines(lines: readonly string[], from: number, to: number): string {
  const kept: string[] = []
  for (let index = from; index < to; index++) if (lines[index] !== '' || lines[index - 1] !== '' || index === from) kept.push(lines[index]!)
  return kept.join('\n')
}

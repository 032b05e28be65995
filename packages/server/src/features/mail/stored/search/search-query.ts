// Reads the query of a search, and marks its matches: words, "phrases", OR between alternatives, and - before words that must be absent.
import { invalid } from '../../../../core/errors.ts'
import { cutWords, fieldWord, type Word } from './words.ts'

/** Words that stand beside each other in this order, or must not. */
type Term = { words: Word[]; isExcluded: boolean }

/** Alternatives of terms that a message has together. */
export type SearchQuery = Term[][]

const operand = /(-?)(?:"([^"]*)"?|(\S+))/g

/** Words of a query, because each is compared with each message that has the others. */
export const queryWordsMax = 64

/** Throws 400 for a query of too many words. */
export function readQuery(query: string): SearchQuery {
  const alternatives: SearchQuery = [[]]
  for (const [whole, minus, phrase, bare] of query.matchAll(operand)) {
    if (/^or$/i.test(whole)) alternatives.push([])
    const words = /^or$/i.test(whole) ? [] : wordsOf(phrase ?? bare ?? '')
    if (words.length > 0) alternatives.at(-1)?.push({ words, isExcluded: minus === '-' })
  }
  const words = alternatives.flat().flatMap((term) => term.words)
  if (words.length > queryWordsMax) throw invalid('/q', `search for at most ${queryWordsMax} words. These are ${words.length}`)
  return alternatives.filter((terms) => terms.length > 0)
}

/**
 * The words to look for: an address without its parts, and pairs without the last character, which they have already. Single characters of such
 * languages are beginnings of pairs, which PostgreSQL finds slowly within a phrase, so they count only alone.
 */
function wordsOf(text: string): Word[] {
  const words: Word[] = []
  cutWords(text, (word) => {
    const before = words.at(-1)
    if (before === undefined || before.end <= word.start || word.kind === 'pair') words.push(word)
  })
  const whole = words.filter(({ kind }) => kind !== 'last')
  return whole.length > 0 ? whole : words.slice(0, 1)
}

/** The query as the text of a `tsquery`. Empty for a query without words, which matches nothing. */
export const toTsQuery = (query: SearchQuery): string => query.map((terms) => terms.map(termText).join(' & ')).join(' | ')

const termText = ({ words, isExcluded }: Term): string =>
  `${isExcluded ? '!' : ''}(${phraseOf(words.map((word) => ({ ...word, isStart: word.kind === 'last' })))})`

/** The largest distance of PostgreSQL's phrases. */
const distanceMax = 16_384

type FieldWord = Pick<Word, 'word' | 'position'> & { isStart: boolean }

/** Words beside each other. `isStart` for the start of a word. */
function phraseOf(words: FieldWord[]): string {
  const parts = words.map(({ word, position, isStart }, index) => {
    const distance = position - (words[index - 1]?.position ?? 0)
    return `${index === 0 ? '' : ` <${Math.min(distance, distanceMax)}> `}${lexeme(word)}${isStart ? ':*' : ''}`
  })
  return parts.join('')
}

const lexeme = (word: string): string => `'${word.replace(/['\\]/g, '$&$&')}'`

/** A shorter start would be that of very many words. */
const startCharactersMin = 2

/**
 * A search as the text of a `tsquery`, and the part of it that an index is asked for. The index of words has those of every mailbox, and would collect
 * all words with a start, so it is asked for whole words where there are any.
 */
export type WordQuery = { whole: string; indexed: string }

export function toWordQuery(query: SearchQuery): WordQuery {
  const whole = toTsQuery(query)
  return { whole, indexed: whole }
}

/** The messages that came from exactly this address, or went to it. */
export const exactly = (field: 'author' | 'to', address: string): WordQuery => {
  const word = lexeme(fieldWord(field, address.toLowerCase()))
  return { whole: word, indexed: word }
}

/**
 * Filters by fields: a recipient is a whole address. Of a sender or a subject, neighbouring words, of which the last may be the start of a word. Undefined
 * without a filter. Throws 400 for too many words.
 */
export function toFieldQuery({ from, to, subject }: Partial<Record<'from' | 'to' | 'subject', string | undefined>>): WordQuery | undefined {
  const phrases = [
    ...(from === undefined ? [] : [fieldPhrase('from', from)]),
    ...(subject === undefined ? [] : [fieldPhrase('subject', subject)]),
    ...(to === undefined ? [] : [[{ word: fieldWord('to', to.toLowerCase()), position: 1, isStart: false }]]),
  ]
  if (phrases.length === 0) return undefined
  const all = phrases.flat()
  const words = all.filter(({ isStart }) => !isStart)
  const whole = phrases.map((phrase) => `(${phraseOf(phrase)})`).join(' & ')
  return { whole, indexed: words.length === 0 ? whole : words.map(({ word }) => lexeme(word)).join(' & ') }
}

function fieldPhrase(field: 'from' | 'subject', text: string): FieldWord[] {
  const words = wordsOf(text)
  if (words.length > queryWordsMax) throw invalid(`/${field}`, `filter by at most ${queryWordsMax} words. These are ${words.length}`)
  // A field without words matches nothing.
  if (words.length === 0) return [{ word: fieldWord(field, ''), position: 1, isStart: false }]
  return words.map(({ word, position, kind }, index) => ({
    word: fieldWord(field, word),
    position,
    isStart: kind === 'last' || (kind === 'word' && index === words.length - 1 && word.length >= startCharactersMin),
  }))
}

/** Characters shown before and behind a match, and the largest number of pieces of a text. */
const charactersBefore = 80
const charactersBehind = 160
const piecesMax = 2

type Span = { start: number; end: number }

/** The whole text, escaped for HTML, with `<mark>` around each match. Null without one. */
export function markAll(text: string, query: SearchQuery): string | null {
  const spans = findSpans(text, query)
  return spans.length === 0 ? null : marked(text, { start: 0, end: text.length }, spans)
}

/** The same for the surroundings of the first matches. */
export function markPieces(text: string, query: SearchQuery): string | null {
  const spans = findSpans(text, query)
  const pieces: Span[] = []
  for (const { start, end } of spans) {
    if (pieces.length > 0 && start < (pieces.at(-1) as Span).end) continue
    if (pieces.length === piecesMax) break
    pieces.push({ start: wordStart(text, start, pieces.at(-1)?.end ?? 0), end: wordEnd(text, end) })
  }
  return pieces.length === 0 ? null : pieces.map((piece) => marked(text, piece, spans).replace(/\s+/g, ' ').trim()).join(' … ')
}

function findSpans(text: string, query: SearchQuery): Span[] {
  const sought = query.flat().filter(({ isExcluded }) => !isExcluded)
  const words = new Set(sought.flatMap((term) => term.words.filter(({ kind }) => kind !== 'last').map(({ word }) => word)))
  const firsts = new Set(sought.flatMap((term) => term.words.filter(({ kind }) => kind === 'last').map(({ word }) => word)))
  const spans: Span[] = []
  cutWords(text, ({ word, start, end, kind }) => {
    const isFirst = (kind === 'pair' || kind === 'last') && firsts.size > 0 && firsts.has([...word][0] as string)
    if (!isFirst && !words.has(word)) return
    const stop = isFirst && !words.has(word) ? start + ([...word][0] as string).length : end
    const before = spans.at(-1)
    if (before && start <= before.end) before.end = Math.max(before.end, stop)
    else spans.push({ start, end: stop })
  })
  return spans
}

/** The start of a piece at a space, or as many characters before the match. */
function wordStart(text: string, matchStart: number, least: number): number {
  const start = Math.max(least, matchStart - charactersBefore)
  if (start === least) return start
  const space = text.slice(start, matchStart).search(/\s/)
  return space < 0 ? start : start + space
}

function wordEnd(text: string, matchEnd: number): number {
  const end = Math.min(text.length, matchEnd + charactersBehind)
  if (end === text.length) return end
  const space = text.slice(matchEnd, end).search(/\s\S*$/)
  return space < 0 ? end : matchEnd + space
}

function marked(text: string, { start, end }: Span, spans: readonly Span[]): string {
  let from = start
  let html = ''
  for (const span of spans) {
    if (span.end <= start || span.start >= end) continue
    html += `${escaped(text.slice(from, span.start))}<mark>${escaped(text.slice(span.start, Math.min(span.end, end)))}</mark>`
    from = Math.min(span.end, end)
  }
  return (html + escaped(text.slice(from, end))).toWellFormed()
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

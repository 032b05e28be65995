// Cuts texts into words for search. The index and the queries are cut by the same rules.
import { type MessageRow, searchedCharactersMax } from '../model.ts'

/** A word with its place: `position` counts words from 1, and `start` and `end` are offsets in the text. */
export type Word = { word: string; position: number; start: number; end: number; kind: WordKind }

/**
 * `pair` is two neighbouring characters of a language that is written without spaces, and `last` the last character of such a run. `address` is a whole
 * mail address. Its parts are words too.
 */
export type WordKind = 'word' | 'pair' | 'last' | 'address'

const wordCharactersMax = 100
const addressCharactersMax = 320

const run = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
/** Scripts whose words no spaces separate, and Korean, whose words have endings. */
const spaceless = String.raw`\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}`
const segment = new RegExp(`[${spaceless}]+|[^${spaceless}]+`, 'gu')
const isSpaceless = new RegExp(`^[${spaceless}]`, 'u')
const isAscii = /^[\0-\x7f]*$/
const addressCharacter = /[\w.!#$%&'*+/=?^`{|}~-]/

/** The highest position of PostgreSQL. Further words of a text are left out, so that no message fills the index. */
const wordsMax = 16_383

/** Calls `add` for each word of a text in order, up to 16,383. Case, accents and widths do not count. Linear in the text. */
export function cutWords(text: string, add: (word: Word) => void): void {
  const addresses = findAddresses(text)
  let position = 0
  for (const { 0: found, index } of text.matchAll(run)) {
    if (position >= wordsMax) return
    while (addresses[0] && addresses[0].start <= index) {
      const { start, end } = addresses.shift() as Span
      add({ word: text.slice(start, end).toLowerCase(), position: position + 1, start, end, kind: 'address' })
    }
    if (isAscii.test(found)) {
      const word = found.slice(0, wordCharactersMax).toLowerCase()
      add({ word, position: ++position, start: index, end: index + found.length, kind: 'word' })
      continue
    }
    for (const { 0: part, index: offset } of found.matchAll(segment)) {
      const start = index + offset
      const end = start + part.length
      if (!isSpaceless.test(part)) add({ word: folded(part).slice(0, wordCharactersMax), position: ++position, start, end, kind: 'word' })
      else for (const pair of pairsOf(part, start).slice(0, wordsMax - position)) add({ ...pair, position: ++position })
    }
  }
}

/** Overlapping pairs of characters, and the last character. */
function pairsOf(part: string, start: number): Omit<Word, 'position'>[] {
  const characters = [...folded(part)]
  const originals = [...part]
  // Folding composes some characters. Then each pair has the place of the whole run.
  const isSameLength = originals.length === characters.length
  let at = start
  return characters.map((character, index) => {
    const next = characters[index + 1]
    const width = (originals[index] ?? '').length + (next === undefined ? 0 : (originals[index + 1] ?? '').length)
    const span = isSameLength ? { start: at, end: at + width } : { start, end: start + part.length }
    at += (originals[index] ?? '').length
    return { word: character + (next ?? ''), ...span, kind: next === undefined ? 'last' : 'pair' }
  })
}

/** Without case, accents and widths: decomposed (NFKD), then composed (NFC) without the combining diacritical marks U+0300 to U+036F. */
const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ß', 'ss')

type Span = { start: number; end: number }

/** Mail addresses in ASCII, of which the domain has a dot. */
function findAddresses(text: string): Span[] {
  const found: Span[] = []
  let least = 0
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let [start, end] = [at, at + 1]
    while (start > least && at - start < addressCharactersMax && addressCharacter.test(text[start - 1] as string)) start--
    while (end < text.length && end - at < addressCharactersMax && /[\w.-]/.test(text[end] as string)) end++
    while (/[^\p{L}\p{N}]/u.test(text[start] as string) && start < at) start++
    while (/[.-]/.test(text[end - 1] as string)) end--
    least = end
    if (start < at && text.slice(at + 1, end).includes('.')) found.push({ start, end })
  }
  return found
}

/** The bytes of a position, and those of a lexeme besides its text and positions, with the padding between them. */
const positionBytes = 2
const wordOverheadBytes = 4 + positionBytes
/** Limit of PostgreSQL: positions per lexeme. */
const positionsMax = 255

/** The fields that lists filter by. Their words stand in the index a second time, behind the letter of the field. `author` is the whole address of the sender. */
export type Field = 'from' | 'to' | 'subject' | 'author'

/** A word of a field in the index. No word of a text contains a colon. */
export const fieldWord = (field: Field, word: string): string => `${field[0]}:${word}`

/** The texts of a message that are searched. `to` are the addresses of all its recipients. */
export type SearchedTexts = { text: string; from: string; author: string; to: string[]; subject: string }

/** Of the sender and the subject. Longer ones are not written by people. */
const fieldCharactersMax = 2_000
/** Characters of an address that filters find, which is longer than any that can be sent to. */
const filteredAddressMax = 512
const filteredRecipientsMax = 1_000
/** A tsvector has at most 1 MB. Further words are left out. */
const vectorBytesMax = 1_000_000

type Addressed = Pick<MessageRow, 'subject' | 'from_name' | 'from_address' | 'to_addresses' | 'cc_addresses' | 'bcc_addresses' | 'text'>

/** The texts of a message that are searched: of its text the beginning, because a tsvector of PostgreSQL has at most 1 MB. */
export function searchedTexts(message: Addressed): SearchedTexts {
  const from = `${message.from_name} ${message.from_address}`.slice(0, fieldCharactersMax)
  const recipients = [...message.to_addresses, ...message.cc_addresses].slice(0, 100)
  const text = [message.subject, from, ...recipients, message.text.slice(0, searchedCharactersMax)].join(' ').toWellFormed()
  const addresses = [...message.to_addresses, ...message.cc_addresses, ...message.bcc_addresses]
  return {
    text,
    from,
    author: message.from_address.length <= filteredAddressMax ? message.from_address : '',
    to: addresses.filter((address) => address.length <= filteredAddressMax).slice(0, filteredRecipientsMax),
    subject: message.subject.slice(0, fieldCharactersMax),
  }
}

/**
 * The words of a message as a `tsvector` in PostgreSQL's binary format: the number of lexemes, then each with its closing NUL, the number of its
 * positions and these. PostgreSQL sorts them.
 */
export function toSearchVector({ text, from, author, to, subject }: SearchedTexts): Buffer {
  const places = new Map<string, number[]>()
  let bytes = 0
  const note = (word: string, position: number): void => {
    const positions = places.get(word)
    if (positions !== undefined) {
      if (positions.length === positionsMax || bytes + positionBytes > vectorBytesMax) return
      bytes += positionBytes
      positions.push(position)
      return
    }
    // Folding makes some characters longer, so words are counted as they are stored.
    const size = Buffer.byteLength(word) + wordOverheadBytes
    if (bytes + size > vectorBytesMax) return
    bytes += size
    places.set(word, [position])
  }
  // Those of the fields first, so that a long text does not take their room.
  if (author !== '') note(fieldWord('author', author.toLowerCase()), 1)
  cutWords(from, ({ word, position }) => note(fieldWord('from', word), position))
  cutWords(subject, ({ word, position }) => note(fieldWord('subject', word), position))
  for (const address of to) note(fieldWord('to', address.toLowerCase()), 1)
  cutWords(text, ({ word, position }) => note(word, position))
  // UTF-8 takes at most three bytes per code unit.
  const sizeMax = [...places].reduce((sum, [word, positions]) => sum + 3 * word.length + 3 + 2 * positions.length, 4)
  const vector = Buffer.allocUnsafe(sizeMax)
  let offset = vector.writeInt32BE(places.size)
  for (const [word, positions] of places) {
    offset += vector.write(word, offset)
    vector[offset++] = 0
    offset = vector.writeUInt16BE(positions.length, offset)
    for (const position of positions) offset = vector.writeUInt16BE(position, offset)
  }
  return vector.subarray(0, offset)
}

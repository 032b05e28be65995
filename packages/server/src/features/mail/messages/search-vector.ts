// Makes the search vectors of PostgreSQL's to_tsvector('simple', …) at a tenth of its cost. Most of a message are plain words, which need no
// parser. PostgreSQL parses the other pieces once, and its results are cached.

import { LexemePlaces } from './lexeme-places.ts'
import { caseBit, mix, TokenCache } from './token-cache.ts'

/** The lexemes of a piece of text, each with its position among the words of that piece, from 1. */
export type Lexemes = { lexeme: string; position: number }[]

/**
 * A text cut at white space, which only tags cross among the tokens of PostgreSQL's parser. `pieces` has the distinct pieces in the order of
 * their first occurrence. Plain words are lexemes. Other pieces are marked by blanks around them, and PostgreSQL parses them. `order` has the
 * index of the piece at each position.
 */
export type CutText = { pieces: string[]; order: Int32Array }

const blank = ' '

/** True for a piece that PostgreSQL has to parse. */
export const isForPostgres = (piece: string): boolean => piece.startsWith(blank)

/** PostgreSQL parses the whole text that has a longer piece: encoded data, or a language without blanks. */
const pieceCharactersMax = 500

const space = ' \t\r\n'
/** Characters that PostgreSQL's parser skips before and after a word. A sign before a number belongs to it. "/" may begin a path, and "&" an entity. */
const marks = '!"#$%\'()*,.:;=>?@[\\]^`{|}~+-'
const kind = { other: 0, space: 1, letter: 2, digit: 3, mark: 4, sign: 5 } as const

// Shared by all texts, one at a time.
const table = new TokenCache()
let scratch = new Int32Array(0)

/** The kind of each code unit. Everything beyond ASCII is `other`. */
const kinds = new Uint8Array(0x1_0000)
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code)
  if (space.includes(character)) kinds[code] = kind.space
  else if (/[A-Za-z]/.test(character)) kinds[code] = kind.letter
  else if (/[0-9]/.test(character)) kinds[code] = kind.digit
  else if ('+-'.includes(character)) kinds[code] = kind.sign
  else if (marks.includes(character)) kinds[code] = kind.mark
}

/**
 * Null when PostgreSQL must parse the text as a whole. A possible tag can continue after white space, and a very long piece is not a word.
 * Some characters at the start, or dots at the end of a line, make a path of text that is not one between blanks.
 */
export function cutAtSpace(text: string): CutText | null {
  if (/^[~./]|\.\.(?:\r|$)/.test(text)) return null
  const end = text.length
  const units = table.start(text)
  const pieces: string[] = []
  if (scratch.length <= end >> 1) scratch = new Int32Array((end >> 1) + 1)
  const order = scratch
  let count = 0
  // The current piece: its start, the start, end and hash of its word, and whether it is something other than a plain word.
  let start = 0
  let wordStart = -1
  let wordEnd = -1
  let hash = 0
  let isOdd = false
  let before: number = kind.space
  for (let index = 0; index <= end; index++) {
    const found = kinds[units[index] as number] as number
    if (found === kind.letter || found === kind.digit) {
      // A second run, or a number with its sign.
      isOdd ||= wordStart >= 0 || (found === kind.digit && before === kind.sign)
      wordStart = index
      hash = 0
      do hash = mix(hash, (units[index++] as number) | caseBit)
      while (kinds[units[index] as number] === found)
      wordEnd = index--
    } else if (found === kind.space) {
      if (index - start > pieceCharactersMax) return null
      if (isOdd || wordStart >= 0) {
        const number = isOdd ? table.findOdd(start, index) : table.findWord(wordStart, wordEnd, hash)
        if (number === pieces.length) {
          const piece = isOdd ? text.slice(start, index) : text.slice(wordStart, wordEnd).toLowerCase()
          if (isOdd && mayBeginTag(piece)) return null
          pieces.push(isOdd ? blank + piece + blank : piece)
        } else if (number < 0) return null
        order[count++] = number
      }
      start = index + 1
      wordStart = -1
      isOdd = false
    } else if (found === kind.other) isOdd = true
    before = found
  }
  return { pieces, order: order.slice(0, count) }
}

/** A tag within one piece, such as an address in angle brackets, is an ordinary piece. */
const mayBeginTag = (piece: string): boolean => piece.includes('<') && !/^[^<>]*<[^<>"']*>[^<>]*$/.test(piece)

/** The vector in PostgreSQL's binary format: the number of lexemes, then each with its closing NUL, the number of its positions, and these. */
export function toVector({ pieces, order }: CutText, read: (piece: string) => Lexemes): Buffer {
  const places = new LexemePlaces()
  /** The number of a plain word's lexeme plus 1, or 0. */
  const ofWord = new Int32Array(pieces.length)
  const ofOther: (NumberedLexemes | undefined)[] = []
  let words = 0
  for (const piece of order) {
    const known = ofWord[piece] as number
    if (known > 0) {
      places.add(known - 1, ++words)
      continue
    }
    const text = pieces[piece] as string
    if (!isForPostgres(text)) {
      const number = places.numberOf(text)
      ofWord[piece] = number + 1
      places.add(number, ++words)
      continue
    }
    ofOther[piece] ??= read(text).map(({ lexeme, position }) => ({ number: places.numberOf(lexeme), position }))
    const before = words
    for (const { number, position } of ofOther[piece]) {
      places.add(number, before + position)
      if (before + position > words) words = before + position
    }
  }
  return places.toVector()
}

type NumberedLexemes = { number: number; position: number }[]

// Makes the search vectors that PostgreSQL's to_tsvector('simple', …) would make, at a tenth of its price: most of a mail are plain words, which
// need no parser; of the rest PostgreSQL is asked once and its answer remembered.

import { LexemePlaces } from './lexeme-places.ts'
import { caseBit, mix, PieceTable } from './token-cache.ts'

/** Lexemes of a piece of text, each with its place among the words of that piece, from 1. */
export type Lexemes = { lexeme: string; position: number }[]

/**
 * A text cut at white space, which no token of PostgreSQL's parser crosses but a tag. `pieces` are the different ones in the order of their first places:
 * plain words are lexemes already; others stand between blanks, which no lexeme has, and are PostgreSQL's to read. `order`: which piece stands where.
 */
export type CutText = { pieces: string[]; order: Int32Array }

const blank = ' '

/** Whether PostgreSQL has to say which lexemes a piece has. */
export const isForPostgres = (piece: string): boolean => piece.startsWith(blank)

/** Longer pieces are left to PostgreSQL with all the text that they are in: encoded data, or a language that writes no blanks. */
const pieceCharactersMax = 500

const space = ' \t\r\n'
/** What PostgreSQL's parser passes over before a word and behind it. In front of a number a sign is part of it; behind "/" may come a path, behind "&" an entity. */
const marks = '!"#$%\'()*,.:;=>?@[\\]^`{|}~+-'
const kind = { other: 0, space: 1, letter: 2, digit: 3, mark: 4, sign: 5 } as const

// For one text at a time.
const table = new PieceTable()
let scratch = new Int32Array(0)

/** By code unit; all beyond ASCII is other. */
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
 * Null when the text has to be read as a whole: what may be a tag can go on behind white space, a very long piece is no word, and these at the
 * beginning, or dots at the end of a line, make a path of what is none between blanks.
 */
export function cutAtSpace(text: string): CutText | null {
  if (/^[~./]|\.\.(?:\r|$)/.test(text)) return null
  const end = text.length
  const units = table.start(text)
  const pieces: string[] = []
  if (scratch.length <= end >> 1) scratch = new Int32Array((end >> 1) + 1)
  const order = scratch
  let count = 0
  // Of the piece at hand: where it and its word begin, where the word ends, the hash of the word, and whether it is no plain word.
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

/** A tag that ends where it began, such as an address in angle brackets, is a piece like any other. */
const mayBeginTag = (piece: string): boolean => piece.includes('<') && !/^[^<>]*<[^<>"']*>[^<>]*$/.test(piece)

/** The vector in PostgreSQL's binary format: the number of lexemes, then each with its closing NUL, the number of its places, and those. */
export function toVector({ pieces, order }: CutText, read: (piece: string) => Lexemes): Buffer {
  const places = new LexemePlaces()
  /** The number of a plain word's lexeme and one more, or 0. */
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

// Makes the search vectors that PostgreSQL's to_tsvector('simple', …) would make, at a tenth of its price: most of a mail are plain words, which
// need no parser; of the rest PostgreSQL is asked once and its answer remembered.

/** Lexemes of a piece of text, each with its place among the words of that piece, from 1. */
export type Lexemes = { lexeme: string; position: number }[]

/**
 * A text cut at white space, which no token of PostgreSQL's parser crosses but a tag. Plain words are lexemes already; other pieces stand between blanks,
 * which no lexeme has, and are PostgreSQL's to read.
 */
export type Pieces = string[]

const blank = ' '

/** Whether PostgreSQL has to say which lexemes a piece has. */
export const isForPostgres = (piece: string): boolean => piece.startsWith(blank)

/** Longer pieces are left to PostgreSQL with all the text that they are in: encoded data, or a language that writes no blanks. */
const pieceCharactersMax = 500

const space = ' \t\r\n'
/** What PostgreSQL's parser passes over before a word and behind it. In front of a number a sign is part of it; behind "/" may come a path, behind "&" an entity. */
const marks = '!"#$%\'()*,.:;=>?@[\\]^`{|}~+-'
const kind = { other: 0, space: 1, letter: 2, digit: 3, mark: 4, sign: 5 } as const

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
export function cutAtSpace(text: string): Pieces | null {
  if (/^[~./]|\.\.(?:\r|$)/.test(text)) return null
  const pieces: Pieces = []
  const end = text.length
  // Of the piece at hand: where it and its word begin, where the word ends, and whether it is no plain word.
  let start = 0
  let wordStart = -1
  let wordEnd = -1
  let isOdd = false
  let before: number = kind.space
  for (let index = 0; index <= end; index++) {
    const found = index === end ? kind.space : (kinds[text.charCodeAt(index)] as number)
    if (found === kind.space) {
      if (index - start > pieceCharactersMax) return null
      if (isOdd) {
        const piece = text.slice(start, index)
        if (mayBeginTag(piece)) return null
        pieces.push(blank + piece + blank)
      } else if (wordStart >= 0) pieces.push(text.slice(wordStart, wordEnd).toLowerCase())
      start = index + 1
      wordStart = -1
      isOdd = false
    } else if (found === kind.letter || found === kind.digit) {
      if (found === before) wordEnd++
      else {
        // A second run, or a number with its sign.
        isOdd ||= wordStart >= 0 || (found === kind.digit && before === kind.sign)
        wordStart = index
        wordEnd = index + 1
      }
    } else if (found === kind.other) isOdd = true
    before = found
  }
  return pieces
}

/** A tag that ends where it began, such as an address in angle brackets, is a piece like any other. */
const mayBeginTag = (piece: string): boolean => piece.includes('<') && !/^[^<>]*<[^<>"']*>[^<>]*$/.test(piece)

/** PostgreSQL keeps no more places of a lexeme, and no place beyond this one. */
const positionsMax = 255
const positionMax = 16_383

/** The vector in PostgreSQL's binary format: the number of lexemes, then each with its closing NUL, the number of its places, and those. */
export function toVector(pieces: Pieces, read: (piece: string) => Lexemes): Buffer {
  const places = new Map<string, number[]>()
  const add = (lexeme: string, position: number) => {
    const place = Math.min(position, positionMax)
    const known = places.get(lexeme)
    if (known === undefined) places.set(lexeme, [place])
    else if (known.length < positionsMax && known.at(-1) !== place) known.push(place)
  }
  let words = 0
  for (const piece of pieces) {
    if (!isForPostgres(piece)) {
      add(piece, ++words)
      continue
    }
    const before = words
    for (const { lexeme, position } of read(piece)) {
      add(lexeme, before + position)
      words = Math.max(words, before + position)
    }
  }
  // Three bytes are the most that UTF-8 takes for a code unit.
  let sizeMax = 4
  for (const [lexeme, at] of places) sizeMax += 3 * lexeme.length + 3 + 2 * at.length
  const vector = Buffer.allocUnsafe(sizeMax)
  let offset = vector.writeInt32BE(places.size)
  const writeTwo = (value: number) => {
    vector[offset++] = value >> 8
    vector[offset++] = value & 0xff
  }
  // PostgreSQL sorts what is not in its order.
  for (const [lexeme, at] of places) {
    offset += vector.write(lexeme, offset)
    vector[offset++] = 0
    writeTwo(at.length)
    for (const place of at) writeTwo(place)
  }
  return vector.subarray(0, offset)
}

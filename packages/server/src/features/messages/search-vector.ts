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

const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (space.includes(character)) return kind.space
  if (/[A-Za-z]/.test(character)) return kind.letter
  if (/[0-9]/.test(character)) return kind.digit
  if ('+-'.includes(character)) return kind.sign
  return marks.includes(character) ? kind.mark : kind.other
})

/**
 * Null when the text has to be read as a whole: what may be a tag can go on behind white space, a very long piece is no word, and these at the
 * beginning, or dots at the end of a line, make a path of what is none between blanks.
 */
export function cutAtSpace(text: string): Pieces | null {
  if (/^[~./]|\.\.(?:\r|$)/.test(text)) return null
  const pieces: Pieces = []
  const end = text.length
  const kindAt = (index: number): number => (index === end ? kind.space : (kinds[text.charCodeAt(index)] ?? kind.other))
  const pass = (index: number, wanted: number, other = wanted): number => {
    let at = index
    for (let found = kindAt(at); found === wanted || found === other; ) found = kindAt(++at)
    return at
  }
  for (let start = 0; start < end; ) {
    if (kindAt(start) === kind.space) {
      start++
      continue
    }
    const first = pass(start, kind.mark, kind.sign)
    let wordEnd = pass(first, kind.letter)
    if (wordEnd === first && kindAt(first - 1) !== kind.sign) wordEnd = pass(first, kind.digit)
    let stop = pass(wordEnd, kind.mark, kind.sign)
    if (kindAt(stop) === kind.space) {
      if (wordEnd > first) pieces.push(text.slice(first, wordEnd).toLowerCase())
    } else {
      while (kindAt(stop) !== kind.space) stop++
      const piece = text.slice(start, stop)
      if (mayBeginTag(piece)) return null
      pieces.push(blank + piece + blank)
    }
    if (stop - start > pieceCharactersMax) return null
    start = stop
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
  const lexemes = [...places.keys()].sort()
  let size = 4
  for (const [lexeme, at] of places) size += Buffer.byteLength(lexeme) + 3 + 2 * at.length
  const vector = Buffer.allocUnsafe(size)
  let offset = vector.writeInt32BE(lexemes.length)
  for (const lexeme of lexemes) {
    offset += vector.write(lexeme, offset)
    offset = vector.writeUInt8(0, offset)
    const at = places.get(lexeme) as number[]
    offset = vector.writeUInt16BE(at.length, offset)
    for (const place of at) offset = vector.writeUInt16BE(place, offset)
  }
  return vector
}

// Makes search vectors: plain words here, and of the rest asks PostgreSQL what it has not been asked before.
import { type CutText, cutAtSpace, isForPostgres, type Lexemes, toVector } from './search-vector.ts'

/** PostgreSQL's own reading of texts. */
export interface Parser {
  /** The lexemes of each piece, with their places. What has none is not in the map. */
  read(pieces: string[]): Promise<Map<string, Lexemes>>
  /** Whether it makes this vector of this text; a server's own configuration or language may make another. */
  makes(vector: Buffer, text: string): Promise<boolean>
}

/** Names, addresses and words of other languages come again; what is longer is most likely the only one of its kind. */
const rememberedCharactersMax = 64
const rememberedMax = 10_000

/** In two halves: when the newer is full it becomes the older, and what of that has not been asked for again is forgotten. */
let newer = new Map<string, Lexemes>()
let older = new Map<string, Lexemes>()

/** Null before it was looked at. */
let readsAsExpected: boolean | null = null

/**
 * Search vectors of texts in PostgreSQL's binary format, the same that its to_tsvector('simple', …) makes. What is not worth cutting, because it is mostly
 * not plain words, comes back as its text.
 */
export async function toSearchVectors(parser: Parser, texts: string[]): Promise<(Buffer | string)[]> {
  readsAsExpected ??= await parser.makes(
    toVector(cutAtSpace(probe) as CutText, () => []),
    probe,
  )
  if (!readsAsExpected) return texts
  const known = new Map<string, Lexemes>()
  const unknown = new Set<string>()
  const cut = texts.map((text) => {
    const parts = cutAtSpace(text)
    return parts && isWorthCutting(parts.pieces, text, known, unknown) ? parts : null
  })
  if (unknown.size > 0) {
    const read = await parser.read([...unknown])
    for (const piece of unknown) {
      const lexemes = read.get(piece) ?? []
      known.set(piece, lexemes)
      if (piece.length <= rememberedCharactersMax) remember(piece, lexemes)
    }
  }
  return texts.map((text, index) => {
    const parts = cut[index]
    return parts ? toVector(parts, (piece) => known.get(piece) as Lexemes) : text
  })
}

/** Every ASCII letter and digit, and punctuation: under some locales I has another lower case, and a server's `simple` may be told to drop words. */
const probe = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz 0123456789 The (word), "and" this -- is #the end!'

/** Adds what has to be asked to `unknown` and what was asked before to `known`, unless most of the text would have to be asked. */
function isWorthCutting(pieces: string[], text: string, known: Map<string, Lexemes>, unknown: Set<string>): boolean {
  const asked = new Set<string>()
  let characters = 0
  for (const piece of pieces) {
    if (!isForPostgres(piece) || known.has(piece) || unknown.has(piece) || asked.has(piece)) continue
    const lexemes = recall(piece)
    if (lexemes) {
      known.set(piece, lexemes)
      continue
    }
    asked.add(piece)
    characters += piece.length
    if (characters * 2 > text.length) return false
  }
  for (const piece of asked) unknown.add(piece)
  return true
}

function recall(piece: string): Lexemes | undefined {
  const lexemes = newer.get(piece)
  if (lexemes) return lexemes
  const old = older.get(piece)
  if (old) remember(piece, old)
  return old
}

function remember(piece: string, lexemes: Lexemes): void {
  if (newer.size >= rememberedMax / 2) {
    older = newer
    newer = new Map()
  }
  newer.set(piece, lexemes)
}

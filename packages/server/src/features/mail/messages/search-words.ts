// Makes search vectors from plain words, and from other pieces that PostgreSQL parses once.
import { shareThread } from '../../../core/turn.ts'
import { type CutText, cutAtSpace, isForPostgres, type Lexemes, toVector } from './search-vector.ts'

/** PostgreSQL's text parser. */
export interface Parser {
  /** The lexemes of each piece, with their positions. Pieces without lexemes are absent from the map. */
  read(pieces: string[]): Promise<Map<string, Lexemes>>
  /** True when PostgreSQL makes this vector of this text. A server's configuration or language may make another. */
  makes(vector: Buffer, text: string): Promise<boolean>
}

/** Names, addresses and foreign words repeat. Longer pieces are probably unique and are not cached. */
const cachedCharactersMax = 64
const cachedMax = 10_000

/** A cache in two generations. When the newer is full it becomes the older, and entries of the older that were not used again are dropped. */
let newer = new Map<string, Lexemes>()
let older = new Map<string, Lexemes>()

/** Null before the first check. */
let readsAsExpected: boolean | null = null

/**
 * Search vectors of texts in PostgreSQL's binary format, equal to those of to_tsvector('simple', …). A text that is mostly other than plain
 * words is not worth cutting, and is returned as it is.
 */
export async function toSearchVectors(parser: Parser, texts: string[]): Promise<(Buffer | string)[]> {
  readsAsExpected ??= await parser.makes(
    toVector(cutAtSpace(probe) as CutText, () => []),
    probe,
  )
  if (!readsAsExpected) return texts
  const known = new Map<string, Lexemes>()
  const unknown = new Set<string>()
  const cut: (CutText | null)[] = []
  for (const text of texts) {
    await shareThread()
    const parts = cutAtSpace(text)
    cut.push(parts && isWorthCutting(parts.pieces, text, known, unknown) ? parts : null)
  }
  if (unknown.size > 0) {
    const read = await parser.read([...unknown])
    for (const piece of unknown) {
      const lexemes = read.get(piece) ?? []
      known.set(piece, lexemes)
      if (piece.length <= cachedCharactersMax) remember(piece, lexemes)
    }
  }
  const vectors: (Buffer | string)[] = []
  for (const [index, text] of texts.entries()) {
    await shareThread()
    const parts = cut[index]
    vectors.push(parts ? toVector(parts, (piece) => known.get(piece) as Lexemes) : text)
  }
  return vectors
}

/** Every ASCII letter and digit, and punctuation. Some locales have another lower case of I, and a server's `simple` may drop words. */
const probe = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz 0123456789 The (word), "and" this -- is #the end!'

/** Adds cached pieces to `known`, and the pieces to parse to `unknown` unless they are most of the text. */
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
  if (newer.size >= cachedMax / 2) {
    older = newer
    newer = new Map()
  }
  newer.set(piece, lexemes)
}

// Collects the positions of a text's lexemes, and writes them in PostgreSQL's binary format.

/** Limits of PostgreSQL: the positions per lexeme, and the highest position. */
const positionsMax = 255
const positionMax = 16_383

/** Node writes longer lexemes itself. */
const shortCharactersMax = 32

/** The lexemes of one text, numbered in the order of their first lookup. The positions of each form a linked list in two shared arrays. */
export class LexemePlaces {
  readonly #numbers = new Map<string, number>()
  readonly #lexemes: string[] = []
  readonly #counts: number[] = []
  readonly #first: number[] = []
  readonly #last: number[] = []
  readonly #places: number[] = []
  readonly #next: number[] = []

  numberOf(lexeme: string): number {
    const known = this.#numbers.get(lexeme)
    if (known !== undefined) return known
    const number = this.#lexemes.push(lexeme) - 1
    this.#numbers.set(lexeme, number)
    this.#counts.push(0)
    this.#first.push(-1)
    this.#last.push(-1)
    return number
  }

  /** Adds a position, from 1, unless the lexeme has the most positions or already ends with this one. */
  add(number: number, position: number): void {
    const place = Math.min(position, positionMax)
    const last = this.#last[number] as number
    if (last >= 0) {
      if (this.#places[last] === place || (this.#counts[number] as number) === positionsMax) return
    }
    const at = this.#places.push(place) - 1
    this.#next.push(-1)
    if (last < 0) this.#first[number] = at
    else this.#next[last] = at
    this.#last[number] = at
    this.#counts[number] = (this.#counts[number] as number) + 1
  }

  /** The number of lexemes, then each with its closing NUL, the number of its positions, and these. PostgreSQL sorts them. */
  toVector(): Buffer {
    // UTF-8 takes at most three bytes per code unit.
    let sizeMax = 4 + 2 * this.#places.length
    for (const lexeme of this.#lexemes) sizeMax += 3 * lexeme.length + 3
    const vector = Buffer.allocUnsafe(sizeMax)
    let offset = vector.writeInt32BE(this.#lexemes.length)
    for (const [number, lexeme] of this.#lexemes.entries()) {
      offset = writeText(vector, lexeme, offset)
      vector[offset++] = 0
      offset = writeTwo(vector, this.#counts[number] as number, offset)
      for (let at = this.#first[number] as number; at >= 0; at = this.#next[at] as number)
        offset = writeTwo(vector, this.#places[at] as number, offset)
    }
    return vector.subarray(0, offset)
  }
}

function writeTwo(vector: Buffer, value: number, offset: number): number {
  vector[offset] = value >> 8
  vector[offset + 1] = value & 0xff
  return offset + 2
}

/** Writes text as UTF-8. Short ASCII is written in a loop, because a call costs more. */
function writeText(vector: Buffer, text: string, offset: number): number {
  if (text.length > shortCharactersMax) return offset + vector.write(text, offset)
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 127) return offset + vector.write(text, offset)
    vector[offset + index] = unit
  }
  return offset + text.length
}

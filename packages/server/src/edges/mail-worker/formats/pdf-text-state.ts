// The text state of a PDF page: where the next glyph goes.
import { identity, type Matrix, multiply, toPage } from './pdf-matrix.ts'
import type { Point } from './pdf-surface.ts'

export type Glyph = { unicode: string; width: number; isSpace: boolean }

/** Text below this height, in points, is too small to be seen. */
export const tinyHeightMax = 1.5

/** A movement by more than this share of the height separates words. */
const wordGap = 0.2
/** Glyphs are tested at this share of their height above the line. */
const middle = 0.3

/** A run of glyphs: its text, and three points in it, before the transformation of the page. */
export type Shown = { text: string; points: Point[]; isTiny: (page: Matrix) => boolean }

export class PdfTextState {
  size = 0
  mode = 0
  rise = 0
  leading = 0
  characterSpacing = 0
  wordSpacing = 0
  horizontalScale = 1
  #matrix: Matrix = identity
  #line: Point = [0, 0]
  #x = 0

  copy(): PdfTextState {
    const made = Object.assign(new PdfTextState(), this)
    made.place(this.#matrix)
    return made
  }

  begin(): void {
    this.place(identity)
  }

  place(matrix: Matrix): void {
    this.#matrix = matrix
    this.#line = [0, 0]
    this.#x = 0
  }

  move(x: number, y: number, leading = this.leading): void {
    this.leading = leading
    this.#line = [this.#line[0] + x, this.#line[1] + y]
    this.#x = this.#line[0]
  }

  /** Moves over the glyphs. A number between them is a movement in thousandths of the size. */
  show(glyphs: readonly (Glyph | number | null)[]): Shown {
    const start = this.#x
    let text = ''
    for (const glyph of glyphs) {
      if (glyph === null) continue
      if (typeof glyph === 'number') {
        this.#x -= (glyph / 1000) * this.size * this.horizontalScale
        if (glyph < -1000 * wordGap) text += ' '
        continue
      }
      text += glyph.unicode
      const spacing = this.characterSpacing + (glyph.isSpace ? this.wordSpacing : 0)
      this.#x += ((glyph.width / 1000) * this.size + spacing) * this.horizontalScale
    }
    const [matrix, size] = [this.#matrix, this.size]
    const y = this.#line[1] + this.rise + middle * size
    const inset = Math.min(0.2 * Math.abs(size), Math.abs(this.#x - start) / 4) * Math.sign(this.#x - start)
    const places = [start + inset, (start + this.#x) / 2, this.#x - inset]
    return {
      text,
      points: places.map((x) => toPage(matrix, [x, y])),
      isTiny: (page) => {
        const [, , c, d] = multiply(page, matrix)
        return Math.hypot(c, d) * Math.abs(size) < tinyHeightMax
      },
    }
  }
}

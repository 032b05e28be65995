// The areas that a PDF page paints, in their order, to find the color behind a text.

export type Color = readonly [red: number, green: number, blue: number]
export type Box = readonly [left: number, bottom: number, right: number, top: number]
export type Point = readonly [x: number, y: number]

/** Areas beyond this number are not stored, and nothing counts as unseen from there on. */
const areasMax = 20_000
/** Areas that the questions about one page may look at. */
const visitsMax = 5_000_000
/** Below this share, what lies further down does not show. */
const shareMin = 0.02

const white: Color = [255, 255, 255]

const contains = ([left, bottom, right, top]: Box, [x, y]: Point): boolean => x >= left && x <= right && y >= bottom && y <= top

export const overlapOf = (one: Box, other: Box): Box => [
  Math.max(one[0], other[0]),
  Math.max(one[1], other[1]),
  Math.min(one[2], other[2]),
  Math.min(one[3], other[3]),
]

/** The color is null for an image, a pattern, and a shape that is not a rectangle. */
type Area = { box: Box; color: Color | null; alpha: number }

export class PdfSurface {
  readonly #areas: Area[] = []
  #visits = 0

  /** The number of areas painted before now. */
  get count(): number {
    return this.#areas.length
  }

  paint(box: Box, color: Color | null, alpha: number): void {
    if (this.#areas.length < areasMax && box[0] < box[2] && box[1] < box[3]) this.#areas.push({ box, color, alpha })
  }

  /** The color at a point of an empty page with the areas from `start` to `end`. Null where it is not known. */
  colorAt(point: Point, start = 0, end = this.count): Color | null {
    const mixed = this.#mixAt(point, start, end)
    if (mixed === null) return null
    return mixed.color.map((value, channel) => value + mixed.share * (white[channel] as number)) as unknown as Color
  }

  /** True if areas from `start` on hide what was painted at a point before, and their colors are known. */
  isCovered(point: Point, start: number): boolean {
    const mixed = this.#mixAt(point, start, this.count)
    return mixed !== null && mixed.share < shareMin
  }

  /** The mixed color of the areas over a point, the last on top, and the share of what is below them. */
  #mixAt(point: Point, start: number, end: number): { color: Color; share: number } | null {
    if (this.#areas.length >= areasMax) return null
    let color: Color = [0, 0, 0]
    let share = 1
    for (let index = end - 1; index >= start && share >= shareMin; index--) {
      if (++this.#visits > visitsMax) return null
      const area = this.#areas[index] as Area
      if (!contains(area.box, point)) continue
      if (area.color === null) return null
      const [red, green, blue] = area.color
      const part = share * area.alpha
      color = [color[0] + part * red, color[1] + part * green, color[2] + part * blue]
      share -= part
    }
    return { color, share }
  }
}

// Follows what a PDF page paints, to find text that its readers cannot see: in the color of its background, transparent, covered or cut off.
import { boxAround, cornersOf, identity, isUpright, type Matrix, multiply, toPage } from './pdf-matrix.ts'
import { rectanglesOf } from './pdf-paths.ts'
import { type Box, type Color, overlapOf, PdfSurface, type Point } from './pdf-surface.ts'
import { type Glyph, PdfTextState } from './pdf-text-state.ts'

/** The drawing operations of a page, as pdf.js lists them. */
export type Operations = { fnArray: readonly number[]; argsArray: readonly unknown[] }
/** The numbers of operations by their names. */
export type OperationNumbers = Record<string, number>

/** Colors that differ less in each of red, green and blue look alike on a screen. */
const differenceMin = 12

/** A color is null for a pattern, and after an operation whose effect is not followed. */
type State = {
  matrix: Matrix
  fill: Color | null
  stroke: Color | null
  fillAlpha: number
  groupAlpha: number
  clip: Box | null
  /** A mask changes what is painted. */
  isMasked: boolean
  /** A mode of blending changes what is painted. */
  isBlended: boolean
  /** The text state belongs to the graphics state, without its position. */
  text: PdfTextState
  /** The number of painted areas and runs when the state was saved, and whether the matrix has changed since. */
  mark: number
  isMoved: boolean
}

type Run = { text: string; points: Point[]; before: number; isFlat: boolean; colors: (Color | null)[]; alpha: number; clip: Box | null }

const black: Color = [0, 0, 0]

export class PdfPainting {
  readonly #surface = new PdfSurface()
  readonly #runs: Run[] = []
  readonly #page: Box
  readonly #numbers: OperationNumbers
  readonly #fillNumbers: Set<number | undefined>
  readonly #saved: State[] = []
  #clipsNext = false
  #state: State = {
    matrix: identity,
    fill: black,
    stroke: black,
    fillAlpha: 1,
    groupAlpha: 1,
    clip: null,
    isMasked: false,
    isBlended: false,
    text: new PdfTextState(),
    mark: 0,
    isMoved: false,
  }

  constructor(page: Box, numbers: OperationNumbers) {
    this.#page = page
    this.#numbers = numbers
    this.#fillNumbers = new Set(fillOperations.map((name) => numbers[name]))
  }

  /** Text that is not seen, a line per change of place. */
  findUnseen(): string {
    return this.#runs
      .filter((run) => this.#isUnseen(run))
      .map(({ text }) => text)
      .join('\n')
  }

  run({ fnArray, argsArray }: Operations): void {
    const numbers = this.#numbers
    const byNumber = new Map(
      Object.entries(this.#handlers).flatMap(([name, handler]) => (numbers[name] === undefined ? [] : [[numbers[name], handler] as const])),
    )
    for (const [index, number] of fnArray.entries()) byNumber.get(number)?.((argsArray[index] ?? []) as never)
  }

  #isUnseen({ points, before, isFlat, colors, alpha, clip }: Run): boolean {
    return points.every((point) => {
      if (clip !== null && !(point[0] >= clip[0] && point[0] <= clip[2] && point[1] >= clip[1] && point[1] <= clip[3])) return true
      if (this.#surface.isCovered(point, before)) return true
      // A scanned page has its text unpainted over or under the image.
      const below = this.#surface.colorAt(point, 0, isFlat ? this.#surface.count : before)
      if (below === null) return false
      return colors.every((color) => color?.every((value, i) => alpha * Math.abs(value - (below[i] as number)) < differenceMin))
    })
  }

  #save(): void {
    const { text } = this.#state
    this.#saved.push({ ...this.#state, text: text.copy() })
    this.#state.mark = this.#surface.count + this.#runs.length
    this.#state.isMoved = false
  }

  #restore(): void {
    const saved = this.#saved.pop()
    if (saved !== undefined) this.#state = saved
  }

  /** Images are left out by pdf.js, because they are not decoded. One leaves a change of the matrix and nothing painted. */
  #restoreAroundImage(): void {
    const { mark, isMoved } = this.#state
    if (isMoved && this.#saved.length > 0 && this.#surface.count + this.#runs.length === mark) this.#paintUnknown([0, 0, 1, 1])
    this.#restore()
  }

  #transform(matrix: Matrix): void {
    this.#state.matrix = multiply(this.#state.matrix, matrix)
    this.#state.isMoved = true
  }

  #onPage(box: Box): Box {
    return boxAround(cornersOf(box).map((point) => toPage(this.#state.matrix, point)))
  }

  #paint(box: Box, color: Color | null): void {
    const { fillAlpha, groupAlpha, isMasked, isBlended, clip } = this.#state
    this.#surface.paint(clip === null ? box : overlapOf(box, clip), isMasked || isBlended ? null : color, fillAlpha * groupAlpha)
  }

  #paintUnknown(box: Box): void {
    this.#paint(this.#onPage(box), null)
  }

  #path(paints: boolean, data: ArrayLike<number>, around: ArrayLike<number> | null): void {
    const clips = this.#clipsNext
    this.#clipsNext = false
    if (around === null || around.length < 4) return
    const rectangles = isUpright(this.#state.matrix) ? rectanglesOf(data) : null
    const boxes = (rectangles ?? [Array.from(around) as unknown as Box]).map((box) => this.#onPage(box))
    if (paints) for (const box of boxes) this.#paint(box, rectangles === null ? null : this.#state.fill)
    const whole = this.#onPage(Array.from(around) as unknown as Box)
    if (clips) this.#state.clip = this.#state.clip === null ? whole : overlapOf(this.#state.clip, whole)
  }

  #setGraphics(entries: readonly (readonly [name: string, value: unknown])[]): void {
    for (const [name, value] of entries) {
      if (name === 'ca' && typeof value === 'number') this.#state.fillAlpha = value
      else if (name === 'SMask') this.#state.isMasked = Boolean(value)
      else if (name === 'BM') this.#state.isBlended = value !== 'source-over' && value !== 'Normal'
      else if (name === 'Font' && Array.isArray(value)) this.#state.text.size = Number(value[1])
    }
  }

  #beginGroup(group: { smask?: unknown } | undefined): void {
    this.#save()
    if (group?.smask) this.#state.isMasked = true
    this.#state.groupAlpha *= this.#state.fillAlpha
    this.#state.fillAlpha = 1
  }

  #show(glyphs: readonly (Glyph | number | null)[]): void {
    const { text, matrix, fill, stroke, fillAlpha, groupAlpha, isMasked, isBlended, clip } = this.#state
    const shown = text.show(glyphs)
    // The last three modes add the text to the clip as well. The seventh alone makes a stencil of it.
    const mode = text.mode % 4
    if (shown.text.trim() === '' || shown.isTiny(matrix) || isMasked || isBlended || text.mode === 7) return
    this.#runs.push({
      text: shown.text,
      points: shown.points.map((point) => toPage(matrix, point)),
      before: this.#surface.count,
      isFlat: mode === 3,
      colors: mode === 3 ? [] : mode === 0 ? [fill] : mode === 1 ? [stroke] : [fill, stroke],
      alpha: fillAlpha * groupAlpha,
      clip,
    })
  }

  readonly #handlers: Record<string, (args: never) => void> = {
    save: () => this.#save(),
    restore: () => this.#restoreAroundImage(),
    transform: (args: Matrix) => this.#transform(args),
    paintFormXObjectBegin: ([matrix, box]: [Matrix | null, Box | null]) => {
      this.#save()
      if (matrix) this.#transform(matrix)
      if (!box) return
      const whole = this.#onPage(box)
      this.#state.clip = this.#state.clip === null ? whole : overlapOf(this.#state.clip, whole)
    },
    paintFormXObjectEnd: () => this.#restore(),
    beginGroup: ([group]: [{ smask?: unknown } | undefined]) => this.#beginGroup(group),
    endGroup: () => this.#restore(),
    setGState: ([entries]: [[string, unknown][]]) => this.#setGraphics(entries),
    setFillRGBColor: ([color]: [string]) => {
      this.#state.fill = colorOf(color)
    },
    setStrokeRGBColor: ([color]: [string]) => {
      this.#state.stroke = colorOf(color)
    },
    setFillColorN: () => {
      this.#state.fill = null
    },
    setStrokeColorN: () => {
      this.#state.stroke = null
    },
    setFillTransparent: () => {
      this.#state.fill = null
    },
    setStrokeTransparent: () => {
      this.#state.stroke = null
    },
    clip: () => {
      this.#clipsNext = true
    },
    eoClip: () => {
      this.#clipsNext = true
    },
    shadingFill: () => this.#paint(this.#state.clip ?? this.#page, null),
    constructPath: ([number, [data], around]: [number, [ArrayLike<number> | null], ArrayLike<number> | null]) =>
      this.#path(this.#fillNumbers.has(number), data ?? [], around),
    ...Object.fromEntries(imageOperations.map((name) => [name, () => this.#paint(this.#page, null)])),
    beginText: () => this.#state.text.begin(),
    setTextMatrix: ([matrix]: [Matrix]) => this.#state.text.place(matrix),
    moveText: ([x, y]: [number, number]) => this.#state.text.move(x, y),
    setLeadingMoveText: ([x, y]: [number, number]) => this.#state.text.move(x, y, -y),
    nextLine: () => this.#state.text.move(0, -this.#state.text.leading),
    setLeading: ([leading]: [number]) => {
      this.#state.text.leading = leading
    },
    setFont: ([, size]: [string, number]) => {
      this.#state.text.size = size
    },
    setTextRenderingMode: ([mode]: [number]) => {
      this.#state.text.mode = mode
    },
    setTextRise: ([rise]: [number]) => {
      this.#state.text.rise = rise
    },
    setCharSpacing: ([spacing]: [number]) => {
      this.#state.text.characterSpacing = spacing
    },
    setWordSpacing: ([spacing]: [number]) => {
      this.#state.text.wordSpacing = spacing
    },
    setHScale: ([percent]: [number]) => {
      this.#state.text.horizontalScale = percent / 100
    },
    showText: ([glyphs]: [(Glyph | number | null)[]]) => this.#show(glyphs),
  }
}

/** Images that are not left out, because they have one pixel or a mask. They count as the whole page. */
const imageOperations = [
  'paintImageXObject',
  'paintImageXObjectRepeat',
  'paintInlineImageXObject',
  'paintInlineImageXObjectGroup',
  'paintImageMaskXObject',
  'paintImageMaskXObjectGroup',
  'paintImageMaskXObjectRepeat',
  'paintSolidColorImageMask',
  'rawFillPath',
]

const fillOperations = ['fill', 'eoFill', 'fillStroke', 'eoFillStroke', 'closeFillStroke', 'closeEOFillStroke']

function colorOf(text: string): Color | null {
  const found = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text)
  return found === null ? null : ([1, 2, 3].map((index) => Number.parseInt(found[index] as string, 16)) as unknown as Color)
}

// Paths of a PDF page, as pdf.js lists them: a number for each step, followed by its coordinates.
import { boxAround } from './pdf-matrix.ts'
import type { Box, Point } from './pdf-surface.ts'

const [moveTo, lineTo, closePath] = [0, 1, 4]

/** Paths of more rectangles are not taken apart. */
const rectanglesMax = 50

/** The rectangles that a path consists of. Null if it has another shape, or if two of them overlap and may cut each other out. */
export function rectanglesOf(data: ArrayLike<number>): Box[] | null {
  const shapes: Point[][] = []
  for (let index = 0; index < data.length; ) {
    const step = data[index]
    if (step === closePath) {
      index += 1
      continue
    }
    if (step !== moveTo && step !== lineTo) return null
    const point: Point = [data[index + 1] as number, data[index + 2] as number]
    if (step === moveTo) shapes.push([point])
    else if (shapes.length === 0) return null
    else shapes.at(-1)?.push(point)
    index += 3
    if (shapes.length > rectanglesMax) return null
  }
  const boxes: Box[] = []
  // A move without a line paints nothing.
  for (const shape of shapes.filter(({ length }) => length > 1)) {
    const box = toRectangle(shape)
    if (box === null || boxes.some((other) => isOverlapping(box, other))) return null
    boxes.push(box)
  }
  return boxes
}

/** The box of four corners in their order, the first one repeated or not. */
function toRectangle(points: Point[]): Box | null {
  const [first, second, third, fourth, again] = points
  if (!first || !second || !third || !fourth || points.length > 5) return null
  if (again && (again[0] !== first[0] || again[1] !== first[1])) return null
  const isFirstLevel = first[1] === second[1] && second[0] === third[0] && third[1] === fourth[1] && fourth[0] === first[0]
  const isFirstSteep = first[0] === second[0] && second[1] === third[1] && third[0] === fourth[0] && fourth[1] === first[1]
  return isFirstLevel || isFirstSteep ? boxAround([first, third]) : null
}

const isOverlapping = (one: Box, other: Box): boolean => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]

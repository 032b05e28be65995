// Writes the fields and notes of a page of a PDF, which readers see on the page (ISO 32000-2 §12.5.6.6, §12.7).
import type { BoundedText } from './bounded-text.ts'

/** An annotation as pdf.js describes it. */
type Annotation = {
  subtype?: unknown
  annotationFlags?: unknown
  hidden?: unknown
  rect?: unknown
  fieldType?: unknown
  fieldName?: unknown
  fieldValue?: unknown
  alternativeText?: unknown
  password?: unknown
  checkBox?: unknown
  radioButton?: unknown
  exportValue?: unknown
  buttonValue?: unknown
  options?: unknown
  contentsObj?: unknown
}

/** Annotations of one page that are read. */
const annotationsMax = 5_000
const valueCharactersMax = 50_000
const nameCharactersMax = 200
/** Flags of an annotation that viewers do not show (ISO 32000-2, table 167). */
const hiddenFlag = 1 << 1
const noViewFlag = 1 << 5

/** Writes fields as a list, and notes as paragraphs. Text that the page does not show is hidden text. `view` is the box of the page. */
export function writeAnnotations(annotations: readonly unknown[], view: readonly number[], out: BoundedText): void {
  const fields: string[] = []
  const notes: string[] = []
  for (const annotation of annotations.slice(0, annotationsMax) as Annotation[]) {
    const field = annotation.subtype === 'Widget' ? fieldOf(annotation) : null
    const note = annotation.subtype === 'FreeText' || annotation.subtype === 'Text' ? noteOf(annotation) : null
    const text = field ?? note
    if (text === null) continue
    if (!isSeen(annotation, view)) out.hide(`${text}\n`)
    else if (field === null) notes.push(text)
    else fields.push(`- ${field}`)
  }
  if (fields.length > 0) out.write(`\n\n${fields.join('\n')}\n`)
  if (notes.length > 0) out.write(`\n\n${notes.join('\n\n')}\n`)
}

function isSeen({ annotationFlags, hidden, rect }: Annotation, view: readonly number[]): boolean {
  const flags = typeof annotationFlags === 'number' ? annotationFlags : 0
  if (hidden === true || (flags & (hiddenFlag | noViewFlag)) !== 0) return false
  if (!Array.isArray(rect) || rect.length < 4) return false
  const [left = 0, bottom = 0, right = 0, top = 0] = rect as number[]
  const [viewLeft = 0, viewBottom = 0, viewRight = 0, viewTop = 0] = view
  return right - left >= 1 && top - bottom >= 1 && right > viewLeft && left < viewRight && top > viewBottom && bottom < viewTop
}

/** The name and the value of a field. Null for an empty one, a button or a password. */
function fieldOf(annotation: Annotation): string | null {
  const name = lineOf(annotation.alternativeText) || lineOf(annotation.fieldName)
  if (annotation.checkBox === true) return `${isTicked(annotation.fieldValue, annotation.exportValue) ? '[x]' : '[ ]'} ${name}`
  if (annotation.radioButton === true) {
    if (!isTicked(annotation.fieldValue, annotation.buttonValue)) return null
    return `[x] ${name}: ${lineOf(annotation.buttonValue)}`
  }
  if ((annotation.fieldType !== 'Tx' && annotation.fieldType !== 'Ch') || annotation.password === true) return null
  const values = Array.isArray(annotation.fieldValue) ? annotation.fieldValue : [annotation.fieldValue]
  const shown = values.map((value) => textOf(displayOf(value, annotation.options))).filter((value) => value !== '')
  return shown.length === 0 ? null : `${name}: ${shown.join(', ')}`
}

const isTicked = (value: unknown, own: unknown): boolean =>
  typeof value === 'string' && value !== '' && value !== 'Off' && (typeof own !== 'string' || value === own)

/** The text that a choice shows for its value. */
function displayOf(value: unknown, options: unknown): unknown {
  if (!Array.isArray(options)) return value
  const option = (options as { exportValue?: unknown; displayValue?: unknown }[]).find((one) => one?.exportValue === value)
  return option?.displayValue ?? value
}

const noteOf = ({ contentsObj }: Annotation): string | null => textOf((contentsObj as { str?: unknown } | undefined)?.str) || null

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, valueCharactersMax).replace(/\r\n?/g, '\n').trim() : ''

const lineOf = (value: unknown): string => textOf(value).slice(0, nameCharactersMax).replace(/\s+/g, ' ')

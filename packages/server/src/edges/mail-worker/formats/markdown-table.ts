// Tables in Markdown.
import type { BoundedText } from './bounded-text.ts'

/** Columns of a table. Further cells are left out. */
export const columnsMax = 200
/** Characters of one cell. */
export const cellCharactersMax = 10_000

/** The text of one cell on one line. */
export const toCell = (text: string): string => text.slice(0, cellCharactersMax).trim().replace(/\s+/g, ' ').replaceAll('|', '\\|')

/** Writes rows of prepared cells as a table. The first row is its header. Short rows are not padded, because Markdown does not require it. */
function writeTable(rows: readonly (readonly string[])[], out: BoundedText): void {
  if (rows.length === 0) return
  const width = rows.slice(0, 100).reduce((most, row) => Math.max(most, row.length), 0)
  const lineOf = (row: readonly string[]): string => `| ${row.join(' | ')} |\n`
  const [header = [], ...body] = rows
  out.write(`\n${lineOf([...header, ...new Array<string>(width - header.length).fill('')])}|${' --- |'.repeat(width)}\n`)
  for (const row of body) out.write(lineOf(row))
  out.write('\n')
}

/** Collects the rows of one table until they take the room that is left. */
export class TableRows {
  readonly rows: string[][] = []
  readonly #out: BoundedText
  #characters = 0
  #isCut = false

  constructor(out: BoundedText) {
    this.#out = out
  }

  get isFull(): boolean {
    return this.#characters > this.#out.room
  }

  /** Adds a row, unless it is empty. */
  add(cells: readonly string[]): void {
    if (cells.length > columnsMax) this.#isCut = true
    const row = cells.slice(0, columnsMax).map(toCell)
    while (row.at(-1) === '') row.pop()
    if (row.length === 0) return
    this.rows.push(row)
    for (const cell of row) this.#characters += cell.length + 3
  }

  /** Writes the table. A file with more columns is truncated. */
  write(): void {
    writeTable(this.rows, this.#out)
    if (this.#isCut || this.isFull) this.#out.truncate()
  }
}

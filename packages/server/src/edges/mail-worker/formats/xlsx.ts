// Reads the cells of workbooks (ECMA-376, part 1, §18) as Markdown tables.
import type { Archive } from './archive.ts'
import type { BoundedText } from './bounded-text.ts'
import { cellCharactersMax, columnsMax, TableRows } from './markdown-table.ts'
import { findRelated, readRelations } from './office-parts.ts'
import { dateText, readDateStyles } from './spreadsheet-dates.ts'
import { Unreadable } from './unreadable.ts'
import { type Attributes, readXml } from './xml.ts'

const sheetsMax = 500
/** Characters of all shared strings. A longer list cannot be stored, because any cell may name any of them. */
const sharedCharactersMax = 20 * 1024 * 1024
const sharedStringsMax = 1_000_000

type Sheet = { name: string; relation: string; isHidden: boolean }

/** Writes each sheet as a table below its name. Of hidden sheets only the name is written. */
export async function readXlsx(archive: Archive, part: string, out: BoundedText): Promise<void> {
  const relations = await readRelations(archive, part)
  const { sheets, startsIn1904 } = await readWorkbook(archive, part)
  const strings = findRelated(relations, 'sharedStrings')
  const styles = findRelated(relations, 'styles')
  const shared = strings !== null && archive.has(strings) ? await readSharedStrings(archive, strings) : []
  const dateStyles = styles !== null && archive.has(styles) ? await readDateStyles(archive, styles) : new Set<number>()
  for (const { name, relation, isHidden } of sheets) {
    if (out.isFull) return
    const target = relations.get(relation)
    out.write(`## ${name.replace(/\s+/g, ' ')}${isHidden ? ' (hidden sheet, left out)' : ''}\n\n`)
    if (isHidden || target?.type !== 'worksheet' || !archive.has(target.target)) continue
    const reader = new SheetReader({ shared, dateStyles, startsIn1904 }, out)
    await readXml(archive, target.target, reader)
    reader.end()
  }
}

async function readWorkbook(archive: Archive, part: string): Promise<{ sheets: Sheet[]; startsIn1904: boolean }> {
  const sheets: Sheet[] = []
  let startsIn1904 = false
  await readXml(archive, part, {
    open(name, attribute) {
      if (name === 'workbookPr') startsIn1904 = /^(1|true)$/.test(attribute('date1904') ?? '')
      if (name !== 'sheet' || sheets.length >= sheetsMax) return
      // "id" is the relation and "sheetId" a number of the workbook.
      const isHidden = /hidden/i.test(attribute('state') ?? '')
      sheets.push({ name: attribute('name') ?? '', relation: attribute('id') ?? '', isHidden })
    },
  })
  return { sheets, startsIn1904 }
}

/** The strings that cells name by number. Phonetic guides are left out. */
async function readSharedStrings(archive: Archive, part: string): Promise<string[]> {
  const strings: string[] = []
  let pieces: string[] = []
  let characters = 0
  let isText = false
  let isPhonetic = false
  await readXml(archive, part, {
    open(name) {
      if (name === 't') isText = true
      else if (name === 'rPh') isPhonetic = true
    },
    text(text) {
      if (!isText || isPhonetic) return
      characters += text.length
      pieces.push(text)
    },
    close(name) {
      if (name === 't') isText = false
      else if (name === 'rPh') isPhonetic = false
      else if (name === 'si') {
        strings.push(pieces.join(''))
        pieces = []
      }
      if (characters > sharedCharactersMax || strings.length > sharedStringsMax)
        throw new Unreadable('too_complex', 'the workbook has too many strings')
    },
  })
  return strings
}

type Book = { shared: string[]; dateStyles: Set<number>; startsIn1904: boolean }

class SheetReader {
  readonly #book: Book
  readonly #rows: TableRows
  #cells: string[] = []
  #column = 0
  #type = 'n'
  #style = 0
  #value: string[] = []
  #valueCharacters = 0
  #isValue = false

  constructor(book: Book, out: BoundedText) {
    this.#book = book
    this.#rows = new TableRows(out)
  }

  isDone(): boolean {
    return this.#rows.isFull
  }

  open(name: string, attribute: Attributes): void {
    if (name === 'row') {
      this.#cells = []
      this.#column = 0
    } else if (name === 'c') {
      this.#column = columnOf(attribute('r')) ?? this.#column + 1
      this.#type = attribute('t') ?? 'n'
      this.#style = Number(attribute('s') ?? 0)
      this.#value = []
      this.#valueCharacters = 0
    } else if (name === 'v' || name === 't') this.#isValue = true
  }

  text(text: string): void {
    if (!this.#isValue || this.#valueCharacters > cellCharactersMax) return
    this.#value.push(text)
    this.#valueCharacters += text.length
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#isValue = false
    else if (name === 'c') this.#endCell()
    else if (name === 'row') this.#rows.add(this.#cells)
  }

  end(): void {
    this.#rows.write()
  }

  #endCell(): void {
    const text = this.#textOf(this.#value.join(''))
    // One column more than is shown marks the table as cut.
    const place = Math.min(this.#column, columnsMax + 1) - 1
    if (text === '' || place < 0) return
    while (this.#cells.length < place) this.#cells.push('')
    this.#cells[place] = text
  }

  #textOf(value: string): string {
    if (this.#type === 's') return this.#book.shared[Number(value)] ?? ''
    if (this.#type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
    if (this.#type === 'n' && this.#book.dateStyles.has(this.#style)) return dateText(value, this.#book.startsIn1904)
    return value
  }
}

/** The number of a column from a reference such as "AB12", from 1. Null without a reference. */
function columnOf(reference: string | undefined): number | null {
  const letters = /^[A-Za-z]{1,3}/.exec(reference ?? '')?.[0].toUpperCase()
  if (letters === undefined) return null
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0)
}

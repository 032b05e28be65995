// Reads the text of word processing documents (ECMA-376, part 1, §17) as Markdown.
import type { Archive } from './archive.ts'
import type { BoundedText } from './bounded-text.ts'
import { TableRows } from './markdown-table.ts'
import { findRelated, readRelations } from './office-parts.ts'
import { type Attributes, readXml } from './xml.ts'

const stylesMax = 5_000
const linkCharactersMax = 2_000
/** Font size in half points at which text is too small to be seen. */
const tinySizeMax = 2

/** Elements whose content is not part of the text: deleted text, and the copy of a drawing for old programs. */
const skipped = new Set(['del', 'moveFrom', 'Fallback', 'instrText', 'delText'])

type Relations = Awaited<ReturnType<typeof readRelations>>

/** Writes headings, paragraphs, lists, tables, links and notes. Text that is set to be hidden is left out. */
export async function readDocx(archive: Archive, part: string, out: BoundedText): Promise<void> {
  const relations = await readRelations(archive, part)
  const styles = findRelated(relations, 'styles')
  const headings = styles !== null && archive.has(styles) ? await readHeadingStyles(archive, styles) : new Map<string, number>()
  await readBody(archive, part, { headings, relations, out })
  for (const type of ['footnotes', 'endnotes']) {
    const notes = findRelated(relations, type)
    if (notes !== null && archive.has(notes) && !out.isFull) await readBody(archive, notes, { headings, relations, out })
  }
}

/** Heading levels by the id of their style. The names of the built-in styles are English in every language. */
async function readHeadingStyles(archive: Archive, part: string): Promise<Map<string, number>> {
  const levels = new Map<string, number>()
  let style: string | null = null
  await readXml(archive, part, {
    open(name, attribute) {
      if (name === 'style') style = attribute('styleId') ?? null
      else if (name === 'name' && style !== null && levels.size < stylesMax) {
        const level = /^(?:heading (\d)|title)$/i.exec(attribute('val') ?? '')
        if (level) levels.set(style, Math.min(6, Number(level[1] ?? 1)))
      }
    },
  })
  return levels
}

type Context = { headings: Map<string, number>; relations: Relations; out: BoundedText }

async function readBody(archive: Archive, part: string, context: Context): Promise<void> {
  const reader = new BodyReader(context)
  await readXml(archive, part, reader)
  reader.end()
}

const isOn = (attribute: Attributes): boolean => !/^(?:0|false|off|none)$/i.test(attribute('val') ?? '')

class BodyReader {
  readonly #context: Context
  #skippedDepth = 0
  #isText = false
  #paragraph: string[] = []
  /** Characters of the open paragraph or row. */
  #openCharacters = 0
  #prefix = ''
  #isHidden = false
  #isUnseen = false
  #isInParagraphMark = false
  readonly #links: (string | null)[] = []
  #tableDepth = 0
  #rows: TableRows | null = null
  #cells: string[] = []
  #cell: string[] = []

  constructor(context: Context) {
    this.#context = context
  }

  isDone(): boolean {
    return this.#context.out.isFull || this.#rows?.isFull === true || this.#openCharacters > this.#context.out.room
  }

  /** Writes what is open where the reading stopped. */
  end(): void {
    if (this.#rows === null) this.#endParagraph()
    this.#rows?.add([...this.#cells, this.#cell.join(' ')])
    this.#rows?.write()
  }

  open(name: string, attribute: Attributes): void {
    if (this.#skippedDepth > 0 || skipped.has(name)) {
      this.#skippedDepth++
      return
    }
    if (name === 't') this.#isText = true
    else if (name === 'r') {
      this.#isHidden = false
      this.#isUnseen = false
    } else if (name === 'pPr') this.#isInParagraphMark = true
    else if (name === 'tab') {
      // In the properties of a paragraph this is a tab stop.
      if (!this.#isInParagraphMark) this.#append('\t')
    } else if (name === 'br' || name === 'cr') this.#append('\n')
    else if (name === 'noBreakHyphen') this.#append('-')
    else if (name === 'hyperlink') this.#links.push(this.#linkOf(attribute))
    else if (name === 'footnoteReference' || name === 'endnoteReference') this.#append(`[^${attribute('id') ?? ''}]`)
    else if (name === 'footnote' || name === 'endnote') this.#prefix = `[^${attribute('id') ?? ''}]: `
    else if (name === 'tbl') this.#startTable()
    else this.#format(name, attribute)
  }

  /** The properties of paragraphs and runs. */
  #format(name: string, attribute: Attributes): void {
    if (name === 'pStyle') {
      const level = this.#context.headings.get(attribute('val') ?? '')
      if (level !== undefined) this.#prefix = `${'#'.repeat(level)} `
    } else if (name === 'outlineLvl') {
      const level = Number(attribute('val'))
      if (level >= 0 && level < 6) this.#prefix = `${'#'.repeat(level + 1)} `
    } else if (name === 'ilvl') this.#prefix = `${'  '.repeat(Math.min(8, Math.max(0, Number(attribute('val')) || 0)))}- `
    else if (this.#isInParagraphMark) return
    else if (name === 'vanish' || name === 'webHidden') this.#isHidden ||= isOn(attribute)
    else if (name === 'color') this.#isUnseen ||= /^f{6}$/i.test(attribute('val') ?? '')
    else if (name === 'sz') this.#isUnseen ||= Number(attribute('val')) <= tinySizeMax
  }

  close(name: string): void {
    if (this.#skippedDepth > 0) {
      this.#skippedDepth--
      return
    }
    if (name === 't') this.#isText = false
    else if (name === 'pPr') this.#isInParagraphMark = false
    else if (name === 'p') this.#endParagraph()
    else if (name === 'hyperlink') {
      const link = this.#links.pop()
      if (link) this.#append(` <${link}>`)
    } else if (name === 'tc' && this.#tableDepth === 1) {
      this.#cells.push(this.#cell.join(' '))
      this.#cell = []
    } else if (name === 'tr' && this.#tableDepth === 1) {
      this.#rows?.add(this.#cells)
      this.#cells = []
      this.#openCharacters = 0
    } else if (name === 'tbl' && --this.#tableDepth === 0) {
      this.#rows?.write()
      this.#rows = null
    }
  }

  text(text: string): void {
    if (!this.#isText || this.#skippedDepth > 0) return
    if (this.#isHidden || this.#isUnseen) this.#context.out.hide(text)
    if (!this.#isHidden) this.#append(text)
  }

  #append(text: string): void {
    this.#paragraph.push(text)
    this.#openCharacters += text.length
  }

  #endParagraph(): void {
    const text = this.#paragraph.join('')
    const prefix = this.#prefix
    this.#paragraph = []
    this.#prefix = ''
    if (this.#tableDepth > 0) {
      this.#cell.push(text)
      return
    }
    this.#openCharacters = 0
    if (text.trim() !== '') this.#context.out.write(`${prefix}${text}\n${prefix.trimStart().startsWith('-') ? '' : '\n'}`)
  }

  #startTable(): void {
    if (++this.#tableDepth > 1) return
    this.#rows = new TableRows(this.#context.out)
    this.#cells = []
    this.#cell = []
  }

  #linkOf(attribute: Attributes): string | null {
    const target = this.#context.relations.get(attribute('id') ?? '')?.target ?? ''
    return /^(?:https?|mailto|ftp|tel):/i.test(target) && target.length <= linkCharactersMax ? target.replace(/[\s<>]+/g, '') : null
  }
}

// Reads the text of Rich Text Format documents as Markdown.
import { readRtf as readDocument } from '@callsign/mail/containers/rtf'
import type { BoundedText } from './bounded-text.ts'
import { TableRows } from './markdown-table.ts'
import { Unreadable } from './unreadable.ts'

export function readRtf(bytes: Buffer, out: BoundedText): void {
  let rows: TableRows | null = null
  const endTable = (): void => {
    rows?.write()
    rows = null
  }
  const isRead = readDocument(bytes, {
    get isFull() {
      return out.isFull
    },
    get room() {
      return out.room
    },
    paragraph(text) {
      if (text.trim() === '') return
      endTable()
      out.write(`${text}\n\n`)
    },
    row(cells) {
      rows ??= new TableRows(out)
      rows.add(cells)
      if (rows.isFull) endTable()
    },
    hide: (text) => out.hide(text),
  })
  if (!isRead) throw new Unreadable('too_complex', 'groups nest too deeply')
  endTable()
}

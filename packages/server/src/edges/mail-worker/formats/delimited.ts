// Reads comma-separated and tab-separated values as one Markdown table.
import Papa from 'papaparse'
import type { BoundedText } from './bounded-text.ts'
import { TableRows } from './markdown-table.ts'

/** Reads no more characters than the text may have, because a table in Markdown is not shorter than its source. */
export function readDelimited(text: string, out: BoundedText): void {
  const part = text.slice(0, out.room)
  const { data } = Papa.parse<string[]>(part, { skipEmptyLines: 'greedy' })
  const rows = new TableRows(out)
  for (const row of data) {
    if (rows.isFull) break
    rows.add(row)
  }
  rows.write()
  if (part.length < text.length) out.truncate()
}

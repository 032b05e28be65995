// Turns lines of cells into Markdown tables.

/** Columns of a table. Wider rows stay lines. */
const columnsMax = 200

/** Replaces each run of two or more lines with tabs by a table. The first line is its header. */
export function withTables(lines: readonly string[]): string[] {
  const written: string[] = []
  let rows: string[][] = []
  const endRows = () => {
    if (rows.length > 1) written.push(...tableOf(rows))
    else written.push(...rows.map((cells) => cells.join('\t')))
    rows = []
  }
  for (const line of lines) {
    const cells = line.startsWith('>') ? [line] : line.split('\t', columnsMax + 1)
    if (cells.length > 1 && cells.length <= columnsMax) rows.push(cells)
    else {
      endRows()
      written.push(line)
    }
  }
  endRows()
  return written
}

/** Short rows are not padded, because Markdown does not require it. */
function tableOf(rows: readonly string[][]): string[] {
  const [header, ...body] = rows.map((cells) => `| ${cells.map((cell) => cell.trim().replaceAll('|', '\\|')).join(' | ')} |`)
  return [header as string, `|${' --- |'.repeat((rows[0] as string[]).length)}`, ...body]
}

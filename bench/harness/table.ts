// Medians, spreads and the table that a figure prints.
import { cpus, loadavg } from 'node:os'

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

/** `median (min–max)`, which shows the noise of the machine with the number. */
export function withSpread(values: number[], digits = 0): string {
  return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`
}

/** Prints a Markdown table, padded so that it also reads as text. */
export function printTable(headings: string[], rows: string[][]): void {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => (row[i] as string).length)))
  const line = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] as number)).join(' | ')} |`
  console.log(line(headings))
  console.log(`|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`)
  for (const row of rows) console.log(line(row))
}

/** Prints the subject, the machine, and the load from other processes. */
export function printHead(title: string, lines: string[]): void {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  console.log(`\n## ${title}\n`)
  for (const text of [
    ...lines,
    `Node ${process.version}, ${cpus().length} processors (${model}), load average before: ${(loadavg()[1] as number).toFixed(1)}.`,
  ])
    console.log(text)
  console.log('')
}

// The figures of the last whole run, in docs/performance.json.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { FigureName } from './goals.ts'

/** A figure, and the machine and the day (ISO 8601) of its run. */
export type Result = { value: number; machine: string; date: string }
export type Results = Partial<Record<FigureName, Result>>

const file = join(import.meta.dirname, '..', '..', 'docs', 'performance.json')

export const readResults = (): Results => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {})

/** Saves measured figures. A figure that this run did not measure keeps its value and date. */
export function saveResults(before: Results, measured: Map<FigureName, number>): void {
  const machine = `${cpus().length} processors (${cpus()[0]?.model.trim() ?? 'unknown'}), Node ${process.version}`
  const date = new Date().toISOString().slice(0, 10)
  const results: Results = { ...before }
  for (const [name, value] of measured) results[name] = { value, machine, date }
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
}

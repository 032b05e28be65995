// The figures of the last whole run, in docs/performance.json.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { FigureName } from './goals.ts'

/** A figure, that of an earlier server in the same run, and the machine and the day (ISO 8601) of the run. */
export type Result = { value: number; before?: number; machine: string; date: string }
export type Results = Partial<Record<FigureName, Result>>

const file = join(import.meta.dirname, '..', '..', 'docs', 'performance.json')

export const readResults = (): Results => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {})

/** Saves measured figures, with those of an earlier server. A figure that this run did not measure keeps its value and date. */
export function saveResults(saved: Results, measured: Map<FigureName, number>, before: Map<FigureName, number> | null): void {
  const machine = `${cpus().length} processors (${cpus()[0]?.model.trim() ?? 'unknown'}), Node ${process.version}`
  const date = new Date().toISOString().slice(0, 10)
  const results: Results = { ...saved }
  for (const [name, value] of measured) {
    const earlier = before?.get(name)
    results[name] = { value, ...(earlier === undefined ? {} : { before: earlier }), machine, date }
  }
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
}

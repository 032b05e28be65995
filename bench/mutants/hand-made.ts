// Applies the hand-made mutants of `tables/` one by one and runs the test file that must fail.
import { spawn } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Mutant } from './mutant.ts'
import { makeScratchCopy } from './scratch-copy.ts'

type Row = Mutant & { table: string }
type Verdict = 'killed' | 'survived' | 'equivalent' | 'broken row'
type Result = { row: Row; verdict: Verdict; note: string }

const root = join(import.meta.dirname, '..', '..')
/** A mutant that stops its test file from ending counts as killed. */
const testMsMax = 300_000

/** Runs the mutants whose table, name, file or test contains `wanted`. Resolves with true when none survived and no row is broken. */
export async function runHandMade(wanted: string): Promise<boolean> {
  const rows = (await readTables()).filter((row) => [row.table, row.name, row.file, row.test].some((text) => text.includes(wanted)))
  const copy = makeScratchCopy(root)
  try {
    const results: Result[] = []
    const unchanged = new Map<string, boolean>()
    for (const row of rows) {
      const result = await judge(row, copy.folder, unchanged)
      results.push(result)
      console.log(`${result.verdict.padEnd(10)}  ${row.table}: ${row.name}${result.note && ` (${result.note})`}`)
    }
    console.log(`\n${summarize(results)}`)
    return results.every(({ verdict }) => verdict === 'killed' || verdict === 'equivalent')
  } finally {
    copy.remove()
  }
}

async function readTables(): Promise<Row[]> {
  const folder = join(import.meta.dirname, 'tables')
  const rows: Row[] = []
  for (const file of globSync('*.ts', { cwd: folder }).sort()) {
    const { mutants } = (await import(join(folder, file))) as { mutants: Mutant[] }
    rows.push(...mutants.map((mutant) => ({ ...mutant, table: basename(file, '.ts') })))
  }
  return rows
}

/** `unchanged` holds the result of each test run without a mutant. */
async function judge(row: Row, folder: string, unchanged: Map<string, boolean>): Promise<Result> {
  const path = join(folder, row.file)
  const source = readFileSync(path, 'utf8')
  const places = source.split(row.find).length - 1
  if (places !== 1) return { row, verdict: 'broken row', note: `\`find\` occurs ${places} times in ${row.file}` }
  const key = `${row.test} ${row.only ?? ''}`
  if (!unchanged.has(key)) unchanged.set(key, await passes(row, folder))
  if (!unchanged.get(key)) return { row, verdict: 'broken row', note: `${row.test} fails without a mutant` }
  // A function, since a replacement string may hold dollar signs.
  writeFileSync(
    path,
    source.replace(row.find, () => row.replace),
  )
  const survives = await passes(row, folder)
  writeFileSync(path, source)
  if (!survives) return { row, verdict: 'killed', note: row.equivalent === undefined ? '' : 'remove its reason from the table' }
  return row.equivalent === undefined
    ? { row, verdict: 'survived', note: `${row.test} passes` }
    : { row, verdict: 'equivalent', note: row.equivalent }
}

function passes(row: Row, folder: string): Promise<boolean> {
  const args = [join(folder, 'node_modules/vitest/vitest.mjs'), 'run', row.test, '--bail=1', ...(row.only ? ['-t', row.only] : [])]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore', timeout: testMsMax })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code === 0))
  })
}

function summarize(results: Result[]): string {
  const lines = [...Map.groupBy(results, ({ row }) => row.table)].map(([table, own]) => {
    const count = (verdict: Verdict) => own.filter((result) => result.verdict === verdict).length
    const judged = count('killed') + count('survived')
    const share = judged === 0 ? 100 : (count('killed') / judged) * 100
    return `${table.padEnd(12)} ${count('killed')} of ${judged} killed (${share.toFixed(0)} %), ${count('equivalent')} equivalent, ${count('broken row')} broken rows`
  })
  return lines.join('\n')
}

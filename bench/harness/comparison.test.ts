import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { comparisonOf } from './comparison.ts'
import { benchmarksWithGoals, type FigureName } from './goals.ts'

const saved = (value: number) => ({ value, machine: 'any', date: '2026-01-02' })
const measured = (figures: Partial<Record<FigureName, number>>) => new Map(Object.entries(figures) as [FigureName, number][])

test('a figure is met or short of its goal, whichever way it counts', () => {
  const { rows } = comparisonOf({}, measured({ deliver: 1.5, webhooks: 0.89, 'ingest-latency': 1.5, 'resend-1': 1.11 }))
  expect(rows.map((row) => [row[2], row[5]])).toEqual([
    ['1.5', 'met'],
    ['1.5', 'met'],
    ['0.89', 'short'],
    ['1.11', 'short'],
  ])
})

test('a figure that fell by more than a tenth says so', () => {
  const before = { deliver: saved(1), webhooks: saved(1), 'ingest-latency': saved(1), growth: saved(1) }
  const { losses } = comparisonOf(before, measured({ deliver: 0.89, webhooks: 0.91, 'ingest-latency': 1.11, growth: 1.09 }))
  expect(losses).toEqual([
    'mail in, final dot to 250, p50 in ms fell by 11 %: 1 on 2026-01-02, now 1.11.',
    'mail out, 10 KB, signed fell by 11 %: 1 on 2026-01-02, now 0.89.',
  ])
})

test('the figures of an earlier server stand beside those of this one', () => {
  const { head, rows } = comparisonOf({}, measured({ deliver: 1.5, webhooks: 0.9 }), measured({ deliver: 0.7 }))
  expect(head.slice(2, 4)).toEqual(['before', 'measured'])
  expect(rows.map((row) => row.slice(2, 4))).toEqual([
    ['0.7', '1.5'],
    ['', '0.9'],
  ])
})

test('a whole run has each benchmark that reports a figure', () => {
  const folder = join(import.meta.dirname, '..')
  const reporting = globSync('*.ts', { cwd: folder }).filter((file) => /\breport(Ratios)?\(/.test(readFileSync(join(folder, file), 'utf8')))
  expect(reporting.map((file) => basename(file, '.ts')).toSorted()).toEqual(benchmarksWithGoals.toSorted())
})

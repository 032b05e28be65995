// Tests the lengths, the ranges ahead and the runs of empty partitions.
import { describe, expect, it } from 'vitest'
import { cutsFor, dividedRanges, emptyRuns, lengthOf, missingRanges } from './partition-plan.ts'

const dayMs = 86_400_000
const at = Date.UTC(2026, 10, 26)

describe('the length of a partition', () => {
  it.each([
    ['no messages', 0, 30, 366],
    ['a message per minute', 43_200, 30, 366],
    ['a million per month', 1_000_000, 30, 300],
    ['ten million per month', 10_000_000, 30, 30],
    ['a hundred per second', 259_200_000, 30, 1],
    ['a thousand per second', 2_592_000_000, 30, 1],
    ['a flood in the first hour', 1_000_000, 1 / 24, 10],
  ])('%s: %i rows in %f days', (_, rows, days, expected) => {
    expect(lengthOf(rows, days * dayMs) / dayMs).toBe(expected)
  })
})

describe('partitions ahead', () => {
  const planned = (endDays: number, lengthDays: number) =>
    missingRanges(at + endDays * dayMs, lengthDays * dayMs, at).map(({ fromMs, toMs }) => [(fromMs - at) / dayMs, (toMs - at) / dayMs])

  it('are none while the last one lasts', () => {
    expect(planned(31, 366)).toEqual([])
    expect(planned(30, 10)).toEqual([])
    expect(planned(7, 1)).toEqual([])
  })
  it('follow the last one without a gap', () => {
    expect(planned(29, 366)).toEqual([[29, 395]])
    expect(planned(20, 10)).toEqual([[20, 30]])
    expect(planned(4, 1)).toEqual([[4, 5], [5, 6], [6, 7]]) // biome-ignore format: one row
  })
  it('reach the present after a long time without a server', () => {
    expect(planned(-400, 366)).toEqual([[-400, -34], [-34, 332]]) // biome-ignore format: one row
  })
})

describe('a divided range', () => {
  it('has no gap, and no cut outside of it', () => {
    const first = Number.NEGATIVE_INFINITY
    const rangesOf = (...cuts: number[]) => dividedRanges({ fromMs: first, toMs: 40 }, cuts).map(({ fromMs, toMs }) => [fromMs, toMs])
    expect(rangesOf()).toEqual([[first, 40]])
    expect(rangesOf(20, 10, 20, 40, 50)).toEqual([[first, 10], [10, 20], [20, 40]]) // biome-ignore format: one row
  })
  it('has cuts by the rate of its rows', () => {
    const daysOf = (rows: number, days: number) => cutsFor(rows, at - days * dayMs, at).map((cut) => (cut - at) / dayMs)
    expect(daysOf(0, 1000)).toEqual([-634, -268])
    expect(daysOf(100_000_000, 1000)).toEqual([-900, -800, -700, -600, -500, -400, -300, -200, -100, 0])
    expect(daysOf(1_000_000, 30)).toEqual([])
  })
})

describe('empty partitions', () => {
  const partition = (fromDays: number, isEmpty: boolean, sizeBytes: number) => ({
    fromMs: at + fromDays * dayMs,
    toMs: at + (fromDays + 10) * dayMs,
    isEmpty,
    sizeBytes,
  })
  const runsOf = (...partitions: ReturnType<typeof partition>[]) =>
    emptyRuns(partitions, at).map((run) => run.map(({ fromMs }) => (fromMs - at) / dayMs))

  it('become one with their neighbours', () => {
    expect(runsOf(partition(-60, true, 0), partition(-50, true, 8), partition(-40, false, 8), partition(-30, true, 8))).toEqual([[-60, -50], [-30]]) // biome-ignore format: one row
  })
  it('stay without anything to release', () => {
    expect(runsOf(partition(-60, true, 0), partition(-50, false, 8))).toEqual([])
  })
  it('stay while messages may still arrive', () => {
    expect(runsOf(partition(-11, true, 8), partition(-10, true, 8), partition(0, true, 0), partition(10, true, 0))).toEqual([])
    expect(runsOf(partition(-12, true, 8), partition(-2, true, 8))).toEqual([[-12]])
  })
})

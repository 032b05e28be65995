// Tests the lengths, the ranges ahead and the runs of empty partitions.
import { describe, expect, it } from 'vitest'
import { cutsFor, dividedRanges, emptyRuns, lengthAfter, lengthOf, missingRanges, rangesBehind } from './partition-plan.ts'

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

describe('the length of the next partitions', () => {
  const first = Number.NEGATIVE_INFINITY
  const daysAfter = (oldestDays: number, ...given: [fromDays: number, toDays: number, rows: number][]) => {
    const partitions = given.map(([from, to, rows]) => ({ fromMs: at + from * dayMs, toMs: at + to * dayMs, rows }))
    return lengthAfter(partitions, at + oldestDays * dayMs, at) / dayMs
  }

  it('is that of the last ones when a partition has just begun', () => {
    expect(daysAfter(-30, [first, -1, 290_000_000], [-1, 0, 10_000_000], [0, 1, -1], [1, 2, -1])).toBe(1)
    expect(daysAfter(-30, [first, 0, 10_000_000], [0, 30, 400])).toBe(30)
  })
  it('follows a rate that grows', () => {
    expect(daysAfter(-40, [first, -10, 1_000_000], [-10, 20, 10_000_000])).toBe(10)
  })
  it('follows the first partition alone, also when its time is over', () => {
    expect(daysAfter(-10, [first, 30, 10_000_000])).toBe(10)
    expect(daysAfter(-20, [first, -10, 10_000_000])).toBe(10)
    expect(daysAfter(0, [first, 30, -1])).toBe(366)
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
    expect(planned(-400, 10)).toEqual([[-400, 0], [0, 10], [10, 20], [20, 30]]) // biome-ignore format: one row
    expect(planned(-400.5, 1).length).toBe(9)
  })
})

describe('the ranges of another table', () => {
  it('follow its own last one without a gap', () => {
    const behind = (endMs: number) =>
      rangesBehind(
        [
          { fromMs: Number.NEGATIVE_INFINITY, toMs: 10 },
          { fromMs: 10, toMs: 30 },
          { fromMs: 30, toMs: 40 },
        ],
        endMs,
      ).map(({ fromMs, toMs }) => [fromMs, toMs])
    expect(behind(40)).toEqual([])
    expect(behind(30)).toEqual([[30, 40]])
    expect(behind(20)).toEqual([[20, 30], [30, 40]]) // biome-ignore format: one row
    expect(behind(5)).toEqual([[5, 10], [10, 30], [30, 40]]) // biome-ignore format: one row
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

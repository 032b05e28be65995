// The order in which time partitions are queried, and the number of concurrent queries.
import { firstId } from '@callsign/contract/ids'
import { expect, test } from 'vitest'
import { askPartitions, expectedHits } from '../src/features/mail/stored/lists/time-partitions.ts'

const partitionMs = 2 ** 30
const idAt = (partition: number): string => firstId('message', partition * partitionMs)
const nameAt = (partition: number): string => idAt(partition).slice(4, 8)

/** Queries partitions with the given numbers of hits. Returns the queries with their limits. */
async function asked(
  perPartition: Record<number, number>,
  stretch: { hits: number; from: number; to: number },
  oldest: number,
  wanted: number,
) {
  const hits = Object.fromEntries(Object.entries(perPartition).map(([partition, count]) => [nameAt(Number(partition)), count]))
  const calls: [string[], number][] = []
  const found = await askPartitions(
    { hits: stretch.hits, firstId: idAt(stretch.from), lastId: idAt(stretch.to) },
    idAt(oldest),
    wanted,
    async (names, limit) => {
      calls.push([names, limit])
      return names.flatMap((name) => Array<string>(hits[name] ?? 0).fill(name)).slice(0, limit)
    },
  )
  return { calls, found }
}
const names = (newest: number, oldest: number): string[] => Array.from({ length: newest - oldest + 1 }, (_, back) => nameAt(newest - back))

test('a word without hits reads every partition once, twice as many each time', async () => {
  const { calls, found } = await asked({}, { hits: 0, from: 1000.9, to: 1000.5 }, 990.2, 51)
  expect(found).toEqual([])
  expect(calls).toEqual([
    [names(1000, 1000), 51],
    [names(999, 998), 51],
    [names(997, 994), 51],
    [names(993, 990), 51],
  ])
})

test('only partitions that should have the missing hits are read, newest first, and none behind the last hit', async () => {
  const { calls, found } = await asked({ 1000: 10, 999: 20, 998: 20, 997: 20 }, { hits: 10, from: 1001, to: 1000.5 }, 900, 40)
  expect(calls).toEqual([
    [names(1000, 1000), 40],
    [names(999, 998), 30],
  ])
  expect(found).toEqual([...Array(10).fill(nameAt(1000)), ...Array(20).fill(nameAt(999)), ...Array(10).fill(nameAt(998))])
})

test('one partition suffices where it should have all missing hits', async () => {
  const { calls } = await asked({ 1000: 48, 999: 1000 }, { hits: 2, from: 1001, to: 1000.9 }, 900, 51)
  expect(calls).toEqual([
    [names(1000, 1000), 51],
    [names(999, 999), 3],
  ])
})

test('a stretch may end in the oldest partition', async () => {
  expect((await asked({}, { hits: 0, from: 1000.9, to: 1000.5 }, 1000.1, 5)).calls).toEqual([[names(1000, 1000), 5]])
})

test('hits of a partition are estimated from a stretch', () => {
  expect(expectedHits({ hits: 3, firstId: idAt(1000.5), lastId: idAt(1000) })).toBeCloseTo(6)
  expect(expectedHits({ hits: 0, firstId: idAt(1000.5), lastId: idAt(1000.5) })).toBe(0)
})

// Pages in the other direction, over lists with gaps and bursts.
import { firstId, newId } from '@callsign/contract/ids'
import { expect, test } from 'vitest'
import { nowMs } from './clock.ts'
import { readUpwards } from './upward-page.ts'

const start = nowMs() - 400 * 86_400_000

/** A list of these ids that counts its reads. `isShown` filters behind the list, so that pages may be short or empty. */
function listOf(ids: string[], isShown: (id: string) => boolean = () => true) {
  const sorted = ids.toSorted().toReversed()
  const list = {
    kind: 'message' as const,
    reads: 0,
    positionOf: (id: string) => id,
    async read({ limit, cursor }: { limit: number; cursor?: string }) {
      list.reads++
      const first = cursor === undefined ? 0 : sorted.findIndex((id) => id < cursor)
      const page = first < 0 ? [] : sorted.slice(first, first + limit)
      const isEnd = first < 0 || first + limit >= sorted.length
      return { data: page.filter(isShown), next_cursor: isEnd ? null : (page.at(-1) as string) }
    },
  }
  return list
}

const idsAt = (times: number[]) => times.map((ms) => newId('message', ms)).toSorted()

/** 20,000 items: one every 20 minutes with a burst of 5,000 within one second. */
const many = idsAt([
  ...Array.from({ length: 15_000 }, (_, index) => start + index * 1_200_000),
  ...Array.from({ length: 5000 }, (_, index) => start + 5_000_000_000 + (index % 1000)),
])

test.each([0, 1, 4165, 4166, 6000, 9165, 12_000, 19_990, 19_999])('the page above item %i has its next neighbours', async (place) => {
  const list = listOf(many)
  const expected = many.slice(place + 1, place + 11)
  expect(await readUpwards(list, { above: many[place] as string, limit: 10 })).toEqual({
    data: expected,
    has_more: place + 11 < many.length,
  })
  expect(list.reads).toBeLessThan(70)
})

test('without a position, the page begins with the oldest item', async () => {
  const list = listOf(many)
  expect((await readUpwards(list, { above: null, limit: 5 })).data).toEqual(many.slice(0, 5))
  expect(list.reads).toBeLessThan(70)
  expect(await readUpwards(listOf([]), { above: null, limit: 5 })).toEqual({ data: [], has_more: false })
})

test('pages upwards have every item once, also when a filter empties pages of the list', async () => {
  const some = many.slice(2000, 8000)
  const shown = new Set(some.filter((_, index) => index % 500 === 3))
  const list = listOf(some, (id) => shown.has(id))
  const seen: string[] = []
  for (let above: string | null = null; ; above = seen.at(-1) as string) {
    const { data, has_more } = await readUpwards(list, { above, limit: 9 })
    seen.push(...data)
    if (!has_more) break
  }
  expect(seen).toEqual([...shown])
})

test('a position does not have to be an item, and items of one millisecond are read whole', async () => {
  const burst = Array.from({ length: 900 }, () => newId('message', start)).toSorted()
  const list = listOf(burst)
  expect((await readUpwards(list, { above: firstId('message', start), limit: 3 })).data).toEqual(burst.slice(0, 3))
})

test.each([3, 300])('%i items with times in the future are read, because a clock may have been set back', async (count) => {
  const ahead = idsAt(Array.from({ length: count }, (_, index) => nowMs() + 86_400_000 + index * 1000))
  const read = (above: string | null) => readUpwards(listOf(ahead), { above, limit: 2 })
  expect(await read(null)).toEqual({ data: ahead.slice(0, 2), has_more: true })
  expect(await read(ahead[0] as string)).toEqual({ data: ahead.slice(1, 3), has_more: count > 3 })
  expect(await read(ahead.at(-2) as string)).toEqual({ data: ahead.slice(-1), has_more: false })
})

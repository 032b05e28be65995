// Merged lists, checked against one sorted list for any number of lists and page sizes.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Cursor, LoadPage } from '../../cache/pages.ts'
import { mergePages } from './merged-pages.ts'

type Item = { id: string; created_at: string }

const itemOf = (time: number, list: number): Item => ({
  id: `${String(time).padStart(6, '0')}-${list}`,
  created_at: String(time).padStart(6, '0'),
})
const newestFirst = (one: Item, other: Item): number => (one.id < other.id ? 1 : -1)

/** A list of the server, newest first, in pages of this size. */
const serve =
  (items: Item[], size: number): LoadPage<Item> =>
  async (cursor) => {
    const start = Number(cursor ?? 0)
    const end = start + size
    return { items: items.slice(start, end), next: end < items.length ? String(end) : null }
  }

async function readAll(load: LoadPage<Item>): Promise<Item[]> {
  const found: Item[] = []
  for (let cursor: Cursor | null | undefined; cursor !== null; ) {
    const page = await load(cursor)
    found.push(...page.items)
    cursor = page.next
  }
  return found
}

test('every item comes once, newest first', async () => {
  const lists = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 999_999 }), { maxLength: 130 }), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(lists, fc.integer({ min: 1, max: 60 }), async (times, size) => {
      const items = times.map((list, index) => list.map((time) => itemOf(time, index)).toSorted(newestFirst))
      const merged = await readAll(mergePages(items.map((list) => serve(list, size))))
      expect(merged).toEqual(items.flat().toSorted(newestFirst))
    }),
    { numRuns: 60 },
  )
})

test('reading the head again does not move the position below it', async () => {
  const items = Array.from({ length: 120 }, (_, index) => itemOf(1000 - index, 0))
  const load = mergePages([serve(items, 30)])
  const first = await load(undefined)
  await load(undefined)
  const second = await load(first.next ?? undefined)
  expect([...first.items, ...second.items]).toEqual(items.slice(0, 100))
})

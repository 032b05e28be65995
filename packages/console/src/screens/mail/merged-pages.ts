// Merges the lists of several mailboxes into one list, newest first, page by page.
import type { Cursor, LoadPage } from '../../cache/pages.ts'

type Item = { id: string; created_at: string }
type Load<T> = LoadPage<T>
type Lane<T> = { load: Load<T>; items: T[]; cursor: Cursor | undefined; isDone: boolean }

const pageSize = 50
/** Requests at the same time. */
const concurrencyMax = 6

const isNewer = (one: Item, other: Item): boolean =>
  one.created_at === other.created_at ? one.id > other.id : one.created_at > other.created_at

/** Fills every empty lane that has more. */
async function fill<T>(lanes: Lane<T>[]): Promise<void> {
  const waiting = lanes.filter((lane) => lane.items.length === 0 && !lane.isDone)
  const work = async () => {
    for (let lane = waiting.pop(); lane; lane = waiting.pop()) {
      while (lane.items.length === 0 && !lane.isDone) {
        const page = await lane.load(lane.cursor)
        lane.items = [...page.items]
        lane.cursor = page.next ?? undefined
        lane.isDone = page.next === null
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrencyMax, waiting.length) }, work))
}

/** Returns a page loader over several lists. Its cursor holds the items that were loaded and not yet returned. */
export function mergePages<T extends Item>(loads: Load<T>[]): LoadPage<T> {
  return async (cursor) => {
    const position = cursor as Lane<T>[] | undefined
    const lanes = position
      ? position.map((lane) => ({ ...lane, items: [...lane.items] }))
      : loads.map((load): Lane<T> => ({ load, items: [], cursor: undefined, isDone: false }))
    const items: T[] = []
    while (items.length < pageSize) {
      await fill(lanes)
      const ready = lanes.filter((lane) => lane.items.length > 0)
      if (ready.length === 0) break
      const newest = ready.reduce((best, lane) => (isNewer(lane.items[0] as T, best.items[0] as T) ? lane : best))
      items.push(newest.items.shift() as T)
    }
    const hasMore = lanes.some((lane) => lane.items.length > 0 || !lane.isDone)
    return { items, next: hasMore ? lanes : null }
  }
}

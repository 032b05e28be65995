// Collects the pages of a list behind one growing array, and refreshes its head when something new arrived.
import { type Signal, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** The position after a page. Lists of the API give a string, merged lists an object. */
export type Cursor = string | object
export type Page<T> = { items: T[]; next: Cursor | null }
export type LoadPage<T> = (cursor: Cursor | undefined) => Promise<Page<T>>

export type Pages<T> = {
  items: Signal<T[]>
  error: Signal<Error | null>
  isLoading: Signal<boolean>
  /** True once the first page has arrived. */
  isLoaded: Signal<boolean>
  hasMore: Signal<boolean>
  /** Loads the next page, unless one is being loaded. */
  loadMore: () => Promise<void>
  /** Loads the first page again and puts it before the older items. */
  refresh: () => Promise<void>
  /** Changes items in place. null removes an item. */
  patch: (change: (item: T) => T | null) => void
}

type Item = { id: string }
type Entry = Pages<Item> & { load: LoadPage<Item>; users: number }

const listsMax = 30
const lists = new Map<string, Entry>()

/** Joins a reloaded first page with the known items. More new items than one page restart the list. */
export function joinHead<T extends Item>(head: Page<T>, known: T[]): { items: T[]; isRestarted: boolean } {
  const last = head.items.at(-1)
  const at = last ? known.findIndex((item) => item.id === last.id) : -1
  if (at < 0 || head.next === null) return { items: head.items, isRestarted: true }
  return { items: [...head.items, ...known.slice(at + 1)], isRestarted: false }
}

/** A list without users. For `usePages`. */
export function createPages(load: LoadPage<Item>): Entry {
  let cursor: Cursor | undefined
  let isStale = false
  const entry: Entry = {
    items: signal([]),
    error: signal(null),
    isLoading: signal(false),
    isLoaded: signal(false),
    hasMore: signal(true),
    load,
    users: 0,
    async loadMore() {
      if (entry.isLoading.peek() || !entry.hasMore.peek()) return
      await attempt(async () => {
        const page = await entry.load(cursor)
        const known = new Set(entry.items.peek().map((item) => item.id))
        entry.items.value = [...entry.items.peek(), ...page.items.filter((item) => !known.has(item.id))]
        advance(page)
      })
    },
    async refresh() {
      // The running load may have read the list before the change.
      if (entry.isLoading.peek()) {
        isStale = true
        return
      }
      if (!entry.isLoaded.peek()) return entry.loadMore()
      await attempt(async () => {
        const head = await entry.load(undefined)
        const joined = joinHead(head, entry.items.peek())
        entry.items.value = joined.items
        if (joined.isRestarted) advance(head)
      })
    },
    patch(change) {
      entry.items.value = entry.items.peek().flatMap((item) => change(item) ?? [])
    },
  }
  const advance = (page: Page<Item>) => {
    cursor = page.next ?? undefined
    entry.hasMore.value = page.next !== null
    entry.isLoaded.value = true
  }
  async function attempt(work: () => Promise<void>): Promise<void> {
    entry.isLoading.value = true
    try {
      await work()
      entry.error.value = null
    } catch (error) {
      entry.error.value = error instanceof Error ? error : new Error(String(error))
    } finally {
      entry.isLoading.value = false
    }
    if (isStale) {
      isStale = false
      await entry.refresh()
    }
  }
  return entry
}

/** Returns the list of `key`, with its first page loaded. Lists stay cached, so that going back keeps the position. */
export function usePages<T extends Item>(key: string, load: LoadPage<T>): Pages<T> {
  let entry = lists.get(key)
  if (!entry) {
    entry = createPages(load as unknown as LoadPage<Item>)
    lists.set(key, entry)
    for (const [oldest, one] of lists) if (lists.size > listsMax && one.users === 0 && oldest !== key) lists.delete(oldest)
  }
  const list = entry
  useEffect(() => {
    list.users++
    void list.refresh()
    return () => {
      list.users--
    }
  }, [key])
  return list as unknown as Pages<T>
}

/** Refreshes the head of every visible list whose key starts with one of these prefixes. */
export function refreshLists(...prefixes: string[]): void {
  for (const [key, list] of lists) if (list.users > 0 && prefixes.some((prefix) => key.startsWith(prefix))) void list.refresh()
}

/** Changes the items of every cached list whose key starts with the prefix. null removes an item. */
export function patchLists<T extends Item>(prefix: string, change: (item: T) => T | null): void {
  for (const [key, list] of lists) if (key.startsWith(prefix)) list.patch((item) => change(item as T))
}

/** Changes the item with this id in every cached list. */
export const patchItems = <T extends Item>(prefix: string, id: string, change: (item: T) => T | null): void =>
  patchLists<T>(prefix, (item) => (item.id === id ? change(item) : item))

/** Forgets every list, for example after signing out. */
export function clearLists(): void {
  lists.clear()
}

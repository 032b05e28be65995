// Caches answers by key, so that a screen opens with the data that it showed last, and reloads stale ones after an event.
import { type Signal, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

export type Query<T> = {
  data: Signal<T | undefined>
  error: Signal<Error | null>
  isLoading: Signal<boolean>
  /** Loads again. Calls during a running load share one further load. */
  reload: () => Promise<void>
}

type Entry = Query<unknown> & { users: number; isStale: boolean; load: (() => Promise<unknown>) | null }

const entriesMax = 200
const entries = new Map<string, Entry>()

function createEntry(): Entry {
  let running: Promise<void> | null = null
  let isWanted = false
  const entry: Entry = {
    data: signal(undefined),
    error: signal(null),
    isLoading: signal(false),
    users: 0,
    isStale: true,
    load: null,
    reload() {
      isWanted = true
      running ??= run().finally(() => {
        running = null
      })
      return running
    },
  }
  async function run(): Promise<void> {
    entry.isLoading.value = true
    while (isWanted && entry.load) {
      isWanted = false
      entry.isStale = false
      try {
        entry.data.value = await entry.load()
        entry.error.value = null
      } catch (error) {
        entry.error.value = error instanceof Error ? error : new Error(String(error))
      }
    }
    entry.isLoading.value = false
  }
  return entry
}

/** Removes the oldest unused answers when there are more than `entriesMax`. */
function evict(): void {
  for (const [key, entry] of entries) {
    if (entries.size <= entriesMax) return
    if (entry.users === 0) entries.delete(key)
  }
}

function entryOf(key: string): Entry {
  const known = entries.get(key)
  if (known) return known
  const entry = createEntry()
  entries.set(key, entry)
  evict()
  return entry
}

const idle = createEntry()

/** Returns the cached answer of `key` and loads it when it is missing or stale. A null key loads nothing. */
export function useQuery<T>(key: string | null, load: () => Promise<T>): Query<T> {
  const entry = key === null ? idle : entryOf(key)
  if (key !== null) entry.load = load
  useEffect(() => {
    if (key === null) return
    entry.users++
    if (entry.isStale || entry.error.peek()) void entry.reload()
    return () => {
      entry.users--
    }
  }, [key])
  return entry as Query<T>
}

/** Marks every answer whose key starts with one of these prefixes as stale. Visible ones reload at once. */
export function invalidate(...prefixes: string[]): void {
  for (const [key, entry] of entries) {
    if (!prefixes.some((prefix) => key.startsWith(prefix))) continue
    entry.isStale = true
    if (entry.users > 0) void entry.reload()
  }
}

/** Forgets the answer about a deleted object, so that it is not asked for again. */
export function forget(key: string): void {
  const entry = entries.get(key)
  if (entry) entry.load = null
  entries.delete(key)
}

/** Replaces a cached answer after a change that the page itself made. */
export function setCached<T>(key: string, change: (data: T) => T): void {
  const entry = entries.get(key)
  if (entry?.data.peek() !== undefined) entry.data.value = change(entry.data.peek() as T)
}

/** Forgets every answer, for example after signing out. */
export function clearCache(): void {
  entries.clear()
}

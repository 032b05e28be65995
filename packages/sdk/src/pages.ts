// Iterates over the items of all pages of a list.
import { ConnectionError } from './errors.ts'

type AnyPage<T> = { next_cursor: string | null } & ({ data: T[] } | { messages: T[] })

/**
 * Yields every item of a list, fetched page by page, as in `for await (const key of everyItem((cursor) => client.keys.list({ cursor })))`.
 * Throws if the server repeats a cursor.
 */
export async function* everyItem<T>(list: (cursor: string | undefined) => Promise<AnyPage<T>>): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>()
  let cursor: string | undefined
  for (;;) {
    const page = await list(cursor)
    yield* 'data' in page ? page.data : page.messages
    if (page.next_cursor === null || page.next_cursor === undefined) return
    if (seen.has(page.next_cursor)) throw new ConnectionError('reply_unusable', 'The server returned the same cursor twice.')
    seen.add(page.next_cursor)
    cursor = page.next_cursor
  }
}

/** Collects every item of a list into an array. For short lists only. */
export async function allItems<T>(list: (cursor: string | undefined) => Promise<AnyPage<T>>): Promise<T[]> {
  const items: T[] = []
  for await (const item of everyItem(list)) items.push(item)
  return items
}

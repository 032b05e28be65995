// Pages of lists. Resend pages forwards behind an item and backwards in front of one, and our lists go forwards only.
import { ResendFailure, type ResendRequest } from './route.ts'

const limitDefault = 20
const limitMax = 100

/** A page of one of our lists. */
type OwnPage<T> = { data: T[]; next_cursor: string | null }
type ListPage<T> = (query: { limit: number; cursor?: string }) => Promise<OwnPage<T>>
export type ResendPage<V> = { object: 'list'; has_more: boolean; data: V[] }

type Bounds = { limit: number; after: string | undefined; before: string | undefined }

/** The limit and the item that a page is next to. */
export function boundsOf({ query }: Pick<ResendRequest, 'query'>): Bounds {
  const { limit: text, after, before } = query
  if (after !== undefined && before !== undefined)
    throw new ResendFailure(422, 'validation_error', '`after` and `before` exclude each other. Give one of them.')
  const limit = text === undefined ? limitDefault : Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax)
    throw new ResendFailure(422, 'validation_error', `\`limit\` must be a whole number from 1 to ${limitMax}.`)
  return { limit, after, before }
}

type WithId = { id: string }

/** One page of a list whose positions are the ids of its items. */
export const listPage = <T extends WithId, V>(request: ResendRequest, list: ListPage<T>, view: (item: T) => V | Promise<V>) =>
  listFiltered(request, list, () => true, view)

/** The same for the items that pass a filter which our list does not have. */
export async function listFiltered<T extends WithId, V>(
  request: Pick<ResendRequest, 'query'>,
  list: ListPage<T>,
  isWanted: (item: T) => boolean,
  view: (item: T) => V | Promise<V>,
): Promise<ResendPage<V>> {
  const { limit, after, before } = boundsOf(request)
  const items = itemsOf(list, isWanted, before === undefined ? limit + 1 : limitMax, after)
  const { data, has_more } = before === undefined ? await takeFirst(items, limit) : await takeUntil(items, before, limit)
  return { object: 'list', has_more, data: await Promise.all(data.map(view)) }
}

async function* itemsOf<T>(list: ListPage<T>, isWanted: (item: T) => boolean, limit: number, start: string | undefined) {
  for (let cursor: string | null | undefined = start; cursor !== null; ) {
    const page: OwnPage<T> = await list({ limit: Math.min(limit, limitMax), ...(cursor !== undefined && { cursor }) })
    yield* page.data.filter(isWanted)
    cursor = page.next_cursor
  }
}

async function takeFirst<T>(items: AsyncIterable<T>, limit: number): Promise<{ data: T[]; has_more: boolean }> {
  const data: T[] = []
  for await (const item of items) {
    if (data.length === limit) return { data, has_more: true }
    data.push(item)
  }
  return { data, has_more: false }
}

/** The last items in front of one, from the beginning of the list. A program pages backwards where it came from, so few pages precede. */
async function takeUntil<T extends WithId>(items: AsyncIterable<T>, id: string, limit: number): Promise<{ data: T[]; has_more: boolean }> {
  const data: T[] = []
  for await (const item of items) {
    if (item.id === id) return { data: data.slice(-limit), has_more: data.length > limit }
    if (data.push(item) > limit + 1) data.shift()
  }
  throw new ResendFailure(422, 'validation_error', '`before` must be the id of an item of this list.')
}

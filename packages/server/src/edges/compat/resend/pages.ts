// Pages of lists. Resend pages forwards behind an item and backwards in front of one, and our lists go forwards only.
import { kindOfId } from '@callsign/contract/ids'
import { type DownwardList, readUpwards } from '../../../core/upward-page.ts'
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

/** The same for the items that pass a filter which our list does not have, or with other ids as positions. */
export async function listFiltered<T extends WithId, V>(
  request: Pick<ResendRequest, 'query'>,
  list: ListPage<T>,
  isWanted: (item: T) => boolean,
  view: (item: T) => V | Promise<V>,
  positionOf: (item: T) => string = ({ id }) => id,
): Promise<ResendPage<V>> {
  const { limit, after, before } = boundsOf(request)
  const wanted = async (page: { limit: number; cursor?: string }) => {
    const { data, next_cursor } = await list(page)
    return { data: data.filter(isWanted), next_cursor }
  }
  const { data, has_more } =
    before === undefined ? await readDownwards(wanted, limit, after) : await readInFront({ read: wanted, positionOf }, before, limit)
  return { object: 'list', has_more, data: await Promise.all(data.map(view)) }
}

async function readDownwards<T>(list: ListPage<T>, limit: number, start: string | undefined): Promise<{ data: T[]; has_more: boolean }> {
  const data: T[] = []
  for (let cursor: string | null | undefined = start; cursor !== null && data.length <= limit; ) {
    const page: OwnPage<T> = await list({ limit: Math.min(limit + 1, limitMax), ...(cursor !== undefined && { cursor }) })
    data.push(...page.data)
    cursor = page.next_cursor
  }
  return { data: data.slice(0, limit), has_more: data.length > limit }
}

async function readInFront<T>(
  list: Omit<DownwardList<T>, 'kind'>,
  before: string,
  limit: number,
): Promise<{ data: T[]; has_more: boolean }> {
  const kind = kindOfId(before)
  if (kind === null) throw new ResendFailure(422, 'validation_error', '`before` must be the id of an item of this list.')
  const { data, has_more } = await readUpwards({ ...list, kind }, { above: before, limit })
  return { data: data.toReversed(), has_more }
}

// Pages of our lists in the other direction: the items just above a position, oldest first.
import { firstId, type IdKind, timeOfId } from '@callsign/contract/ids'
import { nowMs } from './clock.ts'

/** A list from new to old whose positions are ids of one kind. A page has the positions below its cursor. */
export type DownwardList<T> = {
  kind: IdKind
  positionOf: (item: T) => string
  read: (page: { limit: number; cursor?: string }) => Promise<{ data: T[]; next_cursor: string | null }>
}

export type UpwardRequest = {
  /** The position above which the page begins. Null for the oldest item. */
  above: string | null
  limit: number
}

const pageLimit = 100
/** Pages of one span of time. A span with more items is cut. */
const pagesPerSpan = 3
const spanMsFirst = 1000
const spanFactor = 8
/** Ids of other nodes may be ahead of this clock. The last span has no end, so later ids are read too. */
const clockSkewMs = 60_000

/**
 * Reads one page. Ids begin with their time, so a list can be read downwards from any time. Spans of time above the position are read until
 * the page is full, and each is longer than the one before, or half of one with too many items. So the number of reads grows with the logarithm of the time, and not with the list.
 */
export async function readUpwards<T>(list: DownwardList<T>, { above, limit }: UpwardRequest): Promise<{ data: T[]; has_more: boolean }> {
  const found: T[] = []
  // No id of the length of `above` lies between it and this text.
  let lowest = above === null ? '' : `${above}0`
  let fromMs = above === null ? 0 : timeOfId(above)
  // After a clock was set back, a position may lie in the future.
  const endMs = Math.max(nowMs() + clockSkewMs, fromMs + 1)
  let spanMs = above === null ? endMs : spanMsFirst
  /** The end of the last span with too many items. Later spans halve the time up to it. */
  let crowdedMs: number | null = null
  while (found.length <= limit && fromMs < endMs) {
    const toMs = Math.min(fromMs + spanMs, endMs)
    const span = await readSpan(
      list,
      lowest,
      toMs === endMs ? null : firstId(list.kind, toMs),
      spanMs <= 1 ? Number.POSITIVE_INFINITY : pagesPerSpan,
    )
    if (span === null) crowdedMs = toMs
    else {
      found.push(...span)
      lowest = firstId(list.kind, toMs)
      fromMs = toMs
      spanMs *= spanFactor
    }
    if (crowdedMs !== null && crowdedMs <= fromMs) crowdedMs = null
    if (crowdedMs !== null) spanMs = Math.max(1, Math.floor((crowdedMs - fromMs) / 2))
  }
  return { data: found.slice(0, limit), has_more: found.length > limit }
}

/** The items from `lowest` up to `end`, oldest first. Null when they have more pages. */
async function readSpan<T>(
  { read, positionOf }: DownwardList<T>,
  lowest: string,
  end: string | null,
  pagesMax: number,
): Promise<T[] | null> {
  const items: T[] = []
  let cursor = end
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await read({ limit: pageLimit, ...(cursor !== null && { cursor }) })
    const above = page.data.filter((item) => positionOf(item) >= lowest)
    items.push(...above)
    if (page.next_cursor === null || page.next_cursor < lowest || above.length < page.data.length) return items.toReversed()
    cursor = page.next_cursor
  }
  return null
}

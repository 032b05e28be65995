// Keyset pages: one row more than asked for says whether there are more; the cursor is the id of the last item.

import { invalid } from './errors.ts'
import { type IdKind, isId } from './ids.ts'

export type PageRequest = { limit: number; cursor: string | null }

/** Limit and cursor of a list request; a cursor that is not an id of this kind is the caller's mistake. */
export function readPage(query: { limit?: number | undefined; cursor?: string | undefined }, kind: IdKind, limitDefault = 50): PageRequest {
  if (query.cursor !== undefined && !isId(kind, query.cursor)) throw invalid('/cursor', 'cursor must be the next_cursor of the page before')
  return { limit: query.limit ?? limitDefault, cursor: query.cursor ?? null }
}

/** Shapes `limit + 1` rows into a page of at most `limit` (decisions §3). */
export function toPage<R, T>(rows: R[], limit: number, cursorOf: (row: R) => string, view: (row: R) => T) {
  const kept = rows.slice(0, limit)
  const last = kept.at(-1)
  const hasMore = rows.length > limit
  return {
    object: 'list' as const,
    data: kept.map(view),
    has_more: hasMore,
    next_cursor: hasMore && last !== undefined ? cursorOf(last) : null,
  }
}

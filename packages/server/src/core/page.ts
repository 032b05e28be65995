// Keyset pages. One row more than requested shows whether there are more. The cursor is the id of the last item.

import { type IdKind, isId } from '@callsign/contract/ids'
import { invalid } from './errors.ts'

export type PageRequest = { limit: number; cursor: string | null }

/** Limit and cursor of a list request. A cursor that is not an id of this kind is an error of the caller. */
export function readPage(query: { limit?: number | undefined; cursor?: string | undefined }, kind: IdKind, limitDefault = 50): PageRequest {
  if (query.cursor !== undefined && !isId(kind, query.cursor))
    throw invalid('/cursor', 'cursor must be the next_cursor of the previous page')
  return { limit: query.limit ?? limitDefault, cursor: query.cursor ?? null }
}

/**
 * The bound of a keyset condition, for a parameter that is the cursor or null. Ids of every kind sort below `zzzz`.
 * It compares with a value, so that a generic plan walks the index from the cursor on. With `IS NULL OR` it would walk all earlier rows.
 */
export const before = (parameter: string): string => `coalesce(${parameter}::text, 'zzzz')`

/**
 * Turns `limit + 1` rows into a page of at most `limit`. The extra row sets `has_more` without a count. A scan
 * that ended early resumes at `resumeAt`.
 */
export function toPage<R, T>(rows: R[], limit: number, cursorOf: (row: R) => string, view: (row: R) => T, resumeAt: string | null = null) {
  const kept = rows.slice(0, limit)
  const last = kept.at(-1)
  const hasMore = rows.length > limit
  return {
    object: 'list' as const,
    data: kept.map(view),
    has_more: hasMore || resumeAt !== null,
    next_cursor: hasMore && last !== undefined ? cursorOf(last) : resumeAt,
  }
}

/** A list that is never longer than one page. */
export const onePage = <T>(data: T[]) => ({ object: 'list' as const, data, has_more: false, next_cursor: null })

/** The order of a list that has both: from its oldest or from its newest item on. */
export type ListOrder = 'asc' | 'desc'

/** Limit and cursor as a list request gives them. */
export type PageQuery = { limit?: number; cursor?: string }

/** A page as the API returns it. `next_cursor` is null on the last page. */
export type Page<T> = { object: 'list'; data: T[]; has_more: boolean; next_cursor: string | null }

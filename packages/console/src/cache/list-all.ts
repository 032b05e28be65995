// Loads every page of a list, for lists that people keep short.
import { allItems } from '@callsign/sdk'

type PageQuery = { limit: number; cursor?: string }

/** `list` gets the query of each page. */
export const listAll = <T>(
  list: (page: PageQuery) => Promise<{ data: T[]; has_more: boolean; next_cursor: string | null }>,
): Promise<T[]> => allItems((cursor) => list({ limit: 100, ...(cursor ? { cursor } : {}) }))

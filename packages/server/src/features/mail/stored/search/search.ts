// Search in messages and threads, a few at a time for each organization.
import type { PageRequest } from '../../../../core/page.ts'
import type { Sql } from '../../../../core/sql.ts'
import { type MessageFilter, toConditions } from '../lists/filter-conditions-store.ts'
import { findNewest } from '../lists/newest-store.ts'
import { findThreadsOfHits, type OwnerScope, type ThreadFilter, type ThreadScan } from '../lists/thread-list-store.ts'
import type { MessageRow } from '../model.ts'
import { readQuery, type SearchQuery, toWordQuery } from './search-query.ts'
import { inSearchSlot } from './search-slots.ts'
import { findRows, scanHits } from './search-store.ts'

/** Parts of hits that one search of threads reads while they fill no page. */
const searchRounds = 4
/** Hits of one mailbox that a part has. */
const hitsPerRound = 200

type Mailbox = { organizationId: string; mailboxId: string }

/**
 * The matches in a mailbox, newest first, and one more than the page's limit. `query` marks them. Throws 400 for a query of too many words, and 429 when
 * the organization has too many searches at once.
 */
export async function search(
  sql: Sql,
  { organizationId, mailboxId }: Mailbox,
  q: string,
  filter: MessageFilter,
  page: PageRequest,
): Promise<{ rows: MessageRow[]; query: SearchQuery }> {
  const query = readQuery(q)
  const rows = await inSearchSlot(organizationId, async () => findRows(sql, await findHits(sql, mailboxId, query, filter, page)))
  return { rows, query }
}

/** The threads of matches, by their newest one. `resumeAt` is the position to go on from when the search ended before the page was full. */
export async function searchThreads(sql: Sql, scope: OwnerScope, q: string, filter: ThreadFilter, page: PageRequest): Promise<ThreadScan> {
  const query = readQuery(q)
  return inSearchSlot(scope.organizationId, () => findThreads(sql, scope, query, filter, page))
}

const findHits = (sql: Sql, mailboxId: string, query: SearchQuery, filter: MessageFilter, page: PageRequest): Promise<string[]> =>
  findNewest(sql, toConditions({ column: 'mailbox_id', id: mailboxId }, { ...filter, search: toWordQuery(query) }), page)

async function findThreads(sql: Sql, scope: OwnerScope, query: SearchQuery, filter: ThreadFilter, { limit, cursor }: PageRequest) {
  const rows: ThreadScan['rows'] = []
  let resumeAt = cursor
  for (let round = 0; round < searchRounds; round++) {
    const part = await nextHits(sql, scope, query, resumeAt)
    // Few hits at a time, because each is compared with the newer messages of its thread.
    for (let at = 0; at < part.hits.length && rows.length <= limit; at += limit + 1)
      rows.push(...(await findThreadsOfHits(sql, part.hits.slice(at, at + limit + 1), query, filter)))
    resumeAt = part.resumeAt
    if (rows.length > limit || resumeAt === null) break
  }
  return { rows, resumeAt }
}

/** The next matches: a page of one mailbox's word index, or those among the newest messages of the organization. */
async function nextHits(sql: Sql, { organizationId, mailboxId }: OwnerScope, query: SearchQuery, cursor: string | null) {
  if (mailboxId === null) return scanHits(sql, organizationId, query, cursor)
  const hits = await findHits(sql, mailboxId, query, {}, { limit: hitsPerRound, cursor })
  return { hits: hits.slice(0, hitsPerRound), resumeAt: hits.length > hitsPerRound ? (hits[hitsPerRound - 1] as string) : null }
}

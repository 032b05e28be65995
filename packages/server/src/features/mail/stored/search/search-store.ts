// Full-text search in one mailbox: newest first, in a time independent of the mailbox's size.
import { before, type PageRequest } from '../../../../core/page.ts'
import { anyOfIds, type Sql, sortedIds } from '../../../../core/sql.ts'
import type { MessageRow } from '../../messages/model.ts'
import { markConditions } from '../lists/filter-conditions-store.ts'
import { isMainMailbox } from '../lists/index-choice-store.ts'
import { askPartitions, expectedHits, inPartitions, partitionKeys, type Stretch } from '../lists/time-partitions.ts'
import { columns, type StoredMessage, toRows } from '../message-store.ts'
import { type SearchQuery, toTsQuery } from './search-query.ts'

/** A search, and filters that the messages meet as well. */
export type Wanted = { q: SearchQuery; tag?: string | undefined; metadata?: string | undefined }

/** Filters as conditions, and the suffix for the name of a statement with them. */
function marksOf(query: Wanted, values: unknown[]): { marked: string; suffix: string } {
  const marked = markConditions(query, (value) => `$${values.push(value)}`)
  return { marked, suffix: `${query.tag === undefined ? '' : '-tag'}${query.metadata === undefined ? '' : '-metadata'}` }
}

/** The newest messages, scanned before the word index is used. A frequent word fills a page from these. */
const newestSearched = 1000
/** Further messages to scan where a partition is expected to have more than `hitsMax` hits: a frequent word in a busy mailbox. */
const nextSearched = 2000
const hitsMax = 1500

/**
 * Matches, newest first, and one row more than the page's limit. PostgreSQL cannot estimate the frequency of a word, and each
 * plan is slow for some words. A rare word makes a scan read a million messages, a frequent one makes the index return 10,000 hits for 20.
 * So this scans the newest messages, then queries the index by time partition, with more partitions each time.
 */
export const search = async (sql: Sql, mailboxId: string, wanted: Wanted, page: PageRequest): Promise<MessageRow[]> =>
  readRows(sql, await findHits(sql, mailboxId, wanted, page))

/** The ids of the matches of one mailbox, newest first, and one more than the page's limit. */
export async function findHits(sql: Sql, mailboxId: string, query: Wanted, page: PageRequest): Promise<string[]> {
  const wanted = page.limit + 1
  const ids: string[] = []
  let end = await walk(sql, mailboxId, query, page.cursor, newestSearched, ids)
  if (end && ids.length < wanted && expectedHits({ ...end, hits: ids.length }) > hitsMax) {
    const { firstId } = end
    const next = await walk(sql, mailboxId, query, end.lastId, nextSearched, ids)
    end = next && { ...next, firstId }
  }
  if (end && ids.length < wanted) {
    const { lastId, oldestId } = end
    const ask = (partitions: string[], limit: number) => searchPartitions(sql, mailboxId, query, partitions, lastId, limit)
    const rest = {
      isFaster: () => isMainMailbox(sql, mailboxId),
      ask: (to: string, limit: number) => searchPartitions(sql, mailboxId, query, null, to, limit),
    }
    ids.push(...(await askPartitions({ ...end, hits: ids.length }, oldestId, wanted - ids.length, ask, rest)))
  }
  return ids.slice(0, wanted)
}

/** Messages of an organization that one request searches: its mailboxes have no word index in common. */
const organizationSearched = 4000

/** The matches among the next messages of all mailboxes, and the message to go on from. Null at the end of the organization. */
export async function scanHits(
  sql: Sql,
  organizationId: string,
  query: SearchQuery,
  cursor: string | null,
): Promise<{ hits: string[]; resumeAt: string | null }> {
  const { rows } = await sql.query<{ hits: string[] | null; count: number; last_id: string }>({
    name: 'search-organization',
    text: `WITH newest AS MATERIALIZED (SELECT m.id, m.search @@ $3::tsquery AS is_hit FROM messages m
        WHERE m.organization_id = $1 AND NOT m.is_hidden AND m.id < ${before('$2')} ORDER BY m.id DESC LIMIT ${organizationSearched})
      SELECT array_agg(id ORDER BY id DESC) FILTER (WHERE is_hit) AS hits, count(*) AS count, min(id) AS last_id FROM newest`,
    values: [organizationId, cursor, toTsQuery(query)],
  })
  const row = rows[0]
  return { hits: row?.hits ?? [], resumeAt: row?.count === organizationSearched ? row.last_id : null }
}

/** The first and last message of a scan, and the oldest message of the mailbox. */
type End = Omit<Stretch, 'hits'> & { oldestId: string }

/** Scans `count` messages and adds the hits to `ids`. Null at the end of the mailbox. */
async function walk(sql: Sql, mailboxId: string, query: Wanted, cursor: string | null, count: number, ids: string[]): Promise<End | null> {
  const values: unknown[] = [mailboxId, cursor, toTsQuery(query.q)]
  const { marked, suffix } = marksOf(query, values)
  const { rows } = await sql.query<{ hits: string[] | null; count: number; first_id: string; last_id: string; oldest_id: string }>({
    name: `search-newest-${count}${suffix}`,
    text: `WITH newest AS MATERIALIZED (SELECT m.id, m.search @@ $3::tsquery${marked} AS is_hit FROM messages m
        WHERE m.mailbox_id = $1 AND NOT m.is_hidden AND m.id < ${before('$2')} ORDER BY m.id DESC LIMIT ${count})
      SELECT array_agg(id ORDER BY id DESC) FILTER (WHERE is_hit) AS hits, count(*) AS count, max(id) AS first_id, min(id) AS last_id,
        (SELECT m.id FROM messages m WHERE m.mailbox_id = $1 AND NOT m.is_hidden ORDER BY m.id LIMIT 1) AS oldest_id FROM newest`,
    values,
  })
  const row = rows[0]
  ids.push(...(row?.hits ?? []))
  return row?.count === count ? { firstId: row.first_id, lastId: row.last_id, oldestId: row.oldest_id } : null
}

/**
 * Queries the word index: the newest matches of these partitions, or of all, with ids below `to`. The comparisons with the mailbox and in the order keep the
 * planner off other indexes, since it underestimates the cost of scanning a mailbox.
 */
async function searchPartitions(
  sql: Sql,
  mailboxId: string,
  query: Wanted,
  partitions: string[] | null,
  to: string,
  limit: number,
): Promise<string[]> {
  const values = [mailboxId, partitionKeys('s', mailboxId, partitions ?? []), toTsQuery(query.q), to, limit]
  const inIndex = partitions === null ? '$2::text[] IS NOT NULL' : inPartitions('s', 'mailbox_id', '$2')
  const { marked, suffix } = marksOf(query, values)
  const { rows } = await sql.query<{ id: string }>({
    name: `search-${partitions === null ? 'all' : 'partitions'}${suffix}`,
    text: `SELECT m.id FROM messages m WHERE ${inIndex} AND m.mailbox_id || '' = $1
        AND m.search @@ $3::tsquery${marked} AND NOT m.is_hidden AND m.id < $4 ORDER BY m.id || '' DESC LIMIT $5`,
    values,
  })
  return rows.map((row) => row.id)
}

async function readRows(sql: Sql, ids: string[]): Promise<MessageRow[]> {
  if (ids.length === 0) return []
  const { rows } = await sql.query<StoredMessage>({
    name: 'search-rows',
    text: `SELECT ${columns} FROM messages m WHERE ${anyOfIds('m.id', '$1')} ORDER BY m.id DESC`,
    values: [sortedIds(ids)],
  })
  return toRows(rows)
}

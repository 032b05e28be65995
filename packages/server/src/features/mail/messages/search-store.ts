// Full-text search in one mailbox: newest first, in a time that does not grow with the mailbox.
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql } from '../../../core/sql.ts'
import type { MessageRow } from './model.ts'
import { columns, type StoredMessage, toRows } from './store.ts'
import { askEras, expectedHits, type Stretch } from './time-partitions.ts'

export type SearchRow = MessageRow & { subject_marked: string; text_marked: string }

/** Marks around what matched: control characters that no stored text holds, so that the rest can be escaped afterwards. */
export const markStart = '\u0001'
export const markStop = '\u0002'
const marks = `StartSel=${markStart}, StopSel=${markStop}`

/** How many of the newest messages are looked through before the index of words is asked: a frequent word fills a page from these. */
const newestSearched = 1000
/** How many more, where the index would give more than `hitsMax` hits of one era to choose the newest of: a frequent word in a busy mailbox. */
const nextSearched = 2000
const hitsMax = 1500

/**
 * Newest first, with what matched marked; one row more than the page's limit. How frequent a word is the planner cannot know, and any one way taken for
 * all words is slow for some: walking a million messages for a rare one, or reading ten thousand hits of a frequent one for the newest twenty. So the
 * newest messages are walked, and before them the index is asked for one era after another, for more of them each time.
 */
export async function search(sql: Sql, mailboxId: string, query: string, page: PageRequest): Promise<SearchRow[]> {
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
    const ask = (eras: string[], limit: number) => searchEras(sql, mailboxId, query, eras, lastId, limit)
    ids.push(...(await askEras({ ...end, hits: ids.length }, oldestId, wanted - ids.length, ask)))
  }
  return mark(sql, query, ids.slice(0, wanted))
}

/** Where a walk began and ended, and the first message of the mailbox. */
type End = Omit<Stretch, 'hits'> & { oldestId: string }

/** Looks through `count` messages and adds the hits to `ids`; null when there are no more messages. */
async function walk(sql: Sql, mailboxId: string, query: string, cursor: string | null, count: number, ids: string[]): Promise<End | null> {
  const { rows } = await sql.query<{ hits: string[] | null; count: number; first_id: string; last_id: string; oldest_id: string }>({
    name: `search-newest-${count}`,
    text: `WITH newest AS MATERIALIZED (SELECT m.id, m.search @@ (SELECT websearch_to_tsquery('simple', $3)) AS is_hit FROM messages m
        WHERE m.mailbox_id = $1 AND NOT m.is_quarantined AND m.id < ${before('$2')} ORDER BY m.id DESC LIMIT ${count})
      SELECT array_agg(id ORDER BY id DESC) FILTER (WHERE is_hit) AS hits, count(*) AS count, max(id) AS first_id, min(id) AS last_id,
        (SELECT m.id FROM messages m WHERE m.mailbox_id = $1 AND NOT m.is_quarantined ORDER BY m.id LIMIT 1) AS oldest_id FROM newest`,
    values: [mailboxId, cursor, query],
  })
  const row = rows[0]
  ids.push(...(row?.hits ?? []))
  return row?.count === count ? { firstId: row.first_id, lastId: row.last_id, oldestId: row.oldest_id } : null
}

/**
 * Asks the index of words: the newest matches of these eras with ids below `to`. The mailbox is compared so that no other index is thought of: what it
 * would cost to walk a mailbox with it the planner takes for less than it is (migration 0026). One era after another, because for a list of them it would
 * leave the eras out where the database is small, and read the matches of every mailbox.
 */
async function searchEras(sql: Sql, mailboxId: string, query: string, eras: string[], to: string, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'search-eras',
    text: `SELECT found.id FROM unnest($2::text[]) AS era (name) CROSS JOIN LATERAL (
        SELECT m.id FROM messages m WHERE (m.mailbox_id || substr(m.id, 5, 4)) = era.name AND m.mailbox_id || '' = $1
          AND m.search @@ websearch_to_tsquery('simple', $3) AND NOT m.is_quarantined AND m.id < $4 OFFSET 0) AS found
      ORDER BY found.id DESC LIMIT $5`,
    values: [mailboxId, eras.map((era) => mailboxId + era), query, to, limit],
  })
  return rows.map((row) => row.id)
}

/** Highlights cost more than finding: they are made for the rows of the page only. */
async function mark(sql: Sql, query: string, ids: string[]): Promise<SearchRow[]> {
  if (ids.length === 0) return []
  const { rows } = await sql.query<StoredMessage<SearchRow>>({
    name: 'search-marked',
    text: `WITH q AS (SELECT websearch_to_tsquery('simple', $2) AS query)
      SELECT ${columns},
        ts_headline('simple', m.subject, q.query, '${marks}, HighlightAll=true') AS subject_marked,
        ts_headline('simple', left(m.text, 60000), q.query, '${marks}, MaxFragments=2, MaxWords=30, MinWords=10, FragmentDelimiter= … ') AS text_marked
      FROM messages m, q WHERE m.id = ANY($1) ORDER BY m.id DESC`,
    values: [ids, query],
  })
  return toRows(rows)
}

/** Escapes a text for HTML and puts `<mark>` where the marks are; null when nothing in it matched. */
export function toMarked(text: string): string | null {
  if (!text.includes(markStart)) return null
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(markStart, '<mark>')
    .replaceAll(markStop, '</mark>')
}

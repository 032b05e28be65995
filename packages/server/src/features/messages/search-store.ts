// Full-text search in one mailbox: newest first, in a time that does not grow with the mailbox.
import { firstId, idAlphabet } from '@callsign/contract/ids'
import { before, type PageRequest } from '../../core/page.ts'
import type { Sql } from '../../core/sql.ts'
import type { MessageRow } from './model.ts'
import { columns } from './store.ts'

export type SearchRow = MessageRow & { subject_marked: string; text_marked: string }

/** Marks around what matched: control characters that no stored text holds, so that the rest can be escaped afterwards. */
export const markStart = '\u0001'
export const markStop = '\u0002'
const marks = `StartSel=${markStart}, StopSel=${markStop}`

/** How many of the newest messages are looked through before the index of words is asked: a frequent word fills a page from these. */
const newestSearched = 1000
/** How many more, when the first had `frequentHits`: then these will do for a page of the usual size. */
const nextSearched = 2000
const frequentHits = 8

/**
 * Newest first, with what matched marked; one row more than the page's limit. How frequent a word is the planner cannot know, and any one way taken for
 * all words is slow for some: walking a million messages for a rare one, or reading ten thousand hits of a frequent one for the newest twenty. So the
 * newest messages are walked, and before them the index is asked for one era after another, for more of them each time.
 */
export async function search(sql: Sql, mailboxId: string, query: string, page: PageRequest): Promise<SearchRow[]> {
  const wanted = page.limit + 1
  const first = await walk(sql, mailboxId, query, page.cursor, newestSearched)
  const ids = first.hits
  let last = first
  if (first.isCut && ids.length < wanted && ids.length >= frequentHits) {
    last = await walk(sql, mailboxId, query, first.lastId, nextSearched)
    ids.push(...last.hits)
  }
  const eras = last.isCut ? erasBetween(last.lastId as string, last.oldestId as string) : []
  for (let count = 1; eras.length > 0 && ids.length < wanted; count *= 2)
    ids.push(...(await searchEras(sql, mailboxId, query, eras.splice(0, count), last.lastId as string, wanted)))
  return mark(sql, query, ids.slice(0, wanted))
}

/** `isCut`: there are more. `lastId`: of the last message looked at; `oldestId`: of the mailbox's first one. */
type Walked = { hits: string[]; isCut: boolean; lastId: string | null; oldestId: string | null }

async function walk(sql: Sql, mailboxId: string, query: string, cursor: string | null, count: number): Promise<Walked> {
  const { rows } = await sql.query<{ hits: string[] | null; count: number; last_id: string | null; oldest_id: string | null }>({
    name: `search-newest-${count}`,
    text: `WITH newest AS MATERIALIZED (SELECT m.id, m.search @@ (SELECT websearch_to_tsquery('simple', $3)) AS is_hit FROM messages m
        WHERE m.mailbox_id = $1 AND NOT m.is_quarantined AND m.id < ${before('$2')} ORDER BY m.id DESC LIMIT ${count})
      SELECT array_agg(id ORDER BY id DESC) FILTER (WHERE is_hit) AS hits, count(*) AS count, min(id) AS last_id,
        (SELECT m.id FROM messages m WHERE m.mailbox_id = $1 AND NOT m.is_quarantined ORDER BY m.id LIMIT 1) AS oldest_id FROM newest`,
    values: [mailboxId, cursor, query],
  })
  const row = rows[0]
  return { hits: row?.hits ?? [], isCut: row?.count === count, lastId: row?.last_id ?? null, oldestId: row?.oldest_id ?? null }
}

/** An era is what ids have in common that were made within 2^30 ms, 12 days: the index of words goes by mailbox and era (migration 0026). */
const eraOf = (id: string): number => [...id.slice(4, 8)].reduce((sum, digit) => sum * 32 + idAlphabet.indexOf(digit), 0)
const nameOf = (era: number): string => firstId('message', era * 2 ** 30).slice(4, 8)

/** From the newer one's back to the older one's. */
const erasBetween = (newerId: string, olderId: string): string[] =>
  Array.from({ length: eraOf(newerId) - eraOf(olderId) + 1 }, (_, back) => nameOf(eraOf(newerId) - back))

/**
 * Asks the index of words: the newest matches of these eras with ids below `to`. The mailbox is compared so that no other index is thought of: what it
 * would cost to walk a mailbox with it the planner takes for less than it is (migration 0026).
 */
async function searchEras(sql: Sql, mailboxId: string, query: string, eras: string[], to: string, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'search-eras',
    text: `WITH found AS MATERIALIZED (SELECT m.id FROM messages m WHERE (m.mailbox_id || substr(m.id, 5, 4)) = ANY($2) AND m.mailbox_id || '' = $1
        AND m.search @@ websearch_to_tsquery('simple', $3) AND NOT m.is_quarantined AND m.id < $4)
      SELECT id FROM found ORDER BY id DESC LIMIT $5`,
    values: [mailboxId, eras.map((era) => mailboxId + era), query, to, limit],
  })
  return rows.map((row) => row.id)
}

/** Highlights cost more than finding: they are made for the rows of the page only. */
async function mark(sql: Sql, query: string, ids: string[]): Promise<SearchRow[]> {
  if (ids.length === 0) return []
  const { rows } = await sql.query<SearchRow>({
    name: 'search-marked',
    text: `WITH q AS (SELECT websearch_to_tsquery('simple', $2) AS query)
      SELECT ${columns},
        ts_headline('simple', m.subject, q.query, '${marks}, HighlightAll=true') AS subject_marked,
        ts_headline('simple', left(m.text, 60000), q.query, '${marks}, MaxFragments=2, MaxWords=30, MinWords=10, FragmentDelimiter= … ') AS text_marked
      FROM messages m, q WHERE m.id = ANY($1) ORDER BY m.id DESC`,
    values: [ids, query],
  })
  return rows
}

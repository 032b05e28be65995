// The SQL of search, in one mailbox and across the organization.
import { before, type PageRequest } from '../../../../core/page.ts'
import { anyOfIds, type Sql, sortedIds } from '../../../../core/sql.ts'
import type { MessageRow } from '../../messages/model.ts'
import { type MessageFilter, toConditions } from '../lists/filter-conditions-store.ts'
import { findNewest } from '../lists/newest-store.ts'
import { columns, type StoredMessage, toRows } from '../message-store.ts'
import { type SearchQuery, toTsQuery } from './search-query.ts'

/** Matches of a mailbox, newest first, and one row more than the page's limit. */
export async function search(sql: Sql, mailboxId: string, filter: MessageFilter, page: PageRequest): Promise<MessageRow[]> {
  const ids = await findNewest(sql, toConditions({ column: 'mailbox_id', id: mailboxId }, filter), page)
  return readRows(sql, ids)
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

async function readRows(sql: Sql, ids: string[]): Promise<MessageRow[]> {
  if (ids.length === 0) return []
  const { rows } = await sql.query<StoredMessage>({
    name: 'search-rows',
    text: `SELECT ${columns} FROM messages m WHERE ${anyOfIds('m.id', '$1')} ORDER BY m.id DESC`,
    values: [sortedIds(ids)],
  })
  return toRows(rows)
}

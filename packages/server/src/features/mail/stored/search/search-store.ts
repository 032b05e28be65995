// The SQL of search, in one mailbox and across the organization.
import { before } from '../../../../core/page.ts'
import { anyOfIds, type Sql, sortedIds } from '../../../../core/sql.ts'
import { columns, type StoredMessage, toRows } from '../message-store.ts'
import type { MessageRow } from '../model.ts'
import { type SearchQuery, toTsQuery } from './search-query.ts'

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

/** The messages of these ids, newest first. */
export async function findRows(sql: Sql, ids: string[]): Promise<MessageRow[]> {
  if (ids.length === 0) return []
  const { rows } = await sql.query<StoredMessage>({
    name: 'search-rows',
    text: `SELECT ${columns} FROM messages m WHERE ${anyOfIds('m.id', '$1')} ORDER BY m.id DESC`,
    values: [sortedIds(ids)],
  })
  return toRows(rows)
}

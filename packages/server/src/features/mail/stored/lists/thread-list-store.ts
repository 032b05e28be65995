// The SQL that lists and finds threads: by folder, label and read state from an index, and by other filters with a bounded scan.
import { firstId } from '@callsign/contract/ids'
import { before, type PageRequest } from '../../../../core/page.ts'
import type { Sql } from '../../../../core/sql.ts'
import type { ChangeScope } from '../message-store.ts'
import type { StoredFolder, ThreadFacts, ThreadRow } from '../model.ts'
import { type SearchQuery, toTsQuery } from '../search/search-query.ts'
import { currentThread } from '../thread-store.ts'

export type ThreadFolder = StoredFolder | 'trash' | 'scheduled'

/** Filters of a list of threads. Absent fields match all. Without a folder, spam and trash are left out. */
export type ThreadFilter = {
  folder?: ThreadFolder | undefined
  label?: string | undefined
  /** The mark of a key of the metadata with its value. */
  metadata?: string | undefined
  is_unread?: boolean | undefined
  participant?: string | undefined
  subject?: string | undefined
  after?: Date | undefined
  before?: Date | undefined
}

/** Threads of a page, one more than its limit when there are more, and the position to go on from when the scan ended before the page was full. */
export type ThreadScan = { rows: (ThreadRow & { position: string })[]; resumeAt: string | null }

/** Threads that one request reads for filters without an index. */
const scannedMax = 5000

export const threadColumns = `t.id, t.mailbox_id, t.subject, t.snippet, t.message_count, t.unread_count, t.trashed_count, t.folder, t.participants,
  ARRAY(SELECT k.mark FROM thread_marks k WHERE k.thread_id = t.id AND k.kind = 'label' ORDER BY k.mark) AS labels, t.metadata, t.last_message_at, t.last_message_id, t.created_at`

const shownFolders: StoredFolder[] = ['inbox', 'archive', 'sent']

/** A statement that yields the ids and positions of threads in order, at most as many as its last parameter. */
type Source = { text: string; values: unknown[]; isExact: boolean }

/** Newest threads of every folder, read state and sent state that the filter allows: each is a range of the index. */
function placedSource(column: string, owner: string, filter: ThreadFilter, cursor: string | null): Source {
  const folders = filter.folder === 'sent' ? shownFolders : filter.folder ? [filter.folder] : shownFolders
  const [reads, sents] = [
    filter.is_unread === undefined ? [true, false] : [filter.is_unread],
    filter.folder === 'sent' ? [true] : [true, false],
  ]
  const places = folders.flatMap((folder) => reads.flatMap((isUnread) => sents.map((hasOutbound) => ({ folder, isUnread, hasOutbound }))))
  return {
    text: `SELECT found.id, found.position FROM unnest($4::text[], $5::boolean[], $6::boolean[]) AS place (folder, is_unread, has_outbound)
      CROSS JOIN LATERAL (SELECT t.id, t.last_message_id AS position FROM threads t
        WHERE t.${column} = $1 AND t.folder = place.folder AND t.is_unread = place.is_unread AND t.has_outbound = place.has_outbound
          AND t.message_count > 0 AND t.last_message_id < ${before('$2')} AND t.last_message_id >= $3
        ORDER BY t.last_message_id DESC LIMIT $7) AS found
      ORDER BY found.position DESC LIMIT $7`,
    values: [
      ...boundsOf(owner, filter, cursor),
      places.map((one) => one.folder),
      places.map((one) => one.isUnread),
      places.map((one) => one.hasOutbound),
    ],
    isExact: true,
  }
}

/** The owner, and the range of latest messages. Ids begin with their time. */
function boundsOf(owner: string, filter: ThreadFilter, cursor: string | null): [string, string | null, string] {
  const latest = filter.before && firstId('message', filter.before.getTime())
  const upper = [cursor, latest].filter((bound) => bound != null).toSorted()[0] ?? null
  return [owner, upper, filter.after ? firstId('message', filter.after.getTime() + 1) : '']
}

/** Newest threads with a label, or with a key and value of metadata. */
const markedSource = (column: string, kind: 'label' | 'metadata', mark: string, bounds: unknown[]): Source => ({
  text: `SELECT k.thread_id AS id, k.last_message_id AS position FROM thread_marks k WHERE k.${column} = $1 AND k.kind = $4 AND k.mark = $5
      AND k.last_message_id < ${before('$2')} AND k.last_message_id >= $3 ORDER BY k.last_message_id DESC LIMIT $6`,
  values: [...bounds, kind, mark],
  isExact: false,
})

/** One mailbox, or the whole organization. */
export type OwnerScope = { organizationId: string; mailboxId: string | null }

function sourceOf(scope: OwnerScope, filter: ThreadFilter, cursor: string | null): Source {
  const column = scope.mailboxId === null ? 'organization_id' : 'mailbox_id'
  const owner = scope.mailboxId ?? scope.organizationId
  const range = `< ${before('$2')}`
  if (filter.label !== undefined) return markedSource(column, 'label', filter.label, boundsOf(owner, filter, cursor))
  if (filter.metadata !== undefined) return markedSource(column, 'metadata', filter.metadata, boundsOf(owner, filter, cursor))
  if (filter.folder === 'scheduled')
    return {
      text: `SELECT DISTINCT d.thread_id AS id, d.thread_id AS position FROM drafts d
        WHERE d.${column} = $1 AND d.send_at IS NOT NULL AND d.thread_id IS NOT NULL AND d.thread_id ${range} ORDER BY d.thread_id DESC LIMIT $3`,
      values: [owner, cursor],
      isExact: false,
    }
  if (filter.folder === 'trash')
    return {
      text: `SELECT t.id, t.last_message_id AS position FROM threads t WHERE t.${column} = $1 AND t.message_count = 0 AND t.trashed_count > 0
          AND t.last_message_id ${range} AND t.last_message_id >= $3 ORDER BY t.last_message_id DESC LIMIT $4`,
      values: boundsOf(owner, filter, cursor),
      isExact: filter.is_unread === undefined,
    }
  return placedSource(column, owner, filter, cursor)
}

/** The filters as conditions on a thread. Each begins with ` AND `. */
export function threadConditions(filter: ThreadFilter, parameter: (value: unknown) => string): string {
  const parts: string[] = []
  if (filter.folder === 'trash') parts.push('t.message_count = 0 AND t.trashed_count > 0')
  else parts.push('t.message_count > 0')
  if (filter.folder === 'scheduled') parts.push('EXISTS (SELECT 1 FROM drafts d WHERE d.thread_id = t.id AND d.send_at IS NOT NULL)')
  else if (filter.folder === 'sent') parts.push(`t.has_outbound AND t.folder <> 'spam'`)
  else if (filter.folder === undefined) parts.push(`t.folder <> 'spam'`)
  else if (filter.folder !== 'trash') parts.push(`t.folder = ${parameter(filter.folder)}`)
  for (const kind of ['label', 'metadata'] as const)
    if (filter[kind] !== undefined)
      parts.push(
        `EXISTS (SELECT 1 FROM thread_marks k WHERE k.thread_id = t.id AND k.kind = '${kind}' AND k.mark = ${parameter(filter[kind])})`,
      )
  if (filter.is_unread !== undefined) parts.push(filter.is_unread ? 't.is_unread' : 'NOT t.is_unread')
  if (filter.participant !== undefined) parts.push(`${parameter(filter.participant.toLowerCase())} = ANY(t.participants)`)
  if (filter.subject !== undefined) parts.push(`t.subject ILIKE ${parameter(`%${filter.subject.replace(/[\\%_]/g, '\\$&')}%`)}`)
  if (filter.after) parts.push(`t.last_message_at > ${parameter(filter.after)}`)
  if (filter.before) parts.push(`t.last_message_at < ${parameter(filter.before)}`)
  return parts.map((part) => ` AND ${part}`).join('')
}

/** Threads of the scope by their latest message, newest first. Scheduled ones by their id, newest first. */
export async function listThreads(sql: Sql, scope: OwnerScope, filter: ThreadFilter, page: PageRequest): Promise<ThreadScan> {
  const source = sourceOf(scope, filter, page.cursor)
  const isScan = !source.isExact || filter.participant !== undefined || filter.subject !== undefined
  const values = [...source.values, isScan ? scannedMax : page.limit + 1]
  const scanned = [...values]
  const conditions = threadConditions(filter, (value) => `$${values.push(value)}`)
  const { rows } = await sql.query<ThreadRow & { position: string }>({
    // OFFSET 0 keeps the order of the source: the planner would otherwise read all threads for a large scan.
    text: `SELECT source.position, t.* FROM (${source.text}) AS source
      CROSS JOIN LATERAL (SELECT ${threadColumns} FROM threads t WHERE t.id = source.id${conditions} OFFSET 0) AS t
      ORDER BY source.position DESC LIMIT $${values.push(page.limit + 1)}`,
    values,
  })
  if (!isScan || rows.length > page.limit) return { rows, resumeAt: null }
  const { rows: ends } = await sql.query<{ position: string; count: number }>({
    text: `SELECT min(source.position) AS position, count(*) AS count FROM (${source.text}) AS source`,
    values: scanned,
  })
  return { rows, resumeAt: ends[0]?.count === scannedMax ? ends[0].position : null }
}

/** One thread of the scope, in the trash too. */
export async function findThread(sql: Sql, scope: ChangeScope, id: string): Promise<ThreadRow | null> {
  const { rows } = await sql.query<ThreadRow>({
    name: 'find-thread',
    text: `SELECT ${threadColumns} FROM threads t WHERE t.organization_id = $1 AND ($2::text[] IS NULL OR t.mailbox_id = ANY($2))
      AND t.id = ${currentThread('$3')} AND t.message_count + t.trashed_count > 0`,
    values: [scope.organizationId, scope.mailboxIds, id],
  })
  return rows[0] ?? null
}

const factMessagesMax = 100

/** Facts about the latest messages of these threads. Messages in the trash count for a thread that is in the trash itself. */
export async function findFacts(sql: Sql, threads: Pick<ThreadRow, 'id' | 'message_count'>[]): Promise<Map<string, ThreadFacts>> {
  const { rows } = await sql.query<ThreadFacts & { thread_id: string }>({
    name: 'find-thread-facts',
    text: `WITH latest AS MATERIALIZED (SELECT one.id AS thread_id, m.* FROM unnest($1::text[], $2::boolean[]) AS one (id, is_trashed)
        CROSS JOIN LATERAL (
          SELECT direction, from_address, to_addresses || cc_addresses || bcc_addresses AS recipients, size_bytes, created_at FROM messages
          WHERE thread_id = one.id AND is_hidden = one.is_trashed AND (NOT one.is_trashed OR trashed_at IS NOT NULL)
          ORDER BY id DESC LIMIT ${factMessagesMax}) m),
      addressed AS (SELECT thread_id, array_agg(DISTINCT lower(address)) AS recipients
        FROM latest CROSS JOIN LATERAL unnest(latest.recipients) AS address GROUP BY thread_id)
      SELECT thread_id, array_remove(array_agg(DISTINCT lower(from_address)), '') AS senders, coalesce(min(addressed.recipients), '{}') AS recipients,
        sum(size_bytes)::float8 AS size_bytes, max(created_at) FILTER (WHERE direction = 'inbound') AS last_received_at,
        max(created_at) FILTER (WHERE direction = 'outbound') AS last_sent_at
      FROM latest LEFT JOIN addressed USING (thread_id) GROUP BY thread_id`,
    values: [threads.map(({ id }) => id), threads.map(({ message_count }) => message_count === 0)],
  })
  return new Map(rows.map(({ thread_id, ...facts }) => [thread_id, facts]))
}

/** The threads of hits that meet the filters, each at its newest hit. `isHit` is the condition of a hit on `n`, with the search as $2. */
export async function findThreadsOfHits(
  sql: Sql,
  hits: string[],
  query: SearchQuery,
  filter: ThreadFilter,
): Promise<(ThreadRow & { position: string })[]> {
  if (hits.length === 0) return []
  const values: unknown[] = [hits, toTsQuery(query)]
  const conditions = threadConditions(filter, (value) => `$${values.push(value)}`)
  const { rows } = await sql.query<ThreadRow & { position: string }>({
    text: `SELECT m.id AS position, t.* FROM messages m
      CROSS JOIN LATERAL (SELECT ${threadColumns} FROM threads t WHERE t.id = m.thread_id${conditions} OFFSET 0) AS t
      WHERE m.id = ANY($1) AND NOT EXISTS (SELECT 1 FROM messages n WHERE n.thread_id = m.thread_id AND NOT n.is_hidden AND n.id > m.id
        AND n.search @@ $2::tsquery)
      ORDER BY m.id DESC`,
    values,
  })
  return rows
}

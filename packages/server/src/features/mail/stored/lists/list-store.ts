// The SQL of unfiltered lists of messages: of an organization, of mailboxes, or of one thread.
import { before, type PageRequest } from '../../../../core/page.ts'
import type { Sql, Statement } from '../../../../core/sql.ts'
import type { ListedMessage } from '../message-store.ts'
import { currentThread } from '../thread-store.ts'

/** The mailboxes of a list. Null for every mailbox of the organization. */
export type ListScope = { organizationId: string; mailboxIds: string[] | null; direction?: 'inbound' | 'outbound' | undefined }

/** The ids of a page, newest first, and the number of messages of the whole list. */
export type MailPage = { ids: string[]; total: number }

/** A literal, because the planner does not match a parameter to a partial index. */
const directionCondition = (direction: ListScope['direction']): string =>
  direction === undefined ? '' : `AND m.direction = '${direction === 'outbound' ? 'outbound' : 'inbound'}' `

const pageEnd = (direction: ListScope['direction']): string =>
  `${directionCondition(direction)}AND m.id < ${before('$2')} AND NOT m.is_hidden ORDER BY m.id DESC LIMIT $3`

/** The page newest first, without quarantined messages, and its total. Each scope has its own statement, because each has its own index. */
function pageStatement({ organizationId, mailboxIds, direction }: ListScope, { cursor, limit }: PageRequest): Statement {
  const suffix = direction === undefined ? '' : `-${direction}`
  const end = pageEnd(direction)
  const [name, rows, total, values] =
    mailboxIds === null
      ? [
          'page-of-organization',
          `SELECT m.id FROM messages m WHERE m.organization_id = $1 ${end}`,
          'organization_id = $1',
          [organizationId, cursor, limit + 1],
        ]
      : [
          'page-of-mailboxes',
          // One index scan per mailbox, so that the cost does not grow with the messages of a mailbox.
          `SELECT m.id FROM unnest($1::text[]) AS b (id) CROSS JOIN LATERAL (
            SELECT m.id FROM messages m WHERE m.mailbox_id = b.id AND m.organization_id = $4 ${end}) m ORDER BY m.id DESC LIMIT $3`,
          'mailbox_id = ANY($1)',
          [mailboxIds, cursor, limit + 1, organizationId],
        ]
  const text = `SELECT (SELECT array_agg(m.id ORDER BY m.id DESC) FROM (${rows}) m) AS ids,
    (SELECT coalesce(sum(count), 0)::bigint FROM message_counts WHERE ${total}) AS total`
  return { name: name + suffix, text, values }
}

export async function findMailPage(sql: Sql, scope: ListScope, page: PageRequest): Promise<MailPage> {
  const { rows } = await sql.query<{ ids: string[] | null; total: number }>(pageStatement(scope, page))
  const row = rows[0] as (typeof rows)[0]
  return { ids: row.ids ?? [], total: row.total }
}

/** A thread, with its messages of these mailboxes. */
export type ThreadScope = ListScope & { threadId: string }

/** Newest first, without quarantined messages. */
export async function listByThread(sql: Sql, scope: ThreadScope, page: PageRequest): Promise<ListedMessage[]> {
  const { rows } = await sql.query<ListedMessage>({
    name: `list-by-thread${scope.direction === undefined ? '' : `-${scope.direction}`}`,
    text: `SELECT m.id FROM messages m WHERE m.thread_id = ${currentThread('$1')} AND m.organization_id = $4
      AND ($5::text[] IS NULL OR m.mailbox_id = ANY($5)) ${pageEnd(scope.direction)}`,
    values: [scope.threadId, page.cursor, page.limit + 1, scope.organizationId, scope.mailboxIds],
  })
  return rows
}

/** The number of listed messages of a thread, counted row by row. */
export async function countByThread(sql: Sql, scope: ThreadScope): Promise<number> {
  const { rows } = await sql.query<{ count: number }>({
    name: 'count-by-thread',
    text: `SELECT count(*) AS count FROM messages
      WHERE thread_id = ${currentThread('$1')} AND organization_id = $2 AND ($3::text[] IS NULL OR mailbox_id = ANY($3)) AND NOT is_hidden`,
    values: [scope.threadId, scope.organizationId, scope.mailboxIds],
  })
  return rows[0]?.count ?? 0
}

/** The number of listed messages, from counters. */
export async function countByScope(sql: Sql, { organizationId, mailboxIds }: ListScope): Promise<number> {
  const sum = 'SELECT coalesce(sum(count), 0)::bigint AS count FROM message_counts WHERE'
  const { rows } = await sql.query<{ count: number }>(
    mailboxIds === null
      ? { name: 'count-by-organization', text: `${sum} organization_id = $1`, values: [organizationId] }
      : { name: 'count-by-mailboxes', text: `${sum} mailbox_id = ANY($1)`, values: [mailboxIds] },
  )
  return rows[0]?.count ?? 0
}

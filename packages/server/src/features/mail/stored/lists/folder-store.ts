// The SQL that lists the messages of one folder of threads: threads in the order of their latest message, and the messages in them.
import { before } from '../../../../core/page.ts'
import type { Sql } from '../../../../core/sql.ts'
import type { Conditions, MessageOwner, ThreadPlaces } from './filter-conditions-store.ts'

/**
 * The ids of the newest messages below the cursor that meet the conditions and are in threads of a folder. Reads the threads with a later message first,
 * then the others by their latest message, until the next thread cannot have a newer message than the last row.
 */
export async function listByFolder(
  sql: Sql,
  conditions: Conditions,
  places: ThreadPlaces,
  cursor: string,
  limit: number,
): Promise<string[]> {
  const { owner } = conditions
  let found = await findNewest(sql, conditions, await findSpanning(sql, owner, places, cursor), cursor, limit)
  for (let [count, position] = [limit, cursor]; ; count *= 4) {
    const threads = await findLatest(sql, owner, places, position, count)
    const ids = threads.map(({ id }) => id)
    const newest = await findNewest(sql, conditions, ids, cursor, limit)
    found = [...found, ...newest].toSorted().toReversed().slice(0, limit)
    position = threads.at(-1)?.position ?? ''
    const oldest = found[limit - 1]
    if (threads.length < count || (oldest !== undefined && oldest >= position)) break
  }
  return found
}

/** The ranges of the index of threads that make up a folder. */
const inPlaces = (isUnread: boolean): string =>
  `unnest(ARRAY[true, true${isUnread ? '' : ', false, false'}], ARRAY[true, false${isUnread ? '' : ', true, false'}]) AS place (is_unread, has_outbound)`
const ofPlace = (owner: MessageOwner): string =>
  `t.${owner.column} = $1 AND t.folder = $2 AND t.is_unread = place.is_unread AND t.has_outbound = place.has_outbound AND t.message_count > 0`

/** The next threads by their latest message, newest first. */
async function findLatest(sql: Sql, owner: MessageOwner, { folder, isUnread, from }: ThreadPlaces, below: string, limit: number) {
  const { rows } = await sql.query<{ id: string; position: string }>({
    text: `SELECT found.id, found.position FROM ${inPlaces(isUnread)}
      CROSS JOIN LATERAL (SELECT t.id, t.last_message_id AS position FROM threads t
        WHERE ${ofPlace(owner)} AND t.last_message_id < $3 AND t.last_message_id >= $4 ORDER BY t.last_message_id DESC LIMIT $5) AS found
      ORDER BY found.position DESC LIMIT $5`,
    values: [owner.id, folder, below, from, limit],
  })
  return rows
}

/** Threads with their latest message at the cursor or above it, and another message. */
async function findSpanning(sql: Sql, owner: MessageOwner, { folder, isUnread }: ThreadPlaces, cursor: string): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>({
    text: `SELECT found.id FROM ${inPlaces(isUnread)}
      CROSS JOIN LATERAL (SELECT t.id FROM threads t WHERE ${ofPlace(owner)} AND t.last_message_id >= $3 AND t.message_count > 1 OFFSET 0) AS found`,
    values: [owner.id, folder, cursor],
  })
  return rows.map(({ id }) => id)
}

/** The ids of the newest messages of threads, below the cursor. */
async function findNewest(sql: Sql, { owner, values, scope, sought }: Conditions, threadIds: string[], cursor: string, limit: number) {
  if (threadIds.length === 0) return []
  const { rows } = await sql.query<{ id: string }>({
    text: `SELECT found.id FROM unnest($${values.length + 1}::text[]) AS thread (id)
      CROSS JOIN LATERAL (SELECT m.id FROM messages m
        WHERE m.thread_id = thread.id AND m.${owner.column} || '' = $1${scope}${sought} AND m.id < ${before('$2')} ORDER BY m.id DESC LIMIT $3) AS found
      ORDER BY found.id DESC LIMIT $3`,
    values: [...values.with(1, cursor).with(2, limit), threadIds],
  })
  return rows.map(({ id }) => id)
}

// Lists one mailbox by any filters: newest first, in a time independent of the mailbox's size where an index covers the filters.
import { firstId } from '@callsign/contract/ids'
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql } from '../../../core/sql.ts'
import type { MessageRow } from './model.ts'
import { columns, type StoredMessage, toRows } from './store.ts'
import { currentThread } from './thread-store.ts'
import { askPartitions, expectedHits } from './time-partitions.ts'

export type MessageFilter = {
  is_read?: boolean | undefined
  is_starred?: boolean | undefined
  /** Lists the trash instead of the other messages. */
  is_trashed?: boolean | undefined
  direction?: 'inbound' | 'outbound' | undefined
  status?: string | undefined
  label?: string | undefined
  flag?: string | undefined
  from?: string | undefined
  to?: string | undefined
  subject?: string | undefined
  after?: Date | undefined
  before?: Date | undefined
  thread_id?: string | undefined
}

/** Messages that are scanned before an index is used. Frequent values fill a page from these. */
const firstWalked = 500
/** The most messages that one statement scans without an index: some tenths of a second in a mailbox of any size. */
const walkedMax = 100_000

/**
 * The messages of one mailbox that match every filter, newest first, and one row more than the page's limit. PostgreSQL cannot estimate their
 * frequency, and each plan is slow for some filters. So this scans the newest messages, then queries an index by time partition, with more
 * partitions each time. `hasPartsIndex` resolves with true when the trigram index of senders and subjects exists, which needs an extension.
 */
export async function listByFilter(
  sql: Sql,
  mailboxId: string,
  filter: MessageFilter,
  page: PageRequest,
  hasPartsIndex: () => Promise<boolean>,
): Promise<MessageRow[]> {
  const isInParts = [filter.from, filter.subject].some((part) => part !== undefined && hasTrigram(part)) && (await hasPartsIndex())
  const conditions = toConditions(mailboxId, filter, isInParts)
  const wanted = page.limit + 1
  if (conditions.sought === '') return listScope(sql, conditions, page.cursor, wanted)
  const rows: MessageRow[] = []
  let [cursor, count, walked, firstId] = [page.cursor, firstWalked, 0, null as string | null]
  for (;;) {
    const step = await walk(sql, conditions, cursor, count, wanted - rows.length)
    rows.push(...step.rows)
    const { lastId } = step
    if (rows.length === wanted || lastId === null) return rows
    walked += count
    count = Math.min(count * 4, walkedMax)
    cursor = lastId
    if (conditions.indexed === null) continue
    firstId ??= step.firstId
    const stretch = { hits: rows.length, firstId, lastId }
    const missing = wanted - rows.length
    // For the newest hits of a partition the index reads all of its hits. A further scan reads the messages between the missing hits.
    const expected = Math.ceil((missing * walked) / rows.length)
    if (expected < expectedHits(stretch)) {
      count = Math.min(expected * 2, walkedMax)
      continue
    }
    const ask = (partitions: string[], limit: number) => listPartitions(sql, mailboxId, conditions, partitions, lastId, limit)
    return [...rows, ...(await askPartitions(stretch, step.oldestId, missing, ask))]
  }
}

/** True for a text that the trigram index can find: three consecutive ASCII letters or digits are a trigram in every locale. */
const hasTrigram = (part: string): boolean => /[a-z0-9]{3}/i.test(part)

/** True when this database has the trigram index. A migration creates it, if at all, before the server runs. */
export async function hasPartsIndex(sql: Sql): Promise<boolean> {
  const { rows } = await sql.query<{ is_there: boolean }>({ text: `SELECT to_regclass('messages_parts') IS NOT NULL AS is_there` })
  return rows[0]?.is_there === true
}

const recipients = 'm.to_addresses || m.cc_addresses || m.bcc_addresses'
/** The recipients as the index stores them. */
const foldedRecipients = `CASE WHEN cardinality(${recipients}) = 1 THEN ARRAY[lower((${recipients})[1])] ELSE folded_addresses(${recipients}) END`

/** Filters as SQL. Each part is empty or begins with ` AND `. */
type Conditions = {
  /** $1 is the mailbox, $2 the cursor and $3 the number of rows. The conditions use $4 and later. */
  values: unknown[]
  /** Limits the scan, by the time in ids, and by columns that have a partial index or the same value in most rows. */
  scope: string
  /** Conditions that few of the scanned messages may meet. */
  sought: string
  /** The same conditions in the form of an index by mailbox and partition. Null without such an index. */
  indexed: string | null
  /** The part of the scope that ends the scan. */
  reach: string
}

function toConditions(mailboxId: string, filter: MessageFilter, isInParts: boolean): Conditions {
  const values: unknown[] = [mailboxId, null, null]
  const parameter = (value: unknown): string => `$${values.push(value)}`
  const pieces = { reach: '', scope: '', sought: '', indexed: '' }
  const add = <T>(piece: keyof typeof pieces, value: T | undefined, condition: (parameter: string) => string) => {
    if (value !== undefined) pieces[piece] += ` AND ${condition(parameter(value))}`
  }
  const say = (piece: keyof typeof pieces, isSaid: boolean, condition: string) => {
    if (isSaid) pieces[piece] += ` AND ${condition}`
  }
  const contains = (text: string | undefined) => (text === undefined ? undefined : `%${text.replace(/[\\%_]/g, '\\$&')}%`)
  const isQuarantined = filter.status === 'quarantined'
  // A literal, like the flags below: the planner does not match a parameter to a partial index.
  if (filter.is_trashed) pieces.reach += ' AND m.trashed_at IS NOT NULL'
  else pieces.reach += isQuarantined ? ' AND m.is_quarantined' : ' AND NOT m.is_hidden'
  // Ids begin with their time, so these bounds keep newer and older messages out of the scan.
  add('reach', filter.after && firstId('message', filter.after.getTime() - idTimeApartMs), (p) => `m.id >= ${p}`)
  add('scope', filter.before && firstId('message', filter.before.getTime() + idTimeApartMs), (p) => `m.id < ${p}`)
  add('scope', filter.after, (p) => `m.created_at > ${p}`)
  add('scope', filter.before, (p) => `m.created_at < ${p}`)
  // Literals, also for the second half of the flags, because the planner does not match a parameter to a partial index.
  say('scope', filter.is_read !== undefined, filter.is_read ? 'm.is_read' : 'NOT m.is_read')
  say('scope', filter.is_starred !== undefined, filter.is_starred ? 'm.is_starred' : 'NOT m.is_starred')
  const isStatusOfOutbound = filter.status !== undefined && filter.status !== 'received' && !isQuarantined
  say('scope', filter.direction === 'inbound', `m.direction = 'inbound'`)
  say('scope', filter.direction === 'outbound' || isStatusOfOutbound, `m.direction = 'outbound'`)
  if (!isQuarantined) add('scope', filter.status, (p) => `m.status = ${p}`)
  add(
    'scope',
    filter.flag === undefined ? undefined : JSON.stringify([{ type: filter.flag }]),
    (p) => `m.flags @> ${p}::jsonb AND m.flags <> '[]'`,
  )
  add('scope', filter.thread_id, (p) => `m.thread_id = ${currentThread(p)}`)
  add('sought', filter.label, (p) => {
    pieces.indexed += ` AND m.labels @> ARRAY[${p}]::text[] AND m.labels <> '{}'`
    return `${p} = ANY(m.labels)`
  })
  add('sought', filter.to?.toLowerCase(), (p) => {
    pieces.indexed += ` AND (${foldedRecipients}) @> ARRAY[${p}]::text[]`
    return `${p} = ANY(SELECT lower(a) FROM unnest(${recipients}) a)`
  })
  add('sought', contains(filter.from), (p) => {
    const exact = `(m.from_address ILIKE ${p} OR m.from_name ILIKE ${p})`
    pieces.indexed += ` AND (m.from_address || E'\\n' || m.from_name) ILIKE ${p} AND ${exact}`
    return exact
  })
  add('sought', contains(filter.subject), (p) => {
    const exact = `m.subject ILIKE ${p}`
    pieces.indexed += ` AND ${exact}`
    return exact
  })
  const isIndexed = filter.label !== undefined || filter.to !== undefined || isInParts
  const { reach, scope, sought, indexed } = pieces
  return { values, reach, scope: reach + scope, sought, indexed: isIndexed ? indexed : null }
}

/** Generous limit of the difference between the time in a message's id and its `created_at`, which are set together. */
const idTimeApartMs = 10 * 60_000

/** Condition for messages of the scope below the cursor. */
async function listScope(sql: Sql, { values, scope }: Conditions, cursor: string | null, limit: number): Promise<MessageRow[]> {
  const { rows } = await sql.query<StoredMessage>({
    text: `SELECT ${columns} FROM messages m WHERE m.mailbox_id = $1${scope} AND m.id < ${before('$2')} ORDER BY m.id DESC LIMIT $3`,
    values: values.with(1, cursor).with(2, limit),
  })
  return toRows(rows)
}

/** Where a walk began and ended, and the oldest message that there is. */
type Step = { rows: MessageRow[]; oldestId: string; firstId: string } & { lastId: string | null }

/** Scans the next `count` messages of the scope for at most `limit` rows. `lastId` is null at the end of the scope. */
async function walk(sql: Sql, conditions: Conditions, cursor: string | null, count: number, limit: number): Promise<Step> {
  const { values, scope, sought, reach } = conditions
  const newest = `SELECT m.id FROM messages m WHERE m.mailbox_id = $1${scope} AND m.id < ${before('$2')} ORDER BY m.id DESC`
  const { rows } = await sql.query<StoredMessage & { first_id: string; last_id: string | null; oldest_id: string }>({
    text: `WITH step AS MATERIALIZED (SELECT (${newest} LIMIT 1) AS first_id, (${newest} OFFSET ${count - 1} LIMIT 1) AS last_id,
        (SELECT m.id FROM messages m WHERE m.mailbox_id = $1${reach} ORDER BY m.id LIMIT 1) AS oldest_id)
      SELECT step.first_id, step.last_id, step.oldest_id, found.* FROM step LEFT JOIN LATERAL (SELECT ${columns} FROM messages m
        WHERE m.mailbox_id = $1${scope}${sought} AND m.id < ${before('$2')} AND m.id >= coalesce(step.last_id, '')
        ORDER BY m.id DESC LIMIT $3) AS found ON true ORDER BY found.id DESC`,
    values: values.with(1, cursor).with(2, limit),
  })
  const { first_id: firstId, last_id: lastId, oldest_id: oldestId } = rows[0] as (typeof rows)[0]
  const found = rows.filter(({ id }) => id !== null).map(({ first_id: _first, last_id: _last, oldest_id: _oldest, ...row }) => row)
  return { rows: toRows(found as StoredMessage[]), firstId, lastId, oldestId }
}

/** Queries an index by mailbox and partition for the newest matches with ids below `to`. See search-store.ts for the form of the SQL. */
async function listPartitions(
  sql: Sql,
  mailboxId: string,
  conditions: Conditions,
  partitions: string[],
  to: string,
  limit: number,
): Promise<MessageRow[]> {
  const { values, scope, indexed } = conditions
  const { rows } = await sql.query<StoredMessage>({
    text: `SELECT ${columns} FROM messages m WHERE m.id = ANY(ARRAY(
        SELECT found.id FROM unnest($${values.length + 1}::text[]) AS time_partition (name) CROSS JOIN LATERAL (
          SELECT m.id FROM messages m WHERE (m.mailbox_id || substr(m.id, 5, 4)) = time_partition.name AND m.mailbox_id || '' = $1
            ${scope}${indexed} AND m.id < $2 OFFSET 0) AS found
        ORDER BY found.id DESC LIMIT $3)) ORDER BY m.id DESC`,
    values: [...values.with(1, to).with(2, limit), partitions.map((name) => mailboxId + name)],
  })
  return toRows(rows)
}

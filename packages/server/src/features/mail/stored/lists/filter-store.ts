// Lists one mailbox or organization by filters: newest first, in a time independent of its size where an index covers the filters.
import { before, type PageRequest } from '../../../../core/page.ts'
import type { Sql } from '../../../../core/sql.ts'
import type { ListedMessage } from '../message-store.ts'
import { type Conditions, type MessageFilter, type MessageOwner, toConditions, toPattern } from './filter-conditions-store.ts'
import { listByFolder } from './folder-store.ts'
import { findRareRuns, isMainMailbox } from './index-choice-store.ts'
import { askPartitions, expectedHits, inPartitions, partitionKeys } from './time-partitions.ts'

/** Messages that are scanned before an index is used. Frequent values fill a page from these. */
const firstWalked = 500
/** The most messages that one statement scans without an index: some tenths of a second in a mailbox of any size. */
const walkedMax = 100_000

/**
 * The messages of one owner that match every filter, newest first, and one row more than the page's limit. PostgreSQL cannot estimate their
 * frequency, and each plan is slow for some filters. So this scans the newest messages, then queries an index by time partition, with more
 * partitions each time. `hasPartsIndex` resolves with true when the trigram index of senders and subjects exists, which needs an extension.
 */
export async function listByFilter(
  sql: Sql,
  owner: MessageOwner,
  filter: MessageFilter,
  page: PageRequest,
  hasPartsIndex: () => Promise<boolean>,
): Promise<ListedMessage[]> {
  const isInParts = [filter.from, filter.subject].some((part) => part !== undefined && hasTrigram(part)) && (await hasPartsIndex())
  const conditions = toConditions(owner, filter, isInParts)
  const wanted = page.limit + 1
  if (conditions.sought === '') return listScope(sql, conditions, page.cursor, wanted)
  const rows: ListedMessage[] = []
  let [cursor, count, walked, firstId] = [page.cursor, firstWalked, 0, null as string | null]
  for (;;) {
    const step = await walk(sql, conditions, cursor, count, wanted - rows.length)
    rows.push(...step.rows)
    const { lastId } = step
    if (rows.length === wanted || lastId === null) return rows
    walked += count
    count = Math.min(count * 4, walkedMax)
    cursor = lastId
    // A scan of a few thousand fills a page unless the folder's messages are rare among the next ones.
    if (conditions.places !== null && walked > firstWalked)
      return [...rows, ...(await listByFolder(sql, conditions, conditions.places, lastId, wanted - rows.length))]
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
    const place = await toPlace(sql, conditions, firstId)
    const ask = (partitions: string[], limit: number) => listPartitions(sql, conditions, { ...place, partitions }, lastId, limit)
    const rest = {
      isFaster: async () => owner.column === 'mailbox_id' && isMainMailbox(sql, owner.id),
      ask: (to: string, limit: number) => listPartitions(sql, conditions, { ...place, partitions: null }, to, limit),
    }
    return [...rows, ...(await askPartitions(stretch, step.oldestId, missing, ask, rest))]
  }
}

/** Where an index is asked: conditions on it, their further values, and partitions. Null asks it for all mailboxes. */
type IndexPlace = { text: string; values: unknown[]; partitions: string[] | null }

/** The rare parts of substrings as conditions on their index. */
async function toPlace(sql: Sql, { owner, values: given, indexed }: Conditions, newestId: string): Promise<Omit<IndexPlace, 'partitions'>> {
  const values = [...given]
  let text = ''
  if (indexed?.prefix !== 'p') return { text, values }
  for (const { column, text: whole, pattern } of indexed.substrings) {
    const runs = await findRareRuns(sql, owner.id, newestId, column, whole)
    const patterns = runs.length === 0 ? [pattern] : runs.map((run) => `$${values.push(toPattern(run))}`)
    for (const one of patterns) text += ` AND ${column} ILIKE ${one}`
  }
  return { text, values }
}

/** True for a text that the trigram index can find: three consecutive ASCII letters or digits are a trigram in every locale. */
const hasTrigram = (part: string): boolean => /[a-z0-9]{3}/i.test(part)

/** True when this database has the trigram index. A migration creates it, if at all, before the server runs. */
export async function hasPartsIndex(sql: Sql): Promise<boolean> {
  const { rows } = await sql.query<{ is_there: boolean }>({ text: `SELECT to_regclass('messages_parts') IS NOT NULL AS is_there` })
  return rows[0]?.is_there === true
}

/** Names by text. */
const planNames = new Map<string, string>()
/** Plans take about 90 KB each in every connection. */
const planNamesMax = 32

/**
 * Names a statement, so that connections keep its plan, because planning takes longer than a short scan. The first texts of a process get a
 * name. They are those of the usual combinations of filters.
 */
function named(text: string): { text: string; name?: string } {
  if (!planNames.has(text) && planNames.size < planNamesMax) planNames.set(text, `list-by-filter-${planNames.size}`)
  const name = planNames.get(text)
  return name === undefined ? { text } : { text, name }
}

/** Condition for messages of the scope below the cursor. */
async function listScope(sql: Sql, { owner, values, scope }: Conditions, cursor: string | null, limit: number): Promise<ListedMessage[]> {
  const { rows } = await sql.query<ListedMessage>({
    ...named(`SELECT m.id FROM messages m WHERE m.${owner.column} = $1${scope} AND m.id < ${before('$2')} ORDER BY m.id DESC LIMIT $3`),
    values: values.with(1, cursor).with(2, limit),
  })
  return rows
}

/** Where a walk began and ended, and the oldest message that there is. */
type Step = { rows: ListedMessage[]; oldestId: string; firstId: string } & { lastId: string | null }

/** Scans the next `count` messages of the scope for at most `limit` rows. `lastId` is null at the end of the scope. */
async function walk(sql: Sql, conditions: Conditions, cursor: string | null, count: number, limit: number): Promise<Step> {
  const { owner, values, scope, sought, reach } = conditions
  const newest = `SELECT m.id FROM messages m WHERE m.${owner.column} = $1${scope} AND m.id < ${before('$2')} ORDER BY m.id DESC`
  const text = `WITH step AS MATERIALIZED (SELECT (${newest} LIMIT 1) AS first_id, (${newest} OFFSET ${count - 1} LIMIT 1) AS last_id,
        (SELECT m.id FROM messages m WHERE m.${owner.column} = $1${reach} ORDER BY m.id LIMIT 1) AS oldest_id)
      SELECT step.first_id, step.last_id, step.oldest_id, found.* FROM step LEFT JOIN LATERAL (SELECT m.id FROM messages m
        WHERE m.${owner.column} = $1${scope}${sought} AND m.id < ${before('$2')} AND m.id >= coalesce(step.last_id, '')
        ORDER BY m.id DESC LIMIT $3) AS found ON true ORDER BY found.id DESC`
  const { rows } = await sql.query<ListedMessage & { first_id: string; last_id: string | null; oldest_id: string }>({
    ...(count === firstWalked ? named(text) : { text }),
    values: values.with(1, cursor).with(2, limit),
  })
  const { first_id: firstId, last_id: lastId, oldest_id: oldestId } = rows[0] as (typeof rows)[0]
  const found = rows.filter(({ id }) => id !== null).map(({ first_id: _first, last_id: _last, oldest_id: _oldest, ...row }) => row)
  return { rows: found, firstId, lastId, oldestId }
}

/** Queries an index by owner and partition for the newest matches with ids below `to`. See search-store.ts for the form of the SQL. */
async function listPartitions(sql: Sql, conditions: Conditions, place: IndexPlace, to: string, limit: number): Promise<ListedMessage[]> {
  const { owner, scope, indexed } = conditions
  if (indexed === null) return []
  const { text, values, partitions } = place
  const inIndex = partitions === null ? 'true' : inPartitions(indexed.prefix, owner.column, `$${values.length + 1}`)
  const { rows } = await sql.query<ListedMessage>({
    ...named(`SELECT m.id FROM messages m WHERE m.id = ANY(ARRAY(
        SELECT m.id FROM messages m WHERE ${inIndex} AND m.${owner.column} || '' = $1
          ${scope}${text}${indexed.text} AND m.id < $2 ORDER BY m.id || '' DESC LIMIT $3)) ORDER BY m.id DESC`),
    values: [...values.with(1, to).with(2, limit), ...(partitions ? [partitionKeys(indexed.prefix, owner.id, partitions)] : [])],
  })
  return rows
}

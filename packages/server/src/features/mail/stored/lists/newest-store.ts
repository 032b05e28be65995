// Finds the newest messages that meet conditions: for lists with filters and for search, in a time that does not grow with the mailbox.
import { before, type PageRequest } from '../../../../core/page.ts'
import type { Sql } from '../../../../core/sql.ts'
import type { Conditions } from './filter-conditions-store.ts'
import { listByFolder } from './folder-store.ts'
import { askPartitions, expectedHits, firstIdIn, inPartitions, partitionKeys } from './time-partitions.ts'

/** Messages that are scanned before an index is used. Frequent values fill a page from these. */
const firstWalked = 500
/** The most messages that one statement scans without an index: some tenths of a second in a mailbox of any size. */
const walkedMax = 100_000

/**
 * The ids of the messages that meet the conditions, newest first, and one more than the page's limit. PostgreSQL cannot estimate how frequent a word
 * or a label is, and each plan is slow for some. A rare word makes a scan read a million messages. A frequent one makes the index return 10,000
 * for 20. So this scans the newest messages, then queries an index by time partition, with more partitions each time.
 */
export async function findNewest(sql: Sql, conditions: Conditions, page: PageRequest): Promise<string[]> {
  const wanted = page.limit + 1
  if (conditions.sought === '') return findInScope(sql, conditions, page.cursor, wanted)
  const ids: string[] = []
  let [cursor, count, walked, firstId] = [page.cursor, firstWalked, 0, null as string | null]
  for (;;) {
    const step = await walk(sql, conditions, cursor, count, wanted - ids.length)
    ids.push(...step.ids)
    const { lastId } = step
    if (ids.length === wanted || lastId === null) return ids
    walked += count
    count = Math.min(count * 4, walkedMax)
    cursor = lastId
    // A scan of a few thousand fills a page unless the folder's messages are rare among the next ones.
    if (conditions.places !== null && walked > firstWalked)
      return [...ids, ...(await listByFolder(sql, conditions, conditions.places, lastId, wanted - ids.length))]
    if (conditions.indexed === null) continue
    firstId ??= step.firstId
    const stretch = { hits: ids.length, firstId, lastId }
    const missing = wanted - ids.length
    // For the newest hits of a partition the index reads all of its hits. A further scan reads the messages between the missing hits.
    const expected = Math.ceil((missing * walked) / ids.length)
    if (expected < expectedHits(stretch)) {
      count = Math.min(expected * 2, walkedMax)
      continue
    }
    const ask = (partitions: string[], limit: number) => findInPartitions(sql, conditions, partitions, lastId, limit)
    return [...ids, ...(await askPartitions(stretch, step.oldestId, missing, ask))]
  }
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
  if (!planNames.has(text) && planNames.size < planNamesMax) planNames.set(text, `find-newest-${planNames.size}`)
  const name = planNames.get(text)
  return name === undefined ? { text } : { text, name }
}

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id)

async function findInScope(sql: Sql, { owner, values, scope }: Conditions, cursor: string | null, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>({
    ...named(`SELECT m.id FROM messages m WHERE m.${owner.column} = $1${scope} AND m.id < ${before('$2')} ORDER BY m.id DESC LIMIT $3`),
    values: values.with(1, cursor).with(2, limit),
  })
  return idsOf(rows)
}

/** Where a walk began and ended, and the oldest message that there is. `lastId` is null at the end of the scope. */
type Step = { ids: string[]; oldestId: string; firstId: string; lastId: string | null }

/** Scans the next `count` messages of the scope for at most `limit` of them. */
async function walk(sql: Sql, conditions: Conditions, cursor: string | null, count: number, limit: number): Promise<Step> {
  const { owner, values, scope, sought, reach } = conditions
  const newest = `SELECT m.id FROM messages m WHERE m.${owner.column} = $1${scope} AND m.id < ${before('$2')} ORDER BY m.id DESC`
  const text = `WITH step AS MATERIALIZED (SELECT (${newest} LIMIT 1) AS first_id, (${newest} OFFSET ${count - 1} LIMIT 1) AS last_id,
        (SELECT m.id FROM messages m WHERE m.${owner.column} = $1${reach} ORDER BY m.id LIMIT 1) AS oldest_id)
      SELECT step.first_id, step.last_id, step.oldest_id, found.* FROM step LEFT JOIN LATERAL (SELECT m.id FROM messages m
        WHERE m.${owner.column} = $1${scope}${sought} AND m.id < ${before('$2')} AND m.id >= coalesce(step.last_id, '')
        ORDER BY m.id DESC LIMIT $3) AS found ON true ORDER BY found.id DESC`
  const { rows } = await sql.query<{ id: string | null; first_id: string; last_id: string | null; oldest_id: string }>({
    ...(count === firstWalked ? named(text) : { text }),
    values: values.with(1, cursor).with(2, limit),
  })
  const [first] = rows
  const ids = rows.flatMap(({ id }) => id ?? [])
  return { ids, firstId: first?.first_id ?? '', lastId: first?.last_id ?? null, oldestId: first?.oldest_id ?? '' }
}

/**
 * Queries an index by owner and partition for the newest matches with ids below `to`. The comparisons with the owner and in the order keep the planner
 * off other indexes, since it underestimates the cost of scanning a mailbox.
 */
async function findInPartitions(sql: Sql, conditions: Conditions, partitions: string[], to: string, limit: number): Promise<string[]> {
  const { owner, scope, indexed, values } = conditions
  if (indexed === null) return []
  const all = [...values.with(1, to).with(2, limit), ...indexed.values]
  const inIndex = inPartitions(indexed.prefix, owner.column, `$${all.length + 1}`)
  const { rows } = await sql.query<{ id: string }>({
    ...named(`SELECT m.id FROM messages m WHERE ${inIndex} AND m.${owner.column} || '' = $1${scope}${indexed.text} AND m.id < $2 AND m.id >= $${all.length + 2}
      ORDER BY m.id || '' DESC LIMIT $3`),
    values: [...all, partitionKeys(indexed.prefix, owner.id, partitions), firstIdIn(partitions)],
  })
  return idsOf(rows)
}

// The filters of a list of messages as SQL.
import { firstId } from '@callsign/contract/ids'
import { filterObjects } from '../../../../core/metadata.ts'
import type { WordQuery } from '../search/search-query.ts'
import { currentThread } from '../thread-store.ts'
import type { PartitionPrefix } from './time-partitions.ts'

/** Absent fields match all. `tag` is `name:value`, and `metadata` is `key:value`. */
export type MessageFilter = {
  is_read?: boolean | undefined
  is_starred?: boolean | undefined
  /** Lists the trash instead of the other messages. */
  is_trashed?: boolean | undefined
  /** Folders of threads, and the folders of messages: sent (every outbound message) and trash. */
  folder?: 'inbox' | 'archive' | 'spam' | 'sent' | 'trash' | undefined
  direction?: 'inbound' | 'outbound' | undefined
  status?: string | undefined
  label?: string | undefined
  flag?: string | undefined
  /** A search in the words of messages. */
  search?: WordQuery | undefined
  tag?: string | undefined
  metadata?: string | undefined
  after?: Date | undefined
  before?: Date | undefined
  thread_id?: string | undefined
}

/** Threads of one folder. `isUnread` leaves out threads without an unread message, and `from` threads whose latest message has a lower id. */
export type ThreadPlaces = { folder: string; isUnread: boolean; from: string }

/** The messages of one mailbox or of one organization, which have an index each. */
export type MessageOwner = { column: 'mailbox_id' | 'organization_id'; id: string }

/** Filters as SQL. Each part is empty or begins with ` AND `. */
export type Conditions = {
  owner: MessageOwner
  /** $1 is the owner, $2 the cursor and $3 the number of rows. The conditions use $4 and later. */
  values: unknown[]
  /** Limits the scan, by the time in ids, and by columns that have a partial index or the same value in most rows. */
  scope: string
  /** Conditions that few of the scanned messages may meet. */
  sought: string
  /** The same conditions in the form of an index by owner and partition, with the prefix of that index, and its further values. Null without such an index. */
  indexed: { prefix: PartitionPrefix; text: string; values: unknown[] } | null
  /** The part of the scope that ends the scan. */
  reach: string
  /** The threads whose index finds the rest. Null when the scan, or another index, finds it sooner. */
  places: ThreadPlaces | null
}

/** Generous limit of the difference between the time in a message's id and its `created_at`, which are set together. */
const idTimeApartMs = 10 * 60_000

/** Folders that threads are sorted into. The others are conditions on the message alone. */
const placedFolders = ['inbox', 'archive', 'spam'] as const
const placedFolderOf = (filter: MessageFilter) => placedFolders.find((one) => one === filter.folder)

/** Conditions of one part, and the parameters of all parts. */
type Part = { text: string; values: unknown[] }

function add<T>(part: Part, value: T | undefined, condition: (parameter: string) => string): void {
  if (value !== undefined) part.text += ` AND ${condition(`$${part.values.push(value)}`)}`
}

export function toConditions(owner: MessageOwner, filter: MessageFilter): Conditions {
  const values: unknown[] = [owner.id, null, null]
  const reach = toReach(values, filter)
  const scope = reach + toScope(values, filter)
  const { sought, indexed } = toSought(values, filter, prefixOf(owner, filter))
  return { owner, values, reach, scope, sought, indexed, places: placesOf(filter) }
}

/** The index that finds the messages. That of words is by mailbox only. */
function prefixOf({ column }: MessageOwner, filter: MessageFilter): PartitionPrefix | null {
  if (hasMarks(filter)) return column === 'mailbox_id' ? 'm' : 'o'
  return filter.search !== undefined && column === 'mailbox_id' ? 's' : null
}

function toReach(values: unknown[], filter: MessageFilter): string {
  // Literals: the planner does not match a parameter to a partial index.
  const shown = filter.status === 'quarantined' ? ' AND m.is_quarantined' : ' AND NOT m.is_hidden'
  const reach: Part = { text: filter.is_trashed || filter.folder === 'trash' ? ' AND m.trashed_at IS NOT NULL' : shown, values }
  // Ids begin with their time, so these bounds keep newer and older messages out of the scan.
  add(reach, filter.after && firstId('message', filter.after.getTime() - idTimeApartMs), (p) => `m.id >= ${p}`)
  return reach.text
}

function toScope(values: unknown[], filter: MessageFilter): string {
  const scope: Part = { text: '', values }
  // Literals, also for the second half of the flags, because the planner does not match a parameter to a partial index.
  const say = (isSaid: boolean, condition: string) => {
    if (isSaid) scope.text += ` AND ${condition}`
  }
  const isQuarantined = filter.status === 'quarantined'
  add(scope, filter.before && firstId('message', filter.before.getTime() + idTimeApartMs), (p) => `m.id < ${p}`)
  add(scope, filter.after, (p) => `m.created_at > ${p}`)
  add(scope, filter.before, (p) => `m.created_at < ${p}`)
  say(filter.is_read !== undefined, filter.is_read ? 'm.is_read' : 'NOT m.is_read')
  say(filter.is_starred !== undefined, filter.is_starred ? 'm.is_starred' : 'NOT m.is_starred')
  const isStatusOfOutbound = filter.status !== undefined && filter.status !== 'received' && !isQuarantined
  say(filter.direction === 'inbound', `m.direction = 'inbound'`)
  say(filter.direction === 'outbound' || filter.folder === 'sent' || isStatusOfOutbound, `m.direction = 'outbound'`)
  if (!isQuarantined) add(scope, filter.status, (p) => `m.status = ${p}`)
  const flagged = filter.flag === undefined ? undefined : JSON.stringify([{ type: filter.flag }])
  add(scope, flagged, (p) => `m.flags @> ${p}::jsonb AND m.flags <> '[]'`)
  add(scope, filter.thread_id, (p) => `m.thread_id = ${currentThread(p)}`)
  return scope.text
}

const hasMarks = ({ label, tag, metadata }: MessageFilter): boolean => [label, tag, metadata].some((mark) => mark !== undefined)

/** The conditions on tags and metadata of a message, each after ` AND `. */
function markConditions({ tag, metadata }: Pick<MessageFilter, 'tag' | 'metadata'>, parameter: (value: unknown) => string): string {
  const tagged = tag === undefined ? '' : ` AND m.tags @> ARRAY[${parameter(tag)}]::text[]`
  return metadata === undefined ? tagged : `${tagged} AND m.metadata @> ANY(${parameter(filterObjects(metadata))}::jsonb[])`
}

function toSought(values: unknown[], filter: MessageFilter, prefix: PartitionPrefix | null): Pick<Conditions, 'sought' | 'indexed'> {
  const sought: Part = { text: '', values }
  let indexed = ''
  add(sought, filter.search?.whole, (p) => {
    // Not in the form of the index, which has the words of every mailbox.
    const exact = `(m.search @@ ${p}::tsquery) IS TRUE`
    indexed += ` AND ${exact}`
    return exact
  })
  add(sought, filter.label, (p) => {
    indexed += ` AND m.labels @> ARRAY[${p}]::text[]`
    return `${p} = ANY(m.labels)`
  })
  const marked = markConditions(filter, (value) => `$${values.push(value)}`)
  sought.text += marked
  // The predicate of the index by mailbox, which that of the index by organization implies.
  indexed += hasMarks(filter) ? `${marked} AND (m.labels <> '{}' OR m.tags IS NOT NULL OR m.metadata IS NOT NULL)` : ''
  add(sought, placedFolderOf(filter), (p) => {
    // A subquery per row: the planner would otherwise read every thread of the mailbox for a join.
    const exact = `(SELECT t.folder FROM threads t WHERE t.id = m.thread_id) = ${p}`
    indexed += ` AND ${exact}`
    return exact
  })
  // A parameter of the index alone, behind those of all statements.
  const words = prefix === 's' && filter.search !== undefined ? [filter.search.indexed] : []
  if (words.length > 0) indexed += ` AND m.search @@ $${values.length + 1}::tsquery`
  return { sought: sought.text, indexed: prefix && { prefix, text: indexed, values: words } }
}

/** The threads of the folder. Null when another filter may leave few of their messages. */
function placesOf({ is_read, is_trashed, direction: _direction, folder, after, before: _before, ...others }: MessageFilter) {
  const placed = placedFolders.find((one) => one === folder)
  if (placed === undefined || is_trashed || Object.values(others).some((value) => value !== undefined)) return null
  return { folder: placed, isUnread: is_read === false, from: after ? firstId('message', after.getTime() - idTimeApartMs) : '' }
}

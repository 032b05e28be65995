// The rows of counted mail, and the range of days of a list.
import type { QueryOf } from '@callsign/contract/operation'
import { type listUsage, type UsageCount, type UsageDay, type UsageSubject, usageCounts } from '@callsign/contract/usage'
import { addressDomain } from '@callsign/mail/mime/addresses'
import { nowMs } from '../../../core/clock.ts'
import { toDomainName } from '../../../core/domain-name.ts'
import { invalid } from '../../../core/errors.ts'

/** A message that reached a status, or a complaint about it. */
export type Counted = { organizationId: string; handle: string; domain: string; name: UsageCount; at: Date }

type Counting = { organization_id: string; direction: 'inbound' | 'outbound'; from_address: string; envelope_to: string | null }

/** The count of a message of this owner. The domain is that of the agent's address. */
export function countedOf(message: Counting, owner: { handle: string; address: string }, name: UsageCount, at: Date): Counted {
  const own = message.direction === 'outbound' ? message.from_address : message.envelope_to
  return { organizationId: message.organization_id, handle: owner.handle, domain: addressDomain(own ?? owner.address), name, at }
}

/** An addition to the counts of an agent, its domain and its organization. `day` is in UTC. */
export type UsageChange = { organizationId: string; handle: string; domain: string; day: string; name: UsageCount; count: number }

/** The additions of messages, one for those that differ in nothing. */
export function changesOf(counted: Counted[]): UsageChange[] {
  const changes = new Map<string, UsageChange>()
  for (const { organizationId, handle, domain, name, at } of counted) {
    const one = { organizationId, handle, domain: domain.toLowerCase(), day: dateOf(at.getTime()), name }
    const key = Object.values(one).join(' ')
    changes.set(key, { ...one, count: (changes.get(key)?.count ?? 0) + 1 })
  }
  return [...changes.values()]
}

/** The counts of one day. `subject` is a handle or a domain, and empty for the organization. */
export type UsageRow = { date: string; subject: string } & Record<UsageCount, number>

/** The days and subjects of a list. Dates are in UTC and included. The page goes on behind `cursor`. */
export type UsageRange = {
  kind: UsageSubject
  /** Null for every subject of the kind. */
  subject: string | null
  startDate: string
  endDate: string
  cursor: { date: string; subject: string } | null
  limit: number
}

const dayMs = 86_400_000
const daysByDefault = 30

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The start of a day in UTC. Throws 400 for a day that the calendar does not have. */
function readDate(name: string, text: string): number {
  const ms = Date.parse(`${text}T00:00:00Z`)
  if (Number.isNaN(ms) || dateOf(ms) !== text) throw invalid(`/${name}`, `${name} must be a day of the calendar, such as 2026-01-31`)
  return ms
}

/** Reads the query of a list of usage. Throws 400 for dates, subjects and cursors that do not fit. */
export function readRange(query: QueryOf<typeof listUsage>): UsageRange {
  const endMs = query.end_date === undefined ? nowMs() : readDate('end_date', query.end_date)
  const startMs = query.start_date === undefined ? endMs - (daysByDefault - 1) * dayMs : readDate('start_date', query.start_date)
  if (dateOf(startMs) > dateOf(endMs)) throw invalid('/start_date', 'start_date must not be after end_date')
  return {
    ...readSubject(query),
    startDate: dateOf(startMs),
    endDate: dateOf(endMs),
    cursor: query.cursor === undefined ? null : readCursor(query.cursor),
    limit: query.limit ?? 50,
  }
}

function readSubject({ by, agent_handle: agent, domain }: QueryOf<typeof listUsage>): { kind: UsageSubject; subject: string | null } {
  if (agent !== undefined && domain !== undefined) throw invalid('/domain', 'domain and agent_handle exclude each other: give one of them')
  const implied = agent !== undefined ? 'agent' : domain !== undefined ? 'domain' : undefined
  if (by !== undefined && implied !== undefined && by !== implied)
    throw invalid('/by', `by must be ${implied} with ${implied === 'agent' ? 'agent_handle' : 'domain'}, or omitted`)
  const kind = implied ?? by ?? 'organization'
  if (agent !== undefined) return { kind, subject: agent.replace(/^@/, '') }
  if (domain !== undefined) return { kind, subject: toDomainName(domain.toLowerCase()) ?? domain }
  return { kind, subject: kind === 'organization' ? '' : null }
}

const cursorForm = /^(\d{4}-\d{2}-\d{2})~(.{0,253})$/u

function readCursor(cursor: string): { date: string; subject: string } {
  const [, date, subject] = cursorForm.exec(cursor) ?? []
  if (date === undefined || subject === undefined || Number.isNaN(Date.parse(`${date}T00:00:00Z`)))
    throw invalid('/cursor', 'cursor must be the next_cursor of the previous page')
  return { date, subject }
}

export const cursorOf = ({ date, subject }: UsageRow): string => `${date}~${subject}`

/** An item of the list. */
export const toUsageDay =
  (kind: UsageSubject) =>
  (row: UsageRow): UsageDay => ({
    date: row.date,
    agent_handle: kind === 'agent' ? row.subject : null,
    domain: kind === 'domain' ? row.subject : null,
    messages: Object.fromEntries(usageCounts.map((name) => [name, row[name]])) as Record<UsageCount, number>,
  })

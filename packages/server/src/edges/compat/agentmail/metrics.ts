// Metrics: counts of mail per day, of the account and of one inbox.

import type { ReplyOf } from '@callsign/contract/operation'
import { listUsage, type UsageCount, type UsageDay } from '@callsign/contract/usage'
import { nowMs } from '../../../core/clock.ts'
import { handleOf } from './inboxes.ts'
import {
  type AgentMailRequest,
  type AgentMailRoute,
  isSet,
  notOffered,
  pageLimitMax,
  present,
  queryList,
  queryValue,
  wrongValue,
} from './route.ts'

const daySeconds = 86_400
/** The longest range, as in AgentMail. */
const daysMax = 90

/** Years have four digits. */
const timeMsEnd = Date.UTC(10_000, 0)

/** Our counts by the type of AgentMail. */
const counts: Record<string, UsageCount> = {
  'message.received': 'received',
  'message.sent': 'queued',
  'message.delivered': 'delivered',
  'message.bounced': 'bounced',
  'message.complained': 'complained',
  'message.rejected': 'failed',
}

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

export type DayRange = { start_date: string; end_date: string }

/** The first and last day of the range. The last 24 hours are two days of the calendar. */
export function rangeOf(request: AgentMailRequest): DayRange {
  const [start, end] = ['start', 'end'].map((name) => {
    const text = queryValue(request, name)
    const ms = text === undefined ? undefined : Date.parse(text)
    if (ms !== undefined && !(ms >= 0 && ms < timeMsEnd)) throw wrongValue(`\`${name}\` must be a time.`)
    return ms
  })
  const endMs = end ?? nowMs()
  const startMs = start ?? endMs - daySeconds * 1000
  if (startMs > endMs || endMs - startMs > daysMax * daySeconds * 1000) throw wrongValue(`The range must have at most ${daysMax} days.`)
  return { start_date: dayOf(startMs), end_date: dayOf(endMs) }
}

/** Counts of the days, of the account or of one agent, newest day first. */
export async function readDays(request: AgentMailRequest, range: DayRange, handle: string | undefined): Promise<UsageDay[]> {
  const scope = handle === undefined ? {} : { by: 'agent' as const, agent_handle: handle }
  const days: UsageDay[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { ...range, ...scope, limit: pageLimitMax, ...present({ cursor }) }
    const page: ReplyOf<typeof listUsage> = await request.call(listUsage, { query })
    days.push(...page.data)
    cursor = page.next_cursor
  }
  return days
}

/** Throws 501 for other spans of time than days. */
export function checkPeriod(request: AgentMailRequest): void {
  const period = queryValue(request, 'period')
  if (period !== undefined && Number(period) !== daySeconds) throw notOffered('A `period` other than 86400 seconds')
}

/** Points in the order and number that the request asks for. They come oldest first. */
export function pointsOf<T>(request: AgentMailRequest, points: T[]): T[] {
  const limit = Number(queryValue(request, 'limit') ?? Number.POSITIVE_INFINITY)
  if (!(limit >= 1)) throw wrongValue('`limit` must be a number from 1.')
  return (isSet(request, 'descending') ? points.toReversed() : points).slice(0, limit)
}

/** Counts of each type per day in UTC, oldest day first. Days without mail are left out. */
async function queryEvents(request: AgentMailRequest) {
  checkPeriod(request)
  const wanted = queryList(request, 'event_types')
  const other = wanted.find((type) => !Object.hasOwn(counts, type))
  if (other !== undefined) throw notOffered(`A count of ${other.slice(0, 50)}`)
  const handle = request.params.inbox_id === undefined ? undefined : await handleOf(request)
  const days = (await readDays(request, rangeOf(request), handle)).toSorted((a, b) => (a.date < b.date ? -1 : 1))
  const types = wanted.length > 0 ? wanted : Object.keys(counts)
  return Object.fromEntries(
    types.map((type) => {
      const buckets = days.map(({ date, messages }) => ({
        timestamp: `${date}T00:00:00.000Z`,
        count: messages[counts[type] as UsageCount],
      }))
      return [
        type,
        pointsOf(
          request,
          buckets.filter(({ count }) => count > 0),
        ),
      ]
    }),
  )
}

export const metricRoutes: AgentMailRoute[] = ['', '/inboxes/:inbox_id'].map((scope) => ({
  method: 'GET',
  path: `${scope}/metrics/events`,
  isInPod: scope === '',
  run: queryEvents,
}))

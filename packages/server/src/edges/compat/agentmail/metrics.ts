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

/** Our counts by the type of AgentMail. */
const counts: Record<string, UsageCount> = {
  'message.received': 'received',
  'message.sent': 'sent',
  'message.delivered': 'delivered',
  'message.bounced': 'bounced',
  'message.complained': 'complained',
  'message.rejected': 'failed',
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The first and last day of the range. The last 24 hours are two days of the calendar. */
function rangeOf(request: AgentMailRequest): { start_date: string; end_date: string } {
  const [start, end] = ['start', 'end'].map((name) => {
    const text = queryValue(request, name)
    const ms = text === undefined ? undefined : Date.parse(text)
    if (Number.isNaN(ms)) throw wrongValue(`\`${name}\` must be a time.`)
    return ms
  })
  const endMs = end ?? nowMs()
  const startMs = start ?? endMs - daySeconds * 1000
  if (startMs > endMs || endMs - startMs > daysMax * daySeconds * 1000) throw wrongValue(`The range must have at most ${daysMax} days.`)
  return { start_date: dayOf(startMs), end_date: dayOf(endMs) }
}

async function readDays(request: AgentMailRequest): Promise<UsageDay[]> {
  const handle = request.params.inbox_id === undefined ? undefined : await handleOf(request)
  const scope = handle === undefined ? {} : { by: 'agent' as const, agent_handle: handle }
  const days: UsageDay[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { ...rangeOf(request), ...scope, limit: pageLimitMax, ...present({ cursor }) }
    const page: ReplyOf<typeof listUsage> = await request.call(listUsage, { query })
    days.push(...page.data)
    cursor = page.next_cursor
  }
  return days
}

/** Counts of each type per day in UTC, oldest day first. Days without mail are left out. */
async function queryEvents(request: AgentMailRequest) {
  const period = queryValue(request, 'period')
  if (period !== undefined && Number(period) !== daySeconds) throw notOffered('A `period` other than 86400 seconds')
  const wanted = queryList(request, 'event_types')
  const other = wanted.find((type) => counts[type] === undefined)
  if (other !== undefined) throw notOffered(`A count of ${other.slice(0, 50)}`)
  const days = (await readDays(request)).toSorted((a, b) => (a.date < b.date ? -1 : 1))
  if (isSet(request, 'descending')) days.reverse()
  const limit = Number(queryValue(request, 'limit') ?? Number.POSITIVE_INFINITY)
  const types = wanted.length > 0 ? wanted : Object.keys(counts)
  return Object.fromEntries(
    types.map((type) => {
      const buckets = days.map(({ date, messages }) => ({
        timestamp: `${date}T00:00:00.000Z`,
        count: messages[counts[type] as UsageCount],
      }))
      return [type, buckets.filter(({ count }) => count > 0).slice(0, limit)]
    }),
  )
}

export const metricRoutes: AgentMailRoute[] = ['', '/inboxes/:inbox_id'].map((scope) => ({
  method: 'GET',
  path: `${scope}/metrics/events`,
  isInPod: scope === '',
  run: queryEvents,
}))

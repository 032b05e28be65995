// Usage: how much the account or an inbox has, one point per day. Earlier days are counted from what exists today.
import { listDomains } from '@callsign/contract/domains'
import { listIdentities } from '@callsign/contract/identities'
import { listMail } from '@callsign/contract/messages'
import type { ReplyOf } from '@callsign/contract/operation'
import { getOrganization } from '@callsign/contract/organization'
import { listStorage } from '@callsign/contract/storage'
import { nowMs } from '../../../core/clock.ts'
import { handleOf } from './inboxes.ts'
import { checkPeriod, type DayRange, dayOf, pointsOf, rangeOf, readDays } from './metrics.ts'
import { type AgentMailRequest, type AgentMailRoute, notOffered, pageLimitMax, present, queryList, wrongValue } from './route.ts'

type Point = { timestamp: string; value: number }
/** The values of some days, oldest first. `handle` is the agent of one inbox. */
type Series = (request: AgentMailRequest, days: string[], handle: string | undefined) => Promise<number[]>

const dayMs = 86_400_000

/** The number of objects that were created until the end of each day. */
const countUntil = (created: string[], days: string[]): number[] =>
  days.map((day) => created.filter((at) => dayOf(Date.parse(at)) <= day).length)

async function storageBytes({ call }: AgentMailRequest, days: string[], agent_handle: string | undefined): Promise<number[]> {
  const { data } = await call(listStorage, { query: agent_handle === undefined ? {} : { by: 'agent', agent_handle } })
  return days.map(() => data[0]?.used_bytes ?? 0)
}

/** The messages that exist, less those that came or were sent after each day. */
async function messageCount(request: AgentMailRequest, days: string[], agent: string | undefined): Promise<number[]> {
  const { total } = await request.call(listMail, { query: { limit: 1, ...present({ agent }) } })
  const range: DayRange = { start_date: days[0] ?? '', end_date: dayOf(nowMs()) }
  const counted = await readDays(request, range, agent)
  return days.map((day) => {
    const later = counted.filter(({ date }) => date > day).map(({ messages: { received = 0, queued = 0 } }) => received + queued)
    return Math.max(0, total - later.reduce((sum, count) => sum + count, 0))
  })
}

async function inboxCount({ call }: AgentMailRequest, days: string[]): Promise<number[]> {
  const created: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: ReplyOf<typeof listIdentities> = await call(listIdentities, { query: { limit: pageLimitMax, ...present({ cursor }) } })
    created.push(...page.data.map(({ created_at }) => created_at))
    cursor = page.next_cursor
  }
  return countUntil(created, days)
}

const domainCount: Series = async ({ call }, days) =>
  countUntil(
    (await call(listDomains)).data.map(({ created_at }) => created_at),
    days,
  )

const podCount: Series = async ({ call }, days) => countUntil([(await call(getOrganization)).created_at], days)

const ofInbox: Record<string, Series> = { storage_bytes: storageBytes, message_count: messageCount }
const ofPod: Record<string, Series> = { ...ofInbox, inbox_count: inboxCount, domain_count: domainCount }
const ofAccount: Record<string, Series> = { ...ofPod, pod_count: podCount }

/** Every day of the range. Stored bytes are known for today alone. */
function daysIn({ start_date, end_date }: DayRange, type: string): string[] {
  const today = dayOf(nowMs())
  if (type === 'storage_bytes') return end_date >= today ? [today] : []
  const days: string[] = []
  for (let ms = Date.parse(start_date); dayOf(ms) <= end_date; ms += dayMs) days.push(dayOf(ms))
  return days
}

async function queryUsage(request: AgentMailRequest, series: Record<string, Series>): Promise<Record<string, Point[]>> {
  checkPeriod(request)
  const wanted = queryList(request, 'usage_types')
  if (wanted.includes('thread_count')) throw notOffered('A count of threads')
  const other = wanted.find((type) => !Object.hasOwn(series, type))
  if (other !== undefined) throw wrongValue(`\`usage_types\` has an unknown type: ${other.slice(0, 50)}`)
  const [range, handle] = [rangeOf(request), request.params.inbox_id === undefined ? undefined : await handleOf(request)]
  const answer: Record<string, Point[]> = {}
  for (const [type, read] of Object.entries(series)) {
    if (wanted.length > 0 && !wanted.includes(type)) continue
    const days = daysIn(range, type)
    const values = days.length === 0 ? [] : await read(request, days, handle)
    answer[type] = pointsOf(
      request,
      days.map((day, index) => ({ timestamp: `${day}T00:00:00.000Z`, value: values[index] ?? 0 })),
    )
  }
  return answer
}

export const usageRoutes: AgentMailRoute[] = [
  { path: '/metrics/usage', series: ofAccount },
  { path: '/pods/:pod_id/metrics/usage', series: ofPod },
  { path: '/inboxes/:inbox_id/metrics/usage', series: ofInbox },
].map(({ path, series }) => ({ method: 'GET', path, run: (request) => queryUsage(request, series) }))

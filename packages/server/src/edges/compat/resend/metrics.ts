// Metrics of emails: our counts of mail per day, in total, by period and by domain.
import { getMessages } from '@callsign/contract/batches'
import { getDomain, listDomains } from '@callsign/contract/domains'
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import { listUsage, type UsageDay } from '@callsign/contract/usage'
import type { ApiCall } from '../../../core/api-call.ts'
import { nowMs } from '../../../core/clock.ts'
import { notOffered, ResendFailure, type ResendRequest } from './route.ts'

type Counts = UsageDay['messages']

/** The metrics of Resend that we count. Its `sent` is an email that was accepted for sending, which we count as queued. Callsign neither tracks opens and clicks nor keeps lists of subscribers. */
const metrics: Record<string, (counts: Counts) => number> = {
  received: ({ received }) => received,
  sent: ({ queued }) => queued,
  delivered: ({ delivered }) => delivered,
  bounced: ({ bounced }) => bounced,
  bounced_permanent: ({ bounced }) => bounced,
  complained: ({ complained }) => complained,
  failed: ({ failed }) => failed,
  delivery_rate: ({ delivered, queued }) => rate(delivered, queued),
  bounce_rate: ({ bounced, queued }) => rate(bounced, queued),
  complaint_rate: ({ complained, delivered }) => rate(complained, delivered),
}

const rate = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100)

const dayMs = 86_400_000
const daysByDefault = 6
const pageLimitMax = 100

/** The first day of the period of a day, by granularity. Weeks begin on Monday. */
const periods: Record<string, (date: string) => string> = {
  daily: (date) => date,
  weekly: (date) => {
    const ms = Date.parse(date)
    return dateOf(ms - ((new Date(ms).getUTCDay() + 6) % 7) * dayMs)
  },
  monthly: (date) => `${date.slice(0, 7)}-01`,
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const listIn = ({ query }: ResendRequest, name: string): string[] => (query[name] ?? '').split(',').filter(Boolean)

function timeIn({ query }: ResendRequest, name: string, otherwise: number): number {
  const text = query[name]
  const ms = text === undefined ? otherwise : Date.parse(text)
  if (Number.isNaN(ms)) throw new ResendFailure(422, 'validation_error', `\`${name}\` must be a date or time in ISO 8601.`)
  return ms
}

/** One group of days: its own fields and its counts. */
type Group = { fields: { period: string } & Record<string, string>; counts: Counts }

export async function showMetrics(request: ResendRequest): Promise<unknown> {
  const { timezone = 'UTC', granularity = 'daily' } = request.query
  if (timezone !== 'UTC') throw notOffered('A `timezone` other than UTC')
  const periodOf = periods[granularity]
  if (!periodOf) throw notOffered('The `granularity` `hourly`')
  const names = listIn(request, 'metrics')
  const unknown = names.find((name) => metrics[name] === undefined)
  if (unknown !== undefined) throw notOffered(`The metric \`${unknown.slice(0, 50)}\``)
  const dimensions = listIn(request, 'dimensions')
  if (request.query.broadcast_id !== undefined || dimensions.includes('broadcast')) throw notOffered('A metric of broadcasts')
  const endMs = timeIn(request, 'end_date', nowMs())
  const startMs = timeIn(request, 'start_date', endMs - daysByDefault * dayMs)
  const shown = names.length > 0 ? names : Object.keys(metrics)
  const valuesOf = (counts: Counts) => Object.fromEntries(shown.map((name) => [name, metrics[name]?.(counts)]))
  const range = { start_date: dateOf(startMs), end_date: dateOf(endMs) }
  const days = await readDays(request, range, dimensions)
  const groups = new Map<string, { fields: Record<string, string>; counts: Counts }>()
  for (const { fields, counts } of days) {
    const { period, ...rest } = fields
    const own: Record<string, string> = dimensions.includes('period') ? { period: periodOf(period), ...rest } : rest
    const group = groups.get(JSON.stringify(own))
    groups.set(JSON.stringify(own), { fields: own, counts: group ? sum([group.counts, counts]) : counts })
  }
  return {
    object: 'metrics',
    start_date: new Date(startMs).toISOString(),
    end_date: new Date(endMs).toISOString(),
    metrics: shown,
    dimensions,
    granularity,
    totals: valuesOf(sum(days.map(({ counts }) => counts))),
    ...(dimensions.length > 0 && { data: [...groups.values()].map(({ fields, counts }) => ({ ...fields, ...valuesOf(counts) })) }),
  }
}

/** The counts of each day, oldest first, of each domain or email where the request asks for them. */
function readDays(request: ResendRequest, range: Range, dimensions: string[]): Promise<Group[]> {
  const isByEmail = dimensions.includes('email')
  const [emailIds, domainIds] = [listIn(request, 'email_id'), listIn(request, 'domain_id')]
  if (isByEmail && emailIds.length === 0) throw notOffered('The dimension `email` without `email_id`')
  if (emailIds.length > 0) {
    if (domainIds.length > 0 || dimensions.includes('domain')) throw notOffered('A metric by `email_id` and domain')
    return readEmails(request.call, emailIds, range, isByEmail)
  }
  return domainIds.length > 0 || dimensions.includes('domain')
    ? readDomains(request.call, range, domainIds, dimensions.includes('domain'))
    : readUsage(request.call, range)
}

type Range = { start_date: string; end_date: string }

async function readUsage(call: ApiCall, query: QueryOf<typeof listUsage> & Range): Promise<Group[]> {
  const groups: Group[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: ReplyOf<typeof listUsage> = await call(listUsage, { query: { ...query, limit: pageLimitMax, ...(cursor && { cursor }) } })
    groups.push(
      ...page.data.map(({ date, domain, messages }) => ({
        fields: { period: date, ...(domain && { domain_name: domain }) },
        counts: messages,
      })),
    )
    cursor = page.next_cursor
  }
  return groups.toReversed()
}

async function readDomains(call: ApiCall, range: Range, ids: string[], isShown: boolean): Promise<Group[]> {
  const wanted = await Promise.all(ids.map(async (domain_id) => (await call(getDomain, { params: { domain_id } })).data.domain))
  const known = new Map((await call(listDomains)).data.map(({ id, domain }) => [domain, id]))
  const groups = await readUsage(call, { ...range, by: 'domain' })
  return groups
    .filter(({ fields }) => wanted.length === 0 || wanted.includes(fields.domain_name as string))
    .map(({ fields: { period, domain_name = '' }, counts }) => ({
      fields: { period, ...(isShown && { domain_id: known.get(domain_name) ?? '', domain_name }) },
      counts,
    }))
}

/** Counts of single emails, by the status of each. */
async function readEmails(call: ApiCall, ids: string[], range: Range, isShown: boolean): Promise<Group[]> {
  const { data } = await call(getMessages, { body: { ids } })
  const sent = data.filter(({ direction }) => direction === 'outbound')
  const groups = sent.map(({ id, status, created_at }) => ({
    fields: { period: created_at.slice(0, 10), ...(isShown && { email_id: id }) },
    counts: { ...zero, ...(status in zero && { [status]: 1 }), queued: 1 },
  }))
  return groups.filter(({ fields: { period } }) => period >= range.start_date && period <= range.end_date)
}

const zero: Counts = { received: 0, quarantined: 0, queued: 0, sent: 0, delivered: 0, bounced: 0, failed: 0, complained: 0 }

const sum = (all: Counts[]): Counts =>
  Object.fromEntries(Object.keys(zero).map((name) => [name, all.reduce((total, one) => total + one[name as keyof Counts], 0)])) as Counts

// Lists of messages by labels. Mail in the trash and in quarantine is merged in when a request asks for it.
import type { MessageItem } from '@callsign/contract/message-views'
import { listMessages } from '@callsign/contract/messages'
import type { QueryOf } from '@callsign/contract/operation'
import type { Static } from 'typebox'
import type { ApiCall } from '../../../core/api-call.ts'
import { labelsOf } from './message-fields.ts'
import { type AgentMailRequest, isSet, notOffered, pageLimitMax, present, queryList, queryValue } from './route.ts'

type Item = Static<typeof MessageItem>
type Query = Partial<NonNullable<QueryOf<typeof listMessages>>>

/** Pages that one request reads while few messages pass the filter. */
const roundsMax = 10

export type MessageFilter = {
  query: Query
  /** One of our lists each. */
  sources: Query[]
  /** All conditions, with those that our lists do not have. */
  keep: (item: Item) => boolean
}

const stateLabels: Record<string, Query> = {
  received: { direction: 'inbound' },
  sent: { direction: 'outbound' },
  unread: { is_read: false, direction: 'inbound' },
  read: { is_read: true, direction: 'inbound' },
  starred: { is_starred: true },
  delivered: { status: 'delivered' },
  bounced: { status: 'bounced' },
  rejected: { status: 'failed' },
}

const hiddenLabels = ['trash', 'blocked', 'unauthenticated']
const unknownLabels = ['complained', 'delayed', 'opened']

/** The filters of a list, as our lists take them. All labels, and all parts of a field, must match. */
export function messageFilterOf(request: AgentMailRequest): MessageFilter {
  const labels = queryList(request, 'labels').map((label) => label.toLowerCase())
  const unknown = labels.find((label) => unknownLabels.includes(label))
  if (unknown !== undefined) throw notOffered(`A list by the label \`${unknown}\``)
  const own = labels.filter((label) => stateLabels[label] === undefined && !hiddenLabels.includes(label))
  const states = labels.map((label) => stateLabels[label] ?? {})
  const parts = { from: queryList(request, 'from'), to: queryList(request, 'to'), subject: queryList(request, 'subject') }
  const query: Query = {
    ...Object.assign({}, ...states),
    ...present({
      label: own[0],
      from: parts.from[0],
      subject: parts.subject[0],
      after: queryValue(request, 'after'),
      before: queryValue(request, 'before'),
    }),
  }
  const isIn = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase())
  const keep = (item: Item): boolean => {
    const ownLabels = labelsOf(item)
    const recipients = [...item.to, ...item.cc, ...item.bcc]
    return (
      labels.every((label) => ownLabels.includes(label)) &&
      parts.from.every((part) => isIn(item.from, part)) &&
      parts.to.every((part) => recipients.some((address) => isIn(address, part))) &&
      parts.subject.every((part) => isIn(item.subject, part)) &&
      isIncluded(request, labels, ownLabels)
    )
  }
  return { query, sources: sourcesOf(request, labels), keep }
}

/** Hidden messages of the kinds that the request names, by a flag or by a label. */
const isIncluded = (request: AgentMailRequest, wanted: string[], labels: string[]): boolean =>
  hiddenLabels.every((hidden) => !labels.includes(hidden) || wanted.includes(hidden) || isSet(request, `include_${hidden}`))

function sourcesOf(request: AgentMailRequest, labels: string[]): Query[] {
  const wants = (label: string): boolean => labels.includes(label) || isSet(request, `include_${label}`)
  const isOnlyHidden = hiddenLabels.some((label) => labels.includes(label))
  const statusSaid = labels.some((label) => stateLabels[label]?.status !== undefined)
  return [
    ...(isOnlyHidden ? [] : [{}]),
    ...(wants('trash') ? [{ is_trashed: true }] : []),
    ...((wants('blocked') || wants('unauthenticated')) && !statusSaid ? [{ status: 'quarantined' as const }] : []),
  ]
}

/** A page of all sources in one order, newest first. The ids of messages sort by time, and our cursors are ids. */
export async function listMerged(
  call: ApiCall,
  email_address: string,
  { query, sources, keep }: MessageFilter,
  page: { limit: number; cursor?: string },
): Promise<{ data: Item[]; next_cursor: string | null }> {
  const data: Item[] = []
  let { cursor } = page
  for (let round = 0; round < roundsMax; round++) {
    const limit = round === 0 ? page.limit : pageLimitMax
    const pages = await Promise.all(
      sources.map((source) =>
        call(listMessages, { params: { email_address }, query: { ...query, ...source, view: 'full', limit, ...present({ cursor }) } }),
      ),
    )
    // Beyond the last message of a source that has more, further messages of this source may be missing.
    const bound = pages.reduce((last, own) => (own.has_more ? max(last, own.data.at(-1)?.id ?? '') : last), '')
    const known = pages
      .flatMap((own) => own.data)
      .filter(({ id }) => id >= bound)
      .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    const hasMore = pages.some(({ has_more }) => has_more)
    for (const [place, item] of known.entries()) {
      cursor = item.id
      if (keep(item)) data.push(item)
      if (data.length === page.limit) return { data, next_cursor: hasMore || place + 1 < known.length ? cursor : null }
    }
    if (!hasMore) return { data, next_cursor: null }
  }
  return { data, next_cursor: cursor ?? null }
}

const max = (a: string, b: string): string => (a > b ? a : b)

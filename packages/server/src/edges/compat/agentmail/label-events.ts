// The history of an inbox: one event per label that was added to a message or removed.
import { getCaller } from '@callsign/contract/accounts'
import { listEvents } from '@callsign/contract/events'
import type { ReplyOf } from '@callsign/contract/operation'
import { mailboxOf } from './inboxes.ts'
import { type AgentMailRequest, type AgentMailRoute, isSet, listOf, pageOf, podId } from './route.ts'

type OwnEvent = ReplyOf<typeof listEvents>['data'][number]
type Change = { id: string; added: string[]; removed: string[] }

/** The changes of labels in one event of ours, as many events of AgentMail. Added labels come first. */
const eventsOf = ({ id, timestamp, data }: OwnEvent, inbox: { organization_id: string; inbox_id: string }) => {
  const { id: message_id, added, removed } = data as unknown as Change
  const labels = [
    ...added.map((label) => ({ event_type: 'label.added', label })),
    ...removed.map((label) => ({ event_type: 'label.removed', label })),
  ]
  return labels.map((label, number) => ({
    ...inbox,
    pod_id: podId,
    // In the order of the list, also as text.
    event_id: `${id}.${String(number).padStart(3, '0')}`,
    ...label,
    message_id,
    event_at: timestamp,
    created_at: timestamp,
  }))
}

/**
 * A page has whole changes, so that the id of the last one continues the list. It has more events than the limit only if one change of a
 * message has.
 */
async function list(request: AgentMailRequest) {
  const { limit, cursor } = pageOf(request, 100)
  const [mailbox, { organization_id }] = await Promise.all([mailboxOf(request), request.call(getCaller)])
  const inbox = { organization_id, inbox_id: mailbox.email_address }
  const isAscending = isSet(request, 'ascending')
  const order = isAscending ? 'asc' : 'desc'
  const page = await request.call(listEvents, {
    query: { agent: mailbox.agent_handle, types: 'email.labels_changed', order, limit, ...(cursor !== undefined && { cursor }) },
  })
  const events: ReturnType<typeof eventsOf> = []
  let last: string | undefined
  for (const change of page.data) {
    const next = eventsOf(change, inbox)
    if (last !== undefined && events.length + next.length > limit) return listOf('events', events, limit, last)
    events.push(...(isAscending ? next : next.toReversed()))
    last = change.id
  }
  return listOf('events', events, limit, page.next_cursor)
}

export const labelEventRoutes: AgentMailRoute[] = [{ method: 'GET', path: '/inboxes/:inbox_id/events', run: list }]

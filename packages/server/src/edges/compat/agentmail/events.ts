// Events in the shape of AgentMail's webhooks and sockets, and the types that both have.
import type { Domain } from '@callsign/contract/domains'
import type { EventType } from '@callsign/contract/event-types'
import type { Event } from '@callsign/contract/events'
import type { MessageItem } from '@callsign/contract/message-views'
import type { Thread } from '@callsign/contract/threads'
import type { Static } from 'typebox'
import { toDomain } from './domains.ts'
import { quarantineLabel, toMessage } from './message-fields.ts'
import { notOffered, wrongValue } from './route.ts'
import { toThreadItem } from './thread-fields.ts'

type Payload = Static<typeof Event>
type Data = Record<string, unknown>
type Item = Static<typeof MessageItem>

/** Our types by the type of AgentMail. Mail in quarantine has one type of ours. */
const eventTypes: Record<string, EventType> = {
  'message.received': 'email.received',
  'message.received.blocked': 'email.quarantined',
  'message.received.unauthenticated': 'email.quarantined',
  'message.sent': 'email.sent',
  'message.delivered': 'email.delivered',
  'message.bounced': 'email.bounced',
  'message.complained': 'email.complained',
  'message.rejected': 'email.failed',
  'domain.verified': 'domain.verified',
}

/** Types of AgentMail that never happen here. */
const otherTypes = ['message.received.spam', 'message.opened']

/** The types of a subscription that names none. Mail in quarantine is left out. */
const usualTypes: EventType[] = Object.entries(eventTypes).flatMap(([name, own]) => (name.startsWith('message.received.') ? [] : [own]))

/** Our types for these types of AgentMail. Types that never happen here are left out if others remain. */
export function ownTypesOf(names: string[] | undefined): EventType[] {
  if (names === undefined || names.length === 0) return usualTypes
  const unknown = names.find((name) => !Object.hasOwn(eventTypes, name) && !otherTypes.includes(name))
  if (unknown !== undefined) throw wrongValue(`\`event_types\` has an unknown type: ${unknown.slice(0, 50)}`)
  const types = names.flatMap((name) => eventTypes[name] ?? [])
  if (types.length === 0) throw notOffered(`A subscription to ${names.join(', ')}`)
  return [...new Set(types)]
}

/** The types of AgentMail that have these types of ours. */
export const agentMailTypesOf = (types: string[]): string[] =>
  Object.entries(eventTypes).flatMap(([name, own]) => (types.includes(own) || types.includes('*') ? [name] : []))

/** The thread of an event whose shape has one. Undefined for other events. */
export const threadIdOf = ({ type, data }: Payload): string | undefined =>
  (type === 'email.received' || type === 'email.quarantined') && typeof data.thread_id === 'string' ? data.thread_id : undefined

/** The body of an event. Null for a type that AgentMail does not have. `thread` is the thread of a received message, if it still exists. */
export function toAgentMailEvent(payload: Payload, thread: Static<typeof Thread> | null): Data | null {
  const { id, type, timestamp, data } = payload
  const event = (event_type: string, more: Data): Data => ({ type: 'event', event_type, event_id: id, ...more })
  if (type === 'email.received' || type === 'email.quarantined') {
    const item = receivedItem(payload)
    const suffix = type === 'email.quarantined' ? `.${quarantineLabel(item)}` : ''
    const inboxId = item.delivered_to ?? item.to[0] ?? ''
    return event(`message.received${suffix}`, {
      message: toMessage(item, inboxId),
      thread: toThreadItem(thread ?? threadOf(item), inboxId),
    })
  }
  const about = { inbox_id: data.from ?? '', thread_id: data.thread_id ?? '', message_id: data.id, timestamp }
  const reported = (data.recipients ?? []) as { address?: string; answer?: string }[]
  const addresses = reported.length > 0 ? reported.map(({ address }) => address ?? '') : allRecipients(data as Partial<Item>)
  if (type === 'email.sent') return event('message.sent', { send: { ...about, recipients: addresses } })
  if (type === 'email.delivered') return event('message.delivered', { delivery: { ...about, recipients: addresses } })
  if (type === 'email.bounced') {
    const recipients = reported.map(({ address = '', answer = '' }) => ({ address, status: answer }))
    return event('message.bounced', { bounce: { ...about, type: 'Permanent', sub_type: 'General', recipients } })
  }
  if (type === 'email.complained') {
    return event('message.complained', { complaint: { ...about, type: 'abuse', sub_type: 'abuse', recipients: addresses } })
  }
  if (type === 'email.failed') return event('message.rejected', { reject: { ...about, reason: reported[0]?.answer ?? '' } })
  return type === 'domain.verified' ? event(type, { domain: toDomain(data as Static<typeof Domain>) }) : null
}

/** A thread of one message, for a message whose thread has nothing to show: it is in quarantine, or was deleted. */
const threadOf = (item: Item): Static<typeof Thread> => ({
  id: item.thread_id,
  mailbox_id: item.mailbox_id,
  subject: item.subject,
  snippet: item.snippet,
  folder: 'inbox',
  labels: [],
  metadata: {},
  participants: [],
  senders: item.from === '' ? [] : [item.from],
  recipients: allRecipients(item),
  size_bytes: item.size_bytes,
  last_message_id: item.id,
  last_received_at: item.created_at,
  last_sent_at: null,
  message_count: 1,
  unread_count: 1,
  last_message_at: item.created_at,
  created_at: item.created_at,
})

const allRecipients = ({ to = [], cc = [], bcc = [] }: Partial<Item>): string[] => [...to, ...cc, ...bcc]

/** The message of an event, as it arrived. A message that was deleted since has its id only. */
function receivedItem({ type, data, timestamp }: Payload): Item {
  const empty = { from: '', to: [], cc: [], bcc: [], reply_to: [], subject: '', snippet: '', text: '', html: '', extracted_text: '' }
  const known = { references: [], headers: {}, attachments: [], guardrail: null, thread_id: '', size_bytes: 0, created_at: timestamp }
  const status = type === 'email.quarantined' ? 'quarantined' : 'received'
  return { ...empty, ...known, ...data, ...asArrived, status } as unknown as Item
}

/** Marks and labels are not part of events. */
const asArrived = { direction: 'inbound', is_read: false, is_starred: false, labels: [], trashed_at: null, released_at: null }

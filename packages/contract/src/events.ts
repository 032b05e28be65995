// Events: every type, the payload, and the two ways to read them without a public URL.
import Type from 'typebox'
import { operation } from './operation.ts'
import { Cursor, HandleReference, id, Limit, page, strict, Timestamp } from './schema.ts'

/** Every type that a subscription may name; a part that is not built yet emits none of its own. */
export const eventTypes = [
  'email.received',
  'email.quarantined',
  'email.sent',
  'email.delivered',
  'email.bounced',
  'email.failed',
  'email.complained',
  'sms.received',
  'number.sms_ready',
  'number.sms_failed',
  'imessage.connected',
  'imessage.disconnected',
  'imessage.received',
  'imessage.sent',
  'imessage.failed',
  'domain.verified',
  'domain.failed',
  'tunnel.connected',
  'tunnel.disconnected',
  'test.ping',
] as const

export type EventType = (typeof eventTypes)[number]

/** The largest `text` and the largest `html` in a payload, in bytes of UTF-8; what is longer is cut, and `truncated` says so. */
export const eventBodyBytesMax = 256 * 1024

/** What a webhook's body, an item of the list and the data of a server-sent event are alike. */
export const Event = Type.Object(
  {
    id: Type.String(),
    type: Type.String(),
    timestamp: Timestamp,
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What the event is about, as it was then: for email the message. {id, deleted: true} when it is gone by now.',
    }),
  },
  { $id: 'Event' },
)

const filters = {
  agent: Type.Optional(HandleReference),
  types: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description: 'Event types, separated by commas.' })),
}

export const listEvents = operation({
  id: 'listEvents',
  method: 'GET',
  path: '/api/v1/events',
  summary: 'Lists events, oldest first. The id of the last event you have is the cursor of the next request.',
  tag: 'Events',
  query: strict({ ...filters, limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(Event),
  errors: ['not_found'],
})

export const streamEvents = operation({
  id: 'streamEvents',
  method: 'GET',
  path: '/api/v1/events/stream',
  summary: 'Streams events as server-sent events, from now on, or from after the event that Last-Event-ID or after names.',
  tag: 'Events',
  query: strict({ ...filters, after: Type.Optional(id('event')) }),
  status: 200,
  media: 'text/event-stream',
  errors: ['not_found'],
})

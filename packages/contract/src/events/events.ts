// Event types, their payloads, and the two ways to read events without a public URL.
import Type, { type Static } from 'typebox'
import { operation } from '../operation.ts'
import { Cursor, HandleReference, Limit, Order, page, strict, Timestamp } from '../schema.ts'

/** Maximum size of `text` and of `html` in a payload, in bytes of UTF-8. Longer values are cut, and `truncated` is true. */
export const eventBodyBytesMax = 256 * 1024

/** The common shape of a webhook's body, a list item and the data of a server-sent event. */
export const Event = Type.Object(
  {
    id: Type.String(),
    type: Type.String(),
    timestamp: Timestamp,
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The object at the time of the event, for example the message. {id, deleted: true} if it has been deleted since.',
    }),
  },
  { $id: 'Event' },
)

/**
 * A message of a stream that names its position. A new reader gets it first. With `lost`, it is a reset: the log has lost `lost`, the last event
 * of the reader, in a failover or a restore. The stream continues at `cursor` with everything since that event.
 */
export const StreamCursor = Type.Object({ cursor: Type.String(), lost: Type.Optional(Type.String()) }, { $id: 'StreamCursor' })
export type StreamCursor = Static<typeof StreamCursor>

export const cursorMessage = (cursor: string, lost: string | null = null): StreamCursor => (lost === null ? { cursor } : { cursor, lost })

/** Seconds in which a token opens a socket. The socket stays open after them. */
export const socketTokenSeconds = 60

const filters = {
  agent: Type.Optional(HandleReference),
  types: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description: 'Event types, separated by commas.' })),
}

export const listEvents = operation({
  id: 'listEvents',
  method: 'GET',
  path: '/api/v1/events',
  summary: 'Lists events, oldest first by default. Use the id of the last event you have as the cursor of the next request.',
  tag: 'Events',
  scopes: ['events:read'],
  query: strict({
    ...filters,
    since: Type.Optional(
      Type.Unsafe<string>({
        ...Timestamp,
        description: 'Starts with the events of this time. In the order `asc`, a cursor takes precedence.',
      }),
    ),
    order: Order,
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(Event),
  errors: ['not_found', 'cursor_lost'],
})

export const streamEvents = operation({
  id: 'streamEvents',
  method: 'GET',
  path: '/api/v1/events/stream',
  summary: 'Streams new events as server-sent events. Last-Event-ID or after names an event to continue from.',
  tag: 'Events',
  scopes: ['events:read'],
  query: strict({ ...filters, after: Cursor }),
  status: 200,
  media: 'text/event-stream',
  errors: ['not_found'],
})

export const createSocketToken = operation({
  id: 'createSocketToken',
  method: 'POST',
  path: '/api/v1/events/socket-token',
  summary: 'Creates a token that opens a WebSocket of events within 60 seconds, for clients that cannot set headers.',
  tag: 'Events',
  scopes: ['events:read'],
  status: 201,
  reply: Type.Object(
    {
      token: Type.String({ description: 'Offer it as the subprotocol bearer.TOKEN, beside callsign.events. It opens nothing else.' }),
      expires_at: Timestamp,
    },
    { $id: 'SocketToken' },
  ),
})

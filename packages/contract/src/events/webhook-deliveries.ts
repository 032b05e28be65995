// Deliveries of webhooks with every attempt, and their replays.
import Type from 'typebox'
import { operation } from '../operation.ts'
import { Cursor, described, id, Limit, nullableString, nullableTimestamp, page, strict, Timestamp } from '../schema.ts'
import { eventTypes } from './event-types.ts'
import { Event } from './events.ts'

const webhookParams = strict({ id: id('webhook') })

const deliveryStatuses = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]
export const DeliveryStatus = Type.Unsafe<DeliveryStatus>({ type: 'string', enum: [...deliveryStatuses] })

const deliveryFields = {
  id: Type.String(),
  webhook_id: Type.String(),
  event_id: Type.String({ description: 'The webhook-id header, the same on every attempt and replay.' }),
  event_type: Type.String(),
  status: Type.Unsafe<DeliveryStatus>({
    ...DeliveryStatus,
    description: 'failed means that no attempt is left. Replay the delivery when the endpoint works again.',
  }),
  attempt_count: Type.Integer(),
  last_status_code: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
  last_error_code: nullableString(),
  next_attempt_at: nullableTimestamp,
  delivered_at: nullableTimestamp,
  created_at: Timestamp,
}

export const Delivery = Type.Object(deliveryFields, { $id: 'Delivery' })

export const DeliveryAttempt = Type.Object(
  {
    attempt: Type.Integer({ description: 'The number of the attempt over the life of the delivery, from 1, replays included.' }),
    started_at: Timestamp,
    duration_ms: Type.Integer(),
    status_code: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'null if no answer was received.' }),
    error_code: nullableString({
      description:
        'dns (the host name is unknown or leads to a private address), blocked_address, tls_expired, timeout, http_3xx, http_4xx, http_5xx, not_subscribed (the webhook no longer receives the event, and nothing was sent) or another code. null on success.',
    }),
    error: nullableString(),
    response_snippet: nullableString({ description: 'The beginning of the answer, at most 1 KiB.' }),
  },
  { $id: 'DeliveryAttempt' },
)

export const DeliveryDetail = Type.Object(
  { ...deliveryFields, attempts: Type.Array(DeliveryAttempt), event: Event },
  { $id: 'DeliveryDetail' },
)

export const listDeliveries = operation({
  id: 'listDeliveries',
  method: 'GET',
  path: '/api/v1/webhooks/{id}/deliveries',
  summary:
    'Lists the deliveries of a webhook, newest first. Kept for 30 days. A page with a filter may be short: continue while has_more is true.',
  tag: 'Webhooks',
  scopes: ['webhooks:read'],
  params: webhookParams,
  query: strict({
    status: Type.Optional(described(DeliveryStatus, 'Only deliveries that wait, that succeeded, or that have no attempt left.')),
    event_type: Type.Optional(
      Type.Unsafe<string>({ type: 'string', enum: [...eventTypes], description: 'Only deliveries of events of this type.' }),
    ),
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(Delivery),
})

const deliveryParams = strict({ delivery_id: id('delivery') })

export const getDelivery = operation({
  id: 'getDelivery',
  method: 'GET',
  path: '/api/v1/webhooks/deliveries/{delivery_id}',
  summary: 'Gets one delivery with its attempts (the latest 50) and its event.',
  tag: 'Webhooks',
  scopes: ['webhooks:read'],
  params: deliveryParams,
  status: 200,
  reply: DeliveryDetail,
})

export const replayDelivery = operation({
  id: 'replayDelivery',
  method: 'POST',
  path: '/api/v1/webhooks/deliveries/{delivery_id}/replay',
  summary: 'Repeats a delivery with the same webhook-id and the full retry schedule. 409 if the webhook no longer receives the event.',
  tag: 'Webhooks',
  scopes: ['webhooks:write'],
  params: deliveryParams,
  status: 200,
  reply: Delivery,
  errors: ['conflict'],
  idempotent: true,
})

/** Maximum number of events per replay request. */
export const replayEventsMax = 10_000

export const replayDeliveries = operation({
  id: 'replayDeliveries',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/replay',
  summary: 'Replays the events of a time range. Select all of them, or only those with a failed, a successful or no delivery.',
  tag: 'Webhooks',
  scopes: ['webhooks:write'],
  params: webhookParams,
  body: strict({
    since: described(Timestamp, 'The start of the time range.'),
    until: Type.Optional(described(Timestamp, 'The end of the time range. By default now.')),
    status: Type.Optional(
      Type.Unsafe<'failed' | 'delivered' | 'missed'>({
        type: 'string',
        enum: ['failed', 'delivered', 'missed'],
        description: 'Only events with a failed delivery, with a successful one, or without any. By default all.',
      }),
    ),
  }),
  status: 200,
  reply: Type.Object(
    {
      webhook_id: Type.String(),
      replayed: Type.Integer({ description: `Number of queued deliveries, at most ${replayEventsMax}.` }),
      has_more: Type.Boolean(),
      next_since: nullableTimestamp,
    },
    { $id: 'ReplayResult' },
  ),
  idempotent: true,
})

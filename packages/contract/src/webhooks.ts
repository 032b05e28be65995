// Webhook subscriptions, their deliveries with every attempt, replays, and the test ping.
import Type from 'typebox'
import { ClientId, clientIdField } from './client-id.ts'
import { eventTypes } from './event-types.ts'
import { Event } from './events.ts'
import { operation } from './operation.ts'
import { Cursor, Deleted, id, Limit, nullableString, nullableTimestamp, page, strict, Timestamp } from './schema.ts'
import { AgentFilters, ChangedHeaders, CustomHeaders, Format } from './webhook-inputs.ts'

export const WebhookStatus = Type.Unsafe<'active' | 'paused' | 'disabled'>({ type: 'string', enum: ['active', 'paused', 'disabled'] })

const webhookFields = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String(), { description: 'Event types, or * for all.' }),
  agent_handle: nullableString({ description: 'The agent whose events are delivered, if it is the only one.' }),
  agent_handles: Type.Array(Type.String(), {
    description: 'Only events of these agents are delivered. Empty for events of the whole organization.',
  }),
  header_names: Type.Array(Type.String(), { description: 'Names of the custom headers. Their values are not shown.' }),
  format: Format,
  description: nullableString(),
  status: WebhookStatus,
  disabled_reason: nullableString({ description: 'The reason why the server stopped delivering. null unless status is disabled.' }),
  failing_since: nullableString({ format: 'date-time', description: 'The first failure since the last success.' }),
  old_secret_expires_at: nullableString({ format: 'date-time', description: 'Until then the secret before the last rotation signs too.' }),
  client_id: clientIdField,
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const Webhook = Type.Object(webhookFields, { $id: 'Webhook' })

export const WebhookWithSecret = Type.Object(
  { ...webhookFields, secret: Type.String({ description: 'whsec_ and base64 of 32 bytes. It is not shown again.' }) },
  { $id: 'WebhookWithSecret' },
)

export const CreatedWebhook = Type.Object(
  {
    ...webhookFields,
    secret: nullableString({ description: 'whsec_ and base64 of 32 bytes. Not shown again, also not for a repeated client_id.' }),
  },
  { $id: 'CreatedWebhook' },
)

const Url = Type.String({ minLength: 8, maxLength: 2048, description: 'http:// or https://, a public address.' })
const EventNames = Type.Array(Type.Unsafe<string>({ type: 'string', enum: ['*', ...eventTypes] }), {
  minItems: 1,
  maxItems: eventTypes.length + 1,
  uniqueItems: true,
})
const Description = nullableString({ maxLength: 500 })
const SettableStatus = Type.Unsafe<'active' | 'paused'>({ type: 'string', enum: ['active', 'paused'] })
const AgentFilter = Type.Unsafe<string | null>({ type: ['string', 'null'], minLength: 1 })
const webhookParams = strict({ id: id('webhook') })

export const createWebhook = operation({
  id: 'createWebhook',
  method: 'POST',
  path: '/api/v1/webhooks',
  summary: 'Creates a webhook. Store its secret, because only this response contains it.',
  tag: 'Webhooks',
  scopes: ['webhooks:write'],
  body: strict({
    url: Url,
    events: EventNames,
    agent_handle: Type.Optional(AgentFilter),
    agent_handles: Type.Optional(AgentFilters),
    headers: Type.Optional(CustomHeaders),
    format: Type.Optional(Format),
    description: Type.Optional(Description),
    status: Type.Optional(SettableStatus),
    client_id: Type.Optional(ClientId),
  }),
  status: 201,
  reply: CreatedWebhook,
  errors: ['conflict', 'not_found'],
  idempotent: true,
  hasSecretReply: true,
})

export const listWebhooks = operation({
  id: 'listWebhooks',
  method: 'GET',
  path: '/api/v1/webhooks',
  summary: 'Lists webhooks, newest first.',
  tag: 'Webhooks',
  scopes: ['webhooks:read'],
  query: strict({ limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(Webhook),
})

export const getWebhook = operation({
  id: 'getWebhook',
  method: 'GET',
  path: '/api/v1/webhooks/{id}',
  summary: 'Gets one webhook.',
  tag: 'Webhooks',
  scopes: ['webhooks:read'],
  params: webhookParams,
  status: 200,
  reply: Webhook,
})

export const updateWebhook = operation({
  id: 'updateWebhook',
  method: 'PATCH',
  path: '/api/v1/webhooks/{id}',
  summary: 'Changes a webhook. Set status to active to enable a disabled one. Its undelivered events are then delivered.',
  tag: 'Webhooks',
  scopes: ['webhooks:write'],
  params: webhookParams,
  body: strict(
    {
      url: Type.Optional(Url),
      events: Type.Optional(EventNames),
      agent_handle: Type.Optional(AgentFilter),
      agent_handles: Type.Optional(AgentFilters),
      headers: Type.Optional(ChangedHeaders),
      description: Type.Optional(Description),
      status: Type.Optional(SettableStatus),
    },
    { minProperties: 1 },
  ),
  status: 200,
  reply: Webhook,
})

export const deleteWebhook = operation({
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/api/v1/webhooks/{id}',
  summary: 'Deletes a webhook. Nothing more is delivered to it. Idempotent.',
  tag: 'Webhooks',
  scopes: ['webhooks:write'],
  params: webhookParams,
  status: 200,
  reply: Deleted,
})

export const rotateWebhookSecret = operation({
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/rotate-secret',
  summary: 'Creates a new secret, which only this response contains. For 24 hours, deliveries are signed with the old secret too.',
  tag: 'Webhooks',
  scopes: ['webhooks:write'],
  params: webhookParams,
  status: 200,
  reply: WebhookWithSecret,
  idempotent: true,
  hasSecretReply: true,
})

export const WebhookTest = Type.Object(
  {
    webhook_id: Type.String(),
    url: Type.String(),
    event_type: Type.Literal('test.ping'),
    status_code: Type.Integer({ description: '0 if no answer was received.' }),
    latency_ms: Type.Integer(),
    success: Type.Boolean(),
    error: nullableString({ description: 'A code such as tls_expired, a colon, and a sentence. null on success.' }),
  },
  { $id: 'WebhookTest' },
)

export const testWebhook = operation({
  id: 'testWebhook',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/test',
  summary: 'Sends a test.ping in one attempt of at most 10 seconds and returns the result. The status is 200 even if the endpoint fails.',
  tag: 'Webhooks',
  scopes: ['webhooks:write'],
  params: webhookParams,
  status: 200,
  reply: WebhookTest,
})

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
    status: Type.Optional(DeliveryStatus),
    event_type: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: [...eventTypes] })),
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
    since: Timestamp,
    until: Type.Optional(Timestamp),
    status: Type.Optional(Type.Unsafe<'failed' | 'delivered' | 'missed'>({ type: 'string', enum: ['failed', 'delivered', 'missed'] })),
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

// Webhook subscriptions, their deliveries with every attempt, replays, and the test ping.
import Type from 'typebox'
import { operation } from '../operation.ts'
import { ClientId, clientIdField } from '../operations/client-id.ts'
import { Cursor, Deleted, id, Limit, nullableString, page, strict, Timestamp } from '../schema.ts'
import {
  AgentFilter,
  AgentFilters,
  ChangedHeaders,
  CustomHeaders,
  Description,
  EventNames,
  Format,
  SettableStatus,
  Url,
} from './webhook-inputs.ts'

export * from './webhook-deliveries.ts'

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

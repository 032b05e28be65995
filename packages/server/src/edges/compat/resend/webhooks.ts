// Webhooks, their events, the attempts of each, replays and the rotation of secrets.
import type { EventType } from '@callsign/contract/event-types'
import type { Delivery, DeliveryStatus, Webhook } from '@callsign/contract/webhooks'
import {
  createWebhook,
  deleteWebhook,
  getDelivery,
  getWebhook,
  listDeliveries,
  listWebhooks,
  replayDelivery,
  rotateWebhookSecret,
  updateWebhook,
} from '@callsign/contract/webhooks'
import type { Static } from 'typebox'
import { eventTypesOfResend, resendTypeOf, resendTypesOf, toResendEvent } from './events.ts'
import { listPage } from './pages.ts'
import { isGiven, listField, notOffered, ResendFailure, type ResendRequest, type ResendRoute, textField } from './route.ts'

/** Our types for these types of Resend. Types that never happen here, such as opens, are left out if others remain. */
function subscriptionOf(names: string[]): EventType[] {
  const unknown = names.find((name) => !/^(email|contact|domain|suppression|topic|inbox)\.[a-z_.]+$/.test(name))
  if (unknown !== undefined) throw new ResendFailure(422, 'validation_error', `\`events\` has an unknown type: ${unknown.slice(0, 50)}`)
  const types = names.flatMap((name) => eventTypesOfResend[name] ?? [])
  if (types.length === 0 && names.length > 0) throw notOffered(`A webhook for ${names.join(', ')}`)
  return [...new Set(types)]
}

const toWebhook = ({ id, url, created_at, status, events }: Static<typeof Webhook>) => ({
  id,
  endpoint: url,
  created_at,
  status: status === 'active' ? 'enabled' : 'disabled',
  events: resendTypesOf(events),
})

const statuses: Record<DeliveryStatus, string> = { pending: 'attempting', delivered: 'success', failed: 'failed' }

const toEvent = ({ id, event_type, created_at, status, attempt_count }: Static<typeof Delivery>) => ({
  id,
  type: resendTypeOf(event_type),
  created_at,
  status: status === 'pending' && attempt_count === 0 ? 'pending' : statuses[status],
})

const webhookParams = ({ params }: ResendRequest) => ({ id: params.id as string })

/** One event of this webhook. An event is the delivery of it to the webhook. */
async function findEvent({ params, call }: ResendRequest) {
  const delivery = await call(getDelivery, { params: { delivery_id: params.event as string } })
  if (delivery.webhook_id !== params.id) throw new ResendFailure(404, 'not_found', 'Webhook event not found')
  return delivery
}

function statusOf(body: Record<string, unknown>): { status?: 'active' | 'paused' } {
  if (!isGiven(body.status)) return {}
  if (body.status !== 'enabled' && body.status !== 'disabled')
    throw new ResendFailure(422, 'validation_error', '`status` must be `enabled` or `disabled`.')
  return { status: body.status === 'enabled' ? 'active' : 'paused' }
}

export const webhookRoutes: ResendRoute[] = [
  {
    method: 'POST',
    path: '/webhooks',
    status: 201,
    async run({ body, call }) {
      const events = listField(body, 'events')
      if (!events) throw new ResendFailure(422, 'missing_required_field', 'Missing `events` field.')
      const input = { url: textField(body, 'endpoint'), events: subscriptionOf(events), format: 'resend' as const }
      const { id, secret } = await call(createWebhook, { body: input })
      return { object: 'webhook', id, signing_secret: secret }
    },
  },
  {
    method: 'GET',
    path: '/webhooks',
    run: (request) => listPage(request, (query) => request.call(listWebhooks, { query }), toWebhook),
  },
  {
    method: 'GET',
    path: '/webhooks/:id',
    // The secret is shown on creation and rotation only.
    async run(request) {
      const webhook = await request.call(getWebhook, { params: webhookParams(request) })
      return { object: 'webhook', ...toWebhook(webhook), signing_secret: '' }
    },
  },
  {
    method: 'PATCH',
    path: '/webhooks/:id',
    async run(request) {
      const { body, call } = request
      const events = listField(body, 'events')
      const fields = body as Record<string, unknown>
      const change = {
        ...(isGiven(fields.endpoint) && { url: textField(body, 'endpoint') }),
        ...(events && { events: subscriptionOf(events) }),
        ...statusOf(fields),
      }
      const { id } = await call(updateWebhook, { params: webhookParams(request), body: change })
      return { object: 'webhook', id }
    },
  },
  {
    method: 'DELETE',
    path: '/webhooks/:id',
    async run(request) {
      const { id, deleted } = await request.call(deleteWebhook, { params: webhookParams(request) })
      return { object: 'webhook', id, deleted }
    },
  },
  {
    method: 'POST',
    path: '/webhooks/:id/signing-secret/rotate',
    async run(request) {
      const { id, secret } = await request.call(rotateWebhookSecret, { params: webhookParams(request) })
      return { object: 'webhook', id, signing_secret: secret }
    },
  },
  {
    method: 'GET',
    path: '/webhooks/:id/events',
    run: (request) => listPage(request, (query) => request.call(listDeliveries, { params: webhookParams(request), query }), toEvent),
  },
  {
    method: 'GET',
    path: '/webhooks/:id/events/:event',
    async run(request) {
      const delivery = await findEvent(request)
      return {
        object: 'webhook_event',
        ...toEvent(delivery),
        next_attempt_at: delivery.next_attempt_at,
        payload: toResendEvent(delivery.event),
      }
    },
  },
  {
    method: 'POST',
    path: '/webhooks/:id/events/:event/replay',
    async run(request) {
      const { id } = await findEvent(request)
      await request.call(replayDelivery, { params: { delivery_id: id } })
      return { object: 'webhook_event', id }
    },
  },
  {
    method: 'GET',
    path: '/webhooks/:id/events/:event/attempts',
    async run(request) {
      const { id, attempts } = await findEvent(request)
      const data = attempts.map(({ attempt, status_code, response_snippet, error, started_at }) => ({
        id: `${id}.${attempt}`,
        http_status_code: status_code ?? 0,
        response: response_snippet ?? error ?? '',
        sent_at: started_at,
      }))
      return { object: 'list', has_more: false, data }
    },
  },
]

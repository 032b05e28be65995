// The endpoints of webhooks, for organization keys only.
import * as contract from '@callsign/contract/webhooks'
import { type Route, route } from '../../../core/route.ts'
import type { Webhooks } from './operations.ts'

export const webhookRoutes = (webhooks: Webhooks): Route[] => [
  route(contract.createWebhook, 'organization', (call, { body }) => webhooks.createWebhook(call, body)),
  route(contract.listWebhooks, 'organization', (call, { query }) => webhooks.listWebhooks(call.caller, query)),
  route(contract.getWebhook, 'organization', (call, { params }) => webhooks.getWebhook(call.caller, params.id)),
  route(contract.updateWebhook, 'organization', (call, { params, body }) => webhooks.updateWebhook(call, params.id, body)),
  route(contract.deleteWebhook, 'organization', (call, { params }) => webhooks.deleteWebhook(call, params.id)),
  route(contract.rotateWebhookSecret, 'organization', (call, { params }) => webhooks.rotateSecret(call, params.id)),
  route(contract.testWebhook, 'organization', (call, { params }) => webhooks.testWebhook(call, params.id)),
  route(contract.listDeliveries, 'organization', (call, { params, query }) => webhooks.listDeliveries(call.caller, params.id, query)),
  route(contract.getDelivery, 'organization', (call, { params }) => webhooks.getDelivery(call.caller, params.delivery_id)),
  route(contract.replayDelivery, 'organization', (call, { params }) => webhooks.replayDelivery(call, params.delivery_id)),
  route(contract.replayDeliveries, 'organization', (call, { params, body }) => webhooks.replayRange(call, params.id, body)),
]

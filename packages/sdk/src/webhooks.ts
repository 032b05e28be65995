// Webhook subscriptions, test pings, the delivery log, replays, and the verification of received webhooks.
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as contract from '@callsign/contract/webhooks'
import { type Connection, path, type RequestOptions } from './request.ts'

export { InvalidSignature, type SignedRequest, signWebhook, verifyWebhook } from '@callsign/contract/webhook-signature'

export type WebhookWithSecret = ReplyOf<typeof contract.rotateWebhookSecret>
export type CreatedWebhook = ReplyOf<typeof contract.createWebhook>
export type WebhookPage = ReplyOf<typeof contract.listWebhooks>
export type Webhook = WebhookPage['data'][number]
export type WebhookTest = ReplyOf<typeof contract.testWebhook>
export type DeliveryPage = ReplyOf<typeof contract.listDeliveries>
export type Delivery = DeliveryPage['data'][number]
export type DeliveryDetail = ReplyOf<typeof contract.getDelivery>

export class Webhooks {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Creates a webhook. Store its secret, because only this response contains it. */
  create(body: BodyOf<typeof contract.createWebhook>, options?: RequestOptions): Promise<CreatedWebhook> {
    return this.#connection.request({ method: 'POST', path: '/webhooks', body, isKeyed: true, options })
  }

  list(query?: QueryOf<typeof contract.listWebhooks>, options?: RequestOptions): Promise<WebhookPage> {
    return this.#connection.request({ method: 'GET', path: '/webhooks', query, options })
  }

  get(id: string, options?: RequestOptions): Promise<Webhook> {
    return this.#connection.request({ method: 'GET', path: path`/webhooks/${id}`, options })
  }

  update(id: string, body: BodyOf<typeof contract.updateWebhook>, options?: RequestOptions): Promise<Webhook> {
    return this.#connection.request({ method: 'PATCH', path: path`/webhooks/${id}`, body, options })
  }

  delete(id: string, options?: RequestOptions): Promise<ReplyOf<typeof contract.deleteWebhook>> {
    return this.#connection.request({ method: 'DELETE', path: path`/webhooks/${id}`, options })
  }

  /** Creates a new secret. For one day, deliveries are signed with both. */
  rotateSecret(id: string, options?: RequestOptions): Promise<WebhookWithSecret> {
    return this.#connection.request({ method: 'POST', path: path`/webhooks/${id}/rotate-secret`, isKeyed: true, options })
  }

  /** Sends a test.ping immediately and returns the result. */
  test(id: string, options?: RequestOptions): Promise<WebhookTest> {
    return this.#connection.request({ method: 'POST', path: path`/webhooks/${id}/test`, options })
  }

  deliveries(id: string, query?: QueryOf<typeof contract.listDeliveries>, options?: RequestOptions): Promise<DeliveryPage> {
    return this.#connection.request({ method: 'GET', path: path`/webhooks/${id}/deliveries`, query, options })
  }

  /** One delivery with its attempts and its event. */
  delivery(id: string, options?: RequestOptions): Promise<DeliveryDetail> {
    return this.#connection.request({ method: 'GET', path: path`/webhooks/deliveries/${id}`, options })
  }

  replay(deliveryId: string, options?: RequestOptions): Promise<Delivery> {
    return this.#connection.request({ method: 'POST', path: path`/webhooks/deliveries/${deliveryId}/replay`, isKeyed: true, options })
  }

  /** Replays the events of a time range. */
  replayRange(
    id: string,
    body: BodyOf<typeof contract.replayDeliveries>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof contract.replayDeliveries>> {
    return this.#connection.request({ method: 'POST', path: path`/webhooks/${id}/replay`, body, isKeyed: true, options })
  }
}

// Events, and webhooks with their deliveries.
// Printed from the contract by npm run docs. Do not edit.
import type * as events from '@callsign/contract/events'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as webhooks from '@callsign/contract/webhooks'
import { type Connection, path, type RequestOptions } from '../connection/request.ts'

export type EventPage = ReplyOf<typeof events.listEvents>
export type CallsignEvent = ReplyOf<typeof events.listEvents>['data'][number]
export type WebhookWithSecret = ReplyOf<typeof webhooks.rotateWebhookSecret>
export type CreatedWebhook = ReplyOf<typeof webhooks.createWebhook>
export type WebhookPage = ReplyOf<typeof webhooks.listWebhooks>
export type Webhook = ReplyOf<typeof webhooks.listWebhooks>['data'][number]
export type WebhookTest = ReplyOf<typeof webhooks.testWebhook>
export type DeliveryPage = ReplyOf<typeof webhooks.listDeliveries>
export type Delivery = ReplyOf<typeof webhooks.listDeliveries>['data'][number]
export type DeliveryDetail = ReplyOf<typeof webhooks.getDelivery>

/** Streams new events as server-sent events. Last-Event-ID or after names an event to continue from. */
export const eventStreamPath = '/events/stream'

export class EventCalls {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Creates a token for a WebSocket from a browser, which cannot send an API key in a header. A server that has the key requests the token,
   * and the page offers the subprotocols `callsign.events` and `bearer.TOKEN` to `GET /events/stream`. The token opens sockets for 60
   * seconds and no other operation. A socket has the rights of the key and ends with it. A console token opens a socket by itself, so it
   * gets 403 here.
   */
  createSocketToken(options?: RequestOptions): Promise<ReplyOf<typeof events.createSocketToken>> {
    return this.#connection.request({ method: 'POST', path: '/events/socket-token', options })
  }

  /**
   * Returns events, oldest first, or newest first with `order=desc`. Store the id of the last event that you have handled, and use it as
   * the `cursor` of the next request, also after the last page. No event is missed or returned twice. Events are kept for 30 days. If the
   * server has lost the event of the cursor in a failover or a restore, the answer is 410 `cursor_lost`: read your objects again, and
   * continue with `since`. An agent key gets the events of its agent.
   */
  list(query?: QueryOf<typeof events.listEvents>, options?: RequestOptions): Promise<EventPage> {
    return this.#connection.request({ method: 'GET', path: '/events', query, options })
  }
}

export class Webhooks {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Creates a webhook. Events are sent to `url` as POST requests, signed by the scheme of Standard Webhooks with the returned `secret`.
   * Deliveries that fail are repeated for about a day. The URL must be public, unless the operator allows a private network. Check the
   * signature of every request with `verifyWebhook` of the SDK, or with any library for Standard Webhooks. The same values are in the
   * `svix-*` headers, for receivers that read those. `agent_handles` limits it to some agents. `headers` are sent with every delivery,
   * stored encrypted and never shown: the webhook has their names. `format` is the shape of the bodies: with `resend`, a receiver that was
   * written for Resend reads them unchanged.
   */
  create(body: BodyOf<typeof webhooks.createWebhook>, options?: RequestOptions): Promise<CreatedWebhook> {
    return this.#connection.request({ method: 'POST', path: '/webhooks', body, isKeyed: true, options })
  }

  /** Deletes a webhook. Nothing more is delivered to it. */
  delete(id: string, options?: RequestOptions): Promise<ReplyOf<typeof webhooks.deleteWebhook>> {
    return this.#connection.request({ method: 'DELETE', path: path`/webhooks/${id}`, options })
  }

  /** Returns the deliveries of a webhook, newest first. They are kept for 30 days. */
  deliveries(id: string, query?: QueryOf<typeof webhooks.listDeliveries>, options?: RequestOptions): Promise<DeliveryPage> {
    return this.#connection.request({ method: 'GET', path: path`/webhooks/${id}/deliveries`, query, options })
  }

  /** Returns one delivery with its event and its last 50 attempts. Each has its status, its duration, and the beginning of the response. */
  delivery(id: string, options?: RequestOptions): Promise<DeliveryDetail> {
    return this.#connection.request({ method: 'GET', path: path`/webhooks/deliveries/${id}`, options })
  }

  /** Returns one webhook, without its secret. */
  get(id: string, options?: RequestOptions): Promise<Webhook> {
    return this.#connection.request({ method: 'GET', path: path`/webhooks/${id}`, options })
  }

  /** Returns webhooks, newest first. `disabled_reason` says why the server has stopped delivering to one. */
  list(query?: QueryOf<typeof webhooks.listWebhooks>, options?: RequestOptions): Promise<WebhookPage> {
    return this.#connection.request({ method: 'GET', path: '/webhooks', query, options })
  }

  /** Delivers an event again with the same `webhook-id`, so that an endpoint that has seen it can ignore it. */
  replay(deliveryId: string, options?: RequestOptions): Promise<Delivery> {
    return this.#connection.request({ method: 'POST', path: path`/webhooks/deliveries/${deliveryId}/replay`, isKeyed: true, options })
  }

  /**
   * Delivers the events of a time range again: all, or those whose delivery failed, succeeded, or never happened (`missed`). At most 10,000
   * events are queued by one request. If `has_more` is true, continue with `next_since`.
   */
  replayRange(
    id: string,
    body: BodyOf<typeof webhooks.replayDeliveries>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof webhooks.replayDeliveries>> {
    return this.#connection.request({ method: 'POST', path: path`/webhooks/${id}/replay`, body, isKeyed: true, options })
  }

  /**
   * Creates a new secret. For 24 hours, deliveries carry two signatures, one with the old and one with the new secret, so that you can
   * change your endpoint without losing events.
   */
  rotateSecret(id: string, options?: RequestOptions): Promise<WebhookWithSecret> {
    return this.#connection.request({ method: 'POST', path: path`/webhooks/${id}/rotate-secret`, isKeyed: true, options })
  }

  /**
   * Sends a `test.ping` now, in one attempt of at most 10 seconds, and returns the result. The status of the reply is 200 even if the
   * endpoint fails: see `success` and `error`.
   */
  test(id: string, options?: RequestOptions): Promise<WebhookTest> {
    return this.#connection.request({ method: 'POST', path: path`/webhooks/${id}/test`, options })
  }

  /**
   * Changes a webhook. While it is `paused`, events are kept and delivered when it is `active` again. A webhook is `disabled` after an
   * endpoint has answered 410, or has only failed for five days. Set it to `active` when the endpoint works.
   */
  update(id: string, body: BodyOf<typeof webhooks.updateWebhook>, options?: RequestOptions): Promise<Webhook> {
    return this.#connection.request({ method: 'PATCH', path: path`/webhooks/${id}`, body, options })
  }
}

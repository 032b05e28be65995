// The reference of events and webhooks.
import type { OperationDetails } from '../operation-details.ts'
import { sampleId } from '../samples.ts'

const params = { id: sampleId('webhook') }

export const eventDetails: Record<string, OperationDetails> = {
  listEvents: {
    description:
      'Returns events, oldest first, or newest first with `order=desc`. Store the id of the last event that you have handled, and use it as the `cursor` of the next request, also after the last page. No event is missed or returned twice. Events are kept for 30 days. If the server has lost the event of the cursor in a failover or a restore, the answer is 410 `cursor_lost`: read your objects again, and continue with `since`. An agent key gets the events of its agent.',
    query: { types: 'email.received,sms.received', limit: 50 },
    sdk: 'const page = await callsign.events.list($query)',
    cli: 'callsign events list --limit 20',
  },
  streamEvents: {
    description:
      'Streams events as they happen, as server-sent events. Each has the id of the event, its type, and the same JSON as a webhook. After an interruption, continue with `after` or the header `Last-Event-ID`. `follow` of the SDK and `callsign listen` do this by themselves. With `Upgrade: websocket`, the same request opens a WebSocket: every message is one event, and the first one of a new reader is `{"cursor"}`, its starting point. If the server has lost your last event in a failover or a restore, you get the event `reset` with `{"cursor", "lost"}`, on a WebSocket as a message: read your objects again. The stream continues at `cursor` with everything since the lost event, so that some events may come again.',
    query: { types: 'email.received' },
    sdk: "for await (const event of callsign.events.follow({ types: 'email.received' })) console.log(event.type, event.data)",
    python: 'for event in callsign.events.follow(types="email.received"):\n    print(event["type"], event["data"])',
    cli: 'callsign listen --event email.received --forward-to http://localhost:3000/hook',
  },
  createSocketToken: {
    description:
      'Creates a token for a WebSocket from a browser, which cannot send an API key in a header. A server that has the key requests the token, and the page offers the subprotocols `callsign.events` and `bearer.TOKEN` to `GET /events/stream`. The token opens sockets for 60 seconds and no other operation. A socket has the rights of the key and ends with it. A console token opens a socket by itself, so it gets 403 here.',
    sdk: 'const { token, expires_at } = await callsign.events.createSocketToken()',
    cli: 'callsign events socket-token',
  },
  createWebhook: {
    description:
      'Creates a webhook. Events are sent to `url` as POST requests, signed by the scheme of Standard Webhooks with the returned `secret`. Deliveries that fail are repeated for about a day. The URL must be public, unless the operator allows a private network. Check the signature of every request with `verifyWebhook` of the SDK, or with any library for Standard Webhooks. The same values are in the `svix-*` headers, for receivers that read those. `agent_handles` limits it to some agents. `headers` are sent with every delivery, stored encrypted and never shown: the webhook has their names. `format` is the shape of the bodies: with `resend`, a receiver that was written for Resend reads them unchanged.',
    keys: 'organization',
    body: { url: 'https://agent.example.com/hooks', events: ['email.received', 'sms.received'], agent_handles: ['sales', 'support'] },
    sdk: 'const { id, secret } = await callsign.webhooks.create($body)',
    cli: 'callsign webhooks create https://agent.example.com/hooks --event email.received --event sms.received --agent sales --agent support',
  },
  listWebhooks: {
    description: 'Returns webhooks, newest first. `disabled_reason` says why the server has stopped delivering to one.',
    keys: 'organization',
    query: { limit: 20 },
    sdk: 'const page = await callsign.webhooks.list($query)',
    cli: 'callsign webhooks list --limit 20',
  },
  getWebhook: {
    description: 'Returns one webhook, without its secret.',
    keys: 'organization',
    params,
    sdk: 'const webhook = await callsign.webhooks.get($id)',
    cli: `callsign webhooks show ${sampleId('webhook')}`,
  },
  updateWebhook: {
    description:
      'Changes a webhook. While it is `paused`, events are kept and delivered when it is `active` again. A webhook is `disabled` after an endpoint has answered 410, or has only failed for five days. Set it to `active` when the endpoint works.',
    keys: 'organization',
    params,
    body: { status: 'active', events: ['*'] },
    reply: { events: ['*'] },
    sdk: 'const webhook = await callsign.webhooks.update($id, $body)',
    cli: `callsign webhooks update ${sampleId('webhook')} --status paused`,
  },
  deleteWebhook: {
    description: 'Deletes a webhook. Nothing more is delivered to it.',
    keys: 'organization',
    params,
    sdk: 'await callsign.webhooks.delete($id)',
    cli: `callsign webhooks delete ${sampleId('webhook')}`,
  },
  rotateWebhookSecret: {
    description:
      'Creates a new secret. For 24 hours, deliveries carry two signatures, one with the old and one with the new secret, so that you can change your endpoint without losing events.',
    keys: 'organization',
    params,
    sdk: 'const { secret } = await callsign.webhooks.rotateSecret($id)',
    cli: `callsign webhooks rotate-secret ${sampleId('webhook')}`,
  },
  testWebhook: {
    description:
      'Sends a `test.ping` now, in one attempt of at most 10 seconds, and returns the result. The status of the reply is 200 even if the endpoint fails: see `success` and `error`.',
    keys: 'organization',
    params,
    reply: { status_code: 204, latency_ms: 38, success: true, error: null },
    sdk: 'const { success, error } = await callsign.webhooks.test($id)',
    cli: `callsign webhooks test ${sampleId('webhook')}`,
  },
  listDeliveries: {
    description: 'Returns the deliveries of a webhook, newest first. They are kept for 30 days.',
    keys: 'organization',
    params,
    query: { status: 'failed', limit: 20 },
    sdk: 'const page = await callsign.webhooks.deliveries($id, $query)',
    cli: `callsign webhooks deliveries ${sampleId('webhook')} --status failed`,
  },
  getDelivery: {
    description:
      'Returns one delivery with its event and its last 50 attempts. Each has its status, its duration, and the beginning of the response.',
    keys: 'organization',
    sdk: 'const delivery = await callsign.webhooks.delivery($delivery_id)',
    cli: `callsign webhooks delivery ${sampleId('delivery')}`,
  },
  replayDelivery: {
    description: 'Delivers an event again with the same `webhook-id`, so that an endpoint that has seen it can ignore it.',
    keys: 'organization',
    reply: { status: 'pending', delivered_at: null, next_attempt_at: '2026-03-02T10:05:00.000Z' },
    sdk: 'const delivery = await callsign.webhooks.replay($delivery_id)',
    cli: `callsign webhooks replay ${sampleId('delivery')}`,
  },
  replayDeliveries: {
    description:
      'Delivers the events of a time range again: all, or those whose delivery failed, succeeded, or never happened (`missed`). At most 10,000 events are queued by one request. If `has_more` is true, continue with `next_since`.',
    keys: 'organization',
    params,
    body: { since: '2026-03-01T00:00:00.000Z', until: '2026-03-02T00:00:00.000Z', status: 'failed' },
    reply: { replayed: 42 },
    sdk: 'const { replayed } = await callsign.webhooks.replayRange($id, $body)',
    cli: `callsign webhooks replay ${sampleId('webhook')} --since 2026-03-02T00:00:00Z --status failed`,
  },
}

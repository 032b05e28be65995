// Replays of deliveries: one, or the events of a range.
import { type Delivery, replayEventsMax } from '@callsign/contract/webhooks'
import type { Static } from 'typebox'
import { ApiError, invalid, notFound } from '../../../core/errors.ts'
import type { Call } from '../../../core/route.ts'
import type { Database } from '../../../core/sql.ts'
import { requireReceivable } from '../log/model.ts'
import type { Events } from '../log/operations.ts'
import * as deliveryStore from './delivery-store.ts'
import { toDelivery, wants } from './model.ts'
import * as store from './store.ts'

export interface Replays {
  /** `POST /webhooks/deliveries/{delivery_id}/replay`. */
  replayDelivery(call: Call, id: string): Promise<Static<typeof Delivery>>
  /** `POST /webhooks/{id}/replay`: the events of a range, with those from times when the webhook was paused or disabled. */
  replayRange(
    call: Call,
    id: string,
    body: { since: string; until?: string; status?: 'failed' | 'delivered' | 'missed' },
  ): Promise<{ webhook_id: string; replayed: number; has_more: boolean; next_since: string | null }>
}

type Parts = { db: Database; events: Pick<Events, 'find'>; wake: (webhookIds: string[]) => void }

export const createReplays = ({ db, events, wake }: Parts): Replays => ({
  async replayDelivery(call, id) {
    const found = await deliveryStore.findDelivery(db, call.caller.organizationId, id)
    const event = found && (await events.find([found.event_id])).get(found.event_id)
    if (!found || !event) throw notFound('delivery')
    requireReceivable(call.caller, [event.type], 'webhook')
    return call.transact(async (tx) => {
      const webhook = (await store.findEndpoints(tx, [found.webhook_id])).get(found.webhook_id)
      if (!webhook) throw notFound('delivery')
      if (!wants(webhook, event))
        throw new ApiError('conflict', 'This webhook no longer receives this event. Change its events or agents first.')
      const row = await deliveryStore.replayDelivery(tx, found.webhook_id, id)
      if (!row) throw notFound('delivery')
      tx.afterCommit(() => wake([found.webhook_id]))
      return toDelivery(row)
    })
  },

  async replayRange(call, id, body) {
    const { organizationId } = call.caller
    const webhook = await store.findWebhook(db, organizationId, id)
    if (!webhook) throw notFound('webhook')
    requireReceivable(call.caller, webhook.event_types, 'webhook')
    const since = new Date(body.since)
    const until = body.until === undefined ? null : new Date(body.until)
    if (until && until <= since) throw invalid('/until', 'until must be after since')
    return call.transact(async (tx) => {
      const times = await deliveryStore.replayRange(tx, {
        organizationId,
        webhookId: id,
        since,
        until,
        status: body.status ?? null,
        limit: replayEventsMax,
      })
      const hasMore = times.length === replayEventsMax
      tx.afterCommit(() => wake([id]))
      return {
        webhook_id: id,
        replayed: times.length,
        has_more: hasMore,
        next_since: hasMore ? (times.at(-1) as Date).toISOString() : null,
      }
    })
  },
})

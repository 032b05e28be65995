// Appends events as rows of the caller's transaction, with one delivery per webhook that subscribes to the event.
import { now } from '../../core/clock.ts'
import type { Emit } from '../../core/event.ts'
import { newId } from '../../core/ids.ts'
import { deliveryIdOf, isWanted } from '../../features/events/webhooks/model.ts'

/**
 * Writes events in order, and their deliveries, in one statement. `onCommit` is a hint with the webhooks that have pending deliveries.
 * Workers and readers of other processes find them by polling.
 * A delivery's id is derived from its event and its webhook: the time first, as in every id, then a hash. The same event therefore never
 * becomes two deliveries of one webhook.
 */
export const createEmit =
  (onCommit: (webhookIds: string[]) => void): Emit =>
  async (tx, events) => {
    if (events.length === 0) return
    const { rows } = await tx.query<{ webhook_id: string }>({
      name: 'append-events',
      text: `WITH appended AS (
          INSERT INTO events (id, organization_id, identity_id, type, subject_id, data, created_at)
          SELECT id, organization_id, identity_id, type, subject_id, data::jsonb, $7
          FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) AS e (id, organization_id, identity_id, type, subject_id, data)
          RETURNING id, organization_id, identity_id, type)
        INSERT INTO webhook_deliveries (webhook_id, id, organization_id, event_id, event_type, status, due_at, created_at)
        SELECT w.id, ${deliveryIdOf('w.id', 'e.id')}, e.organization_id, e.id, e.type, 'pending', now(), $7
        FROM appended e JOIN webhooks w ON w.organization_id = e.organization_id
        WHERE w.deleted_at IS NULL AND w.status = 'active' AND ${isWanted('w', 'e')}
        RETURNING webhook_id`,
      values: [
        events.map(() => newId('event')),
        events.map((event) => event.organizationId),
        events.map((event) => event.identityId),
        events.map((event) => event.type),
        events.map((event) => event.subjectId),
        events.map((event) => JSON.stringify(event.data ?? {})),
        now(),
      ],
    })
    const webhookIds = rows.length === 0 ? [] : [...new Set(rows.map((row) => row.webhook_id))]
    tx.afterCommit(() => onCommit(webhookIds))
  }

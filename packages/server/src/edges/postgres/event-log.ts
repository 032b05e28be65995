// Appends events as rows of the caller's transaction.
import { now } from '../../core/clock.ts'
import type { Emit } from '../../core/event.ts'
import { newId } from '../../core/ids.ts'

/** Writes events to the table `events`, in order. */
export const appendEvents: Emit = async (tx, events) => {
  if (events.length === 0) return
  const at = now()
  await tx.query({
    name: 'append-events',
    text: `INSERT INTO events (id, organization_id, identity_id, type, subject_id, data, created_at)
      SELECT id, organization_id, identity_id, type, subject_id, data::jsonb, $7 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
        AS e (id, organization_id, identity_id, type, subject_id, data)`,
    values: [
      events.map(() => newId('event')),
      events.map((event) => event.organizationId),
      events.map((event) => event.identityId),
      events.map((event) => event.type),
      events.map((event) => event.subjectId),
      events.map((event) => JSON.stringify(event.data ?? {})),
      at,
    ],
  })
}

// The SQL of the wake guard.
import type { Sql, Tx } from '../../../core/sql.ts'

/** Held messages that an event names. */
export const namedMax = 1000

export type WakeWindow = {
  id: string
  organization_id: string
  identity_id: string
  sender: string
  started_at: Date
  ends_at: Date
  held: number
  held_ids: string[]
}

type Counted = { id: string; held: number; waitMs: number }

/**
 * Counts a message in the window of its sender, or starts one. A window that has ended goes on until its held messages are announced.
 * `held` is 0 for a message that is announced at once.
 */
export async function countMessage(
  tx: Tx,
  message: { windowId: string; organizationId: string; identityId: string; sender: string; messageId: string },
  limit: { events: number; windowSeconds: number },
): Promise<Counted> {
  const isOver = 'w.ends_at <= now() AND w.held = 0'
  const isHeld = `NOT (${isOver}) AND w.messages >= $6`
  const { rows } = await tx.query<Counted>({
    name: 'count-wake',
    text: `INSERT INTO wake_windows AS w (id, organization_id, identity_id, sender, started_at, ends_at, messages)
      VALUES ($1, $2, $3, $4, now(), now() + make_interval(secs => $7), 1)
      ON CONFLICT (identity_id, sender) DO UPDATE SET
        started_at = CASE WHEN ${isOver} THEN excluded.started_at ELSE w.started_at END,
        ends_at = CASE WHEN ${isOver} THEN excluded.ends_at ELSE w.ends_at END,
        messages = CASE WHEN ${isOver} THEN 1 ELSE w.messages + 1 END,
        held = CASE WHEN ${isHeld} THEN w.held + 1 ELSE w.held END,
        held_ids = CASE WHEN ${isHeld} THEN w.held_ids[1:${namedMax - 1}] || $5::text ELSE w.held_ids END
      RETURNING id, held, greatest(0, extract(epoch FROM ends_at - now()) * 1000)::float8 AS "waitMs"`,
    values: [
      message.windowId,
      message.organizationId,
      message.identityId,
      message.sender,
      message.messageId,
      limit.events,
      limit.windowSeconds,
    ],
  })
  return rows[0] as Counted
}

/** Removes a window and returns it, unless it was removed before. */
export async function takeWindow(tx: Tx, id: string): Promise<WakeWindow | null> {
  const { rows } = await tx.query<WakeWindow>({
    name: 'take-wake-window',
    text: 'DELETE FROM wake_windows WHERE id = $1 RETURNING id, organization_id, identity_id, sender, started_at, ends_at, held, held_ids',
    values: [id],
  })
  return rows[0] ?? null
}

/** Deletes ended windows in which no message was held. */
export async function sweepWindows(sql: Sql): Promise<void> {
  await sql.query({ text: 'DELETE FROM wake_windows WHERE ends_at < now() AND held = 0' })
}

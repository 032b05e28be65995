// The SQL of deliveries: claiming with leases, ending, listing, replaying, sweeping.
import { firstId } from '@callsign/contract/ids'
import { before, type PageRequest } from '../../../core/page.ts'
import type { Database, Sql } from '../../../core/sql.ts'
import { type Attempt, attemptsKept, type DeliveryRow, deliveryIdOf, isWanted } from './model.ts'

const columns = `d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.due_at, d.attempt_count, d.last_status_code, d.last_error_code, d.delivered_at, d.created_at`

/** Deliveries that one page looks at for a filter without an index. */
const scannedMax = 5000

/** A delivery that this process holds until its lease runs out. */
export type Claimed = { id: string; webhook_id: string; event_id: string; tries: number; attempt_count: number; lease_token: string }

/**
 * Claims due deliveries of active webhooks in one statement, at most `limit` per webhook. The backlog of one webhook does not delay another.
 */
export async function claim(
  sql: Sql,
  wants: { webhookId: string; limit: number }[],
  leaseToken: string,
  leaseMs: number,
): Promise<Claimed[]> {
  const { rows } = await sql.query<Claimed>({
    name: 'claim-deliveries',
    text: `WITH due AS MATERIALIZED (
        SELECT d.webhook_id, d.id FROM unnest($1::text[], $2::integer[]) AS want (webhook_id, slots)
        JOIN webhooks w ON w.id = want.webhook_id AND w.status = 'active' AND w.deleted_at IS NULL
        CROSS JOIN LATERAL (
          SELECT webhook_id, id FROM webhook_deliveries
          WHERE webhook_id = want.webhook_id AND due_at <= now() AND (leased_until IS NULL OR leased_until < now())
          ORDER BY due_at LIMIT want.slots FOR UPDATE SKIP LOCKED) AS d)
      UPDATE webhook_deliveries d SET lease_token = $3, leased_until = now() + $4 * interval '1 millisecond'
      FROM due WHERE d.webhook_id = due.webhook_id AND d.id = due.id
      RETURNING d.id, d.webhook_id, d.event_id, d.tries, d.attempt_count, d.lease_token`,
    values: [wants.map((want) => want.webhookId), wants.map((want) => want.limit), leaseToken, leaseMs],
  })
  return rows
}

/** Releases claimed deliveries that were not started. */
export async function release(sql: Sql, claimed: Claimed[]): Promise<void> {
  await sql.query({
    name: 'release-deliveries',
    text: `UPDATE webhook_deliveries d SET lease_token = NULL, leased_until = NULL
      FROM unnest($1::text[], $2::text[], $3::text[]) AS held (webhook_id, id, token)
      WHERE d.webhook_id = held.webhook_id AND d.id = held.id AND d.lease_token = held.token`,
    values: [claimed.map((one) => one.webhook_id), claimed.map((one) => one.id), claimed.map((one) => one.lease_token)],
  })
}

/** The result of an attempt, and the next status of the delivery. A pending one is retried after `retryInMs`. */
export type Ended = {
  claimed: Claimed
  status: 'pending' | 'delivered' | 'failed'
  retryInMs: number | null
  attempt: Attempt
}

/** True for a delivery that was replayed after its claim: a replay makes it due again, at a later time than the claim. */
const isReplayed = `d.due_at > d.leased_until - $9 * interval '1 millisecond'`

/** Records the results of attempts whose leases are still held. Resolves with their ids. One that was replayed meanwhile stays due. */
export async function end(sql: Sql, all: Ended[], leaseMs: number): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'end-deliveries',
    text: `UPDATE webhook_deliveries d SET status = CASE WHEN ${isReplayed} THEN 'pending' ELSE e.status END,
        due_at = CASE WHEN ${isReplayed} THEN d.due_at WHEN e.status = 'pending' THEN now() + e.retry_ms * interval '1 millisecond' END,
        lease_token = NULL, leased_until = NULL, tries = CASE WHEN ${isReplayed} THEN 0 ELSE d.tries + 1 END, attempt_count = d.attempt_count + 1,
        attempts = CASE WHEN d.attempt_count < ${attemptsKept} THEN d.attempts ELSE d.attempts - 0 END || e.attempt::jsonb,
        last_status_code = e.status_code, last_error_code = e.error_code,
        delivered_at = CASE WHEN e.status = 'delivered' AND NOT ${isReplayed} THEN now() END
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::text[], $7::integer[], $8::text[])
        AS e (webhook_id, id, token, status, retry_ms, attempt, status_code, error_code)
      WHERE d.webhook_id = e.webhook_id AND d.id = e.id AND d.lease_token = e.token RETURNING d.id`,
    values: [
      all.map(({ claimed }) => claimed.webhook_id),
      all.map(({ claimed }) => claimed.id),
      all.map(({ claimed }) => claimed.lease_token),
      all.map(({ status }) => status),
      all.map(({ retryInMs }) => retryInMs),
      all.map(({ attempt }) => JSON.stringify(attempt)),
      all.map(({ attempt }) => attempt.status_code),
      all.map(({ attempt }) => attempt.error_code),
      leaseMs,
    ],
  })
  return new Set(rows.map((row) => row.id))
}

/**
 * Active webhooks with due deliveries. A loose index scan: the cost grows with the number of webhooks, not with the number of deliveries.
 */
export async function findDueWebhooks(sql: Sql): Promise<string[]> {
  const { rows } = await sql.query<{ webhook_id: string }>({
    name: 'find-due-webhooks',
    text: `WITH RECURSIVE step AS (
        (SELECT webhook_id, due_at FROM webhook_deliveries WHERE due_at IS NOT NULL ORDER BY webhook_id, due_at LIMIT 1)
        UNION ALL
        SELECT next.webhook_id, next.due_at FROM step CROSS JOIN LATERAL (
          SELECT webhook_id, due_at FROM webhook_deliveries WHERE due_at IS NOT NULL AND webhook_id > step.webhook_id ORDER BY webhook_id, due_at LIMIT 1) AS next)
      SELECT step.webhook_id FROM step JOIN webhooks w ON w.id = step.webhook_id
      WHERE step.due_at <= now() AND w.status = 'active' AND w.deleted_at IS NULL`,
  })
  return rows.map((row) => row.webhook_id)
}

/** Releases every lease. Only for the sole process of a database, after its predecessor died. */
export async function releaseAll(sql: Sql): Promise<void> {
  await sql.query({
    text: 'UPDATE webhook_deliveries SET lease_token = NULL, leased_until = NULL WHERE due_at IS NOT NULL AND lease_token IS NOT NULL',
  })
}

/** One row more than a page of a webhook's deliveries, newest first. `resumeAt` is the cursor after a page that looked at too many rows. */
export async function listDeliveries(
  sql: Sql,
  webhookId: string,
  filter: { status?: string | undefined; event_type?: string | undefined },
  page: PageRequest,
): Promise<{ rows: DeliveryRow[]; resumeAt: string | null }> {
  // Dead letters are few, and have a partial index.
  const isFailed = filter.status === 'failed' ? `AND d.status = 'failed'` : ''
  const place = `d.webhook_id = $1 AND d.id < ${before('$2')} ${isFailed}`
  const hasIndex = filter.event_type === undefined && (filter.status === undefined || filter.status === 'failed')
  const end = hasIndex ? null : await findScanEnd(sql, place, [webhookId, page.cursor])
  const { rows } = await sql.query<DeliveryRow>({
    text: `SELECT ${columns} FROM webhook_deliveries d WHERE ${place} AND d.id >= $6
      AND ($4::text IS NULL OR d.status = $4) AND ($5::text IS NULL OR d.event_type = $5) ORDER BY d.id DESC LIMIT $3`,
    values: [webhookId, page.cursor, page.limit + 1, filter.status ?? null, filter.event_type ?? null, end ?? ''],
  })
  return { rows, resumeAt: end }
}

/** The last row that one page may look at for a filter without an index. Null when there are fewer. */
async function findScanEnd(sql: Sql, place: string, values: unknown[]): Promise<string | null> {
  const { rows } = await sql.query<{ id: string }>({
    text: `SELECT d.id FROM webhook_deliveries d WHERE ${place} ORDER BY d.id DESC OFFSET ${scannedMax - 1} LIMIT 1`,
    values,
  })
  return rows[0]?.id ?? null
}

/** A delivery of any webhook of the organization, with its attempts, oldest first. */
export async function findDelivery(sql: Sql, organizationId: string, id: string): Promise<(DeliveryRow & { attempts: Attempt[] }) | null> {
  const { rows } = await sql.query<DeliveryRow & { attempts: Attempt[] }>({
    text: `SELECT ${columns}, d.attempts FROM webhooks w JOIN webhook_deliveries d ON d.webhook_id = w.id
      WHERE w.organization_id = $1 AND w.deleted_at IS NULL AND d.id = $2`,
    values: [organizationId, id],
  })
  return rows[0] ?? null
}

/** Makes one delivery due again, with its full retry schedule. */
export async function replayDelivery(sql: Sql, webhookId: string, id: string): Promise<DeliveryRow | null> {
  const { rows } = await sql.query<DeliveryRow>({
    text: `UPDATE webhook_deliveries d SET status = 'pending', due_at = now(), tries = 0, delivered_at = NULL WHERE webhook_id = $1 AND id = $2 RETURNING ${columns}`,
    values: [webhookId, id],
  })
  return rows[0] ?? null
}

export type ReplayRange = {
  organizationId: string
  webhookId: string
  since: Date
  until: Date | null
  /** Null replays all events of the range, including pending ones and those without a delivery (`missed`). */
  status: 'failed' | 'delivered' | 'missed' | null
  limit: number
}

/** Makes the deliveries of a range due again and creates missing ones. Resolves with their times, oldest first. Test pings are not replayed. */
export async function replayRange(sql: Sql, range: ReplayRange): Promise<Date[]> {
  const id = deliveryIdOf('w.id', 'e.id')
  const condition = {
    all: 'true',
    missed: 'd.id IS NULL',
    failed: "d.status = 'failed'",
    delivered: "d.status = 'delivered'",
  }[range.status ?? 'all']
  const { rows } = await sql.query<{ created_at: Date }>({
    text: `WITH wanted AS (
        SELECT w.id AS webhook_id, ${id} AS id, e.organization_id, e.id AS event_id, e.type, e.created_at
        FROM webhooks w JOIN events e ON e.organization_id = w.organization_id
        LEFT JOIN webhook_deliveries d ON d.webhook_id = w.id AND d.id = ${id}
        WHERE w.organization_id = $1 AND w.id = $2 AND e.id >= $3 AND e.created_at >= $4 AND ($5::timestamptz IS NULL OR e.created_at < $5)
          AND e.type <> 'test.ping' AND ${isWanted('w', 'e')} AND ${condition}
        ORDER BY e.id LIMIT $6),
      replayed AS (
        INSERT INTO webhook_deliveries AS d (webhook_id, id, organization_id, event_id, event_type, status, due_at, created_at)
        SELECT webhook_id, id, organization_id, event_id, type, 'pending', now(), created_at FROM wanted
        ON CONFLICT (webhook_id, id) DO UPDATE SET status = 'pending', due_at = now(), tries = 0, delivered_at = NULL)
      SELECT created_at FROM wanted ORDER BY event_id`,
    values: [
      range.organizationId,
      range.webhookId,
      // One second earlier, because ids generated in one busy millisecond run ahead of the clock.
      firstId('event', range.since.getTime() - 1000),
      range.since,
      range.until,
      range.limit,
    ],
  })
  return rows.map((row) => row.created_at)
}

export type PingRecord = {
  organizationId: string
  webhookId: string
  eventId: string
  data: Record<string, unknown>
  at: Date
  isSuccess: boolean
  attempt: Attempt
}

/** Inserts a completed test ping as an event and a delivery of its webhook. */
export async function insertPing(sql: Sql, ping: PingRecord): Promise<void> {
  await sql.query({
    text: `WITH event AS (
        INSERT INTO events (id, organization_id, identity_id, type, subject_id, data, created_at) VALUES ($1, $2, NULL, 'test.ping', $3, $4, $5))
      INSERT INTO webhook_deliveries (webhook_id, id, organization_id, event_id, event_type, status, tries, attempt_count, attempts, last_status_code,
        last_error_code, delivered_at, created_at)
      VALUES ($3, ${deliveryIdOf('$3::text', '$1::text')}, $2, $1, 'test.ping', $6, 1, 1, jsonb_build_array($7::jsonb), $8, $9, CASE WHEN $6 = 'delivered' THEN now() END, $5)`,
    values: [
      ping.eventId,
      ping.organizationId,
      ping.webhookId,
      JSON.stringify(ping.data),
      ping.at,
      ping.isSuccess ? 'delivered' : 'failed',
      JSON.stringify(ping.attempt),
      ping.attempt.status_code,
      ping.attempt.error_code,
    ],
  })
}

const sweptTogether = 1000

/** Deletes deliveries created before this time, and all of deleted webhooks. Resolves with their number. */
export async function sweepDeliveries(db: Database, before: Date): Promise<number> {
  const { rows: webhooks } = await db.query<{ id: string; is_deleted: boolean }>({
    text: 'SELECT id, deleted_at IS NOT NULL AS is_deleted FROM webhooks',
  })
  let swept = 0
  for (const { id, is_deleted } of webhooks) {
    for (;;) {
      const { rowCount } = await db.query({
        text: `DELETE FROM webhook_deliveries WHERE webhook_id = $1 AND id IN (
          SELECT id FROM webhook_deliveries WHERE webhook_id = $1 AND ($2::text IS NULL OR id < $2) ORDER BY id LIMIT ${sweptTogether})`,
        values: [id, is_deleted ? null : firstId('delivery', before.getTime())],
      })
      swept += rowCount
      if (rowCount < sweptTogether) break
    }
  }
  return swept
}

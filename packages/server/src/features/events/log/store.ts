// The SQL of reading events: giving positions, and reading by them.
import { firstId } from '@callsign/contract/ids'
import type { Database, Sql } from '../../../core/sql.ts'
import type { EventBrief, EventRow, PlacedRow } from './model.ts'

const columns = 'e.id, e.organization_id, e.identity_id, i.agent_handle, e.type, e.subject_id, e.data, e.created_at'
const withNames = 'LEFT JOIN identities i ON i.id = e.identity_id'
const from = `events e ${withNames}`

const placedMax = 1000
/** Longer than any transaction that makes an event. */
const transactionMsMax = 60_000

/** The last position given, and the event that got it. Null before the first one. */
export type Head = { position: number; id: string | null }

/**
 * Assigns positions to committed events without one, oldest first, and resolves with the head. Safe on any number of nodes: the row lock
 * on the head serializes them, and each statement takes a new snapshot.
 */
export async function placeEvents(db: Database): Promise<Head> {
  for (;;) {
    const { isOpen, ...head } = await readHead(db)
    if (!isOpen) return head
    const placed = await db.transact(async (tx) => {
      await tx.query({ name: 'lock-event-head', text: 'SELECT position FROM event_head FOR UPDATE' })
      const { rows } = await tx.query<{ count: number }>({
        name: 'place-events',
        text: `WITH fresh AS (
            SELECT id, row_number() OVER (ORDER BY id) AS number FROM (SELECT id FROM events WHERE position IS NULL ORDER BY id LIMIT ${placedMax}) AS unplaced),
          placed AS (
            UPDATE events e SET position = h.position + fresh.number FROM fresh, event_head h WHERE e.id = fresh.id RETURNING e.id)
          UPDATE event_head h SET position = h.position + p.count, event_id = p.last
          FROM (SELECT count(*) AS count, max(id) AS last FROM placed) p WHERE p.count > 0 RETURNING p.count`,
      })
      return rows[0]?.count ?? 0
    })
    // Stops after one partial batch. Under load, a loop until no event is left would not end.
    if (placed < placedMax) {
      const { position, id } = await readHead(db)
      return { position, id }
    }
  }
}

async function readHead(sql: Sql): Promise<Head & { isOpen: boolean }> {
  const { rows } = await sql.query<{ position: number; event_id: string | null; is_open: boolean }>({
    name: 'read-event-head',
    text: 'SELECT position, event_id, EXISTS (SELECT 1 FROM events WHERE position IS NULL) AS is_open FROM event_head',
  })
  return { position: rows[0]?.position ?? 0, id: rows[0]?.event_id ?? null, isOpen: rows[0]?.is_open ?? false }
}

/** The organizations among these with an event after the position. */
export async function findChanged(sql: Sql, organizationIds: string[], after: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'find-changed-organizations',
    text: `SELECT id FROM unnest($1::text[]) AS o (id) WHERE EXISTS (SELECT 1 FROM events e WHERE e.organization_id = o.id AND e.position > $2)`,
    values: [organizationIds, after],
  })
  return rows.map((row) => row.id)
}

/** Selects events by organization, and optionally by agent and type. */
export type EventScope = { organizationId: string; identityIds: string[] | null; types: string[] | null }

/** Placed events after a position, oldest first. */
export const listAfter = (sql: Sql, scope: EventScope, after: number, limit: number): Promise<PlacedRow[]> =>
  listPlaced(sql, scope, { after, before: null, order: 'ASC' }, limit)

/** Placed events before a position (null for all) and after another one, newest first. */
export const listBefore = (sql: Sql, scope: EventScope, before: number | null, after: number, limit: number): Promise<PlacedRow[]> =>
  listPlaced(sql, scope, { after, before, order: 'DESC' }, limit)

type Range = { after: number; before: number | null; order: 'ASC' | 'DESC' }

/** Above every position. */
const positionEnd = Number.MAX_SAFE_INTEGER

async function listPlaced(sql: Sql, scope: EventScope, { after, before, order }: Range, limit: number): Promise<PlacedRow[]> {
  const range = `e.position > $2 AND e.position < $4 ORDER BY e.position ${order} LIMIT $3`
  const values: unknown[] = [scope.organizationId, after, limit, before ?? positionEnd]
  const parameter = (value: unknown): string => `$${values.push(value)}`
  // One index scan per identity and type, so that the cost does not grow with the events of others and of other types.
  const owner = scope.identityIds ? `unnest(${parameter(scope.identityIds)}::text[]) AS one (id)` : null
  const type = scope.types ? `unnest(${parameter(scope.types)}::text[]) AS kind (type)` : null
  const places = [owner, type].filter((one) => one !== null).join(' CROSS JOIN ')
  const isOwn = `e.organization_id = $1${owner ? ' AND e.identity_id = one.id' : ''}${type ? ' AND e.type = kind.type' : ''}`
  const { rows } = await sql.query<PlacedRow>({
    name: `list-events-${order}${owner ? '-of-identities' : ''}${type ? '-of-types' : ''}`,
    text:
      places === ''
        ? `SELECT ${columns}, e.position FROM ${from} WHERE e.organization_id = $1 AND ${range}`
        : // Rows are read after the merge, because the scans together find many more places than fit in a page.
          `WITH found AS MATERIALIZED (
            SELECT e.id, e.position FROM ${places} CROSS JOIN LATERAL (
              SELECT e.id, e.position FROM events e WHERE ${isOwn} AND ${range}) e
            ORDER BY e.position ${order} LIMIT $3)
          SELECT ${columns}, e.position FROM found JOIN events e ON e.id = found.id ${withNames} ORDER BY e.position ${order}`,
    values,
  })
  return rows
}

/** An event in the log. `position` is null before one is assigned. */
export type Entry = { organization_id: string; position: number | null }

/** Finds these events in the log, of any organization. */
export async function findEntries(sql: Sql, ids: string[]): Promise<Map<string, Entry>> {
  const { rows } = await sql.query<Entry & { id: string }>({
    name: 'find-event-entries',
    text: 'SELECT id, organization_id, position FROM events WHERE id = ANY($1)',
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** The id of the oldest event of an organization, or null. */
export async function findOldest(sql: Sql, organizationId: string): Promise<string | null> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'find-oldest-event',
    text: 'SELECT id FROM events WHERE organization_id = $1 ORDER BY id LIMIT 1',
    values: [organizationId],
  })
  return rows[0]?.id ?? null
}

const brief = 'id, position, identity_id, type, subject_id, created_at'

/** Placed events of agents of these organizations, of these types, between two positions, oldest first. */
export async function findNewBriefs(
  sql: Sql,
  organizationIds: string[],
  types: string[],
  after: number,
  upTo: number,
  limit: number,
): Promise<EventBrief[]> {
  const { rows } = await sql.query<EventBrief>({
    name: 'find-new-briefs',
    text: `SELECT ${brief} FROM events WHERE organization_id = ANY($1) AND position > $2 AND position <= $3
      AND type = ANY($4) AND identity_id IS NOT NULL ORDER BY position LIMIT $5`,
    values: [organizationIds, after, upTo, types, limit],
  })
  return rows
}

/** Placed events of one agent after a position, of these types, oldest first. */
export async function listBriefs(sql: Sql, identityId: string, types: string[], after: number, limit: number): Promise<EventBrief[]> {
  const { rows } = await sql.query<EventBrief>({
    name: 'list-briefs',
    text: `SELECT ${brief} FROM events WHERE identity_id = $1 AND position > $2 AND type = ANY($3) ORDER BY position LIMIT $4`,
    values: [identityId, after, types, limit],
  })
  return rows
}

/** The last event of these agents up to a position. */
export async function findLastOf(sql: Sql, identityIds: string[], upTo: number): Promise<Head | null> {
  const { rows } = await sql.query<Head>({
    name: 'find-last-event-of',
    text: `SELECT e.id, e.position FROM unnest($1::text[]) AS one (id) CROSS JOIN LATERAL (
        SELECT id, position FROM events WHERE identity_id = one.id AND position <= $2 ORDER BY position DESC LIMIT 1) e
      ORDER BY e.position DESC LIMIT 1`,
    values: [identityIds, upTo],
  })
  return rows[0] ?? null
}

/** The last event of an organization up to a position. */
export async function findLastOfOrganization(sql: Sql, organizationId: string, upTo: number): Promise<Head | null> {
  const { rows } = await sql.query<Head>({
    name: 'find-last-event-of-organization',
    text: 'SELECT id, position FROM events WHERE organization_id = $1 AND position <= $2 ORDER BY position DESC LIMIT 1',
    values: [organizationId, upTo],
  })
  return rows[0] ?? null
}

/**
 * A position before every event of the organization created at or after this time. It is the position of the last event created
 * `transactionMsMax` earlier, which was committed by then.
 */
export async function findPositionBefore(sql: Sql, organizationId: string, time: Date): Promise<number> {
  const { rows } = await sql.query<{ position: number }>({
    name: 'find-position-before',
    text: 'SELECT position FROM events WHERE organization_id = $1 AND id < $2 AND position IS NOT NULL ORDER BY id DESC LIMIT 1',
    values: [organizationId, firstId('event', time.getTime() - transactionMsMax)],
  })
  return rows[0]?.position ?? 0
}

export async function findEvents(sql: Sql, ids: string[]): Promise<Map<string, EventRow>> {
  const { rows } = await sql.query<EventRow>({
    name: 'find-events',
    text: `SELECT ${columns} FROM ${from} WHERE e.id = ANY($1)`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Deletes events of an organization created before this time. Resolves with their number. */
export async function deleteEventsOf(sql: Sql, organizationId: string, before: Date): Promise<number> {
  let deleted = 0
  for (;;) {
    const { rowCount } = await sql.query({
      text: `DELETE FROM events WHERE id IN (SELECT id FROM events WHERE organization_id = $1 AND id < $2 AND position IS NOT NULL
        ORDER BY id LIMIT 1000)`,
      values: [organizationId, firstId('event', before.getTime())],
    })
    deleted += rowCount
    if (rowCount < 1000) return deleted
  }
}

/** Deletes events created before this time. Resolves with their number. */
export async function sweepEvents(sql: Sql, before: Date): Promise<number> {
  let swept = 0
  for (;;) {
    const { rowCount } = await sql.query({
      text: 'DELETE FROM events WHERE id IN (SELECT id FROM events WHERE id < $1 AND position IS NOT NULL ORDER BY id LIMIT 1000)',
      values: [firstId('event', before.getTime())],
    })
    swept += rowCount
    if (rowCount < 1000) return swept
  }
}

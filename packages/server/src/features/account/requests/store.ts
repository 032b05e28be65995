// The SQL of the log of API requests.
import { firstId } from '@callsign/contract/ids'
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql } from '../../../core/sql.ts'
import type { RequestEntry, RequestFilter, RequestRow } from './model.ts'

/** Inserts entries. Those of keys that were deleted meanwhile are left out. */
export async function insertRequests(sql: Sql, entries: RequestEntry[]): Promise<void> {
  await sql.query({
    name: 'insert-api-requests',
    text: `INSERT INTO api_requests (id, organization_id, key_id, operation, method, path, status, error_code, duration_ms, fields, created_at)
      SELECT r.id, k.organization_id, k.id, r.operation, r.method, r.path, r.status, r.error_code, r.duration_ms, string_to_array(r.fields, ' '), r.created_at
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::smallint[], $8::text[], $9::int[], $10::text[], $11::timestamptz[])
        AS r (id, organization_id, key_id, operation, method, path, status, error_code, duration_ms, fields, created_at)
      JOIN api_keys k ON k.organization_id = r.organization_id AND k.id = r.key_id FOR KEY SHARE OF k`,
    values: [
      entries.map((one) => one.id),
      entries.map((one) => one.organizationId),
      entries.map((one) => one.keyId),
      entries.map((one) => one.operation),
      entries.map((one) => one.method),
      entries.map((one) => one.path),
      entries.map((one) => one.status),
      entries.map((one) => one.errorCode),
      entries.map((one) => one.durationMs),
      entries.map((one) => one.fields.join(' ')),
      entries.map((one) => one.at),
    ],
  })
}

const columns = `r.id, r.key_id, k.name AS key_name, r.operation, r.method, r.path, r.status, r.error_code, r.duration_ms, r.fields, r.created_at`

/** One page, newest first. One row more than the limit shows that there are more. */
export async function listRequests(sql: Sql, organizationId: string, filter: RequestFilter, page: PageRequest): Promise<RequestRow[]> {
  const values: unknown[] = [organizationId, ...boundsOf(filter, page), page.limit + 1]
  const parameter = (value: unknown): string => `$${values.push(value)}`
  // A key alone leaves the planner only the index of keys. The outer join keeps to the organization.
  const isOwn = filter.keyId === null ? 'r.organization_id = $1' : `r.key_id = ${parameter(filter.keyId)}`
  const newest = (condition: string) => `SELECT r.id FROM api_requests r
    WHERE ${isOwn} AND r.id < ${before('$2')} AND r.id >= $3 ${condition} ORDER BY r.id DESC LIMIT $4`
  const ids = filter.places
    ? `SELECT found.id FROM unnest(${parameter(filter.places.operations)}::text[]) AS o (operation)
        CROSS JOIN unnest(${parameter(filter.places.statusClasses)}::smallint[]) AS c (status_class)
        CROSS JOIN LATERAL (${newest('AND r.operation = o.operation AND r.status_class = c.status_class')}) AS found
        ORDER BY found.id DESC LIMIT $4`
    : newest('')
  const { rows } = await sql.query<RequestRow>({
    text: `SELECT ${columns} FROM (${ids}) AS page JOIN api_requests r ON r.organization_id = $1 AND r.id = page.id JOIN api_keys k ON k.id = r.key_id ORDER BY r.id DESC`,
    values,
  })
  return rows
}

/** The bounds of the ids, exclusive and inclusive. Ids begin with their time. */
function boundsOf(filter: RequestFilter, { cursor }: PageRequest): [string | null, string] {
  const latest = filter.before && firstId('request', filter.before.getTime())
  const upper = [cursor, latest].filter((bound) => bound !== null).toSorted()[0] ?? null
  return [upper, filter.after ? firstId('request', filter.after.getTime() + 1) : '']
}

export async function findRequest(sql: Sql, organizationId: string, id: string): Promise<RequestRow | null> {
  const { rows } = await sql.query<RequestRow>({
    text: `SELECT ${columns} FROM api_requests r JOIN api_keys k ON k.id = r.key_id WHERE r.organization_id = $1 AND r.id = $2`,
    values: [organizationId, id],
  })
  return rows[0] ?? null
}

/** Deletes up to `max` requests of an organization from before this time, oldest first. Returns their number. */
export async function deleteRequestsOf(sql: Sql, organizationId: string, olderThan: Date, max: number): Promise<number> {
  const { rowCount } = await sql.query({
    text: `DELETE FROM api_requests WHERE organization_id = $1 AND id IN (SELECT id FROM api_requests WHERE organization_id = $1 AND id < $2
      ORDER BY id LIMIT $3)`,
    values: [organizationId, firstId('request', olderThan.getTime()), max],
  })
  return rowCount
}

/** Deletes up to `max` requests from before this time, the oldest of each organization first. Returns their number. */
export async function sweepRequests(sql: Sql, olderThan: Date, max: number): Promise<number> {
  const { rowCount } = await sql.query({
    text: `DELETE FROM api_requests WHERE (organization_id, id) IN (SELECT o.id, old.id FROM organizations o
      CROSS JOIN LATERAL (SELECT r.id FROM api_requests r WHERE r.organization_id = o.id AND r.id < $1 ORDER BY r.id LIMIT $2) AS old LIMIT $2)`,
    values: [firstId('request', olderThan.getTime()), max],
  })
  return rowCount
}

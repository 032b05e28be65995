// The SQL of the inspector: the latest requests of each tunnel.
import { before, type PageRequest } from '../../core/page.ts'
import type { Sql } from '../../core/sql.ts'
import type { HeaderPairs, RequestRecord, RequestRow } from './model.ts'

const columns = `id, tunnel_id, method, path, status, error, remote_address, request_bytes, response_bytes, duration_ms, replay_of, is_captured,
  request_headers, response_headers, request_body, response_body, is_request_body_whole, is_response_body_whole, created_at`

/** Requests of tunnels that have gone meanwhile are left out. */
export async function insertRequests(sql: Sql, records: RequestRecord[]): Promise<void> {
  await sql.query({
    text: `INSERT INTO tunnel_requests (${columns}, organization_id)
      SELECT r.id, r.tunnel_id, r.method, r.path, r.status, r.error, r.remote_address, r.request_bytes, r.response_bytes, r.duration_ms, r.replay_of,
        r.is_captured, r.request_headers::jsonb, r.response_headers::jsonb, r.request_body, r.response_body, r.is_request_body_whole,
        r.is_response_body_whole, r.created_at, t.organization_id
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::int[],
        $11::text[], $12::boolean[], $13::text[], $14::text[], $15::bytea[], $16::bytea[], $17::boolean[], $18::boolean[], $19::timestamptz[])
        AS r (id, tunnel_id, method, path, status, error, remote_address, request_bytes, response_bytes, duration_ms, replay_of, is_captured,
          request_headers, response_headers, request_body, response_body, is_request_body_whole, is_response_body_whole, created_at)
      JOIN tunnels t ON t.id = r.tunnel_id FOR KEY SHARE OF t`,
    values: [
      records.map((one) => one.id),
      records.map((one) => one.tunnelId),
      records.map((one) => one.method),
      records.map((one) => one.path),
      records.map((one) => one.status),
      records.map((one) => one.error),
      records.map((one) => one.remoteAddress),
      records.map((one) => one.requestBytes),
      records.map((one) => one.responseBytes),
      records.map((one) => one.durationMs),
      records.map((one) => one.replayOf),
      records.map((one) => one.captured !== null),
      records.map((one) => toJson(one.captured?.requestHeaders)),
      records.map((one) => toJson(one.captured?.responseHeaders)),
      records.map((one) => one.captured?.requestBody ?? null),
      records.map((one) => one.captured?.responseBody ?? null),
      records.map((one) => one.captured?.isRequestBodyWhole ?? false),
      records.map((one) => one.captured?.isResponseBodyWhole ?? false),
      records.map((one) => one.at),
    ],
  })
}

const toJson = (headers: HeaderPairs | null | undefined): string | null => (headers ? JSON.stringify(headers) : null)

/** Keeps the newest `keptMax` of each of these tunnels. */
export async function trimRequests(sql: Sql, tunnelIds: string[], keptMax: number): Promise<void> {
  await sql.query({
    name: 'trim-tunnel-requests',
    text: `DELETE FROM tunnel_requests r USING unnest($1::text[]) AS t (id)
      WHERE r.tunnel_id = t.id AND r.id < (SELECT k.id FROM tunnel_requests k WHERE k.tunnel_id = t.id ORDER BY k.id DESC OFFSET $2 LIMIT 1)`,
    values: [tunnelIds, keptMax - 1],
  })
}

export async function sweepRequests(sql: Sql, olderThan: Date): Promise<void> {
  await sql.query({ text: 'DELETE FROM tunnel_requests WHERE created_at < $1', values: [olderThan] })
}

export async function listRequests(sql: Sql, tunnelId: string, page: PageRequest): Promise<RequestRow[]> {
  const { rows } = await sql.query<RequestRow>({
    name: 'list-tunnel-requests',
    text: `SELECT ${columns} FROM tunnel_requests WHERE tunnel_id = $1 AND id < ${before('$2')} ORDER BY id DESC LIMIT $3`,
    values: [tunnelId, page.cursor, page.limit + 1],
  })
  return rows
}

export async function findRequest(sql: Sql, tunnelId: string, id: string): Promise<RequestRow | null> {
  const { rows } = await sql.query<RequestRow>({
    text: `SELECT ${columns} FROM tunnel_requests WHERE tunnel_id = $1 AND id = $2`,
    values: [tunnelId, id],
  })
  return rows[0] ?? null
}

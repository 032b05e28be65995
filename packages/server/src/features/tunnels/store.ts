// The SQL of tunnels: their rows as the API shows them and as gateways need them.
import type { TunnelCapture, TunnelStatus } from '@callsign/contract/tunnels'
import { before, type PageRequest } from '../../core/page.ts'
import type { Sql } from '../../core/sql.ts'
import type { TunnelRoute, TunnelRow } from './model.ts'

/** Clients of nodes that are alive. */
const columns = `t.id, t.organization_id, t.identity_id, i.agent_handle, t.status, t.capture, t.last_request_at, t.created_at, t.updated_at,
  (SELECT count(DISTINCT s.instance_id) FROM tunnel_sessions s JOIN gateway_nodes n ON n.id = s.node_id
    WHERE s.tunnel_id = t.id AND n.leased_until > now())::int AS connected_clients`
const tables = 'tunnels t JOIN identities i ON i.id = t.identity_id'

export async function listTunnels(
  sql: Sql,
  organizationId: string,
  filter: { identityIds: string[] | null; status: TunnelStatus | null },
  page: PageRequest,
): Promise<TunnelRow[]> {
  const { rows } = await sql.query<TunnelRow>({
    name: filter.status === null ? 'list-tunnels' : 'list-tunnels-by-status',
    text: `SELECT ${columns} FROM ${tables}
      WHERE t.organization_id = $1 AND ($2::text[] IS NULL OR t.identity_id = ANY($2)) AND ${filter.status === null ? '$3::text IS NULL' : 't.status = $3'}
        AND t.id < ${before('$4')} ORDER BY t.id DESC LIMIT $5`,
    values: [organizationId, filter.identityIds, filter.status, page.cursor, page.limit + 1],
  })
  return rows
}

/** By handle or tunnel id. */
export async function findTunnel(sql: Sql, organizationId: string, reference: string): Promise<TunnelRow | null> {
  const { rows } = await sql.query<TunnelRow>({
    name: 'find-tunnel',
    text: `SELECT ${columns} FROM ${tables} WHERE t.organization_id = $1 AND (i.agent_handle = $2 OR t.id = $2)`,
    values: [organizationId, reference],
  })
  return rows[0] ?? null
}

export async function updateTunnel(
  sql: Sql,
  id: string,
  change: { status: TunnelStatus | null; capture: TunnelCapture | null; at: Date },
): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: 'UPDATE tunnels SET status = coalesce($2, status), capture = coalesce($3, capture), updated_at = $4 WHERE id = $1',
    values: [id, change.status, change.capture, change.at],
  })
  return rowCount > 0
}

type RouteRow = { id: string; organization_id: string; agent_handle: string; status: TunnelStatus; capture: TunnelCapture }

const toRoute = (row: RouteRow): TunnelRoute => ({
  id: row.id,
  organizationId: row.organization_id,
  handle: row.agent_handle,
  status: row.status,
  capture: row.capture,
})
const routeColumns = 't.id, t.organization_id, i.agent_handle, t.status, t.capture'

/** Tunnels by handle, of any organization, for public requests. */
export async function findRoutesByHandle(sql: Sql, handles: string[]): Promise<Map<string, TunnelRoute>> {
  const { rows } = await sql.query<RouteRow>({
    name: 'find-routes-by-handle',
    text: `SELECT ${routeColumns} FROM ${tables} WHERE i.agent_handle = ANY($1)`,
    values: [handles],
  })
  return new Map(rows.map((row) => [row.agent_handle, toRoute(row)]))
}

/** Tunnels by id. Deleted ones are missing from the map. */
export async function findRoutes(sql: Sql, ids: string[]): Promise<Map<string, TunnelRoute>> {
  const { rows } = await sql.query<RouteRow>({
    name: 'find-routes',
    text: `SELECT ${routeColumns} FROM ${tables} WHERE t.id = ANY($1)`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, toRoute(row)]))
}

/** Locks the tunnel, so that connects and disconnects are serialized. Null when it is deleted. */
export async function lockTunnel(sql: Sql, id: string): Promise<{ status: TunnelStatus; identityId: string } | null> {
  const { rows } = await sql.query<{ status: TunnelStatus; identity_id: string }>({
    name: 'lock-tunnel',
    text: 'SELECT status, identity_id FROM tunnels WHERE id = $1 FOR UPDATE',
    values: [id],
  })
  return rows[0] ? { status: rows[0].status, identityId: rows[0].identity_id } : null
}

/** Notes when each tunnel was last asked, never going back. */
export async function touchTunnels(sql: Sql, touched: { id: string; at: Date }[]): Promise<void> {
  await sql.query({
    name: 'touch-tunnels',
    text: `UPDATE tunnels t SET last_request_at = greatest(t.last_request_at, u.at)
      FROM unnest($1::text[], $2::timestamptz[]) AS u (id, at) WHERE t.id = u.id`,
    values: [touched.map(({ id }) => id), touched.map(({ at }) => at)],
  })
}

// The SQL of gateway nodes and of the clients connected to them.
import type { Sql } from '../../core/sql.ts'
import type { OpenSession, RemoteSession } from './model.ts'

/** Takes or renews the lease of a node. True when it had none, so that its sessions must be written again. */
export async function leaseNode(
  sql: Sql,
  node: { id: string; address: string | null; isDraining: boolean; leaseMs: number },
): Promise<boolean> {
  const values = [node.id, node.address, node.isDraining, node.leaseMs]
  const renewed = await sql.query({
    name: 'renew-gateway-node',
    text: `UPDATE gateway_nodes SET address = $2, is_draining = $3, leased_until = now() + $4 * interval '1 millisecond' WHERE id = $1`,
    values,
  })
  if (renewed.rowCount > 0) return false
  await sql.query({
    text: `INSERT INTO gateway_nodes (id, address, is_draining, leased_until) VALUES ($1, $2, $3, now() + $4 * interval '1 millisecond')
      ON CONFLICT (id) DO NOTHING`,
    values,
  })
  return true
}

export async function removeNode(sql: Sql, id: string): Promise<void> {
  await sql.query({ text: 'DELETE FROM gateway_nodes WHERE id = $1', values: [id] })
}

/** Other nodes that are alive and stay. */
export async function countOtherNodes(sql: Sql, id: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>({
    text: 'SELECT count(*)::int AS count FROM gateway_nodes WHERE id <> $1 AND leased_until > now() AND NOT is_draining',
    values: [id],
  })
  return rows[0]?.count ?? 0
}

/** Deletes nodes with an expired lease and their sessions. Returns the tunnels of these sessions. */
export async function removeDeadNodes(sql: Sql): Promise<{ tunnelId: string; organizationId: string }[]> {
  const dead = await sql.query<{ id: string }>({
    name: 'find-dead-nodes',
    text: 'SELECT id FROM gateway_nodes WHERE leased_until < now() FOR UPDATE SKIP LOCKED',
  })
  if (dead.rowCount === 0) return []
  const ids = dead.rows.map(({ id }) => id)
  const { rows } = await sql.query<{ tunnel_id: string; organization_id: string }>({
    text: 'SELECT DISTINCT tunnel_id, organization_id FROM tunnel_sessions WHERE node_id = ANY($1) ORDER BY tunnel_id',
    values: [ids],
  })
  await sql.query({ text: 'DELETE FROM gateway_nodes WHERE id = ANY($1)', values: [ids] })
  return rows.map((row) => ({ tunnelId: row.tunnel_id, organizationId: row.organization_id }))
}

export async function insertSession(sql: Sql, nodeId: string, session: OpenSession): Promise<void> {
  await sql.query({
    name: 'insert-tunnel-session',
    text: `INSERT INTO tunnel_sessions (id, organization_id, tunnel_id, node_id, instance_id, key_id, host_header, target_scheme, connected_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING`,
    values: [
      session.id,
      session.organizationId,
      session.tunnelId,
      nodeId,
      session.instanceId,
      session.keyId,
      session.hostHeader,
      session.targetScheme,
      session.connectedAt,
    ],
  })
}

export async function deleteSession(sql: Sql, id: string): Promise<void> {
  await sql.query({ name: 'delete-tunnel-session', text: 'DELETE FROM tunnel_sessions WHERE id = $1', values: [id] })
}

/** Distinct clients of a tunnel on nodes that are alive. */
export async function countClients(sql: Sql, tunnelId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>({
    name: 'count-tunnel-clients',
    text: `SELECT count(DISTINCT s.instance_id)::int AS count FROM tunnel_sessions s JOIN gateway_nodes n ON n.id = s.node_id
      WHERE s.tunnel_id = $1 AND n.leased_until > now()`,
    values: [tunnelId],
  })
  return rows[0]?.count ?? 0
}

/** Sessions of these tunnels on other live nodes that take requests, by tunnel. */
export async function findRemoteSessions(sql: Sql, nodeId: string, tunnelIds: string[]): Promise<Map<string, RemoteSession[]>> {
  const { rows } = await sql.query<{
    id: string
    tunnel_id: string
    node_id: string
    address: string
    host_header: string | null
    target_scheme: 'http' | 'https'
    is_draining: boolean
  }>({
    name: 'find-remote-sessions',
    text: `SELECT s.id, s.tunnel_id, s.node_id, n.address, s.host_header, s.target_scheme, n.is_draining
      FROM tunnel_sessions s JOIN gateway_nodes n ON n.id = s.node_id
      WHERE s.tunnel_id = ANY($1) AND n.leased_until > now() AND n.address IS NOT NULL AND n.id <> $2`,
    values: [tunnelIds, nodeId],
  })
  const found = new Map<string, RemoteSession[]>()
  for (const row of rows) {
    const list = found.get(row.tunnel_id) ?? []
    found.set(row.tunnel_id, list)
    const { id, address } = row
    list.push({
      id,
      tunnelId: row.tunnel_id,
      nodeId: row.node_id,
      address,
      hostHeader: row.host_header,
      targetScheme: row.target_scheme,
      isDraining: row.is_draining,
    })
  }
  return found
}

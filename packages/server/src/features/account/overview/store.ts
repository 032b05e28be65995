// The SQL of the overview. Every count reads an index and stops at a limit, so that its cost does not grow with the data.
import type { Sql } from '../../../core/sql.ts'
import type { Channel, FirstSteps, FolderCounts, Waiting } from './model.ts'

/** Counts stop here. The console shows the number with a plus. */
const waitingMax = 1000
const trafficMax = 100_000

/** One organization, or one agent of it. */
export type Scope = { organizationId: string; agentHandle: string | null }

export async function countWaiting(sql: Sql, { organizationId, agentHandle }: Scope, expiresBefore: Date): Promise<Waiting> {
  const { rows } = await sql.query<Waiting>({
    name: 'overview-waiting',
    text: `SELECT
      (SELECT count(*)::int FROM (SELECT 1 FROM drafts d JOIN mailboxes b ON b.id = d.mailbox_id JOIN identities i ON i.id = b.identity_id
        WHERE d.organization_id = $1 AND d.approval_status = 'requested'
          AND ($2::text IS NULL OR i.agent_handle = $2) LIMIT ${waitingMax}) one) AS drafts,
      (SELECT count(*)::int FROM (SELECT 1 FROM mailboxes b JOIN identities i ON i.id = b.identity_id
        JOIN messages m ON m.mailbox_id = b.id AND m.is_quarantined
        WHERE b.organization_id = $1 AND ($2::text IS NULL OR i.agent_handle = $2) LIMIT ${waitingMax}) one) AS quarantine,
      (SELECT count(*)::int FROM (SELECT 1 FROM webhooks WHERE organization_id = $1 AND deleted_at IS NULL AND $2::text IS NULL
        AND (status = 'disabled' OR failing_since IS NOT NULL) LIMIT ${waitingMax}) one) AS webhooks_failing,
      (SELECT count(*)::int FROM (SELECT 1 FROM domains WHERE organization_id = $1 AND $2::text IS NULL
        AND (status <> 'verified' OR failing_since IS NOT NULL) LIMIT ${waitingMax}) one) AS domains_unverified,
      (SELECT count(*)::int FROM (SELECT 1 FROM api_keys WHERE organization_id = $1 AND $2::text IS NULL AND revoked_at IS NULL
        AND expires_at > now() AND expires_at < $3 LIMIT ${waitingMax}) one) AS keys_expiring`,
    values: [organizationId, agentHandle, expiresBefore],
  })
  return rows[0] as Waiting
}

/** The organization, or one mailbox of it. */
export async function countFolders(sql: Sql, { organizationId, agentHandle }: Scope): Promise<FolderCounts> {
  const owner = agentHandle === null ? 'organization_id = $1' : 'mailbox_id = (SELECT id FROM mailbox)'
  const unread = (folder: string) => `SELECT count(*)::int FROM (SELECT 1 FROM threads
    WHERE ${owner} AND folder = '${folder}' AND is_unread AND message_count > 0 LIMIT ${waitingMax}) one`
  const drafts = (more: string) => `SELECT count(*)::int FROM (SELECT 1 FROM drafts WHERE ${owner}${more} LIMIT ${waitingMax}) one`
  const { rows } = await sql.query<FolderCounts>({
    name: `overview-folders-${agentHandle === null ? 'organization' : 'mailbox'}`,
    text: `WITH mailbox AS (SELECT b.id FROM mailboxes b JOIN identities i ON i.id = b.identity_id
        WHERE b.organization_id = $1 AND i.agent_handle = $2::text)
      SELECT (${unread('inbox')}) AS inbox, (${unread('spam')}) AS spam, (${drafts('')}) AS drafts,
        (${drafts(' AND send_at IS NOT NULL AND thread_id IS NOT NULL')}) AS scheduled`,
    values: [organizationId, agentHandle],
  })
  return rows[0] as FolderCounts
}

/**
 * Threads of sent mail alone are in the folder sent, so one in the inbox has an arrived message. A key with which a person signs in to the
 * console in a browser is not a client.
 */
export async function readFirstSteps(sql: Sql, organizationId: string, userId: string | null): Promise<FirstSteps> {
  const { rows } = await sql.query<FirstSteps>({
    name: 'overview-first-steps',
    text: `SELECT EXISTS (SELECT 1 FROM identities WHERE organization_id = $1) AS agent,
      EXISTS (SELECT 1 FROM threads WHERE organization_id = $1 AND folder = 'inbox' AND message_count > 0) AS arrived,
      EXISTS (SELECT 1 FROM api_keys WHERE organization_id = $1 AND last_used_at IS NOT NULL
        AND COALESCE(last_used_user_agent, '') NOT LIKE 'Mozilla/%') AS client,
      (SELECT (u.password_hash IS NOT NULL AND u.email IS NOT NULL) OR u.oidc_subject IS NOT NULL
        OR EXISTS (SELECT 1 FROM console_passkeys p WHERE p.user_id = u.id)
        FROM users u WHERE u.organization_id = $1 AND u.id = $2::text) AS sign_in`,
    values: [organizationId, userId],
  })
  return rows[0] as FirstSteps
}

/** Objects of events by type from the id on, of the newest events. A message to several servers is sent once and has several events. */
export async function countEvents(
  sql: Sql,
  { organizationId, agentHandle }: Scope,
  fromId: string,
): Promise<{ type: string; count: number }[]> {
  const { rows } = await sql.query<{ type: string; count: number }>({
    name: 'overview-events',
    text: `SELECT type, count(DISTINCT subject)::int AS count FROM (
        SELECT e.type, COALESCE(e.subject_id, e.id) AS subject FROM events e LEFT JOIN identities i ON i.id = e.identity_id
        WHERE e.organization_id = $1 AND e.id >= $3 AND ($2::text IS NULL OR i.agent_handle = $2)
        ORDER BY e.id DESC LIMIT ${trafficMax}) one GROUP BY type`,
    values: [organizationId, agentHandle, fromId],
  })
  return rows
}

/** Public requests to tunnels. Those without a response and with a 5xx failed, unless no client was connected to serve them. */
export async function countTunnelRequests(
  sql: Sql,
  { organizationId, agentHandle }: Scope,
  fromId: string,
): Promise<Omit<Channel, 'channel'>> {
  const { rows } = await sql.query<{ in: number; failed: number; no_client: number }>({
    name: 'overview-tunnels',
    text: `SELECT count(*)::int AS in, (count(*) FILTER (WHERE error = 'tunnel_offline'))::int AS no_client,
        (count(*) FILTER (WHERE (status IS NULL OR status >= 500) AND error IS DISTINCT FROM 'tunnel_offline'))::int AS failed FROM (
        SELECT r.status, r.error FROM tunnels t JOIN identities i ON i.id = t.identity_id JOIN tunnel_requests r ON r.tunnel_id = t.id AND r.id >= $3
        WHERE t.organization_id = $1 AND ($2::text IS NULL OR i.agent_handle = $2) LIMIT ${trafficMax}) one`,
    values: [organizationId, agentHandle, fromId],
  })
  return { in: rows[0]?.in ?? 0, out: 0, failed: rows[0]?.failed ?? 0, no_client: rows[0]?.no_client ?? 0 }
}

/** The latest deliveries of each webhook. */
export async function countDeliveries(sql: Sql, organizationId: string, after: Date): Promise<Omit<Channel, 'channel'>> {
  const { rows } = await sql.query<{ out: number; failed: number }>({
    name: 'overview-deliveries',
    text: `SELECT (count(*) FILTER (WHERE d.status = 'delivered'))::int AS out, (count(*) FILTER (WHERE d.status = 'failed'))::int AS failed
      FROM webhooks w CROSS JOIN LATERAL (
        SELECT status, created_at FROM webhook_deliveries WHERE webhook_id = w.id ORDER BY id DESC LIMIT ${waitingMax}) d
      WHERE w.organization_id = $1 AND w.deleted_at IS NULL AND d.created_at > $2`,
    values: [organizationId, after],
  })
  return { in: 0, out: rows[0]?.out ?? 0, failed: rows[0]?.failed ?? 0 }
}

/** Unlocks of the vault, from the audit log. */
export async function countUnlocks(sql: Sql, organizationId: string, fromId: string): Promise<Omit<Channel, 'channel'>> {
  const { rows } = await sql.query<{ in: number; failed: number }>({
    name: 'overview-unlocks',
    text: `SELECT (count(*) FILTER (WHERE action = 'vault.unlocked'))::int AS in,
        (count(*) FILTER (WHERE action = 'vault.unlock_failed'))::int AS failed
      FROM (SELECT action FROM audit_log WHERE organization_id = $1 AND id >= $2 ORDER BY id DESC LIMIT ${trafficMax}) one`,
    values: [organizationId, fromId],
  })
  return { in: rows[0]?.in ?? 0, out: 0, failed: rows[0]?.failed ?? 0 }
}

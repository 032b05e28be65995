// The SQL of subscriptions.
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql, Tx } from '../../../core/sql.ts'
import { type Subscription, secretOverlapMs, type WebhookAgent, type WebhookRow } from './model.ts'

const columns = `w.id, w.organization_id, w.url, w.event_types, w.header_names, w.is_url_of_approver, w.format, w.description, w.status, w.disabled_reason, w.failing_since, w.client_id,
  w.created_at, w.updated_at, (SELECT max(until) FROM unnest(w.old_secrets_until) AS until WHERE until > now()) AS old_secret_expires_at,
  ARRAY(SELECT a.agent_handle FROM webhook_agents a WHERE a.webhook_id = w.id ORDER BY a.agent_handle) AS agent_handles`

/** Limit of retired secrets that still sign. The oldest is dropped first. */
const oldSecretsMax = 5

export type NewWebhook = Omit<WebhookRow, 'disabled_reason' | 'failing_since' | 'old_secret_expires_at' | 'updated_at'> & {
  secret: Buffer
  headers: Buffer | null
}

/** Inserts a webhook. False when the organization has `countMax` already. */
export async function insertWebhook(tx: Tx, row: NewWebhook, countMax: number): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `INSERT INTO webhooks (id, organization_id, url, event_types, header_names, headers, description, status, secret, created_at, updated_at, client_id, format, is_url_of_approver)
      SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $12, $13, $14
      WHERE (SELECT count(*) FROM webhooks WHERE organization_id = $2 AND deleted_at IS NULL) < $11`,
    values: [
      row.id,
      row.organization_id,
      row.url,
      row.event_types,
      row.header_names,
      row.headers,
      row.description,
      row.status,
      row.secret,
      row.created_at,
      countMax,
      row.client_id,
      row.format,
      row.is_url_of_approver,
    ],
  })
  return rowCount === 1
}

/** Replaces the agents of a webhook. */
export async function setAgents(tx: Tx, organizationId: string, webhookId: string, agents: WebhookAgent[]): Promise<void> {
  await tx.query({ text: 'DELETE FROM webhook_agents WHERE webhook_id = $1', values: [webhookId] })
  await tx.query({
    text: `INSERT INTO webhook_agents (organization_id, webhook_id, agent_handle, identity_id)
      SELECT $1, $2, handle, identity_id FROM unnest($3::text[], $4::text[]) AS n (handle, identity_id)`,
    values: [organizationId, webhookId, agents.map((agent) => agent.handle), agents.map((agent) => agent.identityId)],
  })
  await tx.query({
    text: 'UPDATE webhooks SET identity_ids = $2 WHERE id = $1',
    values: [webhookId, agents.map((agent) => agent.identityId)],
  })
}

export async function listWebhooks(sql: Sql, organizationId: string, page: PageRequest): Promise<WebhookRow[]> {
  const { rows } = await sql.query<WebhookRow>({
    name: 'list-webhooks',
    text: `SELECT ${columns} FROM webhooks w
      WHERE w.organization_id = $1 AND w.deleted_at IS NULL AND w.id < ${before('$2')} ORDER BY w.id DESC LIMIT $3`,
    values: [organizationId, page.cursor, page.limit + 1],
  })
  return rows
}

export async function findWebhook(sql: Sql, organizationId: string, id: string): Promise<WebhookRow | null> {
  const { rows } = await sql.query<WebhookRow>({
    name: 'find-webhook',
    text: `SELECT ${columns} FROM webhooks w WHERE w.organization_id = $1 AND w.id = $2 AND w.deleted_at IS NULL`,
    values: [organizationId, id],
  })
  return rows[0] ?? null
}

export async function findWebhookByClientId(sql: Sql, organizationId: string, clientId: string): Promise<WebhookRow | null> {
  const { rows } = await sql.query<WebhookRow>({
    text: `SELECT ${columns} FROM webhooks w WHERE w.organization_id = $1 AND w.client_id = $2 AND w.deleted_at IS NULL`,
    values: [organizationId, clientId],
  })
  return rows[0] ?? null
}

/** The webhook with a lock on its row, so that its change is judged by its state before. */
export async function lockWebhook(tx: Tx, organizationId: string, id: string): Promise<WebhookRow | null> {
  await tx.query({ text: 'SELECT 1 FROM webhooks WHERE organization_id = $1 AND id = $2 FOR UPDATE', values: [organizationId, id] })
  return findWebhook(tx, organizationId, id)
}

export type WebhookChange = {
  url: string | null
  /** Null together with `url`. */
  isUrlOfApprover: boolean | null
  eventTypes: string[] | null
  /** The agents whose events it receives: null keeps them, an empty list stands for all. */
  agents: WebhookAgent[] | null
  /** Custom headers: null keeps them. */
  headers: { names: string[]; sealed: Buffer | null } | null
  hasDescription: boolean
  description: string | null
  status: 'active' | 'paused' | null
  at: Date
}

/** Updates a webhook that `lockWebhook` found. A new status clears `disabled_reason` and `failing_since`. */
export async function updateWebhook(tx: Tx, organizationId: string, id: string, change: WebhookChange): Promise<WebhookRow> {
  // The agents are read again by the statement below, so they change first.
  if (change.agents !== null) await setAgents(tx, organizationId, id, change.agents)
  const { rows } = await tx.query<WebhookRow>({
    text: `UPDATE webhooks w SET url = coalesce($3, url), is_url_of_approver = coalesce($11, is_url_of_approver), event_types = coalesce($4, event_types),
        header_names = coalesce($5, header_names), headers = CASE WHEN $5::text[] IS NULL THEN headers ELSE $6 END,
        description = CASE WHEN $7 THEN $8 ELSE description END, status = coalesce($9, status),
        disabled_reason = CASE WHEN $9::text IS NULL THEN disabled_reason END, failing_since = CASE WHEN $9::text IS NULL THEN failing_since END,
        updated_at = $10
      WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING ${columns}`,
    values: [
      organizationId,
      id,
      change.url,
      change.eventTypes,
      change.headers?.names ?? null,
      change.headers?.sealed ?? null,
      change.hasDescription,
      change.description,
      change.status,
      change.at,
      change.isUrlOfApprover,
    ],
  })
  return rows[0] as WebhookRow
}

/** Marks a webhook as deleted and erases its secrets. `isNew` is false when it was deleted before. Null when it does not exist. */
export async function deleteWebhook(sql: Sql, organizationId: string, id: string, at: Date): Promise<{ isNew: boolean } | null> {
  const { rows } = await sql.query<{ is_new: boolean }>({
    text: `WITH before AS (SELECT id, deleted_at FROM webhooks WHERE organization_id = $1 AND id = $2 FOR UPDATE)
      UPDATE webhooks w SET deleted_at = coalesce(w.deleted_at, $3), secret = '', headers = NULL, header_names = '{}', old_secrets = '{}', old_secrets_until = '{}', updated_at = $3
      FROM before WHERE w.id = before.id RETURNING before.deleted_at IS NULL AS is_new`,
    values: [organizationId, id, at],
  })
  return rows[0] ? { isNew: rows[0].is_new } : null
}

/** Replaces the secret. The old one still signs for `secretOverlapMs`. Null when the webhook does not exist. */
export async function rotateSecret(sql: Sql, organizationId: string, id: string, secret: Buffer, at: Date): Promise<WebhookRow | null> {
  const { rows } = await sql.query<WebhookRow>({
    text: `UPDATE webhooks w SET secret = $3, updated_at = $4,
        old_secrets = (ARRAY[w.secret] || w.old_secrets)[1:${oldSecretsMax}],
        old_secrets_until = (ARRAY[now() + $5 * interval '1 millisecond'] || w.old_secrets_until)[1:${oldSecretsMax}]
      WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING ${columns}`,
    values: [organizationId, id, secret, at, secretOverlapMs],
  })
  return rows[0] ?? null
}

/** The part of a webhook that delivery needs. `secrets` are the sealed ones in force, newest first. */
export type EndpointRow = Subscription & {
  id: string
  organization_id: string
  url: string
  is_url_of_approver: boolean
  secrets: Buffer[]
  /** Sealed custom headers. */
  headers: Buffer | null
  failing_since: Date | null
}

export async function findEndpoints(sql: Sql, ids: string[]): Promise<Map<string, EndpointRow>> {
  const { rows } = await sql.query<EndpointRow>({
    name: 'find-endpoints',
    text: `SELECT id, organization_id, event_types, identity_ids, url, is_url_of_approver, format, headers, failing_since,
        ARRAY[secret] || ARRAY(SELECT old FROM unnest(old_secrets, old_secrets_until) AS o (old, until) WHERE until > now()) AS secrets
      FROM webhooks WHERE id = ANY($1) AND deleted_at IS NULL`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Ends the failing state after a success. */
export async function clearFailing(sql: Sql, ids: string[]): Promise<void> {
  await sql.query({ text: 'UPDATE webhooks SET failing_since = NULL WHERE id = ANY($1) AND failing_since IS NOT NULL', values: [ids] })
}

export async function startFailing(sql: Sql, ids: string[]): Promise<void> {
  await sql.query({ text: 'UPDATE webhooks SET failing_since = now() WHERE id = ANY($1) AND failing_since IS NULL', values: [ids] })
}

/** Disables an active webhook, with `failingLongerThanMs` only one that has failed for longer. False when nothing changed. */
export async function disableWebhook(sql: Sql, id: string, reason: string, failingLongerThanMs: number | null): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `UPDATE webhooks SET status = 'disabled', disabled_reason = $2, updated_at = now()
      WHERE id = $1 AND status = 'active' AND deleted_at IS NULL AND ($3::float8 IS NULL OR failing_since < now() - $3 * interval '1 millisecond')`,
    values: [id, reason, failingLongerThanMs],
  })
  return rowCount === 1
}

// The SQL of identities, mailboxes and the handles that stay reserved.
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql } from '../../../core/sql.ts'
import type { LimitSettings } from '../organizations/model.ts'
import { takeAddress } from './address-store.ts'
import type { DraftApproval, IdentityRetention, IdentityRow, MailboxOwner, MailboxRow, MailMode, OutboundGuardMode } from './model.ts'

export type NewIdentity = {
  id: string
  organizationId: string
  handle: string
  displayName: string
  description: string | null
  mailboxId: string
  clientId: string | null
  addressId: string
  address: string
  domainId: string | null
  tunnelId: string
  draftApproval: DraftApproval
  inboundMode: MailMode
  outboundMode: MailMode
  at: Date
}

/**
 * Inserts handle, identity, address, mailbox and tunnel in one statement. Violates `handles_pkey` when the handle was ever taken, and
 * `mailboxes_primary_address` when the address is taken.
 */
export async function insertIdentity(sql: Sql, row: NewIdentity): Promise<void> {
  await sql.query({
    name: 'insert-identity',
    text: `WITH handle AS (INSERT INTO handles (handle, organization_id, created_at) VALUES ($3, $2, $9)),
      identity AS (INSERT INTO identities (id, organization_id, agent_handle, display_name, description, draft_approval, inbound_mode, outbound_mode,
          client_id, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $10, $12, $13, $15, $9, $9)),
      address AS (INSERT INTO addresses AS a (id, organization_id, identity_id, address, domain_id, created_at)
        VALUES ($14, $2, $1, $7, $11, $9) ${takeAddress}),
      mailbox AS (INSERT INTO mailboxes (id, organization_id, identity_id, address, created_at, updated_at)
        VALUES ($6, $2, $1, $7, $9, $9))
      INSERT INTO tunnels (id, organization_id, identity_id, created_at, updated_at) VALUES ($8, $2, $1, $9, $9)`,
    values: [
      row.id,
      row.organizationId,
      row.handle,
      row.displayName,
      row.description,
      row.mailboxId,
      row.address,
      row.tunnelId,
      row.at,
      row.draftApproval,
      row.domainId,
      row.inboundMode,
      row.outboundMode,
      row.addressId,
      row.clientId,
    ],
  })
}

export const identityColumns = `i.id, i.organization_id, i.agent_handle, i.display_name, i.description, i.instructions, b.id AS mailbox_id, b.address, p.domain_id,
  ARRAY(SELECT a.address FROM addresses a WHERE a.identity_id = i.id ORDER BY a.address <> b.address, a.id) AS addresses,
  t.id AS tunnel_id, t.status AS tunnel_status, i.draft_approval, i.inbound_mode, i.outbound_mode, i.sending_limits,
  i.outbound_guard, i.outbound_guard_patterns, i.wake_events, i.wake_window_seconds,
  i.storage_quota_bytes::float8 AS storage_quota_bytes, i.retention, i.client_id, i.metadata, i.created_at, i.updated_at`
export const identityTables = `identities i JOIN mailboxes b ON b.identity_id = i.id JOIN tunnels t ON t.identity_id = i.id
  JOIN addresses p ON p.identity_id = i.id AND p.address = b.address`

/** By handle or identity id. */
export async function findIdentity(sql: Sql, organizationId: string, reference: string): Promise<IdentityRow | null> {
  const { rows } = await sql.query<IdentityRow>({
    name: 'find-identity',
    text: `SELECT ${identityColumns} FROM ${identityTables} WHERE i.organization_id = $1 AND (i.agent_handle = $2 OR i.id = $2)`,
    values: [organizationId, reference],
  })
  return rows[0] ?? null
}

export async function findIdentityByClientId(sql: Sql, organizationId: string, clientId: string): Promise<IdentityRow | null> {
  const { rows } = await sql.query<IdentityRow>({
    text: `SELECT ${identityColumns} FROM ${identityTables} WHERE i.organization_id = $1 AND i.client_id = $2`,
    values: [organizationId, clientId],
  })
  return rows[0] ?? null
}

export async function listIdentities(
  sql: Sql,
  organizationId: string,
  identityIds: string[] | null,
  page: PageRequest,
): Promise<IdentityRow[]> {
  const { rows } = await sql.query<IdentityRow>({
    name: 'list-identities',
    text: `SELECT ${identityColumns} FROM ${identityTables}
      WHERE i.organization_id = $1 AND ($2::text[] IS NULL OR i.id = ANY($2)) AND i.id < ${before('$3')} ORDER BY i.id DESC LIMIT $4`,
    values: [organizationId, identityIds, page.cursor, page.limit + 1],
  })
  return rows
}

/** Sets the instructions of an identity. */
export async function setInstructions(sql: Sql, id: string, instructions: string | null): Promise<void> {
  await sql.query({ text: 'UPDATE identities SET instructions = $2 WHERE id = $1', values: [id, instructions] })
}

export async function updateIdentity(
  sql: Sql,
  id: string,
  change: {
    displayName: string | null
    hasDescription: boolean
    description: string | null
    draftApproval: DraftApproval | null
    inboundMode: MailMode | null
    outboundMode: MailMode | null
    sendingLimits: LimitSettings
    outboundGuard: OutboundGuardMode | null
    outboundGuardPatterns: string[] | null
    /** Undefined leaves it unchanged. */
    wakeLimit: { events: number; windowSeconds: number } | null | undefined
    /** Undefined leaves it unchanged. */
    storageQuotaBytes: number | null | undefined
    retention: IdentityRetention
    at: Date
  },
): Promise<void> {
  await sql.query({
    text: `UPDATE identities SET display_name = coalesce($2, display_name),
      description = CASE WHEN $3 THEN $4 ELSE description END, draft_approval = coalesce($6, draft_approval),
      inbound_mode = coalesce($7, inbound_mode), outbound_mode = coalesce($8, outbound_mode), sending_limits = sending_limits || $9,
      outbound_guard = coalesce($10, outbound_guard), outbound_guard_patterns = coalesce($11, outbound_guard_patterns),
      wake_events = CASE WHEN $12 THEN $13 ELSE wake_events END, wake_window_seconds = CASE WHEN $12 THEN $14 ELSE wake_window_seconds END,
      storage_quota_bytes = CASE WHEN $15 THEN $16 ELSE storage_quota_bytes END, retention = retention || $17, updated_at = $5 WHERE id = $1`,
    values: [
      id,
      change.displayName,
      change.hasDescription,
      change.description,
      change.at,
      change.draftApproval,
      change.inboundMode,
      change.outboundMode,
      JSON.stringify(change.sendingLimits),
      change.outboundGuard,
      change.outboundGuardPatterns,
      change.wakeLimit !== undefined,
      change.wakeLimit?.events ?? null,
      change.wakeLimit?.windowSeconds ?? null,
      change.storageQuotaBytes !== undefined,
      change.storageQuotaBytes ?? null,
      JSON.stringify(change.retention),
    ],
  })
}

/** Locks a mailbox against mail that is being filed in it, until the transaction ends. */
export async function lockMailbox(sql: Sql, mailboxId: string): Promise<void> {
  await sql.query({ text: 'SELECT 1 FROM mailboxes WHERE id = $1 FOR UPDATE', values: [mailboxId] })
}

/** Deletes the identity. Its mailbox, tunnel and agent keys are deleted by their foreign keys. */
/** Deletes an identity, with the keys that have no other agent. */
export async function deleteIdentity(sql: Sql, organizationId: string, id: string): Promise<void> {
  await sql.query({
    text: `DELETE FROM api_keys k USING api_key_agents a WHERE a.organization_id = $1 AND a.identity_id = $2 AND k.id = a.key_id
      AND NOT EXISTS (SELECT 1 FROM api_key_agents other WHERE other.key_id = k.id AND other.identity_id <> $2)`,
    values: [organizationId, id],
  })
  await sql.query({ text: 'DELETE FROM identities WHERE organization_id = $1 AND id = $2', values: [organizationId, id] })
}

type OwnerRow = {
  mailbox_id: string
  organization_id: string
  identity_id: string
  agent_handle: string
  display_name: string
  address: string
  is_reachable: boolean
  draft_approval: DraftApproval
  inbound_mode: MailMode
  outbound_mode: MailMode
  identity_limits: LimitSettings
  key_limits: LimitSettings
  organization_limits: LimitSettings
  is_paused: boolean
  outbound_guard: OutboundGuardMode
  outbound_guard_patterns: string[]
  wake_events: number | null
  wake_window_seconds: number | null
  has_quota: boolean
}

const toOwner = (row: OwnerRow): MailboxOwner => ({
  mailboxId: row.mailbox_id,
  organizationId: row.organization_id,
  identityId: row.identity_id,
  handle: row.agent_handle,
  displayName: row.display_name,
  address: row.address,
  isReachable: row.is_reachable,
  draftApproval: row.draft_approval,
  inboundMode: row.inbound_mode,
  outboundMode: row.outbound_mode,
  limits: { identity: row.identity_limits, key: row.key_limits, organization: row.organization_limits },
  isPaused: row.is_paused,
  wakeLimit: row.wake_events === null ? null : { events: row.wake_events, windowSeconds: row.wake_window_seconds as number },
  outboundGuard: { mode: row.outbound_guard, patterns: row.outbound_guard_patterns },
  hasQuota: row.has_quota,
})

const ownerColumns = `b.id AS mailbox_id, b.organization_id, b.identity_id, i.agent_handle, i.display_name, b.address,
  coalesce(d.holds_name, true) AS is_reachable, i.draft_approval,
  CASE WHEN o.inbound_mode = 'allowlist' THEN o.inbound_mode ELSE i.inbound_mode END AS inbound_mode,
  CASE WHEN o.outbound_mode = 'allowlist' THEN o.outbound_mode ELSE i.outbound_mode END AS outbound_mode,
  i.sending_limits AS identity_limits, i.outbound_guard, i.outbound_guard_patterns, i.wake_events, i.wake_window_seconds,
  o.key_sending_limits AS key_limits, o.sending_limits AS organization_limits, o.paused_at IS NOT NULL AS is_paused,
  i.storage_quota_bytes IS NOT NULL OR o.storage_quota_bytes IS NOT NULL AS has_quota`
const ownerTables = `addresses a JOIN identities i ON i.id = a.identity_id JOIN mailboxes b ON b.identity_id = a.identity_id
  JOIN organizations o ON o.id = a.organization_id LEFT JOIN domains d ON d.id = a.domain_id`

/**
 * Mailboxes by any of their addresses, of any organization: where mail arrives. Two organizations may have addresses of one name, and at most
 * one of these owners is reachable.
 */
export async function findOwnersByAddress(sql: Sql, addresses: string[]): Promise<Map<string, MailboxOwner[]>> {
  const { rows } = await sql.query<OwnerRow & { asked: string }>({
    name: 'find-owners-by-address',
    text: `SELECT ${ownerColumns}, a.address AS asked FROM ${ownerTables} WHERE a.address = ANY($1)`,
    values: [addresses],
  })
  return new Map([...Map.groupBy(rows, (row) => row.asked)].map(([asked, found]) => [asked, found.map(toOwner)]))
}

/** Mailboxes by handle, of any organization: handles are unique over all of them. */
export async function findOwnersByHandle(sql: Sql, handles: string[]): Promise<Map<string, MailboxOwner>> {
  const { rows } = await sql.query<OwnerRow>({
    name: 'find-owners-by-handle',
    text: `SELECT ${ownerColumns} FROM ${ownerTables} WHERE i.agent_handle = ANY($1) AND a.address = b.address`,
    values: [handles],
  })
  return new Map(rows.map((row) => [row.agent_handle, toOwner(row)]))
}

/** The owner of one mailbox. */
export async function findOwner(sql: Sql, mailboxId: string): Promise<MailboxOwner | null> {
  const { rows } = await sql.query<OwnerRow>({
    name: 'find-owner',
    text: `SELECT ${ownerColumns} FROM ${ownerTables} WHERE b.id = $1 AND a.address = b.address`,
    values: [mailboxId],
  })
  return rows[0] ? toOwner(rows[0]) : null
}

const mailboxColumns = 'b.id, b.organization_id, b.identity_id, i.agent_handle, i.display_name, b.address, b.created_at, b.updated_at'

export async function listMailboxes(
  sql: Sql,
  organizationId: string,
  mailboxIds: string[] | null,
  page: PageRequest,
): Promise<MailboxRow[]> {
  const { rows } = await sql.query<MailboxRow>({
    name: 'list-mailboxes',
    text: `SELECT ${mailboxColumns} FROM mailboxes b JOIN identities i ON i.id = b.identity_id
      WHERE b.organization_id = $1 AND ($2::text[] IS NULL OR b.id = ANY($2)) AND b.id < ${before('$3')} ORDER BY b.id DESC LIMIT $4`,
    values: [organizationId, mailboxIds, page.cursor, page.limit + 1],
  })
  return rows
}

export async function getMailbox(sql: Sql, mailboxId: string): Promise<MailboxRow | null> {
  const { rows } = await sql.query<MailboxRow>({
    name: 'get-mailbox',
    text: `SELECT ${mailboxColumns} FROM mailboxes b JOIN identities i ON i.id = b.identity_id WHERE b.id = $1`,
    values: [mailboxId],
  })
  return rows[0] ?? null
}

// Audit log entries, and the limits for sending.
import { type SendingLimitName, type SendingLimits, sendingLimitNames } from '@callsign/contract/sending-limits'

/** Actions that are recorded. The log is append-only. */
export type AuditAction =
  | 'organization.created'
  | 'organization.paused'
  | 'organization.resumed'
  | 'organization.limits_changed'
  | 'organization.modes_changed'
  | 'organization.storage_changed'
  | 'retention.applied'
  | 'session.started'
  | 'session.failed'
  | 'session.throttled'
  | 'session.ended'
  | 'console_link.created'
  | 'member.created'
  | 'member.updated'
  | 'member.deleted'
  | 'member.password_set'
  | 'passkey.added'
  | 'passkey.deleted'
  | 'key.created'
  | 'key.updated'
  | 'key.revoked'
  | 'address.created'
  | 'address.primary_set'
  | 'address.deleted'
  | 'identity.created'
  | 'identity.updated'
  | 'identity.deleted'
  | 'identity.modes_changed'
  | 'identity.limits_changed'
  | 'identity.storage_changed'
  | 'identity.guard_changed'
  | 'identity.moved'
  | 'mail_rule.created'
  | 'mail_rule.updated'
  | 'mail_rule.deleted'
  | 'message.released'
  | 'message.shared'
  | 'message.share_revoked'
  | 'draft.approved'
  | 'draft.rejected'
  | 'draft.approval_link_created'
  | 'draft.approval_link_revoked'
  | 'phone_number.provisioned'
  | 'phone_number.released'
  | 'suppression.created'
  | 'suppression.deleted'
  | 'template.created'
  | 'template.updated'
  | 'template.published'
  | 'template.deleted'
  | 'domain.created'
  | 'domain.verified'
  | 'domain.failed'
  | 'domain.default_set'
  | 'domain.deleted'
  | 'webhook.created'
  | 'tunnel.updated'
  | 'webhook.updated'
  | 'webhook.deleted'
  | 'webhook.secret_rotated'
  | 'webhook.disabled'
  | 'vault.initialized'
  | 'vault.unlocked'
  | 'vault.unlock_failed'
  | 'vault.secret_created'
  | 'vault.secret_updated'
  | 'vault.secret_deleted'
  | 'vault.access_granted'
  | 'vault.access_revoked'
  | 'vault.primary_key_replaced'
  | 'vault.key_deleted'
  | 'vault.rotated'

/** A key, a member or an approval link acting on a request, the operator of the host through callsignd, or a failed sign-in. */
export type Actor =
  | { type: 'key' | 'member' | 'link'; id: string; requestId: string }
  | { type: 'anonymous'; requestId: string }
  | { type: 'host' }

export type AuditRow = {
  id: string
  organization_id: string
  action: string
  actor_type: 'key' | 'host' | 'member' | 'anonymous' | 'link'
  actor_id: string | null
  target_id: string | null
  details: Record<string, unknown>
  request_id: string | null
  created_at: Date
}

export type ListedAudit = AuditRow & { actor_name: string | null }

/** Own limits. A missing or null one leaves the default of the server. */
export type LimitSettings = Partial<Record<SendingLimitName, number | null>>

/** The limit in force. null means no limit. */
export const limitInForce = (own: LimitSettings, defaults: LimitSettings, name: SendingLimitName): number | null =>
  own[name] ?? defaults[name] ?? null

/** The limits in force, by name. */
export const effectiveLimits = (own: LimitSettings, defaults: LimitSettings): SendingLimits =>
  Object.fromEntries(sendingLimitNames.map((name) => [name, limitInForce(own, defaults, name)])) as SendingLimits

/** The defaults of the server, by the subject that a limit is for. */
export type LimitDefaults = { identity: LimitSettings; key: LimitSettings; organization: LimitSettings }

/** The quota of an organization: its own, but at most that of the server. */
export const effectiveQuota = (own: number | null, serverMax: number | null): number | null =>
  own === null ? serverMax : serverMax === null ? own : Math.min(own, serverMax)

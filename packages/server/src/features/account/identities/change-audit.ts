// The entries of the audit log about a change of an identity.
import type { updateIdentity } from '@callsign/contract/identities'
import type { BodyOf } from '@callsign/contract/operation'
import type { AuditAction } from '../organizations/model.ts'
import type { IdentityRow } from './model.ts'

type Body = BodyOf<typeof updateIdentity>
type Entry = { action: AuditAction; details: Record<string, unknown> }

/** Fields that one entry names together. Their values are not logged, except for the approval of mail. */
const described = ['display_name', 'description', 'instructions', 'metadata', 'wake_limit', 'draft_approval'] as const

/** One entry per area of the change. */
export function changesOf(row: IdentityRow, body: Body): Entry[] {
  const { storage_quota_bytes, retention, sending_limits, outbound_guard, outbound_guard_patterns, inbound_mode, outbound_mode } = body
  const fields = described.filter((name) => body[name] !== undefined)
  const approval = body.draft_approval && { draft_approval: body.draft_approval, previous_draft_approval: row.draft_approval }
  const entries: [AuditAction, Record<string, unknown>][] = [
    ['identity.updated', fields.length > 0 ? { fields, ...approval } : {}],
    ['identity.storage_changed', { storage_quota_bytes, retention }],
    ['identity.limits_changed', { ...sending_limits }],
    ['identity.guard_changed', { outbound_guard, outbound_guard_patterns }],
    ['identity.modes_changed', { inbound_mode, outbound_mode }],
  ]
  return entries
    .filter(([, details]) => Object.values(details).some((value) => value !== undefined))
    .map(([action, details]) => ({ action, details }))
}

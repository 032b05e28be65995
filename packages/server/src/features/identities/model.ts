// The agent identity and its mailbox: rows, addresses, and the names that nobody may take.
import { isId } from '../../core/ids.ts'

/** `required`: the agent's own key writes drafts, an organization key sends them. */
export type DraftApproval = 'none' | 'required'

export type IdentityRow = {
  id: string
  organization_id: string
  agent_handle: string
  display_name: string
  description: string | null
  mailbox_id: string
  address: string
  tunnel_id: string
  tunnel_status: 'active' | 'suspended' | 'disabled'
  draft_approval: DraftApproval
  created_at: Date
  updated_at: Date
}

export type MailboxRow = {
  id: string
  organization_id: string
  identity_id: string
  agent_handle: string
  display_name: string
  address: string
  created_at: Date
  updated_at: Date
}

/** The mailbox that a request acts on. */
export type MailboxOwner = {
  mailboxId: string
  organizationId: string
  identityId: string
  handle: string
  displayName: string
  address: string
  draftApproval: DraftApproval
}

/**
 * Role names of RFC 2142 and the addresses that certificate authorities write to for domain control (CA/Browser Forum BR 3.2.2.4.4),
 * and our own return path: whoever held one would speak for the whole mail domain.
 */
const reservedHandles = new Set([
  'abuse',
  'admin',
  'administrator',
  'bounce',
  'hostmaster',
  'mailer_daemon',
  'noc',
  'postmaster',
  'security',
  'webmaster',
])

/** True for role names, and for what has the shape of an identity id: the API takes either where it names an agent. */
export const isReservedHandle = (handle: string): boolean => reservedHandles.has(handle) || isId('identity', handle)

/** A handle as callers write it: a leading @ is optional. */
export const normalizeHandle = (text: string): string => text.replace(/^@/, '')

/**
 * The mailbox address that a recipient address belongs to: lower case, without the `+tag` of plus-addressing. Null when it is no address.
 * Our local parts are case-insensitive handles, so lowering them is right here and nowhere else (RFC 5321 §2.4).
 */
export function mailboxAddressOf(recipient: string): string | null {
  const at = recipient.lastIndexOf('@')
  if (at < 1 || at === recipient.length - 1) return null
  const local = recipient.slice(0, at)
  const plus = local.indexOf('+')
  return `${plus > 0 ? local.slice(0, plus) : local}@${recipient.slice(at + 1)}`.toLowerCase()
}

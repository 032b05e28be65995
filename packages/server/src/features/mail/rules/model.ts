// The mail rule: its row, its view, and its valid entries.
import type { Guardrail as GuardrailSchema, MailRule } from '@callsign/contract/mail-rules'
import { domainKey, findHiddenCharacter, isDomainName, readAddressKey } from '@callsign/mail/mail-address'
import type { Static } from 'typebox'
import { invalid } from '../../../core/errors.ts'

export type RuleDirection = 'inbound' | 'outbound' | 'both'
export type RuleAction = 'allow' | 'block'
export type RuleStatus = 'active' | 'paused'

export type MailRuleRow = {
  id: string
  organization_id: string
  /** Null for a rule of every agent of the organization. */
  identity_id: string | null
  direction: RuleDirection
  action: RuleAction
  entry: string
  reason: string | null
  status: RuleStatus
  client_id: string | null
  created_at: Date
  updated_at: Date
}

/** The decision on a message and its basis, stored with the message. */
export type Guardrail = Static<typeof GuardrailSchema>

/** The most rules per identity, and of every agent. */
export const rulesMax = 10_000

/**
 * An entry in stored form: the key of an address or a domain. `@example.com` means the domain. Throws 400 with a correction for other text, and
 * for a single label, which would cover a whole top-level domain.
 */
export function readEntry(text: string): string {
  const hidden = findHiddenCharacter(text)
  if (hidden !== null) throw invalid('/entry', `entry contains ${hidden}, an invisible character: remove it`)
  const entry = text.trim()
  const written = entry.startsWith('@') ? entry.slice(1) : entry
  if (written.startsWith('*.')) throw invalid('/entry', `write ${written.slice(2) || 'example.com'}: a domain includes its subdomains`)
  const key = written.includes('@') ? readAddressKey(written) : domainKey(written)
  if (key === null || (!key.includes('@') && !isDomainName(key)))
    throw invalid('/entry', 'entry is neither an address (user@example.com) nor a domain (example.com)')
  if (!key.includes('@') && !key.includes('.') && key !== 'localhost')
    throw invalid('/entry', `${key} is one label, not a domain: write the full domain, such as ${key}.com`)
  if (!key.includes('@') && /(^|\.)\d+$/.test(key))
    throw invalid('/entry', `${key} is a number or an IP address: write an address (user@example.com) or a domain (example.com)`)
  return key
}

export const toMailRule = (row: MailRuleRow, handle: string | null): Static<typeof MailRule> => ({
  id: row.id,
  agent_handle: handle,
  direction: row.direction,
  action: row.action,
  entry: row.entry,
  entry_type: row.entry.includes('@') ? 'address' : 'domain',
  reason: row.reason,
  status: row.status,
  client_id: row.client_id,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

// The filter of the audit log, and its entries as a file for spreadsheets.
import type { AuditEntry } from '@callsign/sdk'

/** `kind` is the beginning of an action up to its dot. Empty parts match everything. */
export type AuditFilter = { kind: string; text: string }

export const auditKinds = [
  { value: 'key', label: 'Keys' },
  { value: 'session', label: 'Sign-ins' },
  { value: 'member', label: 'Members' },
  { value: 'passkey', label: 'Passkeys' },
  { value: 'identity', label: 'Identities' },
  { value: 'draft', label: 'Approvals' },
  { value: 'mail_rule', label: 'Mail rules' },
  { value: 'domain', label: 'Domains' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'vault', label: 'Vault' },
  { value: 'organization', label: 'Organization' },
]

export function isWanted(entry: AuditEntry, { kind, text }: AuditFilter): boolean {
  if (kind !== '' && entry.action.split('.')[0] !== kind) return false
  const words = `${entry.action} ${entry.actor_name ?? entry.actor_type} ${entry.actor_id} ${entry.target_id} ${JSON.stringify(entry.details)}`
  return words.toLowerCase().includes(text.trim().toLowerCase())
}

const columns = ['created_at', 'action', 'actor_type', 'actor_id', 'actor_name', 'target_id', 'details', 'request_id'] as const

/** A cell of a CSV file (RFC 4180). A leading quote keeps spreadsheets from running a text of others as a formula. */
function cellOf(value: unknown): string {
  const text = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export const toCsv = (entries: AuditEntry[]): string =>
  [columns.join(','), ...entries.map((entry) => columns.map((column) => cellOf(entry[column])).join(','))].join('\r\n')

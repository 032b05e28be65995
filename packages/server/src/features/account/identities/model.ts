// The agent identity and its mailbox: rows, addresses, and reserved names.
import { isId } from '@callsign/contract/ids'
import type { Metadata } from '@callsign/contract/metadata'
import { toDomainName } from '../../../core/domain-name.ts'
import type { LimitSettings } from '../organizations/model.ts'

/** `required`: the agent's own key writes drafts, an organization key sends them. */
export type DraftApproval = 'none' | 'required'

/** `allowlist`: only whom a mail rule allows. */
export type MailMode = 'open' | 'allowlist'

/** Search of outgoing mail for secrets. `hold` requires approval. */
export type OutboundGuardMode = 'off' | 'flag' | 'hold'

/** Own days of retention. A missing or null one is that of the organization. */
export type IdentityRetention = { messages_days?: number | null; attachments_days?: number | null }

export type IdentityRow = {
  id: string
  organization_id: string
  agent_handle: string
  display_name: string
  description: string | null
  instructions: string | null
  mailbox_id: string
  /** The primary address. */
  address: string
  /** Every address, the primary one first. */
  addresses: string[]
  /** The domain of the primary address. Null for the mail domain. */
  domain_id: string | null
  client_id: string | null
  metadata: Metadata | null
  tunnel_id: string
  tunnel_status: 'active' | 'suspended' | 'disabled'
  draft_approval: DraftApproval
  inbound_mode: MailMode
  outbound_mode: MailMode
  sending_limits: LimitSettings
  outbound_guard: OutboundGuardMode
  outbound_guard_patterns: string[]
  wake_events: number | null
  wake_window_seconds: number | null
  storage_quota_bytes: number | null
  retention: IdentityRetention
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
  /** The primary address. */
  address: string
  /** False when the address asked for is on a domain that another organization has verified since: no mail comes to it or leaves it. */
  isReachable: boolean
  draftApproval: DraftApproval
  inboundMode: MailMode
  outboundMode: MailMode
  /** Own limits for sending, of the identity, of each key, and of the organization. */
  limits: { identity: LimitSettings; key: LimitSettings; organization: LimitSettings }
  outboundGuard: { mode: OutboundGuardMode; patterns: string[] }
  /** Events about received mail per sender and window. Null without a limit. */
  wakeLimit: { events: number; windowSeconds: number } | null
  /** True while the organization has paused all sending. */
  isPaused: boolean
  /** True when the identity or its organization has a storage quota of its own. */
  hasQuota: boolean
}

/**
 * Names whose owner would speak for the whole mail domain: role names of RFC 2142, system accounts and our own return path. Also the
 * addresses that certificate authorities write to for domain control (CA/Browser Forum BR 3.2.2.4.4 and its earlier versions).
 */
const roleNames = [
  ...['abuse', 'admin', 'administrator', 'bounce', 'hostmaster', 'mailer_daemon', 'mailerdaemon', 'noc', 'postmaster', 'security'],
  ...['webmaster', 'is', 'it', 'mis', 'ssladmin', 'ssladministrator', 'sslwebmaster', 'sysadmin', 'root', 'daemon'],
  ...['nobody', 'usenet', 'news', 'uucp', 'noreply', 'no_reply', 'dmarc', 'tlsrpt'],
]

/**
 * Host names that clients look up on their own below a domain, and then trust. Handles are host names below the tunnel domain, with `_` as
 * `-`. MTA-STS (RFC 8461), the OpenPGP Web Key Directory, mail autoconfiguration (Mozilla, Microsoft), web proxy discovery (WPAD), IPv6
 * transition (ISATAP, RFC 5214), DNS64 (RFC 7050) and the usual names of services.
 */
const hostNames = [
  ...['mta_sts', 'openpgpkey', 'autoconfig', 'autodiscover', 'wpad', 'isatap', 'ipv4only', 'localhost', 'localdomain', 'broadcasthost'],
  ...['www', 'mail', 'webmail', 'smtp', 'submission', 'imap', 'imaps', 'pop', 'pop3', 'mx', 'ns', 'ns1', 'ns2', 'dns', 'ftp', 'ldap'],
  ...['kerberos', 'ntp', 'proxy', 'caldav', 'carddav', 'xmpp', 'enterpriseregistration', 'enterpriseenrollment', 'lyncdiscover', 'sip'],
]

const reservedHandles = new Set([...roleNames, ...hostNames])

/** True for role names, service host names and names shaped like an identity or tunnel id, because the API accepts ids in place of handles. */
export const isReservedHandle = (handle: string): boolean =>
  reservedHandles.has(handle) || isId('identity', handle) || isId('tunnel', handle)

/** Role addresses that RFC 2142 and RFC 5321 require of every domain, and those of reports. Their mail does not go to the agent of an address. */
const domainRoles = new Set(['postmaster', 'abuse', 'mailer-daemon', 'dmarc-reports', 'tls-reports'])

/** The local part of the address that receives all other mail of a domain. */
export const catchAllPart = '*'

const localCharactersMax = 64
const dotString = /^[a-z0-9!#$%&'*/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*/=?^_`{|}~-]+)*$/

/** True for a local part that an address may have: an RFC 5321 dot-string in lower case without `+`, which separates a tag. */
export const isLocalPart = (text: string): boolean => text.length <= localCharactersMax && dotString.test(text)

/** True for a local part of the form of a handle. On the mail domain it belongs to the identity with that handle. */
export const isHandleShaped = (localPart: string): boolean => /^[a-z0-9_]{2,32}$/.test(localPart)

/** True for role addresses of every domain, and on the mail domain also for reserved handles, with dots and hyphens as `_`. */
export const isReservedLocalPart = (localPart: string, isMailDomain: boolean): boolean =>
  domainRoles.has(localPart) || (isMailDomain && isReservedHandle(localPart.replace(/[.-]/g, '_')))

export const localPartOf = (address: string): string => address.slice(0, address.lastIndexOf('@'))
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** A handle as callers write it: a leading @ is optional. */
export const normalizeHandle = (text: string): string => text.replace(/^@/, '')

/** An address with its domain as stored and its local part in lower case. Null when it is not an address. */
export function normalizeAddress(text: string): string | null {
  const at = text.lastIndexOf('@')
  const domain = at < 1 ? null : toDomainName(text.slice(at + 1).toLowerCase())
  return domain === null ? null : `${text.slice(0, at).toLowerCase()}@${domain}`
}

/**
 * The mailbox address of a recipient address: lower case, without the `+tag` of plus-addressing, its domain in ASCII. Null when it is not an address.
 * Our local parts are stored in lower case, so lowering them is right here and nowhere else (RFC 5321 §2.4).
 */
export function mailboxAddressOf(recipient: string): string | null {
  const address = normalizeAddress(recipient)
  if (address === null) return null
  const [plus, at] = [address.indexOf('+'), address.lastIndexOf('@')]
  return plus > 0 && plus < at ? address.slice(0, plus) + address.slice(at) : address
}

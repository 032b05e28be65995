// The state of a domain and of its records, and names that only a local network knows.
import type { DnsRecord, Domain } from '@callsign/sdk'
import { Badge, type Tone } from '../../elements/badge.tsx'

export const domainTones: Record<Domain['status'] | DnsRecord['status'], Tone> = {
  verified: 'good',
  valid: 'good',
  pending: 'warn',
  failed: 'bad',
}

/** Names of RFC 2606, RFC 6761, RFC 6762, RFC 8375 and RFC 9476, and the usual ones of local networks. */
const localNames = /(^|\.)(localhost|local|test|invalid|example|example\.(com|net|org)|internal|home\.arpa|lan|alt)$/

export const isLocalName = (name: string): boolean => localNames.test(name)

/** New identities use the default domain only once it is verified. */
export function DefaultBadge({ domain }: { domain: Pick<Domain, 'is_default' | 'status'> }) {
  if (!domain.is_default) return null
  if (domain.status === 'verified') return <Badge tone="accent">default</Badge>
  return <span class="faint">default once verified</span>
}

// The DNS records that an installation needs for its mail domain, its address and its tunnels.
import type { Config } from '../config/settings.ts'
import { isPrivateHost } from '../config/values.ts'
import { type DomainRecord, reportRecords } from '../features/mail/domains/model.ts'

export type KeyRecord = { name: string; value: string }

/** True when the mail domain exists on this machine or in its network only, so that DNS on the Internet has no records for it. */
export const isMailDomainLocal = ({ mailDomain }: Config): boolean => isPrivateHost(mailDomain)

/** The records that other mail servers look for. `dkim` has the keys, which the first start makes. */
export function mailRecords({ mailDomain }: Config, dkim: KeyRecord[]): DomainRecord[] {
  const text = (purpose: string, name: string, value: string, required = true): DomainRecord => ({
    type: 'TXT',
    name,
    value,
    status: 'pending',
    purpose,
    required,
  })
  return [
    { ...text('mx', mailDomain, mailDomain), type: 'MX', priority: 10 },
    text('spf', mailDomain, 'v=spf1 mx ~all'),
    ...dkim.map(({ name, value }) => text('dkim', name, value)),
    ...reportRecords(mailDomain),
  ]
}

/** Names that lead to this server, with their purposes. */
export function addressNames({ mailDomain, publicUrl, tunnelDomain }: Config): { name: string; purpose: string }[] {
  const publicHost = publicUrl === null ? null : new URL(publicUrl).hostname
  return [
    { name: mailDomain, purpose: 'mail' },
    ...(publicHost !== null && publicHost !== mailDomain ? [{ name: publicHost, purpose: 'API and console' }] : []),
    { name: `*.${tunnelDomain}`, purpose: 'tunnels' },
  ].filter(({ name }) => !isPrivateHost(name.replace(/^\*\./, '')))
}

// Writes a domain's records as a zone file (RFC 1035 §5), to be imported at a DNS host.
import { quotedTxt } from '@callsign/mail/authentication/dkim/zone-text'
import type { DomainRecord } from './model.ts'

const ttlSeconds = 3600

/**
 * The fully qualified name of a record. Providers return full names, or names below the registered domain: `send` for example.com and
 * `send.mail` for mail.example.com. Labels that both have in common are written once.
 */
export function wholeName(name: string, domain: string): string {
  const bare = name.toLowerCase().replace(/\.$/, '')
  if (bare === '' || bare === '@' || bare === domain) return domain
  if (bare.endsWith(`.${domain}`)) return bare
  const [labels, own] = [bare.split('.'), domain.split('.')]
  for (let shared = Math.min(labels.length, own.length - 1); shared > 0; shared--) {
    if (labels.slice(-shared).join('.') === own.slice(0, shared).join('.')) return [...labels, ...own.slice(shared)].join('.')
  }
  return `${bare}.${domain}`
}

/** Some providers return the value already quoted. */
const unquoted = (value: string): string => (/^"[^"]*"$/.test(value) ? value.slice(1, -1) : value)

/** Foreign text as a comment of one line. */
const comment = (text: string): string => `; ${text.replace(/[^ -~]/g, '?')}`

/** True for names that need no escaping in a zone file, so that a provider's answer cannot inject lines. */
const isPlainName = (name: string): boolean => /^[a-z0-9_*-]+(\.[a-z0-9_-]+)*$/i.test(name) && name.length <= 253

/** The text of the file, with fully qualified names. A record that a zone file cannot express is replaced by a comment. */
export function zoneFile(domain: string, records: DomainRecord[]): string {
  const lines = records.map((record) => {
    const about = comment(`${record.purpose}${record.required ? '' : ', recommended'}: ${record.status}`)
    const name = wholeName(record.name, domain)
    const target = record.value.replace(/\.$/, '')
    const isHost = record.type !== 'TXT'
    if (!isPlainName(name) || (isHost && !isPlainName(target))) return `${about}\n; left out: its name or value cannot stand in a zone file`
    const value = isHost ? `${record.type === 'MX' ? `${record.priority ?? 10} ` : ''}${target}.` : quotedTxt(unquoted(record.value))
    return `${about}\n${name}.\t${ttlSeconds}\tIN\t${record.type}\t${value}`
  })
  return [comment(`DNS records of ${domain}`), `$ORIGIN ${domain}.`, `$TTL ${ttlSeconds}`, ...lines, ''].join('\n')
}

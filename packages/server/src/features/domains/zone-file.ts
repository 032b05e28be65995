// A domain's records as a zone file (RFC 1035 §5), to be imported at a DNS host.
import type { DomainRecord } from './model.ts'

const stringOctetsMax = 255
const ttlSeconds = 3600

/**
 * The whole name of a record. Providers give whole names, or names below the registered domain: `send` for example.com, and `send.mail` for
 * mail.example.com, so what both have in common at the seam is there once.
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

/** A TXT value as quoted strings of at most 255 octets; what is not plain ASCII is written as \DDD. */
export function txtStrings(value: string): string {
  // Some providers quote the value already.
  const bytes = Buffer.from(/^"[^"]*"$/.test(value) ? value.slice(1, -1) : value)
  const strings: string[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += stringOctetsMax) strings.push(quote(bytes.subarray(at, at + stringOctetsMax)))
  return strings.join(' ')
}

const quote = (bytes: Buffer): string =>
  `"${[...bytes].map((byte) => (byte < 0x20 || byte > 0x7e ? `\\${String(byte).padStart(3, '0')}` : /["\\]/.test(String.fromCharCode(byte)) ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte))).join('')}"`

/** Text of others that stands in a comment: one line. */
const comment = (text: string): string => `; ${text.replace(/[^ -~]/g, '?')}`

/** Names that a zone file can hold as they are; a provider's answer is not to write lines of its own. */
const isPlainName = (name: string): boolean => /^[a-z0-9_*-]+(\.[a-z0-9_-]+)*$/i.test(name) && name.length <= 253

/** The text of the file, every name whole and with its dot. A record that no zone file could hold is left out, with a comment. */
export function zoneFile(domain: string, records: DomainRecord[]): string {
  const lines = records.map((record) => {
    const about = comment(`${record.purpose}${record.required ? '' : ', recommended'}: ${record.status}`)
    const name = wholeName(record.name, domain)
    const target = record.value.replace(/\.$/, '')
    const isHost = record.type !== 'TXT'
    if (!isPlainName(name) || (isHost && !isPlainName(target))) return `${about}\n; left out: its name or value cannot stand in a zone file`
    const value = isHost ? `${record.type === 'MX' ? `${record.priority ?? 10} ` : ''}${target}.` : txtStrings(record.value)
    return `${about}\n${name}.\t${ttlSeconds}\tIN\t${record.type}\t${value}`
  })
  return [comment(`DNS records of ${domain}`), `$ORIGIN ${domain}.`, `$TTL ${ttlSeconds}`, ...lines, ''].join('\n')
}

// A resolver that answers from memory, for tests of evaluation rather than of DNS transport.
import { type DnsAnswer, type Resolver, reverseName } from '../../src/dns.ts'
import type { Records } from './dns-server.ts'

/** Names that are not in the zone do not exist; `failure` is never answered in time. */
export function createZoneResolver(zone: Record<string, Records | 'failure'>): Resolver & { asked: string[] } {
  const asked: string[] = []
  function answer<T>(type: string, name: string, read: (records: Records) => T[] | undefined): Promise<DnsAnswer<T>> {
    asked.push(`${type} ${name}`)
    const records = zone[name.toLowerCase().replace(/\.$/, '')]
    if (records === 'failure') return Promise.resolve({ kind: 'failure', reason: 'ETIMEOUT' })
    const found = records && read(records)
    if (found) return Promise.resolve({ kind: 'found', records: found })
    const exists = records !== undefined || Object.keys(zone).some((known) => known.endsWith(`.${name}`))
    return Promise.resolve({ kind: exists ? 'no-data' : 'no-name' })
  }
  return {
    asked,
    txt: (name) => answer('TXT', name, ({ TXT }) => TXT?.map((text) => [text].flat().join(''))),
    mx: (name) => answer('MX', name, ({ MX }) => MX),
    a: (name) => answer('A', name, ({ A }) => A),
    aaaa: (name) => answer('AAAA', name, ({ AAAA }) => AAAA),
    cname: (name) => answer('CNAME', name, ({ CNAME }) => (CNAME === undefined ? undefined : [CNAME])),
    ptr: (name) => answer('PTR', reverseName(name) ?? name, ({ PTR }) => PTR),
  }
}

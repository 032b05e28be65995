// Publishes the DNS records that the API gave, as the owner of a domain does it at a DNS host.
import type { DnsServer } from '../../../mail/tests/harness/dns-server.ts'
import type { Json } from './start.ts'

/** Adds records to DNS, grouped by name. The DNS server splits TXT values into strings. */
export function publish(dns: DnsServer, records: Json[]): void {
  for (const [name, group] of Object.entries(Object.groupBy(records, (record: Json) => record.name as string))) {
    const ofType = (type: string) => (group ?? []).filter((record: Json) => record.type === type)
    dns.set(name, {
      MX: ofType('MX').map((record: Json) => ({ preference: record.priority, exchange: record.value })),
      TXT: ofType('TXT').map((record: Json) => record.value),
    })
  }
}

/** Removes the names of these records from DNS. */
export function withdraw(dns: DnsServer, records: Json[]): void {
  for (const record of records) dns.remove(record.name)
}

/** Registers a domain, publishes its records, verifies it and returns it. */
export async function ownDomain(
  harness: { expectApi: (status: number, method: string, path: string, ask?: Json) => Promise<Json>; organizationKey: string },
  dns: DnsServer,
  domain: string,
  key = harness.organizationKey,
): Promise<Json> {
  const { data } = await harness.expectApi(201, 'POST', '/domains', { key, body: { domain } })
  publish(dns, data.dns_records)
  const { data: verified } = await harness.expectApi(200, 'POST', `/domains/${data.id}/verify`, { key })
  if (verified.status !== 'verified') throw new Error(`${domain} is ${verified.status}: ${JSON.stringify(verified.dns_records)}`)
  return verified
}

// Verified domains of the built-in engine are rechecked over real DNS. Wrong records become visible and fail the domain after 72 hours. An outage
// does neither.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { ownDomain, publish, withdraw } from './harness/published-records.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let dns: DnsServer
let harness: Harness
beforeAll(async () => {
  dns = await startDnsServer()
  harness = await startHarness({ CALLSIGN_DNS_SERVERS: dns.address, CALLSIGN_DOMAIN_RECHECK_SECONDS: '0.2' })
})
afterAll(async () => {
  await harness.stop()
  await dns.stop()
})

const get = async (id: string): Promise<Json> => (await harness.expectApi(200, 'GET', `/domains/${id}`)).data
const until = (what: string, id: string, isSo: (domain: Json) => boolean) =>
  waitFor(what, async () => {
    const domain = await get(id)
    return isSo(domain) && domain
  })
const looksAt = (name: string) => dns.asked().filter((one) => one === `TXT _callsign.${name}`).length
const types = async (id: string) => (await harness.eventsOf(id)).map((event) => event.type)

test('each wrong record shows separately while the domain stays verified, and right ones end it', async () => {
  const domain = await ownDomain(harness, dns, 'shown.example')
  for (const record of domain.dns_records.filter((one: Json) => one.purpose !== 'spf')) {
    withdraw(dns, [record])
    // MX and SPF share one name, so a check in flight may still find one of them.
    const gone = record.purpose === 'mx' ? ['mx', 'spf'] : [record.purpose]
    const wrong = await until(`${gone.join(' and ')} to be noticed, and nothing else`, domain.id, (now) => {
      const failed = now.dns_records.filter((one: Json) => one.status === 'failed').map((one: Json) => one.purpose)
      return failed.join() === gone.join()
    })
    expect([wrong.status, wrong.failing_since !== null]).toEqual(['verified', record.required])
    publish(dns, domain.dns_records)
    await until(
      'it to be right again',
      domain.id,
      (now) => now.dns_records.every((one: Json) => one.status === 'valid') && now.failing_since === null,
    )
  }
  expect(await types(domain.id)).toEqual(['domain.verified'])
})

test('a domain with wrong records for 72 hours fails once, and republished records need a new verification', async () => {
  const domain = await ownDomain(harness, dns, 'lapsed.example')
  withdraw(dns, domain.dns_records)
  await until('the first wrong look', domain.id, (now) => now.failing_since !== null)
  await harness.db.query({
    text: `UPDATE domains SET failing_since = failing_since - interval '72 hours' WHERE id = $1`,
    values: [domain.id],
  })
  expect(await until('it to fail', domain.id, (now) => now.status === 'failed')).toMatchObject({ verified_at: null, failing_since: null })
  expect(await types(domain.id)).toEqual(['domain.verified', 'domain.failed'])
  publish(dns, domain.dns_records)
  expect((await harness.expectApi(200, 'POST', `/domains/${domain.id}/verify`)).data.status).toBe('verified')
})

test('a DNS outage changes nothing, even when the records are due to fail', async () => {
  const domain = await ownDomain(harness, dns, 'outage.example')
  dns.fail(`_callsign.${domain.domain}`, 'SERVFAIL')
  const before = looksAt(domain.domain)
  // A check in flight may already have its answer, and must find the other records too.
  await waitFor('a look that fails', () => looksAt(domain.domain) > before)
  withdraw(dns, domain.dns_records)
  await waitFor('three looks', () => looksAt(domain.domain) >= before + 3)
  expect(await get(domain.id)).toEqual(domain)
})

test('a check without differences changes nothing', async () => {
  const domain = await ownDomain(harness, dns, 'quiet.example')
  const before = looksAt(domain.domain)
  await waitFor('two looks', () => looksAt(domain.domain) >= before + 2)
  expect(await get(domain.id)).toEqual(domain)
})

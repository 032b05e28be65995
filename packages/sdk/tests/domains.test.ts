// Custom domains through the client, against the real server and real DNS.
import { operations } from '@callsign/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { publish } from '../../server/tests/harness/published-records.ts'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { Callsign } from '../src/index.ts'
import { createWire } from './wire.ts'

let harness: Harness
let dns: DnsServer
beforeAll(async () => {
  dns = await startDnsServer()
  harness = await startHarness({ CALLSIGN_DNS_SERVERS: dns.address })
})
afterAll(async () => {
  await harness.stop()
  await dns.stop()
})

test('register, check, publish, verify, use and delete with requests of the contract', async () => {
  const { key } = await harness.createOrganization('client of domains')
  const wire = createWire()
  const client = new Callsign({ url: harness.baseUrl, apiKey: key, fetch: wire.fetch })
  const created = await client.domains.create({ domain: 'sdk.example' })
  expect([created.status, created.is_default]).toEqual(['pending', true])
  const before = await client.domains.verify(created.id)
  expect([before.domain.status, before.message]).toEqual(['failed', expect.stringContaining('_callsign.sdk.example')])
  publish(dns, created.dns_records)
  const { domain, message } = await client.domains.verify(created.id)
  expect([domain.status, message]).toEqual(['verified', 'sdk.example is verified.'])
  expect(await client.domains.get(created.id)).toEqual(domain)
  const other = await client.domains.create({ domain: 'other.sdk.example' })
  publish(dns, other.dns_records)
  await client.domains.verify(other.id)
  expect((await client.domains.setDefault(other.id)).is_default).toBe(true)
  const identity = await client.identities.create({ agent_handle: 'sdk_agent', custom_domain_id: created.id })
  expect(identity.mailbox_address).toBe('sdk_agent@sdk.example')
  expect((await client.domains.list()).data.map((one) => [one.domain, one.mailboxes_count])).toEqual([
    ['other.sdk.example', 0],
    ['sdk.example', 1],
  ])
  expect(await client.domains.zoneFile(created.id)).toContain('_dmarc.sdk.example.')
  await expect(client.domains.delete(created.id)).rejects.toMatchObject({ status: 409, code: 'domain_in_use' })
  expect((await client.domains.delete(created.id, { force: true })).success).toBe(true)
  await expect(client.domains.get(created.id)).rejects.toMatchObject({ status: 404 })

  const known = operations.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replace('/api/v1', '').replace(/\{\w+\}/g, '[^/]+')}$`),
  }))
  const strange = wire.sent.filter(({ method, path }) => !known.some((one) => one.method === method && one.pattern.test(path)))
  expect(strange).toEqual([])
})

// The limits of an SPF evaluation (RFC 7208 §4.6.4), at the limit and one above it.
import { describe, expect, test } from 'vitest'
import { checkHost } from '../src/authentication/spf/spf.ts'
import type { Records } from './harness/dns-server.ts'
import { createZoneResolver } from './harness/zone-resolver.ts'

const client = { address: '192.0.2.7', name: 'mail.example' }
const reverse = '7.2.0.192.in-addr.arpa'
const spfOf = (zone: Record<string, Records>, address = client.address) =>
  checkHost(
    { envelopeFrom: 'ada@shop.example', client: { ...client, address }, hostname: 'mx.example', nowMs: () => 0 },
    createZoneResolver(zone),
  )
const numbered = (count: number, make: (index: number) => string): string[] => Array.from({ length: count }, (_, index) => make(index + 1))

describe('PTR names', () => {
  /** The client has `count` names, of which only the last one is the domain's and resolves to the client. */
  const ptr = (count: number) => {
    const names = numbered(count, (index) => (index === count ? 'host.shop.example' : `other${index}.example`))
    return spfOf({
      'shop.example': { TXT: ['v=spf1 ptr -all'] },
      [reverse]: { PTR: names },
      'host.shop.example': { A: [client.address] },
      ...Object.fromEntries(names.slice(0, -1).map((name) => [name, { A: ['198.51.100.1'] }])),
    })
  }
  test('the first ten are looked up', async () => expect(await ptr(10)).toMatchObject({ result: 'pass' }))
  test('the eleventh is ignored', async () => expect(await ptr(11)).toMatchObject({ result: 'fail' }))
  test('thirty more do not end the evaluation', async () => expect(await ptr(60)).toMatchObject({ result: 'fail' }))
  test('a name counts only when it resolves to the client', async () => {
    const zone = { 'shop.example': { TXT: ['v=spf1 ptr -all'] }, [reverse]: { PTR: ['host.shop.example'] } }
    expect(await spfOf({ ...zone, 'host.shop.example': { A: ['198.51.100.1'] } })).toMatchObject({ result: 'fail' })
    expect(await spfOf({ ...zone, 'host.shop.example': { A: [client.address] } })).toMatchObject({ result: 'pass' })
  })
  test('a name of another domain, or one that only ends like it, does not match', async () => {
    const zone = (name: string) => ({
      'shop.example': { TXT: ['v=spf1 ptr -all'] },
      [reverse]: { PTR: [name] },
      [name]: { A: [client.address] },
    })
    expect(await spfOf(zone('badshop.example'))).toMatchObject({ result: 'fail' })
    expect(await spfOf(zone('shop.example.net'))).toMatchObject({ result: 'fail' })
  })
})

describe('mail hosts', () => {
  const mx = (count: number, matching: number) =>
    spfOf({
      'shop.example': {
        TXT: ['v=spf1 mx -all'],
        MX: numbered(count, String).map((index) => ({ preference: Number(index), exchange: `mx${index}.example` })),
      },
      ...Object.fromEntries(
        numbered(count, (index) => `mx${index}.example`).map((name, index) => [
          name,
          { A: [index + 1 === matching ? client.address : '198.51.100.1'] },
        ]),
      ),
    })
  test('the tenth is looked up', async () => expect(await mx(10, 10)).toMatchObject({ result: 'pass' }))
  test('the eleventh is a permerror', async () => expect(await mx(11, 11)).toMatchObject({ result: 'permerror' }))
})

describe('terms with lookups', () => {
  const nested = (count: number) =>
    spfOf({
      'shop.example': { TXT: [`v=spf1 ${numbered(count, (index) => `include:i${index}.example`).join(' ')} ip4:${client.address} -all`] },
      ...Object.fromEntries(numbered(count, (index) => `i${index}.example`).map((name) => [name, { TXT: ['v=spf1 -all'] }])),
    })
  test('ten are looked up', async () => expect(await nested(10)).toMatchObject({ result: 'pass' }))
  test('the eleventh is a permerror', async () => expect(await nested(11)).toMatchObject({ result: 'permerror' }))
  test('a redirect counts', async () => {
    const chain = Object.fromEntries(
      numbered(12, String).map((index) => [`r${index}.example`, { TXT: [`v=spf1 redirect=r${Number(index) + 1}.example`] }]),
    )
    expect(
      await spfOf({ ...chain, 'shop.example': { TXT: ['v=spf1 redirect=r1.example'] }, 'r13.example': { TXT: ['v=spf1 +all'] } }),
    ).toMatchObject({ result: 'permerror' })
  })
  test('a loop of includes ends', async () =>
    expect(await spfOf({ 'shop.example': { TXT: ['v=spf1 include:shop.example -all'] } })).toMatchObject({ result: 'permerror' }))
})

describe('lookups without an answer', () => {
  const voids = (count: number) =>
    spfOf({
      'shop.example': { TXT: [`v=spf1 ${numbered(count, (index) => `a:none${index}.example`).join(' ')} ip4:${client.address} -all`] },
    })
  test('two are allowed', async () => expect(await voids(2)).toMatchObject({ result: 'pass' }))
  test('the third is a permerror', async () => expect(await voids(3)).toMatchObject({ result: 'permerror' }))
})

test('address lookups of all mx terms together are limited', async () => {
  const hosts = (domain: string) => numbered(8, (index) => `mx${index}.${domain}`)
  const domains = numbered(4, (index) => `d${index}.example`)
  const zone: Record<string, Records> = {
    'shop.example': { TXT: [`v=spf1 ${domains.map((domain) => `mx:${domain}`).join(' ')} ip4:${client.address} -all`] },
    ...Object.fromEntries(
      domains.map((domain) => [domain, { MX: hosts(domain).map((exchange, preference) => ({ preference, exchange })) }]),
    ),
    ...Object.fromEntries(domains.flatMap(hosts).map((name) => [name, { A: ['198.51.100.1'] }])),
  }
  expect(await spfOf(zone)).toMatchObject({ result: 'permerror' })
  expect(await spfOf({ ...zone, 'd4.example': { MX: [] } })).toMatchObject({ result: 'pass' })
})

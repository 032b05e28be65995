// The resolver against a DNS server of the test. Covers every kind of record, long ones over TCP, and each kind of failure.
import type { Resolver } from '@callsign/mail/dns'
import { reverseName } from '@callsign/mail/dns'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { createDnsResolver } from '../src/edges/dns/resolver.ts'

let server: DnsServer
let resolver: Resolver

beforeAll(async () => {
  server = await startDnsServer({
    'example.com': {
      A: ['192.0.2.1', '192.0.2.2'],
      AAAA: ['2001:db8::1'],
      MX: [
        { preference: 20, exchange: 'mx2.example.com' },
        { preference: 10, exchange: 'mx1.example.com' },
      ],
      TXT: ['v=spf1 -all', ['two ', 'strings']],
    },
    'alias.example.com': { CNAME: 'example.com' },
    'null.example.com': { MX: [{ preference: 0, exchange: '.' }] },
    'deep.below.example.com': { A: ['192.0.2.3'] },
    '1.2.0.192.in-addr.arpa': { PTR: ['mail.example.com'] },
    [reverseName('2001:db8::1') as string]: { PTR: ['mail6.example.com'] },
  })
  resolver = createDnsResolver({ servers: [server.address], timeoutMs: 20_000 })
})
afterAll(() => server.stop())

const found = <T>(...records: T[]) => ({ kind: 'found', records })

test('every kind of record is read', async () => {
  expect(await resolver.a('example.com')).toEqual(found('192.0.2.1', '192.0.2.2'))
  expect(await resolver.aaaa('EXAMPLE.com.')).toEqual(found('2001:db8::1'))
  expect(await resolver.txt('example.com')).toEqual(found('v=spf1 -all', 'two strings'))
  expect((await resolver.mx('example.com')) as unknown).toMatchObject({
    records: [{ preference: 20 }, { exchange: 'mx1.example.com', preference: 10 }],
  })
  expect(await resolver.mx('null.example.com')).toEqual(found({ exchange: '', preference: 0 }))
  expect(await resolver.cname('alias.example.com')).toEqual(found('example.com'))
  expect(await resolver.ptr('192.0.2.1')).toEqual(found('mail.example.com'))
  expect(await resolver.ptr('::ffff:192.0.2.1')).toEqual(found('mail.example.com'))
  expect(await resolver.ptr('2001:db8::1')).toEqual(found('mail6.example.com'))
})

test('a CNAME is followed', async () => {
  expect(await resolver.txt('alias.example.com')).toEqual(found('v=spf1 -all', 'two strings'))
  expect(await resolver.aaaa('alias.example.com')).toEqual(found('2001:db8::1'))
})

test('a long TXT record comes whole over TCP', async () => {
  const long = 'k=rsa; p='.padEnd(3_000, 'A')
  server.set('long.example.com', { TXT: [long] })
  expect(await resolver.txt('long.example.com')).toEqual(found(long))
  expect(server.asked().filter((one) => one.endsWith(' long.example.com'))).toContain('TXT/tcp long.example.com')
})

test('an unknown name, an empty answer and a failure are three different answers', async () => {
  expect(await resolver.txt('nobody.example.com')).toEqual({ kind: 'no-name' })
  expect(await resolver.txt('null.example.com')).toEqual({ kind: 'no-data' })
  expect(await resolver.a('below.example.com')).toEqual({ kind: 'no-data' })
  server.fail('example.com', 'SERVFAIL', 'TXT')
  expect(await resolver.txt('example.com')).toMatchObject({ kind: 'failure', reason: 'ESERVFAIL' })
  expect(await resolver.a('example.com')).toMatchObject({ kind: 'found' })
  server.fail('example.com', 'REFUSED', 'TXT')
  expect(await resolver.txt('example.com')).toMatchObject({ kind: 'failure' })
  server.fail('example.com', null, 'TXT')
  expect(await resolver.txt('example.com')).toMatchObject({ kind: 'found' })
})

test('a server that never answers costs at most the time limit', async () => {
  server.fail('*', 'silence')
  const answers: string[] = []
  const ask = async (name: string, timeoutMs: number) => {
    const answer = await createDnsResolver({ servers: [server.address], timeoutMs }).mx('example.com')
    answers.push(name)
    return answer
  }
  // The order shows that the limit counts, also on a slow machine.
  const [patient, impatient] = await Promise.all([ask('patient', 3000), ask('impatient', 300)])
  expect([patient, impatient]).toMatchObject(Array(2).fill({ kind: 'failure', isSilence: true }))
  expect(answers).toEqual(['impatient', 'patient'])
  server.fail('*', null)
  expect(await resolver.mx('example.com')).toMatchObject({ kind: 'found' })
})

test('an unreachable server is a failure, not an absence', async () => {
  const gone = await startDnsServer()
  const { address } = gone
  await gone.stop()
  expect(await createDnsResolver({ servers: [address], timeoutMs: 600 }).a('example.com')).toMatchObject({ kind: 'failure' })
})

test('records change while the server runs', async () => {
  server.set('moving.example.com', { A: ['192.0.2.7'] })
  expect(await resolver.a('moving.example.com')).toEqual(found('192.0.2.7'))
  server.set('moving.example.com', { A: ['192.0.2.8'] })
  expect(await resolver.a('moving.example.com')).toEqual(found('192.0.2.8'))
  server.remove('moving.example.com')
  expect(await resolver.a('moving.example.com')).toEqual({ kind: 'no-name' })
})

test('an invalid name is never queried', async () => {
  const before = server.asked().length
  for (const name of ['', '.', 'a..b', 'with blank.example', 'nul\0.example', `${'a'.repeat(64)}.example`, `${'x.'.repeat(127)}example`])
    expect(await resolver.a(name)).toEqual({ kind: 'no-name' })
  expect(await resolver.ptr('not an address')).toEqual({ kind: 'no-name' })
  expect(server.asked()).toHaveLength(before)
})

test('reverse names are resolved', () => {
  expect(reverseName('192.0.2.1')).toBe('1.2.0.192.in-addr.arpa')
  expect(reverseName('2001:db8::567:89ab')).toBe('b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa')
  expect(reverseName('example.com')).toBeNull()
})

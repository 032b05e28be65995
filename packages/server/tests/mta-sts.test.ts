// MTA-STS policies. Covers fetching, lifetime, and that hiding a policy does not disable it.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { createLog } from '../src/core/log.ts'
import { FetchRefused } from '../src/core/web.ts'
import { createDnsResolver } from '../src/edges/dns/resolver.ts'
import { connect, type PostgresDatabase } from '../src/edges/postgres/connect.ts'
import { createMtaSts } from '../src/features/mail/outbound/mta-sts/operations.ts'
import { createDatabase } from './harness/database.ts'

let dns: DnsServer
let database: { url: string; drop: () => Promise<void> }
let db: PostgresDatabase
beforeAll(async () => {
  dns = await startDnsServer()
  database = await createDatabase()
  db = connect({ connectionString: database.url }, { poolSize: 2, log: createLog('silent') })
})
afterAll(async () => {
  await db.close()
  await database.drop()
  await dns.stop()
})

const enforce = 'version: STSv1\nmode: enforce\nmx: *.sts.test\nmax_age: 86400\n'
let answering: { text?: string; contentType?: string } | 'away'
let fetched: { url: string; redirectsMax: number }[]
beforeEach(async () => {
  fetched = []
  answering = { text: enforce }
  await db.query({ text: 'DELETE FROM mta_sts_policies' })
})

/** A node with an empty cache. */
const node = () =>
  createMtaSts({
    db,
    resolver: createDnsResolver({ servers: [dns.address] }),
    fetchFile: async (url, { redirectsMax }) => {
      fetched.push({ url, redirectsMax })
      if (answering === 'away') throw new FetchRefused('The server could not be reached.', 'connect_refused')
      return { bytes: Buffer.from(answering.text ?? ''), contentType: answering.contentType ?? 'text/plain; charset=utf-8' }
    },
    log: createLog('silent'),
  })
const publish = (id: string | null) =>
  id === null ? dns.remove('_mta-sts.sts.test') : dns.set('_mta-sts.sts.test', { TXT: [`v=STSv1; id=${id};`] })

test('a domain without a record has no policy, and nothing is fetched', async () => {
  publish(null)
  expect(await node().findPolicy('sts.test')).toBeNull()
  expect(fetched).toEqual([])
})

test('a record causes one fetch of the policy, without redirects, which is stored for every node', async () => {
  publish('1')
  const one = node()
  expect(await one.findPolicy('sts.test')).toEqual({ mode: 'enforce', mx: ['*.sts.test'], maxAgeSeconds: 86_400 })
  expect(await one.findPolicy('sts.test')).toMatchObject({ mode: 'enforce' })
  expect(await node().findPolicy('sts.test')).toMatchObject({ mode: 'enforce' })
  expect(fetched).toEqual([{ url: 'https://mta-sts.sts.test/.well-known/mta-sts.txt', redirectsMax: 0 }])
})

test('a new id causes a new fetch', async () => {
  publish('1')
  await node().findPolicy('sts.test')
  publish('2')
  answering = { text: enforce.replace('enforce', 'testing') }
  expect(await node().findPolicy('sts.test')).toMatchObject({ mode: 'testing' })
})

test('a known policy applies while its record is hidden, DNS fails, or its host fails or sends an invalid policy', async () => {
  publish('1')
  await node().findPolicy('sts.test')
  publish(null)
  expect(await node().findPolicy('sts.test')).toMatchObject({ mode: 'enforce' })
  dns.fail('_mta-sts.sts.test', 'SERVFAIL')
  expect(await node().findPolicy('sts.test')).toMatchObject({ mode: 'enforce' })
  dns.fail('_mta-sts.sts.test', null)
  publish('2')
  for (const answer of ['away', { text: '<html>' }, { text: enforce.replace('enforce', 'none'), contentType: 'text/html' }] as const) {
    answering = answer
    expect(await node().findPolicy('sts.test')).toMatchObject({ mode: 'enforce' })
  }
})

test('a policy at half its maximum age is fetched again even with the same id', async () => {
  publish('1')
  await node().findPolicy('sts.test')
  await db.query({
    text: `UPDATE mta_sts_policies SET fetched_at = fetched_at - interval '13 hours', expires_at = expires_at - interval '13 hours'`,
  })
  answering = 'away'
  expect(await node().findPolicy('sts.test')).toMatchObject({ mode: 'enforce' })
  expect(fetched).toHaveLength(2)
})

test('an expired policy does not apply, and is swept', async () => {
  publish('1')
  await node().findPolicy('sts.test')
  await db.query({ text: `UPDATE mta_sts_policies SET expires_at = now() - interval '1 second'` })
  publish(null)
  expect(await node().findPolicy('sts.test')).toBeNull()
  await node().sweep()
  expect((await db.query({ text: 'SELECT 1 FROM mta_sts_policies' })).rowCount).toBe(0)
})

test('a policy that cannot be fetched the first time is ignored', async () => {
  publish('1')
  answering = 'away'
  expect(await node().findPolicy('sts.test')).toBeNull()
})

test('address literals and single labels have no policy', async () => {
  for (const domain of ['[127.0.0.1]', 'localhost', 'a b.test', '../x.test']) expect(await node().findPolicy(domain)).toBeNull()
  expect(fetched).toEqual([])
})

// A resolver on lookups in the shape of node:dns/promises.
import { expect, test } from 'vitest'
import { type DnsLookups, dnsResolver } from './dns-resolver.ts'

const refuse = async (): Promise<never> => {
  throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
}
const lookups: DnsLookups = {
  resolveTxt: refuse,
  resolveMx: refuse,
  resolve4: refuse,
  resolve6: refuse,
  resolveCname: refuse,
  resolvePtr: refuse,
}
const failing = (code: string) => async (): Promise<never> => {
  throw Object.assign(new Error(code), { code })
}

test('records are joined and renamed', async () => {
  const resolver = dnsResolver({
    ...lookups,
    resolveTxt: async () => [['v=spf1 ', '-all']],
    resolveMx: async () => [{ exchange: 'mx.example.com', priority: 10 }],
    resolvePtr: async (name) => [name],
  })
  expect(await resolver.txt('example.com')).toEqual({ kind: 'found', records: ['v=spf1 -all'] })
  expect(await resolver.mx('example.com')).toEqual({ kind: 'found', records: [{ exchange: 'mx.example.com', preference: 10 }] })
  expect(await resolver.ptr('192.0.2.7')).toEqual({ kind: 'found', records: ['7.2.0.192.in-addr.arpa'] })
  expect(await resolver.ptr('not an address')).toEqual({ kind: 'no-name' })
})

test('missing names, missing records and failures are kept apart', async () => {
  const answerTo = (resolve4: DnsLookups['resolve4']) => dnsResolver({ ...lookups, resolve4 }).a('example.com')
  expect(await answerTo(failing('ENOTFOUND'))).toEqual({ kind: 'no-name' })
  expect(await answerTo(failing('ENODATA'))).toEqual({ kind: 'no-data' })
  expect(await answerTo(async () => [])).toEqual({ kind: 'no-data' })
  expect(await answerTo(failing('ESERVFAIL'))).toEqual({ kind: 'failure', reason: 'ESERVFAIL' })
})

test('lookups keep their receiver', async () => {
  class Lookups {
    addresses = ['192.0.2.7']
    resolveTxt = refuse
    resolveMx = refuse
    resolve6 = refuse
    resolveCname = refuse
    resolvePtr = refuse
    async resolve4() {
      return this.addresses
    }
  }
  expect(await dnsResolver(new Lookups()).a('example.com')).toEqual({ kind: 'found', records: ['192.0.2.7'] })
})

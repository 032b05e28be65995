// The servers are judged by names that no sender can choose, and by every answer that they give.
import type { DnsAnswer, Resolver } from '@callsign/mail/dns'
import { expect, test } from 'vitest'
import { createResolverHealth } from './resolver-health.ts'

const failure: DnsAnswer<string> = { kind: 'failure', reason: 'ETIMEOUT', isSilence: true }

function createProber(answer: (name: string) => DnsAnswer<string>) {
  const asked: string[] = []
  const never = () => new Promise<never>(() => {})
  const txt = async (name: string) => {
    asked.push(name)
    return answer(name)
  }
  const prober: Resolver = { txt, mx: never, a: never, aaaa: never, cname: never, ptr: never }
  return { prober, asked }
}

test('nothing is sent before it is needed, and a probe uses random names below two registries', async () => {
  const { prober, asked } = createProber(() => ({ kind: 'no-name' }))
  const health = createResolverHealth(prober, { freshMs: -1 })
  expect(asked).toEqual([])
  expect(await health.isAnswering()).toBe(true)
  expect(await health.isAnswering()).toBe(true)
  expect(asked.map((name) => name.replace(/[0-9a-f]{16}/, '…'))).toEqual(
    Array(2).fill(['callsign-probe-….com', 'callsign-probe-….org']).flat(),
  )
  expect(new Set(asked.map((name) => name.split('.')[0])).size).toBe(2)
})

test('one failing registry proves nothing, but two prove that the servers do not work', async () => {
  const half = createResolverHealth(createProber((name) => (name.endsWith('.com') ? failure : { kind: 'no-name' })).prober)
  expect(await half.isAnswering()).toBe(true)
  const dead = createResolverHealth(createProber(() => failure).prober)
  expect(await dead.isAnswering()).toBe(false)
})

test('failures of other names change nothing, and an answer to any name ends an outage', async () => {
  let isCutOff = false
  const { prober, asked } = createProber(() => (isCutOff ? failure : { kind: 'no-name' }))
  const health = createResolverHealth(prober)
  for (let i = 0; i < 100; i++) health.observe(failure)
  expect(await health.isAnswering()).toBe(true)
  isCutOff = true
  const later = createResolverHealth(prober)
  expect(await Promise.all([later.isAnswering(), later.isAnswering()])).toEqual([false, false])
  expect(asked).toHaveLength(4)
  later.observe({ kind: 'found', records: ['x'] })
  expect(await later.isAnswering()).toBe(true)
})

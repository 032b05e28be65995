// The health of the DNS servers, judged by answers that servers have given.
import { expect, test } from 'vitest'
import { createDnsResolver } from '../src/edges/dns/resolver.ts'
import { createResolverHealth } from '../src/edges/dns/resolver-health.ts'
import { reuseAnswers } from '../src/edges/dns/reused-answers.ts'

const later = <T>(ms: number, value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), ms))
const silent = { txt: () => later(50, { kind: 'failure', reason: 'ETIMEOUT', isSilence: true }) } as never

test('an answer that comes while the probe is under way proves that the servers work', async () => {
  const health = createResolverHealth(silent)
  const asked = health.isAnswering()
  health.observe({ kind: 'found', records: ['v=spf1 -all'] })
  expect(await asked).toBe(true)
})

test('a name that is never sent to a server proves nothing', async () => {
  const health = createResolverHealth(silent)
  const resolver = reuseAnswers(createDnsResolver({ servers: ['127.0.0.1:9'] }), { health })
  expect(await health.isAnswering()).toBe(false)
  await resolver.txt('x.onion') // c-ares answers ENOTFOUND by itself (RFC 7686)
  await resolver.txt(`${'a'.repeat(64)}.example`)
  expect(await health.isAnswering()).toBe(false)
})

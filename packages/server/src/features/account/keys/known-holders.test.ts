// Holders are read again for every other text, and shared for the same one.
import { expect, test } from 'vitest'
import { KnownHolders } from './known-holders.ts'

const fields = (changes: Record<number, unknown> = {}) => {
  const agents = [['idn_1', 'ann', 'mbx_1', 'ann@agents.localhost']]
  const all = ['0a', 'ff00', 'key_1', 'one', 'agent', ['mail:read'], 'org_1', 'Org', 'usr_1', 'owner', [], null, agents]
  return JSON.stringify(all.map((value, index) => (index in changes ? changes[index] : value)))
}

test('the same text has the same holder', () => {
  const known = new KnownHolders()
  const holder = known.read('a', fields())
  expect(known.read('a', fields())).toBe(holder)
  expect(known.recall('a')).toBe(holder)
  expect(holder).toEqual({
    salt: Buffer.from([10]),
    secretHash: Buffer.from([255, 0]),
    hasAgents: true,
    caller: expect.objectContaining({
      keyId: 'key_1',
      role: 'agent',
      scopes: new Set(['mail:read']),
      agents: [{ identityId: 'idn_1', handle: 'ann', mailboxId: 'mbx_1', address: 'ann@agents.localhost' }],
      limits: { expiresAt: null, allowedIps: [] },
    }),
  })
})

test('every changed field is read, also when the text changes back', () => {
  const known = new KnownHolders()
  const first = known.read('a', fields())
  expect(known.read('a', fields({ 5: ['mail:send'] })).caller.scopes).toEqual(new Set(['mail:send']))
  expect(known.read('a', fields({ 11: '2026-01-31T09:30:00+00:00' })).caller.limits.expiresAt).toEqual(new Date('2026-01-31T09:30:00Z'))
  expect(known.read('a', fields({ 12: null }))).toMatchObject({ hasAgents: false, caller: { agents: null } })
  const again = known.read('a', fields())
  expect(again).toEqual(first)
  expect(known.recall('a')).toBe(again)
  expect(known.recall('b')).toBeUndefined()
})

test('the keys that changed longest ago are dropped above ten thousand', () => {
  const known = new KnownHolders()
  for (let i = 0; i <= 10_000; i++) known.read(`key ${i}`, fields())
  expect(known.recall('key 0')).toBeUndefined()
  expect(known.recall('key 1')).toBeDefined()
})

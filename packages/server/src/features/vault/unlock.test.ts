// Comparing hashes, and the limits on wrong ones.
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Holder, VaultKeyRow } from './model.ts'
import { digestAuthHash, failuresPerTypeMax, findKey, waitMs, windowMs } from './unlock.ts'

const hash = () => randomBytes(32).toString('hex')
const keyOf = (id: string, authHash: string) => ({ id, ...digestAuthHash(authHash) }) as VaultKeyRow

test('a hash finds its key among others, in either case', () => {
  const [first, second] = [hash(), hash()]
  const keys = [keyOf('first', first), keyOf('second', second)]
  expect(findKey(keys, second)?.id).toBe('second')
  expect(findKey(keys, first.toUpperCase())?.id).toBe('first')
  expect(findKey(keys, hash())).toBeNull()
  expect(findKey([], first)).toBeNull()
})

test('the same hash is stored differently each time', () => {
  const one = hash()
  expect(digestAuthHash(one).auth_digest).not.toEqual(digestAuthHash(one).auth_digest)
})

const nowMs = Date.UTC(2026, 0, 1)
const failed = (holder: Holder, agoMs: number) => ({
  key_id: holder.keyId,
  identity_id: holder.identityId,
  failed_at: new Date(nowMs - agoMs),
})
const agent = (name: string, keyId = `key of ${name}`): Holder => ({ keyId, identityId: name })
const organization = (keyId: string): Holder => ({ keyId, identityId: null })
const many = (count: number, holder: (i: number) => Holder, agoMs = (i: number) => i * 1000) =>
  Array.from({ length: count }, (_, i) => failed(holder(i), agoMs(i)))

test.each([agent('ann'), organization('key')])(
  'nine failures of %j pass, and ten wait until the tenth newest has left the window',
  (one) => {
    expect(waitMs([], one, nowMs)).toBe(0)
    expect(
      waitMs(
        many(9, () => one),
        one,
        nowMs,
      ),
    ).toBe(0)
    expect(
      waitMs(
        many(10, () => one),
        one,
        nowMs,
      ),
    ).toBe(windowMs - 9000)
    expect(
      waitMs(
        many(12, () => one),
        one,
        nowMs,
      ),
    ).toBe(windowMs - 9000)
  },
)

test('all keys of an agent count as one', () => {
  const failures = many(10, (i) => agent('ann', `key ${i}`))
  expect(waitMs(failures, agent('ann', 'a new key'), nowMs)).toBe(windowMs - 9000)
  expect(waitMs(failures, agent('ben'), nowMs)).toBe(0)
})

test.each([
  ['agents', (i: number) => agent(`agent ${i}`), organization('key')],
  ['organization keys', (i: number) => organization(`key ${i}`), agent('ann')],
])('thirty of all %s wait, and the other type has a window of its own', (_name, holder, other) => {
  const spread = many(failuresPerTypeMax, holder)
  expect(waitMs(spread, holder(99), nowMs)).toBe(windowMs - (failuresPerTypeMax - 1) * 1000)
  expect(waitMs(spread.slice(1), holder(99), nowMs)).toBe(0)
  expect(waitMs(spread, other, nowMs)).toBe(0)
})

test('an old tenth failure causes no delay', () => {
  const one = agent('ann')
  expect(
    waitMs(
      many(
        10,
        () => one,
        (i) => (i === 9 ? windowMs : i),
      ),
      one,
      nowMs,
    ),
  ).toBe(0)
})

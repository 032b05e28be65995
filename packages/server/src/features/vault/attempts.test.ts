// Comparing hashes, and the limits on wrong ones.
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { digestAuthHash, failuresPerVaultMax, findKey, waitMs, windowMs } from './attempts.ts'
import type { VaultKeyRow } from './model.ts'

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
const failed = (keyId: string, agoMs: number) => ({ key_id: keyId, failed_at: new Date(nowMs - agoMs) })
const many = (count: number, keyId: (i: number) => string, agoMs = (i: number) => i * 1000) =>
  Array.from({ length: count }, (_, i) => failed(keyId(i), agoMs(i)))

test('nine failures of a key pass, and ten wait until the tenth newest has left the window', () => {
  expect(waitMs([], 'key', nowMs)).toBe(0)
  expect(
    waitMs(
      many(9, () => 'key'),
      'key',
      nowMs,
    ),
  ).toBe(0)
  expect(
    waitMs(
      many(10, () => 'key'),
      'key',
      nowMs,
    ),
  ).toBe(windowMs - 9000)
  expect(
    waitMs(
      many(12, () => 'key'),
      'key',
      nowMs,
    ),
  ).toBe(windowMs - 9000)
})

test("another key's failures count for the vault only", () => {
  expect(
    waitMs(
      many(10, () => 'other'),
      'key',
      nowMs,
    ),
  ).toBe(0)
  const spread = many(failuresPerVaultMax, (i) => `key-${i}`)
  expect(waitMs(spread, 'key', nowMs)).toBe(windowMs - (failuresPerVaultMax - 1) * 1000)
  expect(waitMs(spread.slice(1), 'key', nowMs)).toBe(0)
})

test('an old tenth failure causes no delay', () => {
  expect(
    waitMs(
      many(
        10,
        () => 'key',
        (i) => (i === 9 ? windowMs : i),
      ),
      'key',
      nowMs,
    ),
  ).toBe(0)
})

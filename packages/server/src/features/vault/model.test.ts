// Which rotations cover the vault.
import { expect, test } from 'vitest'
import { findMismatch, findRepeated } from './model.ts'

const live = [
  { id: 'a', revision: 1 },
  { id: 'b', revision: 4 },
]

test('exactly the live secrets match, in any order', () => {
  expect(findMismatch(live, live.toReversed())).toBeNull()
  expect(findMismatch([], [])).toBeNull()
})

test('a missing, a stale and an unknown secret are each named', () => {
  expect(
    findMismatch(live, [
      { id: 'b', revision: 3 },
      { id: 'c', revision: 1 },
    ]),
  ).toEqual({ missing: ['a'], stale: ['b'], unknown: ['c'] })
  expect(findMismatch(live, [])).toEqual({ missing: ['a', 'b'], stale: [], unknown: [] })
})

test('a repeated text is found', () => {
  expect(findRepeated(['a', 'b', 'a'])).toBe('a')
  expect(findRepeated(['a', 'b'])).toBeNull()
})

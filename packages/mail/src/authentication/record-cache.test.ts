// Records are read once while they are in use, and no longer than a thousand others.
import { expect, test } from 'vitest'
import { keepReadings } from './record-cache.ts'

/** A cache over a reader that counts its calls. */
const counting = (charactersMax = 100) => {
  const seen: string[] = []
  const read = keepReadings((record) => {
    seen.push(record)
    return { record }
  }, charactersMax)
  return { read, seen }
}
const others = (count: number) => Array.from({ length: count }, (_, index) => `other ${index}`)

test('a record is read once', () => {
  const { read, seen } = counting()
  expect(read('a')).toBe(read('a'))
  expect(read('b')).toEqual({ record: 'b' })
  expect(seen).toEqual(['a', 'b'])
})

test('a longer record is read again each time', () => {
  const { read, seen } = counting(3)
  for (const record of ['abc', 'abc', 'abcd', 'abcd']) read(record)
  expect(seen).toEqual(['abc', 'abcd', 'abcd'])
})

test('the thousand records that were used last are kept', () => {
  const { read, seen } = counting()
  read('first')
  for (const record of others(999)) read(record)
  // Used again, so that `other 0` is the one that was not used for the longest time.
  read('first')
  expect(seen).toHaveLength(1_000)
  read('one more')
  read('first')
  read('other 1')
  expect(seen).toHaveLength(1_001)
  read('other 0')
  expect(seen).toHaveLength(1_002)
})

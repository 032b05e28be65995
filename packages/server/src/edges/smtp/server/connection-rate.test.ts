// The connection rate allows a burst, refills, separates clients and limits its memory.
import { expect, test } from 'vitest'
import { ConnectionRate } from './connection-rate.ts'

test('a burst is accepted, then one connection at a time, and never more than a burst', () => {
  const rate = new ConnectionRate(60)
  const taken = (count: number, atMs: number) => Array.from({ length: count }, () => rate.take('192.0.2.1', atMs)).filter(Boolean).length
  expect(taken(100, 0)).toBe(60)
  expect(taken(5, 1_000)).toBe(1)
  expect(taken(200, 3_600_000)).toBe(60)
  expect(rate.take('192.0.2.2', 3_600_000)).toBe(true)
  // A clock that is set back does not add tokens.
  expect(taken(5, 3_000_000)).toBe(0)
})

test('no limit', () => {
  const rate = new ConnectionRate(0)
  expect(Array.from({ length: 1_000 }, () => rate.take('192.0.2.1', 0)).every(Boolean)).toBe(true)
})

test('a flood of clients does not make the table grow without limit', () => {
  const rate = new ConnectionRate(10)
  for (let client = 0; client < 50_000; client++) expect(rate.take(String(client), client)).toBe(true)
})

// Pieces of any size come out as they went in.
import { expect, test } from 'vitest'
import { GatheredBytes } from './buffered-bytes.ts'

test('pieces are kept in order, and taken once', () => {
  const gathered = new GatheredBytes()
  const pieces = Array.from({ length: 50 }, (_, i) => Buffer.alloc(i * 3, i))
  for (const piece of pieces) gathered.add(piece)
  const all = Buffer.concat(pieces)
  expect(gathered.size).toBe(all.length)
  expect(gathered.take()).toEqual(all)
  expect([gathered.size, gathered.take().length]).toEqual([0, 0])
})

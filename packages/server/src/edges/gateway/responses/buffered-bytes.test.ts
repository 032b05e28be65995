// Chunks of any size are returned in order and unchanged.
import { expect, test } from 'vitest'
import { BufferedBytes } from './buffered-bytes.ts'

test('pieces are kept in order, and taken once', () => {
  const buffered = new BufferedBytes()
  const pieces = Array.from({ length: 50 }, (_, i) => Buffer.alloc(i * 3, i))
  for (const piece of pieces) buffered.add(piece)
  const all = Buffer.concat(pieces)
  expect(buffered.size).toBe(all.length)
  expect(buffered.take()).toEqual(all)
  expect([buffered.size, buffered.take().length]).toEqual([0, 0])
})

// Pages are found by their key, within a limit of memory.
import { expect, test } from 'vitest'
import { PageCache } from './page-cache.ts'

const kilobyte = 1024

test('a page is found by its key, and the last one kept counts', () => {
  const cache = new PageCache()
  const [first, second] = [Buffer.from('1'), Buffer.from('2')]
  expect(cache.get('a')).toBeUndefined()
  cache.keep('a', first)
  expect(cache.get('a')).toBe(first)
  cache.keep('a', second)
  expect(cache.get('a')).toBe(second)
})

test('drops the pages that were not read for the longest time, and never keeps large ones', () => {
  const cache = new PageCache()
  cache.keep('large', Buffer.alloc(1024 * kilobyte + 1))
  expect(cache.get('large')).toBeUndefined()
  for (let i = 0; i < 12; i++) {
    cache.keep(`${i}`, Buffer.alloc(900 * kilobyte))
    cache.get('0')
  }
  expect(['0', '1', '3', '4', '11'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, false, true, true])
})

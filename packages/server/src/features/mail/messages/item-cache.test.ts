// Items are found by key and version, within a limit of memory.
import { expect, test } from 'vitest'
import { ItemCache, startOf } from './item-cache.ts'

const item = (version: string, bytes: number) => ({ version, start: Buffer.alloc(bytes), files: [] })
const kilobyte = 1024

test('an item is found by its version only, and the newest version replaces it', () => {
  const cache = new ItemCache()
  const first = item('1', 10)
  cache.keep('a', first)
  expect(cache.find('a', '1')).toBe(first)
  expect(cache.find('a', '2')).toBeUndefined()
  expect(cache.find('b', '1')).toBeUndefined()
  cache.keep('a', item('2', 10))
  expect([cache.find('a', '1'), cache.has('a'), cache.has('b')]).toEqual([undefined, true, false])
})

test('drops the items that were not read for the longest time, and never keeps large ones', () => {
  const cache = new ItemCache()
  cache.keep('large', item('1', 256 * kilobyte))
  expect(cache.has('large')).toBe(false)
  for (let i = 0; i < 120; i++) {
    cache.keep(`${i}`, item('1', 250 * kilobyte))
    cache.find('0', '1')
  }
  expect([cache.has('0'), cache.has('1'), cache.has('119')]).toEqual([true, false, true])
})

test('the start of an object ends where the value of attachments begins', () => {
  expect(JSON.parse(`${startOf({ text: '}"' })}[]}`)).toEqual({ text: '}"', attachments: [] })
})

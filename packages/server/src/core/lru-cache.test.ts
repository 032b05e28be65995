// Values are found by key, within a limit of memory.
import { expect, test } from 'vitest'
import { LruCache } from './lru-cache.ts'

const startCache = () => new LruCache<string>({ sizeMax: 10, valueSizeMax: 6, sizeOf: (value, key) => value.length + key.length })
const keptOf = (cache: LruCache<string>, keys: string) => [...keys].filter((key) => cache.has(key)).join('')

test('a value is found by its key, and the newest one replaces it', () => {
  const cache = startCache()
  expect([cache.get('a'), cache.has('a')]).toEqual([undefined, false])
  cache.keep('a', '1')
  cache.keep('a', '2')
  expect([cache.get('a'), cache.has('a')]).toEqual(['2', true])
})

test('drops the values that were not read for the longest time', () => {
  const cache = startCache()
  for (const key of 'abcde') cache.keep(key, '1')
  cache.get('a')
  cache.has('b')
  cache.keep('f', '123')
  expect(keptOf(cache, 'abcdef')).toBe('adef')
})

test('a value above its limit is not kept, and replaces the one before', () => {
  const cache = startCache()
  cache.keep('a', '12345')
  expect(cache.get('a')).toBe('12345')
  cache.keep('a', '123456')
  expect(cache.has('a')).toBe(false)
})

test('a replaced value does not count', () => {
  const cache = startCache()
  cache.keep('a', '1')
  for (const value of ['1', '12', '123', '1']) cache.keep('b', value)
  for (const key of 'cde') cache.keep(key, '1')
  expect(keptOf(cache, 'abcde')).toBe('abcde')
})

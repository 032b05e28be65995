// Checks, changes and filters of metadata and tags.
import { metadataBytesMax, metadataKeysMax } from '@callsign/contract/metadata'
import { describe, expect, test } from 'vitest'
import { changeMetadata, filterMark, filterObjects, joinMetadata, metadataMarks, readMetadata, readTags, toTags } from './metadata.ts'

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, n]))

describe('changes of metadata', () => {
  test('a change sets keys, null deletes them, and others stay', () => {
    expect(changeMetadata({ a: 1, b: 'x' }, { b: null, c: true })).toEqual({ a: 1, c: true })
    expect(changeMetadata(null, {})).toBeNull()
    expect(changeMetadata({ a: 1 }, { a: null })).toBeNull()
    expect(readMetadata(undefined)).toBeNull()
  })

  test('the number of keys counts after the change', () => {
    expect(changeMetadata(keys(metadataKeysMax), { key0: null, more: 1 })).toMatchObject({ more: 1 })
    expect(() => changeMetadata(keys(metadataKeysMax), { more: 1 })).toThrow('at most 50 keys')
  })

  test('the size counts bytes with the spaces that the database stores', () => {
    const filler = (bytes: number) => ({ k: 'é'.repeat(400), l: 'x'.repeat(bytes) })
    const fixed = Buffer.byteLength(JSON.stringify(filler(0))) + 3
    expect(readMetadata(filler(metadataBytesMax - fixed))).not.toBeNull()
    expect(() => readMetadata(filler(metadataBytesMax - fixed + 1))).toThrow('16 KB')
  })

  test.each([1e21, -1e300, 1e-7])('%s is refused', (number) => {
    expect(() => readMetadata({ number })).toThrow('send it as a string')
  })
})

test('joined metadata keeps the first value of a key, and leaves out what does not fit', () => {
  expect(joinMetadata([{ a: 1 }, null, { a: 2, b: 3 }])).toEqual({ a: 1, b: 3 })
  expect(joinMetadata([null, null])).toBeNull()
  expect(joinMetadata([{ a: 1 }, keys(metadataKeysMax), { b: 2 }])).toEqual({ a: 1, b: 2 })
})

test('a filter matches a value by its text', () => {
  for (const value of ['42', 42]) expect(metadataMarks({ order: value })).toEqual([filterMark('order:42')])
  expect(metadataMarks({ paid: true })).toEqual([filterMark('paid:true')])
  expect(metadataMarks({ url: 'a:b' })).toEqual([filterMark('url:a:b')])
  expect(filterObjects('order:42')).toEqual(['{"order":"42"}', '{"order":42}'])
  expect(filterObjects('paid:false')).toEqual(['{"paid":"false"}', '{"paid":false}'])
  for (const text of ['042', '', ' 1', '1e3', 'Infinity', 'NaN', 'a:b'])
    expect(filterObjects(`k:${text}`)).toEqual([JSON.stringify({ k: text })])
})

test('tags keep their order, and a name occurs once', () => {
  const tags = [
    { name: 'b', value: '2' },
    { name: 'a', value: '1' },
  ]
  expect(toTags(readTags(tags))).toEqual(tags)
  expect([readTags([]), readTags(undefined), toTags(null)]).toEqual([null, null, []])
  expect(() => readTags([...tags, { name: 'b', value: '3' }])).toThrow('occurs twice')
})

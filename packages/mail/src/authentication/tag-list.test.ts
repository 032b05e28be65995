// Tag lists of RFC 6376 §3.2, and errors that invalidate a whole list.
import { expect, test } from 'vitest'
import { readNames, readTagList } from './tag-list.ts'

const values = (text: string) => Object.fromEntries([...readTagList(text).tags].map(([name, { value }]) => [name, value]))

test('names and values, folding white space aside', () => {
  const text = 'v=1; a =\r\n\trsa-sha256;b= AB\r\n CD ;h=from : to;x=a=b;'
  expect(values(text)).toEqual({ v: '1', a: 'rsa-sha256', b: 'AB CD', h: 'from : to', x: 'a=b' })
  expect(readTagList(text)).toMatchObject({ firstName: 'v', defect: null })
  const { start, end } = readTagList(text).tags.get('b') as { start: number; end: number }
  expect(text.slice(start, end)).toBe(' AB\r\n CD ')
  // Octets that other alphabets call a space are part of a value.
  expect(values('n=\xa0a\xa0')).toEqual({ n: '\xa0a\xa0' })
})

test('names keep their case, so that B= is not the signature', () => {
  expect(values('B=1;b=2')).toEqual({ B: '1', b: '2' })
})

test('a list with a defect says so', () => {
  expect(readTagList('a=1;a=2')).toMatchObject({ defect: 'tag given twice' })
  expect(readTagList('a=1;;b=2')).toMatchObject({ defect: 'empty tag' })
  expect(readTagList('')).toMatchObject({ defect: 'empty tag', firstName: '' })
  expect(readTagList('a=1;b')).toMatchObject({ defect: 'tag without a value' })
  expect(readTagList('1a=1')).toMatchObject({ defect: 'tag with a bad name' })
  expect(readTagList('a=1;\r\n ')).toMatchObject({ defect: null })
})

test('lists of names', () => expect(readNames('From : To::DATE')).toEqual(['from', 'to', 'date']))

// Line ends of every kind become LF, also where lines are put together by the thousand.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutText, storableLine, storableText, unifyLineEnds } from './storable-text.ts'

test.each([
  ['a\r\nb\rc\nd', 'a\nb\nc\nd'],
  ['\r\r\n\r', '\n\n\n'],
  ['no end', 'no end'],
  ['\r', '\n'],
])('%j', (text, unified) => {
  expect(unifyLineEnds(text)).toBe(unified)
})

test('any text: as by two replacements', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'ä', '\r', '\n', '\r\n', '')), fc.integer({ min: 0, max: 2100 }), (pieces, lines) => {
      const text = `${pieces.join('')}${'x\r\n'.repeat(lines)}${pieces.join('')}`
      expect(unifyLineEnds(text)).toBe(text.replaceAll('\r\n', '\n').replaceAll('\r', '\n'))
    }),
  )
})

test.each([
  ['a\u0000b', 'ab'],
  [' a ', 'a'],
  ['a\r\nb', 'a  b'],
  ['\u0000', ''],
  ['a\ud800b', 'a\ufffdb'],
  ['\u007f', ''],
])('the line %j is stored %j', (text, line) => {
  expect(storableLine(text)).toBe(line)
})

test.each([
  ['a\u0000b\r\n\tc', 'ab\r\n\tc'],
  ['\udc00 a', '\ufffd a'],
  ['a\u0000\ud800', 'a\ufffd'],
])('the text %j is stored %j', (text, stored) => {
  expect(storableText(text)).toBe(stored)
})

test('a cut leaves no half of a pair', () => {
  expect([1, 2, 3, 4].map((length) => cutText('a\u{1f600}b', length))).toEqual(['a', 'a', 'a\u{1f600}', 'a\u{1f600}b'])
  expect(cutText('a\u{10ffff}b', 2)).toBe('a')
  expect(cutText('a\ue000b', 2)).toBe('a\ue000')
  expect(cutText('ab', 3)).toBe('ab')
})

test('thousands of lines, one more or less than are joined at once', () => {
  for (const count of [1023, 1024, 1025, 3000]) expect(unifyLineEnds('x\r\n'.repeat(count))).toBe('x\n'.repeat(count))
})

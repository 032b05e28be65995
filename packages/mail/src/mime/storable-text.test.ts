// Line ends of every kind become LF, also where lines are put together by the thousand.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unifyLineEnds } from './storable-text.ts'

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

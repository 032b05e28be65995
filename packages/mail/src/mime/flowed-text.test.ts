// Paragraphs of format=flowed (RFC 3676), each with its complete result.
import { expect, test } from 'vitest'
import { joinFlowedLines } from './flowed-text.ts'

test.each([
  ['a \nb', false, 'a b'],
  ['a \nb', true, 'ab'],
  ['a\nb', false, 'a\nb'],
  ['> a \n> b', false, '> a b'],
  ['> a \n>> b', false, '> a \n>> b'],
  ['>a \n>b', false, '> a b'],
  [' a', false, 'a'],
  ['  a \nb', false, ' a b'],
  ['a \n> b', false, 'a \n> b'],
  ['-- \nx', false, '-- \nx'],
  ['a \n-- \nx', false, 'a \n-- \nx'],
  ['> -- \n> x', false, '> -- \n> x'],
  ['', false, ''],
  ['a', false, 'a'],
  ['a\n', false, 'a\n'],
  ['\n\n', false, '\n\n'],
  ['a \n', false, 'a '],
  ['a \n\nb', false, 'a \nb'],
  ['> \n> a', false, '> \n> a'],
  [
    '>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>> a',
    false,
    '>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>> >>>>>>>>>>>>>>>>>>>> a',
  ],
  ['a \n b', false, 'a b'],
  ['>\n> a \nb', true, '> \n> a\nb'],
])('%j, without its space: %j', (text, isDelSp, joined) => {
  expect(joinFlowedLines(text, isDelSp)).toBe(joined)
})

test('thousands of lines keep their order, one more or less than are joined at once', () => {
  for (const count of [1023, 1024, 1025, 3000]) {
    const lines = Array.from({ length: count }, (_, i) => `line ${i}`)
    expect(joinFlowedLines(lines.join('\n'), false)).toBe(lines.join('\n'))
    expect(joinFlowedLines(lines.join(' \n'), false)).toBe(lines.join(' '))
  }
})

// Which tokens have a code's shape, and that links and addresses hold none.
import { expect, test } from 'vitest'
import { findCandidates } from './candidates.ts'

const valuesIn = (text: string): string[] => findCandidates(text).map(({ value }) => value)

test.each([
  ['code 482913.', ['482913']],
  ['482 913, 42 and 10:30', ['482913']],
  ['AB12CD34 and WDJB-MJHT', ['AB12CD34', 'WDJB-MJHT']],
  ['a-word-of-many-parts-a1b2c3 x', []],
  ['(7QK2P9)', ['7QK2P9']],
])('%s', (text, values) => {
  expect(valuesIn(text)).toEqual(values)
})

test('numbers in links and addresses are none, however many there are', () => {
  expect(valuesIn('https://a.example/482913 www.b.example/482913 x482913@c.example 4711.8822@d.example, 771204')).toEqual(['771204'])
  expect(valuesIn('a@b@c.example 482913')).toEqual(['482913'])
  expect(valuesIn(`${'x'.repeat(70)}1234@d.example`)).toEqual([])
})

// Messages for an app that reads them, in words of any language.
import { expect, test } from 'vitest'
import { findCodes } from './codes.ts'

const valuesIn = (text: string): string[] => findCodes({ text }).flatMap((code) => (code.kind === 'one_time_code' ? [code.value] : []))

test.each([
  ['Hello 4829-1371\n\nweave://verify/4829-1371', ['48291371']],
  ['Hello 482913\n\nweave://login?code=482913\n\naB3dEfGhIjK', ['482913']],
  ['<#> 482913 weave\naB3dEfGhIjK', ['482913']],
  ['482913', ['482913']],
  [' 482-913\n', ['482913']],
  ['Dobrodošli! 482913\naB3dEfGhIjK', ['482913']],
])('%s', (text, values) => expect(valuesIn(text)).toEqual(values))

test.each([
  // Without a hash or a link to an app, with another number, or with several.
  'Hello 482913',
  'Hello 482913\nChristopher',
  'Hello 482913\nweave://verify/771204',
  'Hello 482913 and 771204\naB3dEfGhIjK',
  'Hello 482913\nhttps://weave.example/verify/482913',
  'Hello 482913\nweave://orders/482913',
  '4829',
  '20260303',
  '555-0142',
  'No. 482913',
  'Happy 2026\naB3dEfGhIjK',
  'Call 555-0142\naB3dEfGhIjK',
  `${'A long letter about the garden. '.repeat(8)}482913\naB3dEfGhIjK`,
])('%s has none', (text) => expect(valuesIn(text)).toEqual([]))

test('a mail that is only a number has none, because its subject gives the topic', () => {
  expect(findCodes({ subject: 'The number of the order', text: '482913' })).toEqual([])
})

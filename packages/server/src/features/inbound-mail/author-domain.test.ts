// Exactly one author domain, or a word why there is none.
import { expect, test } from 'vitest'
import { readAuthorDomain } from './author-domain.ts'

const read = (...values: string[]) => readAuthorDomain(values.map((value) => ({ text: Buffer.from(`From: ${value}`).toString('latin1') })))

test('the one domain of From, in normal form', () => {
  for (const value of [
    'Ada <ada@shop.example>',
    'ada@SHOP.example.',
    '"a@evil.example" <ada@shop.example>',
    '"a@evil.example"@shop.example',
    'Ada <ada@shop.example>, Bob <bob@Shop.Example>',
    'Staff: ada@shop.example, bob@shop.example;',
    'Smith, John <john@shop.example>',
    'evil.example <ada@shop.example>',
    'Ada\r\n <ada@shop.example>',
  ])
    expect(read(value), value).toEqual({ domain: 'shop.example' })
  expect(read('Ada <ada@bücher.example>')).toEqual({ domain: 'xn--bcher-kva.example' })
  expect(read('Ada <ada@[192.0.2.7]>')).toEqual({ domain: '[192.0.2.7]' })
})

test('none, or more than one', () => {
  expect(read()).toEqual({ trouble: 'no author domain' })
  expect(read('')).toEqual({ trouble: 'no author domain' })
  expect(read('Ada')).toEqual({ trouble: 'no author domain' })
  expect(read('a@shop.example', 'a@shop.example')).toEqual({ trouble: 'multiple from fields' })
  expect(read('a@shop.example, b@evil.example')).toEqual({ trouble: 'multiple author domains' })
  expect(read('<a@evil.example@shop.example>')).toEqual({ trouble: 'multiple author domains' })
  expect(read('<a@>, a@shop.example')).toEqual({ trouble: 'invalid author domain' })
  expect(read('a@shop.example, '.repeat(200))).toEqual({ trouble: 'too many authors' })
})

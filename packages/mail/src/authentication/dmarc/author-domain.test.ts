// Exactly one author domain, or a word why there is none.
import { expect, test } from 'vitest'
import { expectCost } from '../../../tests/harness/cost.ts'
import { disallowedCharacters, readAuthorDomain, readDomain } from './author-domain.ts'

const read = (...values: string[]) => readAuthorDomain(values.map((value) => ({ text: Buffer.from(`From: ${value}`).toString('latin1') })))

test('the one domain of From, in normal form', () => {
  for (const value of [
    'Ada <ada@shop.example>',
    'ada@SHOP.example.',
    '"a@evil.example" <ada@shop.example>',
    '"a@evil.example"@shop.example',
    'Smith, John <john@shop.example>',
    'evil.example <ada@shop.example>',
    'Ada\r\n <ada@shop.example>',
    'Ada <ada@\r\n shop.example>',
    // A semicolon ends no group when none was opened. The name of the field opens none.
    'ada@shop.example;',
    'ada@shop.example, '.repeat(100),
  ])
    expect(read(value), value).toEqual({ domain: 'shop.example' })
  expect(read('Ada <ada@bücher.example>')).toEqual({ domain: 'xn--bcher-kva.example' })
  expect(read('Ada <ada@[192.0.2.7]>')).toEqual({ domain: '[192.0.2.7]' })
  expect(read('Ada <ada@[IPv6:2001:DB8::7]>')).toEqual({ domain: '[ipv6:2001:db8::7]' })
  expect(read('Ada <ada@163.example>')).toEqual({ domain: '163.example' })
})

test('none, or more than one', () => {
  expect(read()).toEqual({ failure: 'no author' })
  expect(read('')).toEqual({ failure: 'no author' })
  expect(read('Ada')).toEqual({ failure: 'no author' })
  expect(read('(ada@shop.example)')).toEqual({ failure: 'no author' })
  expect(read('a@shop.example', 'a@shop.example')).toEqual({ failure: 'multiple from fields' })
  expect(read('a@shop.example, b@evil.example')).toEqual({ failure: 'multiple authors' })
  expect(read('Ada <ada@shop.example>, Bob <bob@Shop.Example>')).toEqual({ failure: 'multiple authors' })
  expect(read('Staff: ada@shop.example, bob@shop.example;')).toEqual({ failure: 'multiple authors' })
  expect(read('Staff: ada@shop.example;')).toEqual({ failure: 'a group instead of an author' })
  expect(read('<a@evil.example@shop.example>')).toEqual({ failure: 'multiple author domains' })
  expect(read('<a@>')).toEqual({ failure: 'invalid author domain' })
  expect(read('a@shop.example, '.repeat(101))).toEqual({ failure: 'too many authors' })
})

test.each([
  ['ada', 'invalid author domain'],
  ['a@shop.example.', 'invalid author domain'],
  ['a@shop..example', 'invalid author domain'],
  [`a@${'a'.repeat(64)}.example`, 'invalid author domain'],
  [`a@${'a.'.repeat(126)}ab`, 'invalid author domain'],
  // A label of both directions has no A-label (RFC 5893).
  ['a@abc\u05d0.example', 'invalid author domain'],
  ['a@\u05d0abc.example', 'invalid author domain'],
  ['a@example.\u05d0abc', 'invalid author domain'],
  ['x"a@evil.example"@shop.example', 'multiple author domains'],
  ['a@x[192.0.2.7]', disallowedCharacters],
  ['a@[192.0.2.7]x', disallowedCharacters],
  ['a@[1::2::3]', disallowedCharacters],
])('the address %j has no domain: %s', (address, failure) => expect(readDomain(address)).toEqual({ failure }))

test('the longest label and the longest name', () => {
  for (const domain of [`${'a'.repeat(63)}.example`, `${'a.'.repeat(126)}a`]) expect(readDomain(`a@${domain}`)).toEqual({ domain })
})

test('characters that do not show, or that no domain name holds, make no author domain', () => {
  const points = [
    0x80, 0x9f, 0xad, 0x200b, 0x200c, 0x200d, 0x202e, 0x2060, 0x2066, 0x2215, 0x2044, 0x3164, 0xfe0f, 0xe0041, 0x1f600, 0xfffd,
  ]
  for (const point of points)
    expect(read(`a@shop${String.fromCodePoint(point)}.example`), point.toString(16)).toEqual({ failure: disallowedCharacters })
  // The same as A-labels, and A-labels that stand for nothing.
  for (const domain of [
    'xn--shop-876a',
    'xn--shop-yd7a',
    'xn--shop-jd9a',
    'xn--shop-ex858a',
    'xn--shop-y973c',
    'xn--shop-ea',
    'xn--a',
    'xn--0000000000',
  ])
    expect(read(`a@${domain}.example`), domain).toEqual({ failure: disallowedCharacters })
  for (const domain of ['пример.рф', '例え.jp', 'l·l.example', 'xn--bcher-kva.example', 'a_b.example', 'हिन्दी.भारत'])
    expect(read(`a@${domain}`), domain).toHaveProperty('domain')
})

test.each([':', '"\\"', '(', '<', '[', 'a:b,', '=?utf-8?Q?', '"a" ', ';:', '@'])(
  'a From field of 400 KB of %j is read in linear time',
  async (unit) => {
    const value = `${unit.repeat(400_000 / unit.length)} <x@evil.example>`
    // A quadratic reader takes minutes, whatever the machine.
    await expectCost(() => read(value), 3000)
  },
)

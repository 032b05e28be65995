// Domain names in the forms that are compared and asked for.
import { expect, test } from 'vitest'
import { canBeAsked, isDomainName, isSelector, isWithin, normalName, toAsciiName } from './domain-names.ts'

test.each([
  ['Shop.Example', 'shop.example'],
  ['shop.example.', 'shop.example'],
  ['shop.example..', 'shop.example.'],
  [' shop.example\t', 'shop.example'],
  ['BÜCHER.example', 'xn--bcher-kva.example'],
  ['日本語.jp', 'xn--wgv71a119e.jp'],
  // A label that has no A-label stays as it is, and so do its neighbors.
  ['abc\u05d0.bücher.example', 'abc\u05d0.xn--bcher-kva.example'],
  ['', ''],
])('the normal form of %j is %j', (name, normal) => expect(normalName(name)).toBe(normal))

test('a label of more than 63 characters is not converted', () => {
  expect(toAsciiName(`${'ü'.repeat(50)}.example`)).toMatch(/^xn--/)
  expect(toAsciiName(`${'a'.repeat(62)}ü.example`)).toMatch(/^xn--a{62}-/)
  expect(toAsciiName(`${'a'.repeat(63)}ü.example`)).toBe(`${'a'.repeat(63)}ü.example`)
  expect(toAsciiName(`${'a'.repeat(100_000)}ü.bücher`)).toBe(`${'a'.repeat(100_000)}ü.xn--bcher-kva`)
  // Digits are not an IP address here, and underscores are no defect.
  expect(toAsciiName('163._x.bücher')).toBe('163._x.xn--bcher-kva')
})

test.each<[name: string, isName: boolean, isPart: boolean]>([
  ['shop.example', true, true],
  ['a-b.1.example', true, true],
  ['example', false, true],
  [`${'a'.repeat(63)}.example`, true, true],
  [`${'a'.repeat(64)}.example`, false, false],
  ['-a.example', false, false],
  ['a-.example', false, false],
  ['a_b.example', false, false],
  ['a..example', false, false],
  ['.example', false, false],
  ['shop.example.', false, false],
  ['shop.example x', false, false],
  ['x shop.example', false, false],
  ['', false, false],
])('%j is a domain name: %s, a selector: %s', (name, isName, isPart) =>
  expect([isDomainName(name), isSelector(name)]).toEqual([isName, isPart]),
)

test.each<[name: string, parent: string, expected: boolean]>([
  ['shop.example', 'shop.example', true],
  ['a.b.shop.example', 'shop.example', true],
  ['badshop.example', 'shop.example', false],
  ['example', 'shop.example', false],
  ['shop.example.test', 'shop.example', false],
  ['', '', false],
])('%j is within %j: %s', (name, parent, expected) => expect(isWithin(name, parent)).toBe(expected))

test.each<[name: string, expected: boolean]>([
  ['a', true],
  ['_dmarc.shop.example', true],
  [`${'a.'.repeat(126)}a`, true],
  [`${'a.'.repeat(126)}ab`, false],
  [`${'a'.repeat(63)}.example`, true],
  [`${'a'.repeat(64)}.example`, false],
  ['a..b', false],
  ['a.', false],
  ['', false],
])('%j can be asked for: %s', (name, expected) => expect(canBeAsked(name)).toBe(expected))

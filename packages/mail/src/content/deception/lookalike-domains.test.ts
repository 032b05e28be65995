// Registered domains, homoglyphs and lookalikes, one by one.
import { expect, test } from 'vitest'
import { imitatedName, isSameOrganization, latinLike, looksAlike, organizationOf } from './lookalike-domains.ts'

test.each([
  ['shop.example.co.uk', 'example.co.uk'],
  ['SHOP.Example.Co.UK', 'example.co.uk'],
  ['example.com.', 'example.com'],
  ['a.b.example.com', 'example.com'],
  ['me.github.io', 'me.github.io'],
  ['you.github.io', 'you.github.io'],
  ['localhost', 'localhost'],
  ['192.0.2.1', '192.0.2.1'],
  ['', ''],
  ['com', 'com'],
])('the organization of %j is %j, also when asked again', (host, organization) => {
  expect([organizationOf(host), organizationOf(host)]).toEqual([organization, organization])
})

test('more hosts than are remembered, and longer ones, have their own organization', () => {
  for (let i = 0; i < 2500; i++) expect(organizationOf(`h${i % 1200}.own${i % 1200}.example`)).toBe(`own${i % 1200}.example`)
  for (const labels of [100, 200])
    expect(organizationOf(`${'a.'.repeat(labels)}b.shop`)).toBe(labels === 100 ? 'b.shop' : `${'a.'.repeat(labels)}b.shop`)
})

test('the same organization', () => {
  expect(isSameOrganization('a.shop.example', 'b.shop.example')).toBe(true)
  expect(isSameOrganization('a.github.io', 'b.github.io')).toBe(false)
})

test.each([
  ['paypal.com', 'paypa1.com', true],
  ['paypal.com', 'pay-pal.com', true],
  ['paypal.com', 'PAYPAL.com', false],
  ['rnicrosoft.com', 'microsoft.com', true],
  ['vvallmart.com', 'wallmart.com', true],
  ['cloudflare.com', 'doudflare.com', true],
  ['bill.com', 'biii.com', true],
  ['ab.de', 'a6.de', false],
  ['ab.com', 'a-b.com', true],
  ['a-b.de', 'ab.de', false],
  ['abc.de', 'a-bc.de', true],
  ['paypal.com', '\u0440aypal.com', true],
  ['paypal.com', 'xn--aypal-uye.com', true],
  ['paypal.com', 'paypal.org', false],
  ['s3cure.com', 'secure.com', true],
  ['5ecure.com', 'secure.com', true],
  ['7arget.com', 'target.com', true],
  ['8ank-x.com', 'bank-x.com', true],
  ['g0ogle.com', 'google.com', true],
  ['a.paypal.com', 'b.paypal.com', false],
  ['apple.com', 'appie.com', true],
])('%j looks like %j: %j', (one, other, isAlike) => {
  expect([looksAlike(one, other), looksAlike(other, one)]).toEqual([isAlike, isAlike])
})

test.each<[string, string | null]>([
  ['paypal.com', null],
  ['m\u00fcnchen.de', null],
  ['xn--mnchen-3ya.de', null],
  ['\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444', null],
  ['\u0440\u0430ypal.com', 'paypal.com'],
  ['XN--AYPAL-UYE.com', 'paypal.com'],
  ['xn--aypal-uye.com', 'paypal.com'],
  ['\u0430\u0440\u0440\u04cf\u0435.com', 'apple.com'],
  ['caf\u00e9\u0430.com', 'caf\u00e9a.com'],
  ['\u03b1b.com', 'ab.com'],
  ['\u0565xample.com', '\u0565xample.com'],
  ['www.\u0440aypal.co.uk', 'www.paypal.co.uk'],
  ['xn--zz.com', null],
  ['a.xn--mnchen-3ya.\u0440aypal.de', 'a.m\u00fcnchen.paypal.de'],
  ['\u65e5\u672c.jp', null],
  ['\u0131stanbul.com', 'istanbul.com'],
  ['axn--b.com', null],
])('%j imitates %j', (host, imitated) => {
  expect(imitatedName(host)).toBe(imitated)
})

test.each([
  ['abc', 'abc'],
  ['\u0430bc', 'abc'],
  ['\u03b1', 'a'],
  ['z\u0440\ud83d\ude00', 'zp\ud83d\ude00'],
  ['\uffff\u0430', '\uffffa'],
  ['\u0585', 'o'],
])('%j with homoglyphs replaced: %j', (text, latin) => {
  expect(latinLike(text)).toBe(latin)
})

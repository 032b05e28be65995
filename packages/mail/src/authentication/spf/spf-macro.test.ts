// Macros: the examples of RFC 7208 §7.4, what their syntax refuses, and the names that they give.
import { describe, expect, test } from 'vitest'
import { readIp } from '../ip-address.ts'
import {
  expandMacros,
  isTargetName,
  type MacroText,
  type MacroValues,
  readDomainSpec,
  readMacroText,
  toTargetName,
  usesLetters,
} from './spf-macro.ts'

const values: MacroValues = {
  sender: 'strong-bad@email.example.com',
  domain: 'email.example.com',
  address: readIp('192.0.2.3') as Uint8Array,
  helo: 'mail.example.org',
  receiver: 'mx.example.net',
  unixSeconds: 1_795_000_000,
  validatedName: 'mx.example.org',
}
const over6 = { ...values, address: readIp('2001:db8::cb01') as Uint8Array }
const expand = (text: string, given = values): string =>
  expandMacros(readMacroText(text, { isText: true, hasSpaces: true }) as MacroText, given)

test.each([
  ['%{s}', 'strong-bad@email.example.com'],
  ['%{o}', 'email.example.com'],
  ['%{d}', 'email.example.com'],
  ['%{d4}', 'email.example.com'],
  ['%{d3}', 'email.example.com'],
  ['%{d2}', 'example.com'],
  ['%{d1}', 'com'],
  ['%{dr}', 'com.example.email'],
  ['%{d2r}', 'example.email'],
  ['%{l}', 'strong-bad'],
  ['%{l-}', 'strong.bad'],
  ['%{lr}', 'strong-bad'],
  ['%{lr-}', 'bad.strong'],
  ['%{l1r-}', 'strong'],
  ['%{ir}.%{v}._spf.%{d2}', '3.2.0.192.in-addr._spf.example.com'],
  ['%{lr-}.lp._spf.%{d2}', 'bad.strong.lp._spf.example.com'],
  ['%{lr-}.lp.%{ir}.%{v}._spf.%{d2}', 'bad.strong.lp.3.2.0.192.in-addr._spf.example.com'],
  ['%{ir}.%{v}.%{l1r-}.lp._spf.%{d2}', '3.2.0.192.in-addr.strong.lp._spf.example.com'],
  ['%{d2}.trusted-domains.example.net', 'example.com.trusted-domains.example.net'],
  // The rest of §7.2 and §7.3.
  ['%{p} of %{h} at %{r}, %{t}', 'mx.example.org of mail.example.org at mx.example.net, 1795000000'],
  ['%{c}', '192.0.2.3'],
  ['%%%_%-', '% %20'],
  ['%{D2R}', 'example.email'],
  ['%{l-.}', 'strong.bad'],
])('%s is %s', (text, expected) => expect(expand(text)).toBe(expected))

test('the domain of the sender is not that of an included record', () =>
  expect(expand('%{o} %{d}', { ...values, domain: 'spf.example.org' })).toBe('email.example.com spf.example.org'))

test('of an IPv6 client', () => {
  expect(expand('%{ir}.%{v}._spf.%{d2}', over6)).toBe(
    '1.0.b.c.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6._spf.example.com',
  )
  expect(expand('%{c}', over6)).toBe('2001:db8::cb01')
})

test('a capital letter escapes all but the unreserved characters of RFC 3986', () => {
  expect(expand('%{S}', { ...values, sender: "a!b'c(d)e*f/ü~-._@x" })).toBe('a%21b%27c%28d%29e%2Af%2F%C3%BC~-._%40x')
  expect(expand('%{L}', { ...values, sender: '\ud800@x' })).toBe('%EF%BF%BD')
})

describe('the syntax', () => {
  test.each([
    '%',
    'a%',
    '%{x}',
    '%{d',
    '%{d0}',
    '%{d00r}',
    '%{d:}',
    '%d',
    '%{c}',
    '%{r}',
    '%{t}',
    'ä',
    'aä',
    'äa',
    ' a',
    'a ',
    'a\tb',
    ' ',
  ])('refuses %j in a name', (text) => expect(readMacroText(text)).toBeNull())
  test('allows spaces in an explanation, but no other white space', () => {
    expect(readMacroText('a b', { hasSpaces: true })).toEqual(['a b'])
    for (const text of ['\ta', 'a\t', 'ä']) expect(readMacroText(text, { hasSpaces: true })).toBeNull()
  })
  test('is read into literals and macros', () => {
    expect(readMacroText('')).toEqual([])
    expect(readMacroText('a.%{D10r-_}%%%{i}')).toEqual([
      'a.',
      { letter: 'd', isEscaped: true, count: 10, isReversed: true, delimiters: '-_' },
      { letter: '%', isEscaped: false, count: 0, isReversed: false, delimiters: '' },
      { letter: 'i', isEscaped: false, count: 0, isReversed: false, delimiters: '' },
    ])
  })
  test('knows which letters a text uses', () => {
    const text = readMacroText('p.%{d}.%{l}') as MacroText
    expect([usesLetters(text, 'p'), usesLetters(text, 'sl'), usesLetters(text, 'sd'), usesLetters(['s'], 's')]).toEqual([
      false,
      true,
      true,
      false,
    ])
  })
})

describe('a domain-spec', () => {
  test.each(['a.example', 'a.example.', '%{d}', 'x.%{d}', '%{d}.example', '%{d}.com.', `a.${'b'.repeat(63)}`, '%%.a1', 'a.1b', 'a.b-1'])(
    'is %s',
    (text) => expect(readDomainSpec(text)).not.toBeNull(),
  )
  test.each(['', 'example', 'a.', 'a..', 'a.1', 'a.-b', 'a.b-', `a.${'b'.repeat(64)}`, '%{d}com', 'a.%{c}', 'a .example'])(
    'is not %j',
    (text) => expect(readDomainSpec(text)).toBeNull(),
  )
})

describe('a name', () => {
  const labels = (count: number) => 'a.'.repeat(count)
  test('that is too long loses its first labels', () => {
    expect(toTargetName('a.example.')).toBe('a.example')
    expect(toTargetName('bücher.example')).toBe('xn--bcher-kva.example')
    expect(toTargetName(`${labels(123)}example`)).toBe(`${labels(123)}example`)
    expect(toTargetName(`b.${labels(123)}example`)).toBe(`${labels(123)}example`)
    expect(toTargetName(`${'b'.repeat(300)}.example`)).toBe('example')
    expect(toTargetName('b'.repeat(300))).toBe('b'.repeat(300))
  })
  test.each(['a.example', `${labels(123)}example`, `${'a'.repeat(63)}.b`, '_x y.example', 'a.1b'])('is looked up: %s', (name) =>
    expect(isTargetName(name)).toBe(true),
  )
  test.each([
    '',
    'example',
    'a..example',
    '.example',
    'a.1',
    'a.example.',
    `b${labels(123)}example`,
    `${'a'.repeat(64)}.b`,
    'ä.example',
    'aä.example',
    'äa.example',
  ])('is not looked up: %j', (name) => expect(isTargetName(name)).toBe(false))
})

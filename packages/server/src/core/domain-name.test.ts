// The form in which domain names are stored and compared.
import { expect, test } from 'vitest'
import { toDomainName } from './domain-name.ts'

test.each([
  ['Example.COM', 'example.com'],
  ['MÜNCHEN.example', 'xn--mnchen-3ya.example'],
  ['münchen.example', 'xn--mnchen-3ya.example'],
  ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
  ['ｅxample.com', 'example.com'],
  ['a-b.c', 'a-b.c'],
  [`${'a'.repeat(63)}.b`, `${'a'.repeat(63)}.b`],
  // The conversion reads these as an IPv4 address.
  ['1.2', '1.2'],
  ['0x7f', '0x7f'],
])('%s is %s', (text, name) => expect(toDomainName(text)).toBe(name))

test.each(['', '.', 'a..b', '-a.b', 'a-.b', 'a b', 'a_b.c', 'a.b.', '[192.0.2.1]', 'xn--a.b', 'b.xn--a', `${'a'.repeat(64)}.b`, 'é b'])(
  '%j cannot be a domain',
  (text) => expect(toDomainName(text)).toBeNull(),
)

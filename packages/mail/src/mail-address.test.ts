// One key for every spelling of an address, and texts that are not addresses.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressKey, domainKey, isDomainName, readAddressKey, untaggedKey } from './mail-address.ts'

describe('addressKey', () => {
  test.each([
    ['Ann@Example.COM', 'ann@example.com'],
    [' ann@example.com ', 'ann@example.com'],
    ['"ann"@example.com', 'ann@example.com'],
    ['"a\\nn"@example.com', 'ann@example.com'],
    ['"ann b"@example.com', '"ann b"@example.com'],
    ['"a@b"@example.com', '"a@b"@example.com'],
    ['"a\\"b"@example.com', '"a\\"b"@example.com'],
    ['ann@example.com.', 'ann@example.com'],
    ['ann@BÜCHER.test', 'ann@xn--bcher-kva.test'],
    ['ann@XN--BCHER-KVA.test', 'ann@xn--bcher-kva.test'],
    ['ann@ｅｘａｍｐｌｅ.com', 'ann@example.com'],
    ['ann@example。com', 'ann@example.com'],
    ['ann@exam\u00adple.com', 'ann@example.com'],
    ['jo\u0308rg@x.test', 'j\u00f6rg@x.test'],
    ['ann@[192.0.2.1]', 'ann@[192.0.2.1]'],
    ['ann@[IPv6:2001:DB8::1]', 'ann@[ipv6:2001:db8::1]'],
    ['MAILER-DAEMON', 'mailer-daemon'],
    ['', ''],
  ])('%j is %j', (written, key) => {
    expect(addressKey(written)).toBe(key)
  })

  test('is its own key, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.emailAddress()), (text) => {
        const key = addressKey(text)
        expect(addressKey(key)).toBe(key)
      }),
    )
  })
})

test('a tag is the text after the first plus of the local part', () => {
  expect(untaggedKey('ann+news+2@example.com')).toBe('ann@example.com')
  for (const key of ['ann@example.com', '+ann@example.com', 'ann@exa+mple.com', 'ann']) expect(untaggedKey(key), key).toBeNull()
})

test('a domain name is labels with dots between', () => {
  for (const name of ['example.com', 'localhost', 'a-b.c', '_dmarc.example.com', domainKey('bücher.test')])
    expect(isDomainName(name), name).toBe(true)
  for (const name of ['', '.', 'a..b', '.a', 'a.', '-a.b', 'a b', 'a/b', 'ex*mple.com', `${'a'.repeat(64)}.com`, 'bücher.test'])
    expect(isDomainName(name), name).toBe(false)
})

test('text other than a bare address has no key', () => {
  for (const text of [
    'ann',
    '@example.com',
    'ann@',
    'Ann <ann@example.com>',
    'a b@example.com',
    'ann@exa mple.com',
    'ann@example..com',
    'ann@-example.com',
    'ann@[x]',
    'ann@exam\nple.com',
    'ann@exam\tple.com',
    'ann@b\u00fc\ncher.test',
    'a\0@example.com',
    '"a\nb"@example.com',
    `${'a'.repeat(256)}@example.com`,
    `a@${'b.'.repeat(130)}com`,
    '',
  ])
    expect(readAddressKey(text), JSON.stringify(text)).toBeNull()
  for (const text of [
    'ann@example.com',
    'jörg@bücher.test',
    '"a b"@x.test',
    'ann@localhost',
    'ann@[192.0.2.1]',
    `${'a'.repeat(255)}@web_shop.example`,
  ])
    expect(readAddressKey(text), text).toBe(addressKey(text))
  for (const text of ['first..last@mobile.example', 'first.@mobile.example', '.first@mobile.example'])
    expect([readAddressKey(text), readAddressKey(`"${text.replace('@', '"@')}`)], text).toEqual([text, text])
})

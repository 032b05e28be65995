// Address lists in obsolete and broken forms, each with its complete result, and whether it holds a group.
import { expect, test } from 'vitest'
import { addressDomain, parseAddresses, parseAddressList } from './addresses.ts'

const forms: [string, string[], boolean][] = [
  ['a@b.example;', ['|a@b.example'], false],
  ['x: a@b.example;', ['|a@b.example'], true],
  ['x: a@b.example', ['|a@b.example'], false],
  ['x: Ann;', ['Ann|'], false],
  ['x:;', [], false],
  ['a@b.example; y:;', ['|a@b.example'], false],
  ['x: a@b.example, b@c.example; d@e.example', ['|a@b.example', '|b@c.example', '|d@e.example'], true],
  ['Ann (one) (two) <a@b.example>', ['Ann|a@b.example'], false],
  ['ann@b.example (one) (two)', ['one|ann@b.example'], false],
  ['(one) ann@b.example', ['one|ann@b.example'], false],
  ['Ann <a b@c.example>', ['Ann|ab@c.example'], false],
  ['Ann <a@b.example; c@d.example', ['Ann|a@b.example', '|c@d.example'], false],
  ['<@a.example,@b.example:c@d.example>', ['|c@d.example'], false],
  ['< @a.example:c@d.example>', ['|c@d.example'], false],
  ['< @a.example,@b.example:c@d.example>', ['|c@d.example'], false],
  ['Ann <a@b.example', ['Ann|a@b.example'], false],
  ['<a@b.example> <c@d.example>', ['|a@b.example'], false],
  ['<"a>b"@c.example>', ['|"a>b"@c.example'], false],
  ['<"a@b.example>', ['|"a@b.example'], false],
  ['<a(x>y)@b.example>', ['|a@b.example'], false],
  ['<a(x@b.example>', ['|a(x@b.example'], false],
  ['x@[1.2.3.4]', ['|x@[1.2.3.4]'], false],
  ['x@ [1.2.3.4]', ['|x@[1.2.3.4]'], false],
  ['[x] a@b.example', ['[x]|a@b.example'], false],
  ['[x, y] a@b.example', ['[x|', 'y]|a@b.example'], false],
  ['a[b]c', ['a[b]c|'], false],
  ['x@[1.2.3.4', ['|x@[1.2.3.4'], false],
  ['x@[]y', ['|x@[]y'], false],
  ['a@b[c', ['|a@b[c'], false],
  [
    'x@[11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111]',
    ['|x@[11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111]'],
    false,
  ],
  [
    'x@[111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111]',
    ['|x@[111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111]'],
    false,
  ],
  ['Ann a@b.example c@d.example', ['|a@b.example', '|c@d.example'], false],
  ['a@b.example Ann', ['Ann|a@b.example'], false],
  ['"a" @b.example', ['|"a"@b.example'], false],
  ['"a"@b.example', ['|"a"@b.example'], false],
  ['a. b@c.example', ['a.|b@c.example'], false],
  ['a @b .c', ['|a@b.c'], false],
  ['a@ b.c', ['|a@b.c'], false],
  ['a@b. c. d', ['|a@b.c.d'], false],
  ['a@b .c .d', ['|a@b.c.d'], false],
  ['Ann . B', ['Ann . B|'], false],
  ['"Ann" . a@b.example', ['Ann .|a@b.example'], false],
  ['a@b . "c"', ['c|a@b'], false],
  ["Ann <'a@b.example'>", ['Ann|a@b.example'], false],
  ["<''>", ["|''"], false],
  ["<'a@b.example>", ["|'a@b.example"], false],
  ["<a'>", ["|a'"], false],
  ['mailto:a@b.example', ['|a@b.example'], false],
  ['<MAILTO:a@b.example>', ['|a@b.example'], false],
  ['<xmailto:a@b.example>', ['|xmailto:a@b.example'], false],
  ['<a@B.Example..>', ['|a@b.example.'], false],
  ['<a@b.\u0001example>', ['|a@b.example'], false],
  ['"a\\"b" <c@d.example>', ['a"b|c@d.example'], false],
  ['"a\\\\" <c@d.example>', ['a\\|c@d.example'], false],
  ['a\\b <c@d.example>', ['a\\b|c@d.example'], false],
  ['(a\\)b) c@d.example', ['a)b|c@d.example'], false],
  ['(a(b)c) d@e.example', ['a(b)c|d@e.example'], false],
  ['(a(b c@d.example', ['(a(b|c@d.example'], false],
  ['Ann\t<a@b.example>', ['Ann|a@b.example'], false],
  ['a:b@c.example', ['|b@c.example'], false],
  ['a>b@c.example', ['a|b@c.example'], false],
  ['a"b"@c.example', ['|a"b"@c.example'], false],
  ['=?utf-8?Q?a,b?= <c@d.example>', ['a,b|c@d.example'], false],
  ['x=?utf-8?Q?a,b?= <c@d.example>', ['x=?utf-8?Q?a|', 'b?=|c@d.example'], false],
  ['Ann\u00a0B <c@d.example>', ['Ann B|c@d.example'], false],
  ['a@b.example <A@b.example>', ['|A@b.example'], false],
  ['<> (name)', ['name|'], false],
  [', ,', [], false],
]
test.each(forms)('%j', (value, expected, hasGroup) => {
  const read = parseAddressList(value)
  expect([read.mailboxes.map(({ name, address }) => `${name}|${address}`), read.hasGroup]).toEqual([expected, hasGroup])
})

test('a name of 1,000 characters and an address of 998 are kept', () => {
  const [one] = parseAddresses(`${'x'.repeat(1200)} <a@b.example>`)
  expect([one?.name.length, one?.address]).toEqual([1000, 'a@b.example'])
  const lengths = [998, 999].map((length) => parseAddresses(`<${'x'.repeat(length - 10)}@b.example>`)[0]?.address.length)
  expect(lengths).toEqual([998, undefined])
})

test('a domain literal of 100 characters may hold colons', () => {
  const literal = (length: number) => parseAddresses(`x@[${':'.repeat(length - 2)}]`)[0]?.address.length
  expect([literal(100), literal(101)]).toEqual([102, 0])
})

test('the domain of an address', () => {
  expect(['a@b@c.example', 'a', '@c.example'].map(addressDomain)).toEqual(['c.example', '', 'c.example'])
})

test('10,000 pieces of one mailbox are kept', () => {
  const address = (words: number) => parseAddresses(`${'a '.repeat(words)}b@c.example, d@e.example`).map((one) => one.address)
  expect([address(9_999), address(10_000)]).toEqual([
    ['b@c.example', 'd@e.example'],
    ['', 'd@e.example'],
  ])
})

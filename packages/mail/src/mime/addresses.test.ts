// Address lists: the examples of RFC 5322 appendix A, and forms of real and hostile senders.
import { describe, expect, it } from 'vitest'
import { addressDomain, parseAddresses } from './addresses.ts'

const read = (value: string) => parseAddresses(value).map(({ name, address }) => `${name}|${address}`)

describe('RFC 5322 appendix A', () => {
  const table: [string, string, string[]][] = [
    ['A.1.1', 'John Doe <jdoe@machine.example>', ['John Doe|jdoe@machine.example']],
    ['A.1.2 From', '"Joe Q. Public" <john.q.public@example.com>', ['Joe Q. Public|john.q.public@example.com']],
    [
      'A.1.2 To',
      'Mary Smith <mary@x.test>, jdoe@example.org, Who? <one@y.test>',
      ['Mary Smith|mary@x.test', '|jdoe@example.org', 'Who?|one@y.test'],
    ],
    [
      'A.1.2 Cc',
      '<boss@nil.test>, "Giant; \\"Big\\" Box" <sysservices@example.net>',
      ['|boss@nil.test', 'Giant; "Big" Box|sysservices@example.net'],
    ],
    [
      'A.1.3 group',
      'A Group:Ed Jones <c@a.test>,joe@where.test,John <jdoe@one.test>;',
      ['Ed Jones|c@a.test', '|joe@where.test', 'John|jdoe@one.test'],
    ],
    ['A.1.3 empty group', 'Undisclosed recipients:;', []],
    ['A.5 comments', 'Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>', ['Pete|pete@silly.test']],
    [
      'A.5 comments in a group',
      "A Group(Some people)\r\n     :Chris Jones <c@(Chris's host.)public.example>,\r\n         joe@example.org,\r\n  John <jdoe@one.test> (my dear friend); (the end of the group)",
      ['Chris Jones|c@public.example', '|joe@example.org', 'John|jdoe@one.test'],
    ],
    ['A.5 hidden', '(Empty list)(start)Hidden recipients  :(nobody(that I know))  ;', []],
    ['A.6.1 obsolete', 'Joe Q. Public <john.q.public@example.com>', ['Joe Q. Public|john.q.public@example.com']],
    [
      'A.6.1 route and empty members',
      'Mary Smith <@node.test:mary@example.net>, , jdoe@test  . example',
      ['Mary Smith|mary@example.net', '|jdoe@test.example'],
    ],
    ['A.6.3 blanks', 'John Doe <jdoe@machine(comment).  example>', ['John Doe|jdoe@machine.example']],
  ]
  it.each(table)('%s', (_name, value, expected) => expect(read(value)).toEqual(expected))
})

describe('forms of real senders', () => {
  const table: [string, string, string[]][] = [
    ['a comment as the name', 'ann@example.com (Ann Example)', ['Ann Example|ann@example.com']],
    ['no brackets', 'Ann Example ann@example.com', ['Ann Example|ann@example.com']],
    ['a missing closing bracket', 'Ann <ann@example.com, Bob <bob@example.com>', ['Ann|ann@example.com', 'Bob|bob@example.com']],
    ['semicolons between', 'a@b.example; c@d.example', ['|a@b.example', '|c@d.example']],
    ['blanks between', 'a@b.example c@d.example', ['|a@b.example', '|c@d.example']],
    ['doubled brackets', '<<a@b.example>>', ['|a@b.example']],
    ['mailto', 'Ann <mailto:a@b.example>', ['Ann|a@b.example']],
    ['only a name', 'MAILER-DAEMON (Mail Delivery System)', ['MAILER-DAEMON|']],
    ['the null sender', '<>', []],
    ['an open quote', '"Ann <a@b.example>', ['"Ann|a@b.example']],
    ['an open comment', 'Ann (x <a@b.example>', ['Ann (x|a@b.example']],
    ['a domain in capitals', 'Ann@Example.COM.', ['|Ann@example.com']],
    ['a domain literal', 'ann@[IPv6:2001:db8::1], b@c.example', ['|ann@[ipv6:2001:db8::1]', '|b@c.example']],
    ['encoded words', '=?utf-8?Q?J=C3=BCrgen?= =?utf-8?Q?_M?= <j@b.example>', ['Jürgen M|j@b.example']],
    [
      'a comma left in an encoded word',
      '=?utf-8?Q?M=C3=BCller,_Ann?= <a@b.example>, c@d.example',
      ['Müller, Ann|a@b.example', '|c@d.example'],
    ],
    ['an encoded word in quotes', '"=?utf-8?B?w6Q=?=" <a@b.example>', ['ä|a@b.example']],
    ['an address as the name', '"a@b.example" <c@d.example>', ['a@b.example|c@d.example']],
    ['the address as its own name', '"Ann@b.example" <ann@b.example>', ['|ann@b.example']],
    ['RFC 6532', 'Ünal <ünal@bücher.example>', ['Ünal|ünal@bücher.example']],
    ['blanks around the at', 'ann @ example.com', ['|ann@example.com']],
  ]
  it.each(table)('%s', (_name, value, expected) => expect(read(value)).toEqual(expected))
})

describe('forms of attackers', () => {
  it('takes a quoted local part as one', () => {
    expect(read('"victim@bank.example attacker"@evil.example')).toEqual(['|"victim@bank.example attacker"@evil.example'])
    expect(addressDomain('"victim@bank.example attacker"@evil.example')).toBe('evil.example')
  })
  it('never reads an address out of an encoded word', () => {
    expect(read('=?utf-8?Q?ceo=40bank.example_=3Cceo=40bank.example=3E?= <x@evil.example>')).toEqual([
      'ceo@bank.example <ceo@bank.example>|x@evil.example',
    ])
    expect(read('=?utf-8?Q?a@b.example?=')).toEqual(['a@b.example|'])
  })
  it('lets no line end through an encoded word', () => {
    expect(read('=?utf-8?Q?a=0D=0ABcc:_x@y.example=00?= <x@evil.example>')).toEqual(['a Bcc: x@y.example|x@evil.example'])
  })
  it('stops at the limit', () => expect(parseAddresses('a@b.example,'.repeat(5000), 10)).toHaveLength(10))
})

// Records, policies and names of RFC 8461, with its own examples.
import { expect, test } from 'vitest'
import { matchesPolicy, readPolicy, readRecord } from './model.ts'

test('a record must be the only one with the version, and needs an id of letters and digits', () => {
  expect(readRecord(['v=STSv1; id=20160831085700Z;'])).toBe('20160831085700Z')
  expect(readRecord(['v=spf1 -all', 'v=STSv1;id=a1'])).toBe('a1')
  expect(readRecord(['v=STSv1; future=x; id=a'])).toBe('a')
  for (const none of [
    [],
    ['v=STSv1'],
    ['v=STSv2; id=a'],
    ['id=a; v=STSv1'],
    ['v=STSv1; id='],
    ['v=STSv1; id=a-b'],
    ['v=STSv1; id=a', 'v=STSv1; id=b'],
  ])
    expect(readRecord(none)).toBeNull()
})

test('a policy is parsed by RFC 8461 §3.2', () => {
  const text =
    'version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.example.net\r\nmx: backupmx.example.com\r\nmax_age: 604800\r\n'
  const wanted = { mode: 'enforce', mx: ['mail.example.com', '*.example.net', 'backupmx.example.com'], maxAgeSeconds: 604_800 }
  expect(readPolicy(text)).toEqual(wanted)
  expect(readPolicy(`${text.replaceAll('\r\n', '\n')}unknown: field\nmode: none\n`)).toEqual(wanted)
  expect(readPolicy('version: STSv1\nmode: none\nmax_age: 99999999999')).toBeNull()
  expect(readPolicy('version: STSv1\nmode: none\nmax_age: 99999999')?.maxAgeSeconds).toBe(31_557_600)
})

test('a malformed policy is ignored', () => {
  const good = 'version: STSv1\nmode: enforce\nmx: a.example\nmax_age: 1\n'
  expect(readPolicy(good)).not.toBeNull()
  for (const [from, to] of [
    ['STSv1', 'STSv2'],
    ['enforce', 'maybe'],
    ['mx: a.example\n', ''],
    ['mx: a.example', 'mx: *'],
    ['mx: a.example', 'mx: a.*.example'],
    ['mx: a.example', 'mx: a b'],
    ['max_age: 1', 'max_age: -1'],
    ['max_age: 1\n', ''],
  ] as const)
    expect([from, to, readPolicy(good.replace(from, to))]).toEqual([from, to, null])
  expect(readPolicy('<html>not found</html>')).toBeNull()
})

test('a star stands for exactly one label', () => {
  const policy = { mode: 'enforce' as const, mx: ['mail.example.com', '*.example.net'], maxAgeSeconds: 1 }
  for (const host of ['mail.example.com', 'MAIL.example.com.', 'a.example.net'])
    expect([host, matchesPolicy(policy, host)]).toEqual([host, true])
  for (const host of ['example.com', 'x.mail.example.com', 'example.net', 'a.b.example.net', 'aexample.net'])
    expect([host, matchesPolicy(policy, host)]).toEqual([host, false])
})

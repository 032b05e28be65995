// Hosts of links and of visible texts.
import { expect, test } from 'vitest'
import { asciiHost, decode, hostOf, shownHost } from './shown-hosts.ts'

test.each<[string, string | null]>([
  ['bank.example', 'bank.example'],
  ['www.bank.example/login', 'bank.example'],
  ['https://Bank.Example/x', 'bank.example'],
  ['http://www.bank.example?x', 'www.bank.example'],
  ['see www.bank.example now', 'bank.example'],
  ['bank.exampl', null],
  ['bank', null],
  ['a.b', null],
  ['bank.com:8080', 'bank.com'],
  ['bank.com#x', 'bank.com'],
  ['bank.com x', null],
  ['ann@bank.zz', 'bank.zz'],
  ['mail ann@bank.zz', null],
  ['ftp://bank.com', null],
  ['https://bank', null],
  ['b\u00fccher.de', 'b\u00fccher.de'],
  ['-bank.com', null],
  ['bank-.com', null],
  ['BANK.COM', 'bank.com'],
  ['click here', null],
  ['', null],
])('the text %j shows %j', (text, host) => {
  expect(shownHost(text)).toBe(host)
})

test.each<[string, string | null]>([
  ['https://bank.example/x', 'bank.example'],
  ['http://Bank.Example', 'bank.example'],
  ['ftp://bank.example', null],
  ['xhttps://bank.example', null],
  ['httpsx://bank.example', null],
  ['mailto:ann@Bank.Example', 'bank.example'],
  ['mailto:ann@a.example,bob@b.example', 'a.example'],
  ['mailto:ann', null],
  ['mailto:', null],
  ['mailto:ann%40a.example', 'a.example'],
  ['mailto:%E0%A4@a.example', 'a.example'],
  ['not a url', null],
  ['https:///', null],
  ['file:///x', null],
  ['javascript:alert(1)', null],
])('the link %j leads to %j', (href, host) => {
  expect(hostOf(href)?.host ?? null).toBe(host)
})

test('percent-encoding and the ASCII form, also of what is malformed', () => {
  expect(['a%20b', '%zz'].map(decode)).toEqual(['a b', '%zz'])
  expect(['b\u00fccher.de', 'BANK.example', 'a b'].map(asciiHost)).toEqual(['xn--bcher-kva.de', 'bank.example', 'a b'])
})

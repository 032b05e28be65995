// The syntax of SPF records (RFC 7208 §4.6.1, §5, §6).
import { describe, expect, test } from 'vitest'
import { isSpfRecord, type Mechanism, readSpfRecord, type SpfRecord } from './spf-record.ts'

test('a record starts with its version', () => {
  for (const text of ['v=spf1', 'v=spf1 -all', 'V=SPF1 -all']) expect(isSpfRecord(text), text).toBe(true)
  for (const text of ['', 'xv=spf1 -all', ' v=spf1', 'v=spf10 -all', 'v=spf1-all', 'v=spf2.0/pra -all'])
    expect(isSpfRecord(text), text).toBe(false)
})

const mechanismsOf = (terms: string): Mechanism[] => (readSpfRecord(`v=spf1 ${terms}`) as SpfRecord).mechanisms
const ip4 = Uint8Array.of(192, 0, 2, 0)
const ip6 = Uint8Array.of(0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
const pass = 'pass' as const
const whole = { bits4: 32, bits6: 128 }

test.each<[terms: string, mechanisms: Mechanism[]]>([
  ['', []],
  ['   -ALL  ', [{ kind: 'all', qualifier: 'fail' }]],
  ['+all', [{ kind: 'all', qualifier: 'pass' }]],
  ['~all', [{ kind: 'all', qualifier: 'softfail' }]],
  ['?all', [{ kind: 'all', qualifier: 'neutral' }]],
  ['include:a.example', [{ kind: 'include', target: ['a.example'], qualifier: pass }]],
  ['-exists:a.example', [{ kind: 'exists', target: ['a.example'], qualifier: 'fail' }]],
  ['ptr', [{ kind: 'ptr', target: null, qualifier: pass }]],
  ['ptr:a.example', [{ kind: 'ptr', target: ['a.example'], qualifier: pass }]],
  ['a', [{ kind: 'a', target: null, ...whole, qualifier: pass }]],
  ['MX:a.example', [{ kind: 'mx', target: ['a.example'], ...whole, qualifier: pass }]],
  ['a/8', [{ kind: 'a', target: null, bits4: 8, bits6: 128, qualifier: pass }]],
  ['mx//100', [{ kind: 'mx', target: null, bits4: 32, bits6: 100, qualifier: pass }]],
  ['a:a.example/0//0', [{ kind: 'a', target: ['a.example'], bits4: 0, bits6: 0, qualifier: pass }]],
  ['ip4:192.0.2.0', [{ kind: 'ip', network: ip4, bits: 32, qualifier: pass }]],
  ['ip4:192.0.2.0/24', [{ kind: 'ip', network: ip4, bits: 24, qualifier: pass }]],
  ['ip6:2001:db8::', [{ kind: 'ip', network: ip6, bits: 128, qualifier: pass }]],
  ['ip6:2001:db8::/128', [{ kind: 'ip', network: ip6, bits: 128, qualifier: pass }]],
  ['x=%{c} y.z-1_=a:b/c', []],
])('the terms %j', (terms, mechanisms) => expect(mechanismsOf(terms)).toEqual(mechanisms))

test('the modifiers redirect= and exp=', () => {
  expect(readSpfRecord('v=spf1 Redirect=a.example exp=b.%{d}')).toMatchObject({
    mechanisms: [],
    redirect: ['a.example'],
    explanation: ['b.', { letter: 'd' }],
  })
})

describe('an error names its term', () => {
  test.each([
    'unknown',
    'all:',
    'all/8',
    '--all',
    'x-all',
    'include',
    'include:',
    'include/a.example',
    'exists:example',
    'ptr:',
    'ptr/a.example',
    'a:',
    'a/',
    'a/x',
    'a/x/24',
    'a/33',
    'a/08',
    'a//129',
    'a//1000',
    'a:b/8',
    'mx:a.example/8/8',
    'ip4',
    'ip4:',
    'ip4/x:192.0.2.0',
    'ip4:192.0.2',
    'ip4:192.0.2.0/',
    'ip4:192.0.2.0/24/24',
    'ip4:192.0.2.0/33',
    'ip4:2001:db8::',
    'ip6:192.0.2.0',
    'ip6:2001:db8::%eth0',
    'ip6:2001:db8::/129',
    '=a',
    '1x=a',
    'a+b=x',
    'x=%{q}',
    'redirect=',
    'redirect=example',
    'exp=%{t}.example',
  ])('%s', (term) => expect(readSpfRecord(`v=spf1 ip4:192.0.2.0 ${term} -all`)).toEqual({ failure: `syntax error in ${term}` }))

  test.each(['redirect=a.example', 'exp=a.example'])('the second %s', (term) =>
    expect(readSpfRecord(`v=spf1 ${term} ${term.toUpperCase()}`)).toEqual({ failure: `syntax error in ${term.toUpperCase()}` }),
  )

  test.each(['v=spf1 ä', 'v=spf1 ä -all', 'v=spf1 -all\t', '\tv=spf1'])('%j is beyond ASCII', (text) =>
    expect(readSpfRecord(text)).toEqual({ failure: 'characters beyond ASCII' }),
  )
})

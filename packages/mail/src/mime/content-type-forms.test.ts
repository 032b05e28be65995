// Parameters, media types and content ids in forms that senders write, each with its complete result.
import { expect, test } from 'vitest'
import { readContentId, readMediaType, readParameters } from './content-type.ts'

const forms: [string, string, Record<string, string>][] = [
  ['x boundary=a', 'x', { boundary: 'a' }],
  ['x,boundary=a; c=d', 'x', { boundary: 'a', c: 'd' }],
  ['x=1 charset=a; c=d', 'x=1', { c: 'd' }],
  ['x boundary', 'x', {}],
  ['boundary=a', 'boundary=a', {}],
  ['x; a=b', 'x', { a: 'b' }],
  ['x; y; a=b; ; z;', 'x', { a: 'b' }],
  ['x; a =  "b" ; c=d', 'x', { a: 'b', c: 'd' }],
  ['x; a="b";c=d', 'x', { a: 'b', c: 'd' }],
  ['x; a="b" ;; c=d', 'x', { a: 'b', c: 'd' }],
  ['x; a="b"c; d=e', 'x', { a: 'b', d: 'e' }],
  ['x; a="b" charset=c', 'x', { a: 'b', charset: 'c' }],
  ['x; a="b\\\\"; c=d', 'x', { a: 'b\\', c: 'd' }],
  ['x; a="b\\";c=d', 'x', { a: 'b\\"', c: 'd' }],
  ['x; a= b c ;d= e ', 'x', { a: 'b c', d: 'e' }],
  ['x; a=b charset=c;d=e', 'x', { a: 'b', charset: 'c', d: 'e' }],
  ['x; a= b  charset=c', 'x', { a: 'b', charset: 'c' }],
  ['x; charset=a b', 'x', { charset: 'a b' }],
  ['x; a b=c', 'x', {}],
  ['x; a*b=c', 'x', {}],
  ['x; a*0=b;a*1=c', 'x', { a: 'bc' }],
  ['x; a*10=k; a*2="c"; a*0="a"', 'x', { a: 'ack' }],
  ['x; a*00001=b', 'x', {}],
  ['x; ,a=b', 'x', { a: 'b' }],
  ['x; a*=b', 'x', { a: 'b' }],
  ["x; a*='b", 'x', { a: "'b" }],
  ["x; a*=''b%", 'x', { a: 'b%' }],
  ["x; a*=utf-8''%4", 'x', { a: '%4' }],
  ["x; a*=utf-8''%41", 'x', { a: 'A' }],
  ["x; a*=utf-8''%4g%G1%:1%1:%1/%1@%1`%1f%1F%a9", 'x', { a: '%4g%G1%:1%1:%1/%1@%1`\u001f\u001f\ufffd' }],
  ["x; a*=utf-8''%zz", 'x', { a: '%zz' }],
  ['x; a*0=%41;a*1*=%42', 'x', { a: '%41B' }],
  ["x; a*0*=latin1''%e4;a*1=%e4", 'x', { a: 'ä%e4' }],
  ['x; a*0="utf-8\'\'%41"', 'x', { a: "utf-8''%41" }],
  ['x; a*=ä%C3%A4', 'x', { a: 'ää' }],
  ['x; a*="%C3%A4";a*="%41"', 'x', { a: 'ä' }],
  ['x; a*0=x;a=y', 'x', { a: 'x' }],
  ['x; a=é', 'x', { a: 'é' }],
  ['=x; a=b', '=x', { a: 'b' }],
  ['"x; a=b', 'x', { a: 'b' }],
  [
    'x; nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn=b',
    'x',
    { nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn: 'b' },
  ],
  ['x; nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn=b', 'x', {}],
  ['x; a="', 'x', { a: '' }],
  ['x; a=', 'x', { a: '' }],
  [' ; a=b', '', { a: 'b' }],
  ['X/Y ; A=b', 'x/y', { a: 'b' }],
  ['x(y);a=b', 'x', { a: 'b' }],
]
test.each(forms)('the parameters of %j', (text, value, parameters) => {
  const read = readParameters(text)
  expect([read.value, Object.fromEntries(read.parameters)]).toEqual([value, parameters])
})

test('a thousand parameters, 64 KB, and names of 100 characters are read', () => {
  const many = Array.from({ length: 1500 }, (_, i) => `;n${i}=${i}`).join('')
  expect(readParameters(`x${many}`).parameters.size).toBe(1000)
  expect(readParameters(`x${'; '.repeat(999)};a=1;b=2`).parameters.size).toBe(1)
  expect(readParameters(`x; a=${'b'.repeat(70_000)}`).parameters.get('a')).toHaveLength(64 * 1024 - 5)
})

test.each([
  ['a/b', 'a/b'],
  ['a/b c', 'f/f'],
  ['é a/b', 'f/f'],
  ['a/', 'f/f'],
  ['/b', 'f/f'],
  ['text', 'text/plain'],
  ['', 'f/f'],
  [
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/b',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/b',
  ],
  [
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/b',
    'f/f',
  ],
])('the media type %j is read %j', (value, type) => {
  expect(readMediaType(value, 'f/f')).toBe(type)
})

test.each<[string | null, string | null]>([
  [null, null],
  ['a', 'a'],
  ['<a>', 'a'],
  ['x <a> y', 'a'],
  ['<a', '<a'],
  ['a>b', 'a>b'],
  ['>a<', '>a<'],
  ['<>', null],
  ['', null],
  [' ', null],
  ['<a\tb>', 'a b'],
])('the content id %j is read %j', (value, id) => {
  expect(readContentId(value)).toBe(id)
})

test('a content id has at most 998 characters', () => {
  expect([998, 999].map((length) => readContentId('x'.repeat(length))?.length)).toEqual([998, undefined])
})

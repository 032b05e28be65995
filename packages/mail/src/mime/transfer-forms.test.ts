// Encoded bodies in broken forms, each with its complete result. The measured size is always that of the result.
import { expect, test } from 'vitest'
import { decodeAttachment, decodeBody, hasBadBase64, measureDecoded, readTransferEncoding } from './transfer-encoding.ts'

function read(text: string, encoding: 'quoted-printable' | 'base64'): string {
  const raw = Buffer.from(`=x${text}=41`, 'latin1')
  const [start, end] = [2, 2 + text.length]
  const decoded = decodeAttachment(raw.subarray(start, end), encoding)
  expect(measureDecoded(raw, start, end, encoding)).toBe(decoded.length)
  expect(decodeBody(raw, start, end, encoding, 1000).equals(decoded)).toBe(true)
  return decoded.toString('latin1')
}

test.each([
  ['a=\rb', 'ab'],
  ['a= \t\nb', 'ab'],
  ['a=4', 'a=4'],
  ['a=\r', 'a'],
  ['a=', 'a'],
  ['a \rb', 'a \rb'],
  ['a \r\nb', 'a\r\nb'],
  ['a \nb', 'a\nb'],
  ['a\t \n', 'a\n'],
  ['a=\tb', 'a=\tb'],
  ['a=3D', 'a='],
  ['a=3', 'a=3'],
  ['a=3d=3D=zz=3z=z3', 'a===zz=3z=z3'],
  ['=\n', ''],
  ['= x', '= x'],
  ['a= x\nb', 'a= x\nb'],
  ['a =\nb', 'a b'],
  ['a ', 'a'],
  ['a  b ', 'a  b'],
  ['a=20 \nb', 'a \nb'],
  ['a=20\n', 'a \n'],
  ['\u0001 \n', '\u0001\n'],
  ['a\u0080 b', 'a\u0080 b'],
  ['=C3=A4', '\u00c3\u00a4'],
  ['a==41', 'a=A'],
  ['a=                                                                             \nb', 'ab'],
  ['a=                                                                              \nb', 'ab'],
  ['a=                                                                                                    ', 'a='],
  ['a\r \nb', 'a\r\nb'],
  ['=0D=0A ', '\r\n'],
])('quoted-printable %j is %j', (text, decoded) => {
  expect(read(text, 'quoted-printable')).toBe(decoded)
})

test.each([
  ['QUJD', 'ABC'],
  ['Q U\tJD', 'ABC'],
  ['QUJDRA', 'ABCD'],
  ['QUJDRA==', 'ABCD'],
  ['QQ==\nQg==', 'AB'],
  ['QQ=Q', 'A'],
  ['=QUJD', 'ABC'],
  ['QUJD=', 'ABC'],
  ['-_-_', '\u00fb\u00ff\u00bf'],
  ['QUJDRA= =', 'ABCD'],
  ['QUJD\u0080', 'ABC'],
  ['QQ', 'A'],
  ['Q=Q=', ''],
])('base64 %j is %j', (text, decoded) => {
  expect(read(text, 'base64')).toBe(decoded)
})

test.each<[string, 'identity' | 'base64' | 'quoted-printable', number, string]>([
  ['abcdef', 'identity', 3, 'abc'],
  ['QUJDREVG', 'base64', 3, 'ABCD'],
  ['a=3Db=3D', 'quoted-printable', 2, 'a='],
  ['abcdef', 'quoted-printable', 3, 'abc'],
  ['=3D=3D=3D=3D', 'quoted-printable', 2, '=='],
  ['ab cd', 'quoted-printable', 3, 'ab '],
  ['ab  ', 'quoted-printable', 10, 'ab'],
])('the body %j in %s, cut at %i octets, is %j', (text, encoding, bytesMax, decoded) => {
  expect(decodeBody(Buffer.from(`xy${text}zz`), 2, 2 + text.length, encoding, bytesMax).toString('latin1')).toBe(decoded)
})

test.each([
  ['base64', 'base64', true],
  ['"Base64"', 'base64', true],
  ['(x) 7bit', 'identity', true],
  ['binary', 'identity', true],
  ['8bit;', 'identity', true],
  ['7bit', 'identity', true],
  ['quoted-printable', 'quoted-printable', true],
  ['x-uuencode', 'identity', false],
  ['', 'identity', true],
  ['BINARY', 'identity', true],
  [' base64 (x)', 'base64', true],
])('the encoding %j is %s, known: %j', (value, encoding, isKnown) => {
  expect(readTransferEncoding(value)).toEqual({ encoding, isKnown })
})

test.each([
  ['QUJD\r\n \t==', false],
  ['QU!D', true],
  ['QU\u0080D', true],
  ['-', false],
  ['', false],
])('other octets in the base64 %j: %j', (text, isBad) => {
  expect(hasBadBase64(Buffer.from(text, 'latin1'), 0, text.length)).toBe(isBad)
})

test('only the first 4 KB of base64 are looked at', () => {
  const at = (length: number) => hasBadBase64(Buffer.from(`${'A'.repeat(length)}!`), 0, length + 1)
  expect([at(4095), at(4096)]).toEqual([true, false])
})

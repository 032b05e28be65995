// Tests of the choice of a transfer encoding, and of its exact lines.
import { expect, test } from 'vitest'
import { encodeText } from './mime-text.ts'

test.each([
  ['plain ASCII', 'Hi,\r\n\tall ~ well.\r\n', '7bit'],
  ['a line of 76 characters', `${'x'.repeat(76)}\r\ny`, '7bit'],
  ['a line of 77 characters', `y\r\n${'x'.repeat(77)}`, 'quoted-printable'],
  ['more letters than others', 'aa\u00e9', 'quoted-printable'],
  ['the first and the last letter', 'zzAAZZ\u00e9\u00e9\u00e9\u00e9', 'quoted-printable'],
  ['as many letters as others', 'a\u00e9', 'base64'],
  ['digits and signs, which are neither', 'aa0123456789~~~~[]{}@\u00e9', 'quoted-printable'],
  ['no letters', '0123[\u00e9', 'base64'],
  ['controls', 'a\u0001\u0002', 'base64'],
  ['DEL', 'a\u007f\u007f', 'base64'],
  ['tabs and line ends, which are neither', 'aa\t\t\t\r\n\r\n\r\n\u00e9', 'quoted-printable'],
])('encoding of a text with %s', (_, text, encoding) => {
  expect(encodeText(text).encoding).toBe(encoding)
})

// A line has at most 75 characters and the sign of the soft break, or 76 characters at its own end.
const a = (count: number) => 'a'.repeat(count)
test.each([
  ['white space inside a line', 'Gr\u00fc\u00dfe a\tb', 'Gr=C3=BC=C3=9Fe a\tb'],
  ['white space at the end of a line', 'aa\u00e9 \r\nb\t\r\nc ', 'aa=C3=A9=20\r\nb=09\r\nc=20'],
  ['an equals sign', 'aa\u00e9=', 'aa=C3=A9=3D'],
  ['a carriage return alone', 'aa\u00e9 \rb', 'aa=C3=A9 =0Db'],
  ['a line feed alone', 'aa\u00e9 b\nc', 'aa=C3=A9 b=0Ac'],
  ['a line that just fits', `aa\u00e9${a(68)}`, `aa=C3=A9${a(68)}`],
  ['a line that just fits before another', `aa\u00e9${a(68)}\r\nb`, `aa=C3=A9${a(68)}\r\nb`],
  ['a line that is one longer', `aa\u00e9${a(69)}`, `aa=C3=A9${a(67)}=\r\naa`],
  ['two octets that just fit', `${a(69)}\u00e9bb`, `${a(69)}=C3=A9=\r\nbb`],
  ['two octets that do not fit', `${a(70)}\u00e9b`, `${a(70)}=\r\n=C3=A9b`],
  ['the first character of three octets', `${a(67)}\u0800b`, `${a(67)}=\r\n=E0=A0=80b`],
  ['three octets that just fit', `${a(66)}\u20acbb`, `${a(66)}=E2=82=AC=\r\nbb`],
  ['the first character of four octets', `${a(64)}\u{10000}b`, `${a(64)}=\r\n=F0=90=80=80b`],
  ['four octets that just fit', `${a(63)}\u{1f600}bb`, `${a(63)}=F0=9F=98=80=\r\nbb`],
  [
    'many equals signs, the longest result',
    `aa\u00e9\r\n${'='.repeat(1000)}`,
    `aa=C3=A9\r\n${Array(40).fill('=3D'.repeat(25)).join('=\r\n')}`,
  ],
])('quoted-printable of %s', (_, text, body) => {
  expect(encodeText(text)).toEqual({ encoding: 'quoted-printable', body })
})

test('base64 stands on lines of 76 characters without a last line end', () => {
  const { encoding, body } = encodeText('\u5f35'.repeat(60))
  expect(encoding).toBe('base64')
  expect(body.split('\r\n').map((line) => line.length)).toEqual([76, 76, 76, 12])
  expect(Buffer.from(body, 'base64').toString()).toBe('\u5f35'.repeat(60))
})

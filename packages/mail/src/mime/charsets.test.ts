// Charsets: labels as mail writes them, byte order marks, guesses for undeclared bytes.
import { expect, it } from 'vitest'
import { decodeText, encodeGuessed } from './charsets.ts'

const table: [string | null, string, string][] = [
  ['utf-8', 'c3a4', 'ä'],
  ['UTF8', 'efbbbfc3a4', 'ä'],
  [null, 'c3a4', 'ä'],
  [null, 'e4', 'ä'],
  ['us-ascii', '8493', '„“'],
  ['iso-8859-1', '80', '€'],
  ['ISO_8859-15', 'a4', '€'],
  ['latin2', 'b1', 'ą'],
  ['windows-1251', 'cff0e8', 'При'],
  ['cp1250', '9a', 'š'],
  ['koi8-r', 'f0d2c9', 'При'],
  ['cp932', '93fa967b', '日本'],
  ['Shift_JIS', '93fa967b', '日本'],
  ['euc-jp', 'c6fccbdc', '日本'],
  ['iso-2022-jp', '1b2442467c4b5c1b2842', '日本'],
  ['ks_c_5601-1987', 'c7d1', '한'],
  ['gb2312', 'c4e3', '你'],
  ['gb18030', 'c4e3', '你'],
  ['big5', 'a741', '你'],
  ['utf-16', 'fffe6100', 'a'],
  ['utf-16', '00e4', 'ä'],
  ['utf-16le', 'e400', 'ä'],
  ['iso-8859-8-i', 'f9', 'ש'],
]
it.each(table)('%s %s', (label, hex, text) => expect(decodeText(Buffer.from(hex, 'hex'), label)).toEqual({ text, isKnown: true }))

it('reads the examples of RFC 2152 §2', () => {
  expect(decodeText(Buffer.from('A+ImIDkQ.'), 'utf-7').text).toBe('A≢Α.')
  expect(decodeText(Buffer.from('Hi Mom -+Jjo--!'), 'utf-7').text).toBe('Hi Mom -☺-!')
  expect(decodeText(Buffer.from('+ZeVnLIqe-'), 'utf-7').text).toBe('日本語')
  expect(decodeText(Buffer.from('1 +- 1 = 2 +'), 'utf-7').text).toBe('1 + 1 = 2 +')
  expect(decodeText(Buffer.from('+2AA-'), 'utf-7').text).toBe('\ufffd')
})

it('guesses when it does not know the charset, and says so', () => {
  expect(decodeText(Buffer.from('c3a4', 'hex'), 'x-nowhere')).toEqual({ text: 'ä', isKnown: false })
  expect(decodeText(Buffer.from('e4', 'hex'), 'cp99999')).toEqual({ text: 'ä', isKnown: false })
})

it.each<[string, string, string]>([
  ['utf-8', 'efbbbf', ''],
  ['utf-8', 'efbb41', '\ufffdA'],
  ['utf-8', 'ef41bf', '\ufffdA\ufffd'],
  ['utf-8', '41bbbf', 'A\ufffd\ufffd'],
  ['utf-8', 'fffe41', '\ufffd\ufffdA'],
  ['unknown-8bit', 'e4', 'ä'],
  ['windows-1252', 'efbbbf61', 'ï\u00bb\u00bfa'],
  ['utf-16', 'ff61', '\uff61'],
  ['utf-16', '61fe', '懾'],
  ['utf-16', 'feff0061', 'a'],
  ['iso-2022-jp', '1b24421b284261', 'a'],
  ['iso-2022-jp', '611b284261', 'aa'],
  ['iso-2022-jp', '1b2442467c1b28421b2442467c1b2842', '日日'],
  ['utf-7', '2b414151', '\u0004'],
  ['utf-7', '2b', '+'],
  ['utf-7', '2b2d', '+'],
  ['utf-7', '2b4147412d7a', '`z'],
  ['utf-7', '2b412b2f397a30612d', 'ϯ\ufdcf'],
  ['utf-7', '2b4147412142', '`!B'],
  ['utf-7', '2b40', '+@'],
  ['utf-7', '2b5b', '+['],
  ['utf-7', '2b607b', '+`{'],
  ['utf-7', '2b2f7a39303a', '\uff3f:'],
  ['us-ascii', '61', 'a'],
])('%s %s at the edges of its form', (label, hex, text) => expect(decodeText(Buffer.from(hex, 'hex'), label).text).toBe(text))

it.each([
  ['a', 'latin1', '61', 'latin1'],
  ['ä', 'latin1', 'e4', 'latin1'],
  ['ä', '', 'c3a4', ''],
  ['ä', 'utf-8', 'c3a4', 'utf-8'],
  ['ä', 'UTF8', 'c3a4', 'UTF8'],
  ['ä', 'koi8-r', 'e4', 'koi8-r'],
  ['\u20ac', 'koi8-r', '80', 'koi8-r'],
  ['ä日', 'koi8-r', 'e4a4e697a5', 'utf-8'],
  ['日', 'koi8-r', 'e697a5', 'utf-8'],
  ['', 'koi8-r', '', 'koi8-r'],
  ['ab', '', '6162', ''],
])('the octets behind the guessed text %j of the charset %j', (text, label, hex, chosen) => {
  const read = encodeGuessed(text, label)
  expect([read.bytes.toString('hex'), read.label]).toEqual([hex, chosen])
})

// Charsets: labels as mail writes them, byte order marks, guesses for undeclared bytes.
import { expect, it } from 'vitest'
import { decodeText } from './charsets.ts'

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
  expect(decodeText(Buffer.from('e4', 'hex'), 'iso-2022-kr')).toEqual({ text: 'ä', isKnown: false })
})

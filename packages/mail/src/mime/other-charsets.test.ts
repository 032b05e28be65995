// Charsets outside of the Encoding Standard.
import { expect, test } from 'vitest'
import { decodeText } from './charsets.ts'
import { decodeEncodedWords } from './encoded-words.ts'
import { cleanFilename } from './filenames.ts'
import { parseMessage } from './parse.ts'

// Bytes of Python's codecs: 'Größe ½ é'.encode('cp437') and so on.
test.each([
  ['IBM437', '477294e16520ab2082', 'Größe ½ é'],
  ['cp437', '477294e16520ab2082', 'Größe ½ é'],
  ['csPC8CodePage437', '477294e16520ab2082', 'Größe ½ é'],
  ['IBM850', '477294e165209c', 'Größe £'],
  ['csPC850Multilingual', '477294e165209c', 'Größe £'],
  ['dos-852', 'bd9ca8a220888f', 'ŻťĘó łĆ'],
  ['IBM00858', 'd520c720e4', '€ Ã õ'],
  ['cp737', '9aa0a2a6', 'γιλο'],
  ['cp862', '8099', 'אש'],
  ['x-mac-ce', '8a', 'ä'],
  ['macintosh', '8a', 'ä'],
  ['cp10000', '8a', 'ä'],
  ['HZ-GB-2312', '7e7b5650 4e447e7d'.replace(' ', ''), '中文'],
  ['ISO-2022-KR', '1b2429430e3021332a0f', '가나'],
])('%s %s is %s', (label, hex, text) => {
  expect(decodeText(Buffer.from(hex, 'hex'), label)).toEqual({ text, isKnown: true })
})

test('such charsets are read in encoded words, file names and bodies', () => {
  expect(decodeEncodedWords('=?cp850?Q?Gr=94=E1e?=')).toBe('Größe')
  expect(decodeEncodedWords('=?iso-2022-kr?B?GyQpQw4wITMqDw==?=')).toBe('가나')
  expect(cleanFilename('=?ibm852?Q?=9D=A2d=AB.txt?=')).toBe('Łódź.txt')
  const raw = Buffer.from(
    "From: a@b.example\r\nContent-Type: application/pdf; name*=cp437''M%81ller.pdf\r\nContent-Disposition: attachment\r\n\r\nx",
  )
  expect(parseMessage(raw).attachments[0]?.filename).toBe('Müller.pdf')
  const hz = Buffer.from('From: a@b.example\r\nContent-Type: text/plain; charset=hz-gb-2312\r\n\r\nA ~~ ~{VPND~}\r\nnext ~\r\nline')
  expect(parseMessage(hz).text).toBe('A ~ 中文\nnext ~\nline')
})

test('text in the Encoding Standard is read as before', () => {
  expect(decodeText(Buffer.from('e4', 'hex'), 'windows-1252').text).toBe('ä')
  expect(decodeText(Buffer.from('cfd0', 'hex'), 'ibm866').text).toBe('╧╨')
  expect(decodeText(Buffer.from('~{ is not a shift', 'latin1'), 'us-ascii').text).toBe('~{ is not a shift')
})

test('names of codecs that are not charsets are unknown', () => {
  for (const label of ['base64', 'hex', 'binary', 'utf7imap', 'cp0', 'cp99999', 'x'.repeat(60)])
    expect(decodeText(Buffer.from('e4', 'hex'), label)).toMatchObject({ text: 'ä' })
  expect(decodeText(Buffer.from('e4', 'hex'), 'base64').isKnown).toBe(false)
})

test('damaged shift states neither throw nor take more than the input', () => {
  expect(decodeText(Buffer.from('~{V\n~{VP~', 'latin1'), 'hz-gb-2312').text).toMatch(/^.+\n中.$/)
  expect(decodeText(Buffer.from('\x0e0!\n0!', 'latin1'), 'iso-2022-kr').text).toBe('가\n0!')
})

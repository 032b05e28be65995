// Base64 and quoted-printable: RFC 2045, broken input, and sizes that always equal the decoded length.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeAttachment, measureDecoded, readTransferEncoding } from './transfer-encoding.ts'

const decode = (text: string, encoding: 'base64' | 'quoted-printable') =>
  decodeAttachment(Buffer.from(text, 'latin1'), encoding).toString('latin1')

describe('base64', () => {
  const table: [string, string][] = [
    ['QUJD', 'ABC'],
    ['QU\r\nJD\r\n', 'ABC'],
    ['QUI=', 'AB'],
    ['QUI', 'AB'],
    ['QQ==', 'A'],
    ['QU!JD', 'ABC'],
    ['QQ==QkM=', 'ABC'],
    ['Q', ''],
    ['', ''],
    ['====', ''],
  ]
  it.each(table)('%j', (text, expected) => expect(decode(text, 'base64')).toBe(expected))

  it('gives large bodies back byte for byte, whatever the line length', () => {
    const bytes = Buffer.from(Uint8Array.from({ length: 300_001 }, (_, index) => (index * 31 + (index >> 8)) & 255))
    for (const length of [76, 64, 75, 1000, 7]) {
      const text = bytes.toString('base64').replace(new RegExp(`.{${length}}`, 'g'), '$&\r\n')
      const raw = Buffer.from(`x${text}`)
      expect(decodeAttachment(raw.subarray(1), 'base64').equals(bytes)).toBe(true)
      expect(measureDecoded(raw, 1, raw.length, 'base64')).toBe(bytes.length)
    }
  })
})

describe('quoted-printable', () => {
  const table: [string, string][] = [
    ['a=3Db', 'a=b'],
    ['a=\r\nb', 'ab'],
    ['a=\nb', 'ab'],
    ['a=  \r\nb', 'ab'],
    ['a  \r\nb', 'a\r\nb'],
    ['a=20 \t\r\nb', 'a \r\nb'],
    ['a ', 'a'],
    ['a=', 'a'],
    ['a=4', 'a=4'],
    ['=e4=E4', '\xe4\xe4'],
    ['=XY=', '=XY'],
    ['a=\r\n', 'a'],
    ['\xe4', '\xe4'],
  ]
  it.each(table)('%j', (text, expected) => expect(decode(text, 'quoted-printable')).toBe(expected))
})

it('reads the names senders use', () => {
  expect(readTransferEncoding(' "Base64" ')).toEqual({ encoding: 'base64', isKnown: true })
  expect(readTransferEncoding('quoted-printable;')).toEqual({ encoding: 'quoted-printable', isKnown: true })
  expect(readTransferEncoding('8BIT')).toEqual({ encoding: 'identity', isKnown: true })
  expect(readTransferEncoding('x-uuencode')).toEqual({ encoding: 'identity', isKnown: false })
})

it('measures exactly the decoded length, for any bytes', () => {
  const noisy = fc
    .array(fc.constantFrom('A', 'b', '/', '=', '\r\n', '\n', ' ', '!', '=41', '\xff', '\t', '-'), { maxLength: 60 })
    .map((pieces) => pieces.join(''))
  const any = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
  fc.assert(
    fc.property(
      fc.oneof(noisy, any),
      fc.constantFrom('base64', 'quoted-printable', 'identity' as const),
      fc.nat(3),
      (text, encoding, shift) => {
        const raw = Buffer.from('x'.repeat(shift) + text, 'latin1')
        expect(decodeAttachment(raw.subarray(shift), encoding as 'base64').length).toBe(
          measureDecoded(raw, shift, raw.length, encoding as 'base64'),
        )
      },
    ),
    { numRuns: 2000 },
  )
})

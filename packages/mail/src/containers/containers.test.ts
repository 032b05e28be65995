// Containers: winmail.dat, compressed RTF and signed data, whole and broken.
import { describe, expect, test } from 'vitest'
import { expectCost } from '../../tests/harness/cost.ts'
import { parseMessage } from '../mime/parse.ts'
import { decompressRtf } from './compressed-rtf.ts'
import { readSignedContent } from './signed-data.ts'
import { readTnef } from './tnef.ts'

const attribute = (level: number, id: number, value: Buffer): Buffer => {
  const head = Buffer.alloc(9)
  head[0] = level
  head.writeUInt32LE(id, 1)
  head.writeUInt32LE(value.length, 5)
  return Buffer.concat([head, value, Buffer.alloc(2)])
}
const tnef = (...attributes: Buffer[]): Buffer => Buffer.concat([Buffer.from('789f3e220100', 'hex'), ...attributes])
const long = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}
const padded = (bytes: Buffer): Buffer => Buffer.concat([long(bytes.length), bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)])
const property = (id: number, kind: number, value: Buffer): Buffer => {
  const isFixed = kind === 0x03 || kind === 0x40
  return Buffer.concat([long((id << 16) | kind), ...(isFixed ? [value] : [long(1), padded(value)])])
}
const properties = (...list: Buffer[]): Buffer => Buffer.concat([long(list.length), ...list])
const unicode = (text: string): Buffer => Buffer.from(`${text}\0`, 'utf16le')

// Prefixes of the attribute numbers are their types (MS-OXTNEF §2.1.3.1).
const body = (text: string) => attribute(1, 0x0002800c, Buffer.from(`${text}\0`, 'latin1'))
const messageProperties = (...list: Buffer[]) => attribute(1, 0x00069003, properties(...list))
const file = (title: string, data: Buffer, ...list: Buffer[]) => [
  attribute(2, 0x00069002, Buffer.alloc(14)),
  attribute(2, 0x00018010, Buffer.from(`${title}\0`, 'latin1')),
  attribute(2, 0x0006800f, data),
  attribute(2, 0x00069005, properties(...list)),
]

describe('TNEF', () => {
  test('properties in Unicode win over the old attributes', () => {
    const found = readTnef(
      tnef(
        attribute(1, 0x00018004, Buffer.from('Old\0')),
        messageProperties(
          property(0x0037, 0x1f, unicode('Angebot für März')),
          property(0x1000, 0x1f, unicode('500 €')),
          property(0x0c1a, 0x1f, unicode('Ann')),
          property(0x5d01, 0x1f, unicode('ann@customer.example')),
        ),
        ...file('LONGNA~1.TXT', Buffer.from('content'), property(0x3707, 0x1f, unicode('long name.txt'))),
      ),
    )
    expect(found).toMatchObject({ subject: 'Angebot für März', author: 'Ann <ann@customer.example>', text: '500 €' })
    expect(found?.files).toMatchObject([{ filename: 'long name.txt', bytes: Buffer.from('content') }])
  })

  test('HTML is decoded by its own code page, and old text by that of the program', () => {
    const html = messageProperties(property(0x3fde, 0x03, long(1251)), property(0x1013, 0x102, Buffer.from('cff0e8e2e5f2', 'hex')))
    expect(readTnef(tnef(html))?.html).toBe('Привет')
    const page = attribute(1, 0x00069007, Buffer.concat([long(1250), long(0)]))
    expect(readTnef(tnef(page, body('\xe8lov\xeck')))?.text).toBe('člověk')
  })

  test('named properties and lists of values are skipped', () => {
    const named = Buffer.concat([long(0x8000001f), Buffer.alloc(16), long(1), padded(unicode('Keywords')), long(1), padded(unicode('x'))])
    const several = Buffer.concat([long(0x0fff101f), long(2), padded(unicode('a')), padded(unicode('bc'))])
    expect(readTnef(tnef(messageProperties(named, several, property(0x1000, 0x1f, unicode('Text')))))?.text).toBe('Text')
  })

  test('an embedded message is TNEF again', () => {
    const inner = tnef(body('Inner'))
    const found = readTnef(tnef(...file('', Buffer.alloc(0), property(0x3701, 0x0d, Buffer.concat([Buffer.alloc(16), inner])))))
    expect(found?.files).toMatchObject([{ contentType: 'application/ms-tnef', bytes: inner }])
  })

  test('damaged data is read up to its damage', () => {
    const whole = tnef(body('Text'), ...file('a.txt', Buffer.from('content'), property(0x3707, 0x1f, unicode('b.txt'))))
    for (let length = 0; length <= whole.length; length++) expect(() => readTnef(whole.subarray(0, length))).not.toThrow()
    for (let at = 6; at < whole.length; at++) {
      const changed = Buffer.from(whole)
      changed[at] = 0xff
      expect(() => readTnef(changed)).not.toThrow()
    }
    expect(readTnef(tnef(body('Text'), attribute(3, 0, Buffer.alloc(0)), body('More')))?.text).toBe('Text')
    expect(readTnef(Buffer.from('Not TNEF'))).toBeNull()
  })

  test('counts that a list declares are not believed', () => {
    const huge = attribute(1, 0x00069003, Buffer.concat([long(0xffffffff), long(0x1000101f), long(0xffffffff)]))
    expect(readTnef(tnef(body('Text'), huge))?.text).toBe('Text')
    const files = Array.from({ length: 500 }, () => attribute(2, 0x00069002, Buffer.alloc(14)))
    expect(readTnef(tnef(...files))?.files).toHaveLength(200)
  })
})

describe('compressed RTF', () => {
  // The examples of MS-OXRTFCP §4.1.
  test.each([
    [
      '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0',
      '{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n',
    ],
    ['1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0', '{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}'],
  ])('%s', (hex, text) => {
    expect(decompressRtf(Buffer.from(hex, 'hex'), 1000)?.toString('latin1')).toBe(text)
  })

  test('no more is written than the header declares', () => {
    const bytes = Buffer.from('1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0', 'hex')
    bytes.writeUInt32LE(5, 4)
    expect(decompressRtf(bytes, 1000)?.toString()).toBe('{\\rtf')
    expect(decompressRtf(bytes, 3)?.toString()).toBe('{\\r')
    expect(decompressRtf(bytes.subarray(0, 15), 1000)).toBeNull()
    expect(decompressRtf(Buffer.alloc(100), 1000)).toBeNull()
  })
})

describe('a body of compressed RTF alone', () => {
  /** RTF in the form without compression, as a mail whose only part is winmail.dat. */
  const mailWith = (rtf: string | Buffer, ...list: Buffer[]) => {
    const bytes = typeof rtf === 'string' ? Buffer.from(rtf, 'latin1') : rtf
    const stored =
      typeof rtf === 'string' ? Buffer.concat([long(bytes.length + 12), long(bytes.length), Buffer.from('MELA'), long(0), bytes]) : rtf
    const container = tnef(messageProperties(...list, property(0x1009, 0x102, stored)))
    return parseMessage(
      Buffer.from(
        `From: a@b.example\r\nContent-Type: application/ms-tnef; name=winmail.dat\r\nContent-Transfer-Encoding: base64\r\n\r\n${container.toString('base64')}`,
      ),
    )
  }

  test('is the text of the mail, and another body wins over it', () => {
    const published = Buffer.from(
      '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0',
      'hex',
    )
    expect(mailWith(published)).toMatchObject({ text: 'hello world', html: null })
    expect(mailWith(published, property(0x1000, 0x1f, unicode('Body')))).toMatchObject({ text: 'Body', html: null })
    expect(mailWith(published, property(0x1000, 0x1f, unicode(' ')))).toMatchObject({ text: 'hello world' })
  })

  test.each([
    ['lines, signs and Unicode', "{\\rtf1\\ansi\\ansicpg1250 P\\'f8\\u237?\\par\\par {\\b two}\\line \\{3\\}}", 'Pří\n\ntwo\n{3}'],
    ['rows', '{\\rtf1\\trowd a\\cell b\\cell\\row\\pard c}', 'a\tb\nc'],
    ['hidden text and files are left out', '{\\rtf1 a{\\v b}{\\pict 00ff}{\\*\\unknown c}{\\bin3 }}}d}', 'ad'],
    ['groups without an end', '{\\rtf1 {{{a', 'a'],
  ])('%s', (_name, rtf, text) => {
    expect(mailWith(rtf)).toMatchObject({ text, html: null })
  })

  // After the example of MS-OXRTFEX §4.1.
  test('is the HTML that it was made from', () => {
    const rtf =
      '{\\rtf1\\ansi\\ansicpg1251\\fromhtml1 \\deff0{\\fonttbl{\\f0 Arial;}}\\uc1\\pard\\f0 {\\*\\htmltag3 \\par }' +
      '{\\*\\htmltag64 <p>}\\htmlrtf {\\htmlrtf0 Text {\\*\\htmltag84 <b>}\\htmlrtf {\\b\\htmlrtf0 bold {\\*\\htmltag84 &lt;}\\htmlrtf <\\htmlrtf0 1' +
      '{\\*\\htmltag92 </b>}\\htmlrtf }\\htmlrtf0  {\\*\\mhtmltag84 <a href="cid:1">}{\\*\\htmltag84 <a href="https://x.example/\\{1\\}">}' +
      "{\\field{\\*\\fldinst HYPERLINK}{\\fldrslt \\'cf}}{\\*\\htmltag92 </a>}\\htmlrtf\\par}\\htmlrtf0 {\\*\\htmltag72 </p>}}"
    const { html, text } = mailWith(rtf)
    expect(html).toBe('\n<p>Text <b>bold &lt;1</b> <a href="https://x.example/{1}">П</a></p>')
    expect(text).toContain('Text bold <1 П')
  })

  test('hostile documents are cut and cost little', async () => {
    expect(mailWith(`{\\rtf1 a\\par${'{'.repeat(5_000)}b}`)).toMatchObject({ text: 'a' })
    // Up to 17 bytes for each reference of two.
    const references = Buffer.alloc(4_000_000, 0)
    for (let at = 0; at + 17 <= references.length; at += 17) references[at] = 0xff
    const bomb = Buffer.concat([long(references.length + 12), long(0xffffffff), Buffer.from('LZFu'), long(0), references])
    await expectCost(() => void mailWith(bomb), 1_500)
    for (const piece of ['{', '\\', "\\'", '\\u1', '\\par', '{\\*\\htmltag ', '\\bin9 ', 'x\\cell ', '\\f1 ', '{}'])
      await expectCost(() => void mailWith(`{\\rtf1\\fromhtml1 ${piece.repeat(4_000_000 / piece.length)}`), 1_500)
  })
})

// Written by OpenSSL 3: `openssl cms -sign -nodetach`, the second with -stream, and `openssl cms -encrypt`, of the same part with a text and a table.
const signed =
  'MIIBrgYJKoZIhvcNAQcCoIIBnzCCAZsCAQExDTALBglghkgBZQMEAgEwgfMGCSqGSIb3DQEHAaCB5QSB4kNvbnRlbnQtVHlwZTogbXVsdGlwYXJ0L21peGVkOyBib3VuZGFyeT1iDQoNCi0tYg0KQ29udGVudC1UeXBlOiB0ZXh0L3BsYWluOyBjaGFyc2V0PXV0Zi04DQpDb250ZW50LVRyYW5zZmVyLUVuY29kaW5nOiA4Yml0DQoNCkRlciBQcmVpcyBpc3QgNTAwIOKCrC4NCi0tYg0KQ29udGVudC1UeXBlOiB0ZXh0L2NzdjsgbmFtZT0icHJpY2UuY3N2Ig0KDQpJdGVtLFByaWNlDQpCb2x0LDUNCi0tYi0tDQoxgZAwgY0CAQEwJjAOMQwwCgYDVQQDDANBbm4CFCqXdzRdEeEJFbKE5lFo/+E+GODMMAsGCWCGSAFlAwQCATAKBggqhkjOPQQDAgRHMEUCIGAR42vuEGEpd0wjv/gpBgoRlSLq9wfhoEtj+vS4cPujAiEApm4Ju/OKu+k+eaEDSZ4luUkYFfIT7fhSOOL72eUTbMU='
const streamed =
  'MIAGCSqGSIb3DQEHAqCAMIACAQExDTALBglghkgBZQMEAgEwgAYJKoZIhvcNAQcBoIAkgASB4kNvbnRlbnQtVHlwZTogbXVsdGlwYXJ0L21peGVkOyBib3VuZGFyeT1iDQoNCi0tYg0KQ29udGVudC1UeXBlOiB0ZXh0L3BsYWluOyBjaGFyc2V0PXV0Zi04DQpDb250ZW50LVRyYW5zZmVyLUVuY29kaW5nOiA4Yml0DQoNCkRlciBQcmVpcyBpc3QgNTAwIOKCrC4NCi0tYg0KQ29udGVudC1UeXBlOiB0ZXh0L2NzdjsgbmFtZT0icHJpY2UuY3N2Ig0KDQpJdGVtLFByaWNlDQpCb2x0LDUNCi0tYi0tDQoAAAAAAAAxgZAwgY0CAQEwJjAOMQwwCgYDVQQDDANBbm4CFCqXdzRdEeEJFbKE5lFo/+E+GODMMAsGCWCGSAFlAwQCATAKBggqhkjOPQQDAgRHMEUCIQCHemLlG3IjpSdmagUWU5boJGGB+ffm/n+mPdN9X9cUXgIgIwNFd4C+GOEr+ynMixr9XgRUbm/3Lf1WHBeMg+KMzccAAAAAAAA='
const encrypted =
  'MIIB8wYJKoZIhvcNAQcDoIIB5DCCAeACAQIxgbmhgbYCAQOgUaFPMAkGByqGSM49AgEDQgAEanCcg75GuJnfclq3GPH0mvY1o9Jg8m8bGsZwPl+w8cSJE3akWY7qnKnRW00Lb4l495aS68GUuIdMnry0S0NTcjAYBgkrgQUQhkg/AAIwCwYJYIZIAWUDBAEF'

describe('signed data', () => {
  const asMail = (base64: string, type = 'application/pkcs7-mime; smime-type=signed-data; name=smime.p7m') =>
    parseMessage(Buffer.from(`From: a@b.example\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64}`))

  test.each([
    ['in DER', signed],
    ['with indefinite lengths', streamed],
  ])('%s has its content', (_, base64) => {
    expect(readSignedContent(Buffer.from(base64, 'base64'))?.toString()).toMatch(/^Content-Type: multipart\/mixed;[\s\S]*--b--\r\n$/)
  })

  test('its text is the text of the message, and the file stays', () => {
    for (const found of [asMail(signed), asMail(streamed, 'application/x-pkcs7-mime')]) {
      expect(found.text).toBe('Der Preis ist 500 €.')
      expect(found.attachments).toMatchObject([{ filename: 'smime.p7m' }])
    }
  })

  test('encrypted data stays closed', () => {
    expect(readSignedContent(Buffer.from(encrypted, 'base64'))).toBeNull()
    const whole = Buffer.from(encrypted, 'base64')
    // The outer lengths of the cut example.
    const envelope = Buffer.concat([Buffer.from('300d', 'hex'), whole.subarray(4, 15), Buffer.from('a000', 'hex')])
    expect(readSignedContent(envelope)).toBe('encrypted')
    expect(asMail(encrypted).text).toBeNull()
  })

  test('damaged data is nothing, and never throws', () => {
    for (const base64 of [signed, streamed]) {
      const bytes = Buffer.from(base64, 'base64')
      for (let length = 0; length < bytes.length; length++) expect(() => readSignedContent(bytes.subarray(0, length))).not.toThrow()
      for (let at = 0; at < 60; at++) {
        const changed = Buffer.from(bytes)
        changed[at] = changed[at]! ^ 0xff
        expect(() => readSignedContent(changed)).not.toThrow()
      }
    }
    expect(readSignedContent(Buffer.from('3080'.repeat(10_000), 'hex'))).toBeNull()
  })
})

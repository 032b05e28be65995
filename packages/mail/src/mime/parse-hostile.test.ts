// Messages made to hurt: any bytes parse, limits hold, and cost grows with size and no faster.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectLinear } from '../../tests/harness/cost.ts'
import { extractReplyText } from '../content/replies/reply-text.ts'
import { HTML_CHARACTERS_MAX, htmlToText } from '../html/text.ts'
import { ADDRESSES_MAX } from './addresses.ts'
import { TEXT_CHARACTERS_MAX } from './bodies.ts'
import { parseMessage } from './parse.ts'
import { DEPTH_MAX, PARTS_MAX } from './parts.ts'
import { decodeAttachment } from './transfer-encoding.ts'

const FROM = 'From: a@b.example\r\n'
const MIXED = `${FROM}Content-Type: multipart/mixed; boundary="bound"\r\n\r\n`

const nested = (count: number) =>
  Array.from({ length: count }, (_, depth) => `--b${depth}\r\nContent-Type: multipart/mixed; boundary="b${depth + 1}"\r\n\r\n`).join('')

describe('structure', () => {
  it('stops at 1,000 parts', () => {
    const message = parseMessage(Buffer.from(`${MIXED}${'--bound\r\nContent-Type: image/png\r\n\r\n\r\n'.repeat(3000)}`))
    expect(message.attachments).toHaveLength(PARTS_MAX - 1)
    expect(message.defects).toContain('truncated-parts')
  })
  it('parses 50 levels and keeps deeper ones as one part', () => {
    const raw = Buffer.from(`${FROM}Content-Type: multipart/mixed; boundary="b0"\r\n\r\n${nested(20_000)}`)
    const message = parseMessage(raw)
    expect(message.defects).toContain('too-deep')
    expect(message.attachments).toHaveLength(1)
    expect(message.attachments[0]).toMatchObject({ contentType: 'multipart/mixed', end: raw.length })
    const fits = parseMessage(
      Buffer.from(`${FROM}Content-Type: multipart/mixed; boundary="b0"\r\n\r\n${nested(DEPTH_MAX - 1)}--b${DEPTH_MAX - 1}\r\n\r\nhi`),
    )
    expect(fits.text).toBe('hi')
    expect(fits.defects).not.toContain('too-deep')
  })
  it('does not open enclosed messages', () => {
    const message = parseMessage(Buffer.from(`${FROM}${'Content-Type: message/rfc822\r\n\r\n'.repeat(2000)}text`))
    expect(message).toMatchObject({ text: null, attachments: [{ contentType: 'message/rfc822' }] })
  })
  it('keeps 2,000 addresses', () => {
    const message = parseMessage(Buffer.from(`${FROM}To: x@y.example\r\nCc: ${'ab@cd.example, '.repeat(15_000)}\r\n\r\n`))
    expect(message.from.length + message.to.length + message.cc.length).toBe(ADDRESSES_MAX)
    expect(message.defects).toContain('truncated-addresses')
  })
  it('keeps a million characters of text and of html', () => {
    const text = parseMessage(Buffer.from(`${FROM}\r\n${'ä😀 '.repeat(1_000_000)}`))
    expect(text.text!.length).toBeLessThanOrEqual(TEXT_CHARACTERS_MAX)
    expect(text.text!.length).toBeGreaterThan(TEXT_CHARACTERS_MAX - 3)
    expect(text.text!.isWellFormed()).toBe(true)
    expect(text.defects).toEqual(['truncated-text'])
    const html = parseMessage(Buffer.from(`${FROM}Content-Type: text/html\r\n\r\n${'<p>x'.repeat(1_000_000)}`))
    expect(html.html!.length).toBe(TEXT_CHARACTERS_MAX)
    expect(html.defects).toEqual(['truncated-html'])
  })
  it('does not copy attachments', () => {
    const body = Buffer.alloc(6 << 20, 'QUJD'.repeat(19))
      .toString()
      .replace(/.{76}/g, '$&\r\n')
    const raw = Buffer.from(
      `${MIXED}--bound\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${body}\r\n--bound--\r\n`,
    )
    parseMessage(raw)
    const before = process.memoryUsage().arrayBuffers
    const message = parseMessage(raw)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(raw.length / 10)
    const [part] = message.attachments
    expect(part!.sizeBytes).toBe((6 << 20) * 0.75)
    expect(decodeAttachment(raw.subarray(part!.start, part!.end), part!.encoding)).toHaveLength(part!.sizeBytes)
  })
})

describe('cost grows with size and no faster', () => {
  const fill = (unit: string, size: number) => unit.repeat(Math.ceil(size / unit.length))
  const messages: [string, (size: number) => string][] = [
    ['empty parts', (size) => MIXED + fill('--bound\r\n', size)],
    ['lines that begin like boundaries', (size) => MIXED + fill('\n--', size)],
    ['lines that nearly are boundaries', (size) => MIXED + fill('\n--bounc', size)],
    [
      'near boundaries under 50 open parts',
      (size) => `Content-Type: multipart/mixed; boundary="b0"\r\n\r\n${nested(49)}${fill('\n--b9x', size)}`,
    ],
    ['boundaries with blanks', (size) => `Content-Type: multipart/mixed; boundary="b b"\r\n\r\n${fill('\n--b b        x', size)}`],
    ['blank lines', (size) => MIXED + fill('\n', size)],
    ['nested parts', (size) => `Content-Type: multipart/mixed; boundary="b0"\r\n\r\n${nested(Math.ceil(size / 55))}`],
    ['header lines', (size) => `${FROM}${fill('X: y\r\n', size)}\r\n`],
    ['one header line', (size) => `${FROM}X: ${fill('y', size)}\r\n\r\n`],
    [
      'quoted-printable escapes',
      (size) => `${FROM}Content-Transfer-Encoding: quoted-printable\r\nContent-Type: a/b\r\n\r\n${fill('=', size)}`,
    ],
    [
      'quoted-printable blanks',
      (size) => `${FROM}Content-Transfer-Encoding: quoted-printable\r\nContent-Type: a/b\r\n\r\n${fill('= ', size)}`,
    ],
    ['base64 padding', (size) => `${FROM}Content-Transfer-Encoding: base64\r\nContent-Type: a/b\r\n\r\n${fill('A=', size)}`],
    ['flowed quotes', (size) => `${FROM}Content-Type: text/plain; format=flowed\r\n\r\n${fill(`${'>'.repeat(100)} \n`, size)}`],
    ['utf-7', (size) => `${FROM}Content-Type: text/plain; charset=utf-7\r\n\r\n${fill('+AGE-', size)}`],
  ]
  it.each(messages)('%s', async (_name, make) => {
    await expectLinear((size) => {
      const raw = Buffer.from(make(size))
      return () => parseMessage(raw)
    }, 500_000)
  })

  const values = [
    'a:',
    '(',
    '((',
    '"',
    '"\\',
    '<',
    '<@a ,',
    'a@[',
    ' boundary=',
    '; boundary="b" ',
    '=?a?Q?b?c',
    '=?a?Q?b???',
    '=?koi8-r?Q?\u00f6',
    '=?a?q?',
    '=?utf-8?b?QQ=?= ',
    ' . ',
    'a@ ',
    '(a)@',
    'a=b;',
    'a*0="x";',
    'a="\\";',
    "n*=x''%41;",
    '<a@b> ',
  ]
  it.each(values)('header values of %j', async (unit) => {
    await expectLinear((size) => {
      const value = fill(unit, size)
      const raw = Buffer.from(`From: ${value}\r\nSubject: ${value}\r\nReferences: ${value}\r\nContent-Type: x/y; ${value}\r\n\r\n`)
      return () => parseMessage(raw)
    }, 15_000)
  })

  const tags = [
    '<div>',
    '<',
    '< ',
    '</ ',
    '<a href=http://x>t</a>',
    '<blockquote><br>',
    '<p>a',
    '<td>a',
    '<li>',
    '<a b="',
    '<!--',
    '<!-->',
    '<style>',
    '<style></style>',
    '&',
    '&#',
    '&amp',
    '<div hidden>',
    '<a hidden b',
    '<pre>\n',
    '<ul>',
  ]
  it.each(tags)('html of %j', async (unit) => {
    await expectLinear((size) => {
      const html = fill(unit, size)
      return () => htmlToText(html)
    }, HTML_CHARACTERS_MAX / 8)
  })
})

describe('any bytes', () => {
  const pieces = fc.constantFrom(
    ...[
      'From: ',
      'To: ',
      'Subject: ',
      'Content-Type: multipart/mixed; boundary=b\r\n',
      'Content-Type: multipart/alternative; boundary="c"\r\n',
    ],
    ...[
      'Content-Type: text/html; charset=utf-7\r\n',
      'Content-Type: text/plain; format=flowed\r\n',
      'Content-Transfer-Encoding: base64\r\n',
    ],
    ...[
      'Content-Transfer-Encoding: quoted-printable\r\n',
      'Content-Disposition: attachment; filename*0*=',
      '--b\r\n',
      '--c\r\n',
      '--b--\r\n',
      '\r\n',
      '\r\n\r\n',
      '\n',
      ' ',
    ],
    ...[
      '=?utf-8?B?',
      '=?utf-16?Q?=D8=00',
      '?=',
      'a@b.c',
      '<',
      '>',
      '"',
      '(',
      ';',
      ',',
      ':',
      '=00',
      '=D8',
      'AA==',
      '\0',
      '\xff',
      '\xed\xa0\x80',
      '<p>',
      '&#xD800;',
      '<b hidden>',
      '+2AA-',
    ],
  )
  const soup = fc
    .array(fc.oneof({ weight: 6, arbitrary: pieces }, { weight: 1, arbitrary: fc.string({ maxLength: 8 }) }), { maxLength: 60 })
    .map((parts) => Buffer.from(parts.join(''), 'latin1'))
  const noise = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes))

  it('parse without throwing into well-formed strings and true ranges', () => {
    fc.assert(
      fc.property(fc.oneof(soup, noise), (raw) => {
        const message = parseMessage(raw)
        visitStrings({
          ...message,
          reply: extractReplyText(message.text ?? ''),
          fromHtml: htmlToText(message.html ?? raw.toString('latin1')),
        })
        for (const { start, end, encoding, sizeBytes, filename } of message.attachments) {
          expect(start).toBeLessThanOrEqual(end)
          expect(end).toBeLessThanOrEqual(raw.length)
          expect(decodeAttachment(raw.subarray(start, end), encoding)).toHaveLength(sizeBytes)
          expect(Buffer.byteLength(filename)).toBeLessThanOrEqual(255)
          expect(filename).toMatch(/^[^/\\\p{Cc}]+$/u)
        }
      }),
      { numRuns: 3000 },
    )
  })
})

function visitStrings(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0') || !value.isWellFormed()) throw new Error(`not storable: ${JSON.stringify(value)}`)
  } else if (Array.isArray(value)) value.forEach(visitStrings)
  else if (value !== null && typeof value === 'object' && !(value instanceof Date)) Object.values(value).forEach(visitStrings)
}

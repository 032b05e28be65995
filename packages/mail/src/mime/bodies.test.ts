// Bodies of other text types than plain text and HTML.
import { expect, test } from 'vitest'
import { parseMessage } from './parse.ts'

const parse = (lines: string) => parseMessage(Buffer.from(lines.replaceAll('\n', '\r\n')))
const single = (type: string, body: string) => parse(`From: a@b.example\nContent-Type: ${type}\n\n${body}`)
const parts = (kind: string, ...written: string[]) =>
  parse(`From: a@b.example\nContent-Type: multipart/${kind}; boundary=b\n\n${written.map((part) => `--b\n${part}\n`).join('')}--b--\n`)

test.each([
  ['text/markdown', '# Order', '# Order'],
  ['text/x-web-markdown; charset=utf-8', 'Grüße', 'Grüße'],
  ['text/unknown-thing', 'Hello', 'Hello'],
  ['text/csv', 'a,b', 'a,b'],
  ['text/enriched', '<bold>Now</bold> is the <param>red</param>time\nfor\n\nall << good', 'Now is the time for\nall < good'],
  ['text/enriched', '<nofill>a\nb</nofill> c', 'a\nb c'],
  ['text/richtext', '<bold>Now</bold> <lt>is\nthe<nl>time<comment>not shown</comment>', 'Now <is the\ntime'],
])('a body of type %s is text', (type, body, text) => {
  expect(single(type, body)).toMatchObject({ text, attachments: [] })
})

test('an unknown text in an alternative is the text when no version is known', () => {
  const unknown = 'Content-Type: text/x-setext\n\nUnknown'
  expect(parts('alternative', unknown, 'Content-Type: application/json\n\n{}').text).toBe('Unknown')
  const known = parts('alternative', 'Content-Type: text/plain\n\nKnown', unknown)
  expect(known.text).toBe('Known')
  expect(known.attachments).toMatchObject([{ contentType: 'text/x-setext' }])
})

test('an unknown text stands between the texts of a mixed message', () => {
  const found = parts('mixed', 'Content-Type: text/plain\n\nOne', 'Content-Type: text/markdown\n\n*Two*', '\nThree')
  expect(found).toMatchObject({ text: 'One\n\n*Two*\n\nThree', attachments: [] })
})

test('named, attached and structured texts stay attachments', () => {
  const files = [
    'Content-Type: text/markdown; name="a.md"\n\nx',
    'Content-Type: text/markdown\nContent-Disposition: attachment\n\nx',
    'Content-Type: text/markdown\nContent-Disposition: inline; filename=b.md\n\nx',
    'Content-Type: text/calendar\n\nBEGIN:VCALENDAR',
    'Content-Type: text/vcard\n\nBEGIN:VCARD',
    'Content-Type: text/x-amp-html\n\n<html>',
    'Content-Type: text/rfc822-headers\n\nFrom: a@b.example',
  ]
  const found = parts('mixed', 'Content-Type: text/plain\n\nText', ...files)
  expect(found.text).toBe('Text')
  expect(found.attachments).toHaveLength(files.length)
})

test('a type that is written as an encoded word is read', () => {
  const [image] = parts('mixed', '\ntext', 'Content-Type: =?utf-8?Q?image/png?=; name="a.png"\n\nx').attachments
  expect(image).toMatchObject({ contentType: 'image/png', filename: 'a.png' })
  expect(single('=?utf-8?B?dGV4dC9odG1sOyBjaGFyc2V0PXV0Zi04?=', '<b>é</b>').html).toBe('<b>é</b>')
  expect(parts('mixed', '\ntext', 'Content-Type: =?us-ascii?Q?application/pdf=3B_name=3Da.pdf?=\n\nx').attachments[0]).toMatchObject({
    contentType: 'application/pdf',
    filename: 'a.pdf',
  })
  expect(single('=?utf-8?Q?no type?=', 'x').text).toBe('x')
})

// People, parts and limits of a message, each with its complete result.
import { expect, test } from 'vitest'
import { TEXT_CHARACTERS_MAX } from './bodies.ts'
import { type ParsedMessage, parseMessage } from './parse.ts'

const crlf = (text: string): Buffer => Buffer.from(text.replaceAll('\n', '\r\n'), 'latin1')
/** A multipart message. Each part is its fields, an empty line and its body. */
const multipart = (kind: string, ...parts: string[]) =>
  parseMessage(
    crlf(`From: a@b.example\nContent-Type: multipart/${kind}; boundary=b\n\n${parts.map((part) => `--b\n${part}\n`).join('')}--b--\n`),
  )

test('every list of people', () => {
  const { from, sender, replyTo, to, cc, bcc, defects } = parseMessage(
    crlf(
      'From: f@x.example\nSender: s@x.example\nReply-To: r@x.example\nTo: t@x.example\nCc: c@x.example\nCc: d@x.example\nBcc: b@x.example\n\nHi\n',
    ),
  )
  const one = (address: string) => ({ name: '', address })
  expect({ from, sender, replyTo, to, cc, bcc, defects }).toEqual({
    from: [one('f@x.example')],
    sender: one('s@x.example'),
    replyTo: [one('r@x.example')],
    to: [one('t@x.example')],
    cc: [one('c@x.example'), one('d@x.example')],
    bcc: [one('b@x.example')],
    defects: [],
  })
})

test('2,000 addresses are kept, first those of From', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `a${index}@x.example`).join(', ')
  const read = (to: number, cc: number) => parseMessage(crlf(`To: ${many(to)}\nCc: ${many(cc)}\nFrom: f@x.example\n\nHi\n`))
  const whole = read(1500, 499)
  expect([whole.from.length, whole.to.length, whole.cc.length, whole.defects]).toEqual([1, 1500, 499, []])
  const cut = read(1500, 500)
  expect([cut.from.length, cut.to.length, cut.cc.length, cut.defects]).toEqual([1, 1500, 499, ['truncated-addresses']])
})

test.each([
  ['two From fields', 'From: a@b.example\nFrom: c@d.example\n', ['multiple-from']],
  ['no From', 'To: a@b.example\n', ['no-from']],
  ['an empty From', 'From:\n', ['no-from']],
  ['a bad date', 'From: a@b.example\nDate: soon\n', ['bad-date']],
  ['a date', 'From: a@b.example\nDate: Mon, 6 Apr 2026 10:00:00 +0000\n', []],
])('%s: %j', (_name, header, defects) => expect(parseMessage(crlf(`${header}\nHi\n`)).defects).toEqual(defects))

const plain = 'Content-Type: text/plain\n\none'
const page = 'Content-Type: text/html\n\n<p>two</p>'
const named = 'Content-Type: text/html; name=x.html\n\n<p>two</p>'

test.each<[string, () => ParsedMessage, string | null, string | null, string[]]>([
  ['a named version of one text', () => multipart('alternative', plain, named), 'one', '<p>two</p>', []],
  ['a named page behind a text', () => multipart('mixed', plain, named), 'one', null, ['x.html attachment']],
  ['a named page first', () => multipart('mixed', named), 'two', '<p>two</p>', []],
  [
    'a page with a file name in its disposition',
    () => multipart('mixed', plain, 'Content-Type: text/html\nContent-Disposition: inline; filename=y.html\n\n<p>two</p>'),
    'one',
    null,
    ['y.html inline'],
  ],
  ['a page beside a related text', () => multipart('related', plain, page), 'one', null, ['page.html attachment']],
  ['a page behind a text', () => multipart('mixed', plain, page), 'one\n\ntwo', '<div>one</div>\n<p>two</p>', []],
  ['a page of blanks behind a text', () => multipart('mixed', plain, 'Content-Type: text/html\n\n<p> </p>'), 'one', '<div>one</div>', []],
  ['a text of blanks before a page', () => multipart('mixed', 'Content-Type: text/plain\n\n \n', page), 'two', '<p>two</p>', []],
  [
    'a picture that the page shows',
    () => multipart('related', page, 'Content-Type: image/png\nContent-ID: <1>\n\nx'),
    'two',
    '<p>two</p>',
    ['image.png inline'],
  ],
  [
    'a picture without an id',
    () => multipart('related', page, 'Content-Type: image/png\n\nx'),
    'two',
    '<p>two</p>',
    ['image.png attachment'],
  ],
  [
    'an attached picture with an id',
    () => multipart('related', page, 'Content-Type: image/png\nContent-ID: <1>\nContent-Disposition: attachment\n\nx'),
    'two',
    '<p>two</p>',
    ['image.png attachment'],
  ],
  [
    'a picture with an id behind a page',
    () => multipart('mixed', page, 'Content-Type: image/png\nContent-ID: <1>\n\nx'),
    'two',
    '<p>two</p>',
    ['image.png attachment'],
  ],
  ['a file alone', () => multipart('mixed', 'Content-Type: application/pdf\n\nx'), null, null, ['document.pdf attachment']],
])('%s', (_name, parse, text, html, attachments) => {
  const parsed = parse()
  expect({
    text: parsed.text,
    html: parsed.html,
    attachments: parsed.attachments.map((one) => `${one.filename} ${one.disposition}`),
  }).toEqual({
    text,
    html,
    attachments,
  })
})

test('the limit of the text is that of all parts together', () => {
  const part = (type: string, length: number) => `Content-Type: text/${type}\n\n${'x'.repeat(length)}`
  const half = TEXT_CHARACTERS_MAX / 2
  const both = multipart('mixed', part('plain', half), part('plain', half + 1))
  expect([both.text?.length, both.defects]).toEqual([TEXT_CHARACTERS_MAX, ['truncated-text']])
  const pages = multipart('mixed', part('html', half), part('html', half + 1))
  expect([pages.html?.length, pages.defects.includes('truncated-html')]).toEqual([TEXT_CHARACTERS_MAX, true])
  const full = multipart('mixed', part('plain', TEXT_CHARACTERS_MAX), part('plain', 1))
  expect([full.text?.length, full.defects]).toEqual([TEXT_CHARACTERS_MAX, ['truncated-text']])
  const empty = multipart('mixed', part('plain', TEXT_CHARACTERS_MAX), part('plain', 0))
  expect([empty.text?.length, empty.defects]).toEqual([TEXT_CHARACTERS_MAX, []])
})

test('the header of a part counts from its own start', () => {
  const { attachments, defects } = multipart(
    'mixed',
    `Content-Type: text/plain\n\n${'x\n'.repeat(150_000)}`,
    'Content-Type: application/pdf\n\nx',
  )
  expect([attachments.map(({ contentType }) => contentType), defects]).toEqual([['application/pdf'], []])
})

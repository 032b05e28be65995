// Which parts are the text, the HTML and the attachments of a message, each with its complete result.
import { expect, test } from 'vitest'
import { TEXT_CHARACTERS_MAX } from './bodies.ts'
import { parseMessage } from './parse.ts'

const mails: [string, string, object][] = [
  ['blind copies', 'From: a@b.example\r\nBcc: c@d.example\r\n\r\nx', { text: 'x', html: null, attachments: [], defects: [], people: [] }],
  [
    'a text of invisible characters beside HTML',
    'From: a@b.example\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\u00e2\u0080\u008b\u00e2\u00a0\u0080 \r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Hi</p>\r\n--b--\r\n',
    { text: 'Hi', html: '<p>Hi</p>', attachments: [], defects: [], people: [] },
  ],
  [
    'a text of &nbsp; beside HTML',
    'From: a@b.example\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n&nbsp; &nbsp;\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Hi</p>\r\n--b--\r\n',
    { text: 'Hi', html: '<p>Hi</p>', attachments: [], defects: [], people: [] },
  ],
  [
    'a text of quote marks beside HTML',
    'From: a@b.example\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n> > \r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Hi</p>\r\n--b--\r\n',
    { text: 'Hi', html: '<p>Hi</p>', attachments: [], defects: [], people: [] },
  ],
  [
    'a text of words beside HTML',
    'From: a@b.example\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n> Hello\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Hi</p>\r\n--b--\r\n',
    { text: '> Hello', html: '<p>Hi</p>', attachments: [], defects: [], people: [] },
  ],
  [
    'a blank text beside blank HTML',
    'From: a@b.example\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n \t\r\n--b\r\nContent-Type: text/html\r\n\r\n<p> </p>\r\n--b--\r\n',
    { text: '', html: '', attachments: [], defects: [], people: [] },
  ],
  [
    'a text beside an empty page',
    'From: a@b.example\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nHello\r\n--b\r\nContent-Type: text/html\r\n\r\n<html><body></body></html>\r\n--b--\r\n',
    { text: 'Hello', html: '<div>Hello</div>', attachments: [], defects: [], people: [] },
  ],
  [
    'a text beside a picture',
    'From: a@b.example\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nHello\r\n--b\r\nContent-Type: text/html\r\n\r\n<img src=x>\r\n--b--\r\n',
    { text: 'Hello', html: '<img src=x>', attachments: [], defects: [], people: [] },
  ],
  [
    'two alternatives of text',
    'From: a@b.example\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\none\r\n--b\r\nContent-Type: text/plain\r\n\r\ntwo\r\n--b--\r\n',
    { text: 'one\n\ntwo', html: null, attachments: [], defects: [], people: [] },
  ],
  [
    'a picture among alternatives',
    'From: a@b.example\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\none\r\n--b\r\nContent-Type: image/png\r\n\r\nx\r\n--b--\r\n',
    { text: 'one', html: null, attachments: ['image/png'], defects: [], people: [] },
  ],
  [
    'two texts',
    'From: a@b.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\none\r\n\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\ntwo\r\n--b--\r\n',
    { text: 'one\n\ntwo', html: null, attachments: [], defects: [], people: [] },
  ],
  [
    'a text and a page',
    'From: a@b.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\none\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>two</p>\r\n--b--\r\n',
    { text: 'one\n\ntwo', html: '<div>one</div>\n<p>two</p>', attachments: [], defects: [], people: [] },
  ],
  [
    'pages with names',
    'From: a@b.example\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>one</p>\r\n--b\r\nContent-Type: text/html; name=x.html\r\nContent-ID: <x>\r\n\r\n<p>two</p>\r\n--b--\r\n',
    { text: 'one', html: '<p>one</p>', attachments: ['text/html'], defects: [], people: [] },
  ],
  [
    'an attached text',
    'From: a@b.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\none\r\n--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment\r\n\r\ntwo\r\n--b--\r\n',
    { text: 'one', html: null, attachments: ['text/plain'], defects: [], people: [] },
  ],
  [
    'a meta charset',
    'From: a@b.example\r\nContent-Type: text/html\r\n\r\n<html><head><meta http-equiv="Content-Type" content=\'text/html; charset = "koi8-r"\'></head>\u00f0',
    {
      text: '\u041f',
      html: '<html><head><meta http-equiv="Content-Type" content=\'text/html; charset = "koi8-r"\'></head>\u041f',
      attachments: [],
      defects: [],
      people: [],
    },
  ],
  [
    'a bare meta charset',
    'From: a@b.example\r\nContent-Type: text/html\r\n\r\n<meta charset=koi8-r>\u00f0',
    { text: '\u041f', html: '<meta charset=koi8-r>\u041f', attachments: [], defects: [], people: [] },
  ],
  [
    'a meta charset in plain text',
    'From: a@b.example\r\nContent-Type: text/plain\r\n\r\n<meta charset=koi8-r>\u00f0',
    { text: '<meta charset=koi8-r>\u00f0', html: null, attachments: [], defects: [], people: [] },
  ],
  [
    'a meta charset of a declared page',
    'From: a@b.example\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n<meta charset=koi8-r>\u00f0',
    { text: '\u00f0', html: '<meta charset=koi8-r>\u00f0', attachments: [], defects: [], people: [] },
  ],
  [
    'a bad base64 text',
    'From: a@b.example\r\nContent-Transfer-Encoding: base64\r\n\r\nSGk!',
    { text: 'Hi', html: null, attachments: [], defects: ['bad-base64'], people: [] },
  ],
  [
    'an unknown charset',
    'From: a@b.example\r\nContent-Type: text/plain; charset=x-none\r\n\r\nHi',
    { text: 'Hi', html: null, attachments: [], defects: ['unknown-charset'], people: [] },
  ],
]
test.each(mails)('%s', (_, mail, expected) => {
  const { text, html, attachments, defects, to, cc } = parseMessage(Buffer.from(mail, 'latin1'))
  const people = [...to, ...cc].map(({ address }) => address)
  expect({ text, html, attachments: attachments.map((part) => part.contentType), defects, people }).toEqual(expected)
})

test('a text of the most characters is whole, and a longer one is cut', () => {
  const read = (length: number, more = '') => parseMessage(Buffer.from(`From: a@b.example\r\n${more}\r\n${'x'.repeat(length)}`))
  const whole = read(TEXT_CHARACTERS_MAX)
  expect([whole.text?.length, whole.defects]).toEqual([TEXT_CHARACTERS_MAX, []])
  const cut = read(TEXT_CHARACTERS_MAX + 1)
  expect([cut.text?.length, cut.defects]).toEqual([TEXT_CHARACTERS_MAX, ['truncated-text']])
  const page = read(TEXT_CHARACTERS_MAX + 1, 'Content-Type: text/html\r\n')
  expect([page.html?.length, page.defects]).toEqual([TEXT_CHARACTERS_MAX, ['truncated-html']])
})

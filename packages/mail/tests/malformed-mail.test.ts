// Malformed mail of real senders, with blank plain texts, raw characters in encoded words and damaged Content fields. All mails here are our own writing.
import { describe, expect, test } from 'vitest'
import { readMail } from '../src/content/reading.ts'
import { decodeEncodedWords } from '../src/mime/encoded-words.ts'
import { type ParsedMessage, parseMessage } from '../src/mime/parse.ts'
import { decodeAttachment } from '../src/mime/transfer-encoding.ts'

const crlf = (text: string): Buffer => Buffer.from(text.replaceAll('\n', '\r\n'))
const latin1 = (text: string): Buffer => Buffer.from(text.replaceAll('\n', '\r\n'), 'latin1')

const alternative = (plain: string, html: string): Buffer =>
  crlf(`From: ann@x.example
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/plain; charset=utf-8

${plain}
--b
Content-Type: text/html; charset=utf-8

${html}
--b--
`)

describe('a blank plain text beside HTML', () => {
  const html = '<p>Your room is ready.</p><p>Ann</p>'
  test.each([
    ['empty', ''],
    ['blanks and line ends', '  \n\t\n \n'],
    ['no-break spaces', '\u00a0\n\u00a0'],
    ['zero-width characters', '\u200b\n\ufeff\u034f\u00ad'],
    ['fillers of a preheader', '\u2800 \u3164'],
    ['entities', '&nbsp;\n&nbsp; &nbsp;'],
    ['a rule', '________________'],
  ])('%s gives the text and the reply of the HTML', (_name, plain) => {
    const mail = readMail(alternative(plain, html))
    expect(mail.parsed.text).toBe('Your room is ready.\n\nAnn')
    expect(mail.extractedText).toBe('Your room is ready.\n\nAnn')
  })

  test.each([
    ['a question mark', '?', '<p>?</p>', '?'],
    ['an emoji', '👍', '<p>👍</p>', '👍'],
    ['a word', 'ok', '<p>A longer text</p>', 'ok'],
  ])('%s stays', (_name, plain, written, text) => expect(parseMessage(alternative(plain, written)).text).toBe(text))

  test('in parts of a mixed message, blank ones add nothing', () => {
    const parts = ['text/plain\n\n \u00a0', 'text/html\n\n<p>Hello</p>', 'text/plain\n\n\u200b']
    const raw = crlf(
      `From: a@x.example\nContent-Type: multipart/mixed; boundary=b\n\n${parts.map((part) => `--b\nContent-Type: ${part.replace('\n', '; charset=utf-8\n')}\n`).join('')}--b--\n`,
    )
    expect(parseMessage(raw)).toMatchObject({ text: 'Hello', html: '<p>Hello</p>' })
  })

  test('an empty HTML beside a plain text shows that text', () => {
    expect(parseMessage(alternative('Hello', '<html><head><title>x</title></head><body>&nbsp;</body></html>')).html).toBe(
      '<div>Hello</div>',
    )
    expect(parseMessage(alternative('Hello', '<img src="cid:a">')).html).toBe('<img src="cid:a">')
  })

  test('two blank versions give an empty text', () => expect(parseMessage(alternative('\u00a0', '<p>&nbsp;</p>')).text?.trim()).toBe(''))
})

describe('raw characters beyond ASCII in header fields', () => {
  const subjectOf = (bytes: Buffer): string =>
    parseMessage(Buffer.concat([Buffer.from('From: a@x.example\r\nSubject: '), bytes, Buffer.from('\r\n\r\nx')])).subject
  test.each([
    ['latin1 bytes in a latin1 word', latin1('=?iso-8859-1?Q?Fr\xf6sche?='), 'Frösche'],
    ['UTF-8 bytes in a latin1 word', crlf('=?iso-8859-1?Q?Frösche?='), 'Frösche'],
    ['UTF-8 bytes in a UTF-8 word', crlf('=?utf-8?Q?Frösche?='), 'Frösche'],
    ['latin1 bytes in a UTF-8 word', latin1('=?utf-8?Q?Fr\xf6sche?='), 'Frösche'],
    ['windows-1252 bytes', latin1('=?windows-1252?Q?10_\x80_=96_gut?='), '10 € – gut'],
    ['escapes beside raw bytes', latin1('=?iso-8859-1?Q?Fr=F6sche_f\xfcr_dich?='), 'Frösche für dich'],
    ['koi8-r bytes in a koi8-r word', latin1('=?koi8-r?Q?\xf0\xd2\xc9\xd7\xc5\xd4?='), 'Привет'],
    ['UTF-8 bytes in a koi8-r word', crlf('=?koi8-r?Q?Привет?='), 'Привет'],
    ['shift_jis bytes in a shift_jis word', latin1('=?shift_jis?Q?\x93\xfa\x96\x7b?='), '日本'],
    ['words side by side', latin1('=?iso-8859-1?Q?Fr\xf6?= =?iso-8859-1?Q?sche?='), 'Frösche'],
    ['no word at all', latin1('Fr\xf6sche'), 'Frösche'],
  ])('%s', (_name, bytes, subject) => expect(subjectOf(bytes)).toBe(subject))

  test.each([
    ["filename*=iso-8859-1''Fr\xf6sche.txt", 'Frösche.txt'],
    ['filename*0*=iso-8859-1\'\'Fr\xf6; filename*1="sche.txt"', 'Frösche.txt'],
    ['filename*0*=iso-8859-1\'\'Fr%F6; filename*1="sche f\xfcr.txt"', 'Frösche für.txt'],
    ["filename*=koi8-r''\xf0\xd2\xc9.txt", 'При.txt'],
    ["filename*=''Fr\xf6sche.txt", 'Frösche.txt'],
    ['filename="Fr\xf6sche.txt"', 'Frösche.txt'],
    ['filename="=?iso-8859-1?Q?Fr\xf6sche.txt?="', 'Frösche.txt'],
  ])('%j', (parameter, filename) => {
    const raw = latin1(`From: a@x.example\nContent-Type: image/png\nContent-Disposition: attachment; ${parameter}\n\nx`)
    expect(parseMessage(raw).attachments[0]?.filename).toBe(filename)
  })

  test.each([
    ['=?utf-8?Q?Are_you_there??=', 'Are you there?'],
    ['=?utf-8?Q?What?_Now??= =?utf-8?Q?_Yes!?=', 'What? Now? Yes!'],
    ['=?utf-8?Q?a?b =?utf-8?Q?c?=', '=?utf-8?Q?a?b c'],
  ])('question marks in %s', (written, text) => expect(decodeEncodedWords(written)).toBe(text))
})

describe('damaged Content fields', () => {
  const attached = (field: string, boundary = 'b_1'): Buffer =>
    crlf(`From: a@x.example
${field}

--${boundary}
Content-Type: text/plain

Hello
--${boundary}
Content-Type: application/pdf; name="a.pdf"
Content-Transfer-Encoding: base64

JVBERg==
--${boundary}--
`)
  const contents = (raw: Buffer, { attachments }: ParsedMessage): string[] =>
    attachments.map(({ start, end, encoding }) => decodeAttachment(raw.subarray(start, end), encoding).toString('latin1'))

  test.each([
    ['no semicolon', 'Content-Type: multipart/mixed boundary="b_1"'],
    ['no semicolon on a folded line', 'Content-Type: multipart/mixed\n boundary="b_1"'],
    ['no semicolon between parameters', 'Content-Type: multipart/mixed; charset=utf-8 boundary="b_1"'],
    ['no semicolon after a quoted parameter', 'Content-Type: multipart/mixed; charset="utf-8" boundary=b_1'],
    ['no semicolon before a further parameter', 'Content-Type: multipart/mixed; boundary=b_1 charset=utf-8'],
    ['commas', 'Content-Type: multipart/mixed, boundary="b_1"'],
    ['commas between parameters', 'Content-Type: multipart/mixed; charset="utf-8", boundary="b_1"'],
    ['two semicolons', 'Content-Type: multipart/mixed;; boundary="b_1";'],
    ['a continuation line without its indent', 'Content-Type: multipart/mixed;\nboundary="b_1"'],
    ['two continuation lines without their indent', 'Content-Type: multipart/mixed;\ncharset=utf-8;\nboundary=b_1'],
    ['a quote that never ends', 'Content-Type: multipart/mixed; boundary="b_1'],
    ['a comment behind', 'Content-Type: multipart/mixed; boundary=b_1 (our boundary)'],
    ['no boundary', 'Content-Type: multipart/mixed'],
    ['a boundary that was changed on the way', 'Content-Type: multipart/mixed; boundary="b_1 [External]"'],
    ['a boundary of another case', 'Content-Type: multipart/mixed; boundary="B_1"'],
  ])('%s keeps text and attachment', (_name, field) => {
    const raw = attached(field)
    const message = parseMessage(raw)
    expect([message.text, contents(raw, message), message.attachments[0]?.filename]).toEqual(['Hello', ['%PDF'], 'a.pdf'])
  })

  test('a continuation line whose boundary has a colon', () => {
    const raw = attached('Content-Type: multipart/mixed;\nboundary="=_x:y"', '=_x:y')
    expect(contents(raw, parseMessage(raw))).toEqual(['%PDF'])
  })

  test('a nested multipart without a boundary finds its own and never takes the outer one', () => {
    const inner = crlf(`From: a@x.example
Content-Type: multipart/mixed; boundary=o

--o
Content-Type: multipart/alternative

--i
Content-Type: text/plain

Hello
--i
Content-Type: text/html

<p>Hello</p>
--i--
--o
Content-Type: image/png; name=a.png

x
--o--
`)
    expect(parseMessage(inner)).toMatchObject({ text: 'Hello', html: '<p>Hello</p>', attachments: [{ filename: 'a.png' }] })
    const lost = crlf(
      inner
        .toString()
        .replaceAll(/--i.*\r\nContent-Type.*\r\n\r\n|<p>.*\r\n--i--\r\n/g, '')
        .replaceAll('\r\n', '\n'),
    )
    expect(parseMessage(lost)).toMatchObject({ text: 'Hello', attachments: [{ filename: 'a.png' }] })
  })

  test.each([
    ['Content-Type: text/html charset=iso-8859-1\n\n<p>Fr\xf6sche</p>', { text: 'Frösche', html: '<p>Frösche</p>' }],
    ['Content-Type: image/png name="a b.png"\n\nx', { attachments: [{ filename: 'a b.png', contentType: 'image/png' }] }],
    ['Content-Type: image/png\nContent-Disposition: attachment filename=my file.png\n\nx', { attachments: [{ filename: 'my file.png' }] }],
    ['Content-Type: image/png\nContent-Disposition: attachment;\nfilename="a.png"\n\nx', { attachments: [{ filename: 'a.png' }] }],
  ])('%j', (mail, expected) => expect(parseMessage(latin1(`From: a@x.example\n${mail}`))).toMatchObject(expected))

  test('a word that is not a parameter stays in its value', () => {
    const name = (field: string) => parseMessage(crlf(`From: a@x.example\nContent-Type: image/png\n${field}\n\nx`)).attachments[0]?.filename
    expect(name('Content-Disposition: attachment; filename=my report, final.pdf')).toBe('my report, final.pdf')
    expect(name('Content-Disposition: attachment; filename="a charset=b.pdf"')).toBe('a charset=b.pdf')
  })
})

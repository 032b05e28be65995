// Whole messages: our own fixtures in packages/mail/tests/messages, with both line ends, and the shapes of MIME that need care.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { extractReplyText } from '../content/replies/reply-text.ts'
import { type ParsedMessage, parseMessage } from './parse.ts'
import { decodeAttachment } from './transfer-encoding.ts'

const directory = new URL('../../tests/messages/', import.meta.url)

/** A fixture with CRLF line ends, as SMTP brings it. */
function load(name: string): Buffer {
  return Buffer.from(readFileSync(new URL(name, directory)).toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')
}

const parse = (text: string) => parseMessage(Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1'))
const contents = (raw: Buffer, message: ParsedMessage) =>
  message.attachments.map((part) => decodeAttachment(raw.subarray(part.start, part.end), part.encoding).toString('latin1'))

describe('fixtures', () => {
  it('Gmail reply', () => {
    const message = parseMessage(load('gmail-reply.eml'))
    expect(message).toMatchObject({
      messageId: '<CAxyz123@mail.example.com>',
      inReplyTo: ['<second@agents.example>'],
      references: ['<first@agents.example>', '<second@agents.example>'],
      from: [{ name: 'Ann Müller', address: 'ann@example.com' }],
      to: [{ name: 'Sales Agent', address: 'sales@agents.example' }],
      cc: [
        { name: 'Huber, Max', address: 'max@example.com' },
        { name: '', address: 'team@example.com' },
      ],
      subject: 'Re: Angebot für März 😀',
      date: new Date('2026-03-03T09:14:55Z'),
      attachments: [],
      autoSubmitted: false,
      defects: [],
    })
    expect(message.text).toMatch(/^Passt so, danke! Bitte schickt mir den Vertrag – am besten heute\.\n\nAm Mo\./)
    expect(message.html).toContain('<blockquote class="gmail_quote"><div>Hallo Ann,<br>anbei unser Angebot.</div>')
    expect(extractReplyText(message.text!)).toBe('Passt so, danke! Bitte schickt mir den Vertrag – am besten heute.')
    expect(message.headers.map(({ name }) => name).slice(0, 4)).toEqual(['Return-Path', 'Received', 'MIME-Version', 'References'])
    expect(message.headers[1]!.value).toMatch(/^from mail-a\.example\.com .* by mx\.agents\.example with ESMTPS id q7; Tue/)
  })

  it('Gmail reply, html only: the same reply text from the html', () => {
    const html = parseMessage(load('gmail-reply.eml')).html!
    const message = parseMessage(Buffer.from(`Content-Type: text/html; charset=utf-8\r\n\r\n${html}`))
    expect(extractReplyText(message.text!)).toBe('Passt so, danke! Bitte schickt mir den Vertrag – am besten heute.')
  })

  it('Outlook with a related image and an attached text', () => {
    const raw = load('outlook-related.eml')
    const message = parseMessage(raw)
    expect(message.attachments).toMatchObject([
      {
        filename: 'image001.png',
        contentType: 'image/png',
        contentId: 'image001.png@01DB',
        disposition: 'inline',
        encoding: 'base64',
        sizeBytes: 8,
      },
      { filename: 'log.txt', contentType: 'text/plain', contentId: null, disposition: 'attachment', sizeBytes: 16 },
    ])
    expect(contents(raw, message)).toEqual(['\x89PNG\r\n\x1a\n', 'line 1\r\nline 2\r\n'])
    expect(extractReplyText(message.text!)).toBe('See the picture below and the log attached.\n\n[cid:image001.png@01DB]')
    const fromHtml = parseMessage(Buffer.from(`Content-Type: text/html\r\n\r\n${message.html}`)).text!
    expect(extractReplyText(fromHtml)).toBe('See the picture below and the log attached.\n\nshot')
  })

  it('Apple Mail with a file between two texts', () => {
    const raw = load('apple-mixed.eml')
    const message = parseMessage(raw)
    expect(message.text).toBe('First paragraph.\n\n\nSecond paragraph.')
    expect(message.html).toBe('<html><body>First paragraph.</body></html>\n<html><body>Second paragraph.</body></html>')
    expect(message.attachments).toMatchObject([
      { filename: 'Re\u0301sume\u0301 (final).pdf', contentType: 'application/pdf', disposition: 'inline' },
    ])
    expect(contents(raw, message)).toEqual(['%PDF-1.4\n'])
  })

  it('bounce: the report is text, the rest attachments, the returned mail unopened', () => {
    const raw = load('bounce.eml')
    const message = parseMessage(raw)
    expect(message).toMatchObject({ text: 'The mail system could not deliver your message.', html: null, autoSubmitted: true, defects: [] })
    expect(message.from).toEqual([{ name: 'Mail Delivery System', address: 'MAILER-DAEMON@mx.example.org' }])
    expect(message.attachments.map(({ filename, contentType }) => [filename, contentType])).toEqual([
      ['delivery-status.txt', 'message/delivery-status'],
      ['message.eml', 'message/rfc822'],
    ])
    expect(contents(raw, message)[0]).toContain('Final-Recipient: rfc822; nobody@example.org')
    expect(contents(raw, message)[1]).toMatch(/^From: sales@agents\.example[\s\S]*--inner--\r\n$/)
  })

  it('Japanese', () =>
    expect(parseMessage(load('japanese-iso-2022-jp.eml'))).toMatchObject({
      from: [{ name: '山田', address: 'yamada@example.jp' }],
      subject: 'Re: お問い合わせ',
      text: 'ありがとう',
      defects: [],
    }))

  it('format=flowed', () =>
    expect(parseMessage(load('flowed.eml')).text).toBe(
      "This is a long paragraph that the sender's program broke over two lines.\nFixed line.\n>not a quote\n>> A quote that goes on.\n> Another depth.\n\n-- \nDora",
    ))

  it('invitation', () => {
    const message = parseMessage(load('calendar.eml'))
    expect(message).toMatchObject({ text: 'You are invited.', date: new Date('2026-03-09T17:00:00Z') })
    expect(message.attachments.map(({ filename, contentType }) => [filename, contentType])).toEqual([
      ['invite.ics', 'text/calendar'],
      ['invite.ics', 'application/ics'],
    ])
  })

  it('signed mail of a list, with its footer', () => {
    const message = parseMessage(load('signed-list.eml'))
    expect(message).toMatchObject({
      text: 'Signed words.\n\n_____________________\nfriends mailing list',
      html: null,
      autoSubmitted: true,
      defects: [],
    })
    expect(message.attachments.map(({ filename }) => filename)).toEqual(['signature.asc'])
    expect(message.replyTo).toEqual([{ name: '', address: 'list@lists.example' }])
  })

  it('reads the readable parts of broken mail and names the failure', () => {
    const raw = load('broken.eml')
    const message = parseMessage(raw)
    expect(message).toMatchObject({
      from: [{ name: 'Gail Gray', address: 'gail@example.com' }],
      to: [
        { name: '', address: 'agent@agents.example' },
        { name: '', address: 'second@agents.example' },
      ],
      subject: 'broken but readable',
      text: 'Readable text\n--abcdef is not a boundary',
    })
    expect(message.attachments).toMatchObject([{ filename: '_.._etc_pass wd.txt', contentType: 'application/octet-stream', sizeBytes: 7 }])
    expect(contents(raw, message)).toEqual(['ABCDEFG'])
    expect([...message.defects].sort()).toEqual(['bad-base64', 'bad-header-line', 'no-end-boundary', 'unknown-charset'])
  })

  it('newsletter: text from the html', () =>
    expect(parseMessage(load('newsletter-html.eml'))).toMatchObject({
      text: 'Spring & Sale\n\nShoes\t40 €\n\n- First\n- Second\n\nRead all offers <https://shop.example/offers?a=1&b=2> or https://shop.example.\n\n  keep\n    this',
      autoSubmitted: true,
    }))

  it('continued parameters, default names, preamble and epilogue', () => {
    const raw = load('continued-parameters.eml')
    const message = parseMessage(raw)
    expect(message.attachments).toMatchObject([
      { filename: 'レポート 1.docx', sizeBytes: 3 },
      { filename: 'image.jpg', contentId: 'pic@1', disposition: 'attachment', sizeBytes: 3 },
      { filename: 'message.eml', contentType: 'message/rfc822', encoding: 'identity' },
    ])
    expect(message).toMatchObject({ text: null, html: null })
    expect(contents(raw, message)[2]).toBe('Subject: inside\r\n\r\nInside text')
  })

  it.each([
    'gmail-reply',
    'outlook-related',
    'apple-mixed',
    'bounce',
    'flowed',
    'calendar',
    'signed-list',
    'broken',
    'newsletter-html',
    'continued-parameters',
  ])('%s reads the same with bare LF line ends', (name) => {
    const crlf = load(`${name}.eml`)
    const lf = Buffer.from(crlf.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
    const places = ({ attachments, ...rest }: ParsedMessage) => ({
      ...rest,
      attachments: attachments.map(({ filename, contentType }) => ({ filename, contentType })),
    })
    expect(places(parseMessage(lf))).toEqual(places(parseMessage(crlf)))
  })
})

describe('MIME that needs care', () => {
  it('one boundary may begin like another, and be shared by nested parts', () => {
    expect(
      parse(
        'Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/mixed; boundary=a-b\n\n--a-b\n\nx\n--a-b--\n--a\n\ny\n--a--',
      ).text,
    ).toBe('x\n\ny')
    expect(
      parse(
        'Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/mixed; boundary=a\n\n--a\n\nx\n--a--\n--a\n\ny\n--a--',
      ).text,
    ).toBe('x\n\ny')
  })
  it('a boundary that ends in dashes is not an end', () =>
    expect(parse('Content-Type: multipart/mixed; boundary="a--"\n\n--a--\n\nx\n--a--\n\ny\n--a----').text).toBe('x\n\ny'))
  it('an outer boundary closes inner parts that lack an end', () => {
    const message = parse(
      'Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: multipart/mixed; boundary=i\n\n--i\n\nx\n--o\n\ny\n--o--\n',
    )
    expect(message).toMatchObject({ text: 'x\n\ny', defects: ['no-end-boundary', 'no-from'] })
  })
  it('a multipart without a boundary, or whose boundary never comes, is text', () => {
    expect(parse('Content-Type: multipart/mixed\n\nx')).toMatchObject({ text: 'x', defects: ['no-boundary', 'no-from'] })
    expect(parse('Content-Type: multipart/mixed; boundary=z\n\nx')).toMatchObject({
      text: 'x',
      defects: ['no-end-boundary', 'boundary-not-found', 'no-from'],
    })
  })
  it('a part may lack its header, its blank line, or everything', () => {
    const message = parse('Content-Type: multipart/mixed; boundary=a\n\n--a\njust text\n--a\nContent-Type: image/png\n--a\n--a--')
    expect(message.text).toBe('just text')
    expect(message.attachments).toMatchObject([{ filename: 'image.png', sizeBytes: 0 }])
  })
  it('a named text is a body only where it comes first', () => {
    const message = parse(
      'Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: text/plain; name=body.txt\n\nbody\n--a\nContent-Type: text/plain; name=notes.txt\nContent-Disposition: inline\n\nnotes\n--a--',
    )
    expect(message.text).toBe('body')
    expect(message.attachments).toMatchObject([{ filename: 'notes.txt', disposition: 'inline' }])
  })
  it('parts of a digest are messages', () =>
    expect(parse('Content-Type: multipart/digest; boundary=a\n\n--a\n\nSubject: x\n\ny\n--a--').attachments).toMatchObject([
      { contentType: 'message/rfc822' },
    ]))
  it('a text part in mail that has html joins the html', () =>
    expect(parse('Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: text/html\n\n<p>x</p>\n--a\n\n<y>\n--a--')).toMatchObject(
      {
        text: 'x\n\n<y>',
        html: '<p>x</p>\n<div>&lt;y&gt;</div>',
      },
    ))
  it('html may name its charset itself', () => {
    const raw = Buffer.concat([
      Buffer.from('Content-Type: text/html\r\n\r\n<meta charset="windows-1251"><p>'),
      Buffer.from('cff0e8', 'hex'),
    ])
    expect(parseMessage(raw).text).toBe('При')
  })
  it('empty messages are messages', () => {
    expect(parse('')).toMatchObject({ text: '', html: null, from: [], subject: '', attachments: [], defects: ['no-header-end', 'no-from'] })
    expect(parse('From: a@b.example\n\n')).toMatchObject({ text: '', defects: [] })
  })
  it('two From fields are both kept and named', () =>
    expect(parse('From: a@b.example\nFrom: c@d.example\n\n')).toMatchObject({
      from: [{ address: 'a@b.example' }, { address: 'c@d.example' }],
      defects: ['multiple-from'],
    }))
  it('delsp joins without the space', () =>
    expect(parse('Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes\n\n\xe6\x97\xa5 \n\xe6\x9c\xac\n').text).toBe('日本'))
})

describe('signs of automatic mail', () => {
  const table: [string, boolean][] = [
    ['Auto-Submitted: auto-replied (vacation)', true],
    ['Auto-Submitted: auto-generated', true],
    ['Auto-Submitted: no', false],
    ['Precedence: bulk', true],
    ['Precedence: first-class', false],
    ['List-Id: <x.example>', true],
    ['X-Auto-Response-Suppress: All', true],
    ['Return-Path: <>', true],
    ['Return-Path: <a@b.example>', false],
    ['From: No-Reply@x.example', true],
    ['From: MAILER-DAEMON (Mail Delivery System)', true],
    ['From: ann@x.example', false],
    ['Content-Type: multipart/report; boundary=x', true],
  ]
  it.each(table)('%s', (field, expected) => expect(parse(`${field}\n\nx`).autoSubmitted).toBe(expected))
})

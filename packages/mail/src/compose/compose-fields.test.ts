// Tests of single fields and parts of a composed message, octet by octet.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { composeMessage } from './compose.ts'
import type { DraftAttachment, MessageDraft } from './message-draft.ts'

const required: MessageDraft = {
  from: { address: 'agent@here.test' },
  to: [{ address: 'ann@x.test' }],
  messageId: '<1@here.test>',
  date: new Date('2026-01-02T03:04:05Z'),
}
const compose = async (more: Partial<MessageDraft> = {}) => (await composeMessage({ ...required, ...more })).toString('latin1')
const composeWith = (part: Partial<DraftAttachment>, more: Partial<MessageDraft> = {}) =>
  compose({ ...more, attachments: [{ bytes: Buffer.from('a;b\r\n'), ...part }] })
/** Header fields of the whole message, still folded. */
const fieldsOf = (raw: string) => raw.slice(0, raw.indexOf('\r\n\r\n')).split(/\r\n(?![ \t])/)
const boundary = (seed: string) => `=_-${createHash('sha256').update(seed).digest('hex').slice(0, 32)}-Part_1`

test('a draft of the required fields alone has no other fields and an empty text', async () => {
  expect(await compose()).toBe(
    [
      'From: agent@here.test',
      'To: ann@x.test',
      'Message-ID: <1@here.test>',
      'Date: Fri, 02 Jan 2026 03:04:05 +0000',
      'Content-Transfer-Encoding: 7bit',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      '',
      '\r\n',
    ].join('\r\n'),
  )
})

test('HTML alone is the only part', async () => {
  const raw = await compose({ html: '<p>Hi' })
  expect(raw).toContain('Content-Type: text/html; charset=utf-8\r\n\r\n<p>Hi\r\n')
  expect(raw).not.toMatch(/text\/plain|multipart/)
})

test('the boundary is made from the seed, or from the message id', async () => {
  const both = { text: 'Hi', html: '<p>Hi' }
  expect(await compose(both)).toContain(`\r\n--${boundary('<1@here.test>')}--\r\n`)
  expect(await compose({ ...both, boundarySeed: 'msg_1' })).toContain(`\r\n--${boundary('msg_1')}--\r\n`)
})

test('an automatic message says so', async () => {
  expect(fieldsOf(await compose({ autoSubmitted: 'auto-replied' }))).toContain('Auto-Submitted: auto-replied')
})

test.each([
  ['line breaks become one space', 'One\r\n\tTwo', 'Subject: One Two'],
  ['76 characters stay on one line', `${'x'.repeat(60)} 123456`, `Subject: ${'x'.repeat(60)} 123456`],
  ['77 characters are folded', `${'x'.repeat(60)} 1234567`, `Subject: ${'x'.repeat(60)}\r\n 1234567`],
])('a subject: %s', async (_, subject, field) => {
  expect(fieldsOf(await compose({ subject }))).toContain(field)
})

test('an empty field is left out, also above attachments', async () => {
  for (const raw of [await compose({ subject: ' ' }), await composeWith({}, { subject: ' ' })]) expect(raw).not.toContain('Subject')
})

test('a long word among short ones leaves no long line', async () => {
  const raw = await compose({ subject: `Re: ${'x'.repeat(2000)}` })
  expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998)
})

test.each([
  [' Ann ', 'From: Ann <agent@here.test>'],
  ['Ann\r\n\tB', 'From: Ann B <agent@here.test>'],
  ['\u0007', 'From: agent@here.test'],
])('the display name %j', async (name, field) => {
  expect(fieldsOf(await compose({ from: { name, address: 'agent@here.test' } }))).toContain(field)
})

test('line ends of any kind end a line', async () => {
  expect(await compose({ text: 'a\rb\nc\r\nd' })).toContain('\r\n\r\na\r\nb\r\nc\r\nd\r\n')
})

test.each(['1@here.test', ' <1@here.test> ', '<1@here.test', '1@here.test>'])('the message id %j gets its brackets', async (messageId) => {
  expect(fieldsOf(await compose({ messageId }))).toContain('Message-ID: <1@here.test>')
})

test.each([50, 51])('%d references are sent as they are', async (count) => {
  const references = Array.from({ length: count }, (_, i) => `<${i}@x.test>`)
  const field = fieldsOf(await compose({ references })).find((one) => one.startsWith('References:'))
  expect(field?.slice('References: '.length).split(/\s+/)).toEqual(references)
})

test('many recipients are folded at 76 characters', async () => {
  const to = Array.from({ length: 4 }, (_, i) => ({ address: `${'x'.repeat(20)}${i}@x.test` }))
  const [one, two, three, four] = to.map(({ address }) => address)
  expect(fieldsOf(await compose({ to }))).toContain(`To: ${one}, ${two},\r\n ${three}, ${four}`)
})

describe('attachments', () => {
  /** The header of the attached part. */
  const partHeader = (raw: string) => raw.split(/\r\n--[^\r]+\r\n/)[2]?.split('\r\n\r\n', 1)[0] ?? ''
  const octets = 'application/octet-stream'

  test.each([
    ['text/csv', 'text/csv'],
    [' Text/CSV ', 'text/csv'],
    ['x text/csv', octets],
    ['text/csv junk', octets],
    ['text/csvjunk;x', 'text/csvjunk'],
    ['text/csv;charset=UTF-8', 'text/csv; charset=UTF-8'],
    ['text/csv;  charset="us-ascii"  ; name=x', 'text/csv; charset=us-ascii'],
    ['text/csv; charset=utf-8 ; header=present', 'text/csv; charset=utf-8; header=present'],
    ['text/csv; header=present; charset=utf-8', 'text/csv; header=present; charset=utf-8'],
    ['text/calendar; method=REQUEST; charset="UTF-8"', 'text/calendar; method=REQUEST; charset=UTF-8'],
    ['text/plain; format=flowed; delsp=yes', 'text/plain; format=flowed; delsp=yes'],
    ['application/vnd.api+json; profile="https://example.com/a b"', 'application/vnd.api+json; profile="https://example.com/a b"'],
    ['text/csv; charset=utf-8\r\nBcc: x@y.example', 'text/csv'],
    ['text/csv; a="b\r\n\r\nc"; method=X', 'text/csv; method=X'],
    ['text/csv; boundary=evil; charset=utf-8', 'text/csv; charset=utf-8'],
    ['multipart/mixed; boundary=evil', octets],
    ['image/png; charset=utf-8', 'image/png; charset=utf-8'],
    ['message/rfc822', 'message/rfc822'],
  ])('the content type %j is written %j', async (contentType, written) => {
    const type = /^Content-Type: ([^\r]+(?:\r\n [^\r]+)*)/m.exec(partHeader(await composeWith({ contentType, filename: 'a' })))?.[1]
    expect(type?.replace(/;?\s*name=a\b/, '')).toBe(written)
  })

  test.each([
    ['a line of 998 octets', `${'x'.repeat(998)}\r\n${'x'.repeat(998)}\r\n`, 'message/rfc822'],
    ['a line of 999 octets', `Subject: x\r\n${'x'.repeat(999)}\r\n`, octets],
    ['DEL', 'a\u007f\r\n', 'message/rfc822'],
    ['an octet above DEL', 'a\u0080\r\n', octets],
    ['NUL', 'a\0\r\n', octets],
    ['a carriage return alone', 'a\rb\r\n', octets],
    ['a line feed alone', 'a\nb\r\n', octets],
    ['no octets', '', octets],
  ])('an attached message with %s', async (_, text, written) => {
    const raw = await composeWith({ contentType: 'message/rfc822', filename: 'a', bytes: Buffer.from(text, 'latin1') })
    expect(partHeader(raw)).toContain(`Content-Type: ${written}`)
  })

  test.each([
    ['<a@b>', 'Content-Id: <a@b>'],
    ['a@b', 'Content-Id: <a@b>'],
    ['x'.repeat(250), `Content-Id: <${'x'.repeat(250)}>`],
    ['x'.repeat(251), null],
    ['a<b', null],
    ['a>b', null],
    ['a b', null],
    ['\u00e9a', null],
    ['', null],
    [null, null],
  ])('the content id %j', async (contentId, field) => {
    const header = partHeader(await composeWith({ contentId, filename: 'a' }))
    expect(/^Content-ID: [^\r]+/im.exec(header.replace(/:\r\n /g, ': '))?.[0] ?? null).toBe(field?.replace('Id', 'ID') ?? null)
  })

  test('a part that the HTML shows is inline, another is a file in base64', async () => {
    const html = '<img src="cid:a%2Bb"><img src=cid:50%>'
    const dispositions = async (contentId: string) =>
      partHeader(
        (await composeWith({ contentId, contentType: 'text/csv', filename: 'a' }, { html })).replace(
          /^[\s\S]*?(?=\r\n--[^\r]+\r\nContent-Type: text\/csv)/,
          '\r\n--x\r\n',
        ),
      )
    expect(await dispositions('a+b')).toContain('Content-Disposition: inline')
    expect(await dispositions('50%')).toContain('Content-Disposition: inline')
    const file = await dispositions('other')
    expect(file).toContain('Content-Disposition: attachment')
    expect(file).toContain('Content-Transfer-Encoding: base64')
  })

  test.each([
    ['a/b\\c.png', 'c.png'],
    ['a\\b/c.png', 'c.png'],
    ['folder/', 'attachment'],
    [`${'y'.repeat(246)}.png`, `${'y'.repeat(246)}.png`],
    [`${'y'.repeat(300)}.png`, `${'y'.repeat(246)}.png`],
    [`${'y'.repeat(300)}`, 'y'.repeat(250)],
    [`a.${'y'.repeat(300)}`, `a.${'y'.repeat(248)}`],
    [`a.b${'y'.repeat(300)}.tar.gz`, `a.b${'y'.repeat(244)}.gz`],
  ])('the file name %j is shortened to %j', async (filename, written) => {
    const header = partHeader(await composeWith({ filename }))
    const names = [...header.matchAll(/filename(?:\*\d+)?\*?="?([^\s";]+)/g)].map((match) => match[1])
    expect(names.join('')).toBe(written)
  })

  test.each([
    ['text/csv; charset=utf-8', 'attachment-1.csv'],
    ['application/octet-stream', 'attachment-1.bin'],
    ['x-own/type', 'attachment-1.bin'],
  ])('a part of the type %s without a name is named %s', async (contentType, written) => {
    expect(partHeader(await composeWith({ contentType }))).toContain(`filename=${written}`)
  })
})

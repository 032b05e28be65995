// Tests of composing, with postal-mime parsing the result.
import PostalMime from 'postal-mime'
import { describe, expect, test } from 'vitest'
import { composeMessage } from './compose.ts'
import type { MessageDraft } from './message-draft.ts'

const draft: MessageDraft = {
  from: { name: 'Agent', address: 'agent@here.test' },
  to: [{ name: '', address: 'ann@x.test' }],
  cc: [],
  replyTo: [],
  subject: 'Hello',
  text: 'Hi Ann,\nall well.',
  html: '',
  messageId: '<1@here.test>',
  inReplyTo: null,
  references: [],
  date: new Date('2026-01-02T03:04:05Z'),
  headers: {},
  autoSubmitted: null,
  attachments: [],
  boundarySeed: 'msg_1',
}
const compose = (more: Partial<MessageDraft> = {}) => composeMessage({ ...draft, ...more })
const png = Buffer.from('89504e470d0a1a0a00ff', 'hex')

/** Header lines of the whole message, unfolded. */
const headersOf = (raw: Buffer) =>
  raw
    .toString('latin1')
    .split('\r\n\r\n', 1)[0]
    ?.replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n') as string[]

test('a text that looks like an encoded word is read back as it was written', async () => {
  const subject = '=?utf-8?Q?a_b?= c'
  const plain = await compose({ subject })
  const withAttachment = await compose({
    subject,
    attachments: [{ filename: 'a.png', contentType: 'image/png', contentId: null, bytes: png }],
  })
  for (const raw of [plain, withAttachment]) expect((await PostalMime.parse(raw)).subject).toBe(subject)
})

/** Invariants of every composed message. */
function expectClean(raw: Buffer): void {
  const text = raw.toString('latin1')
  expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0\u0080-\u00ff]/)
  expect(Math.max(...text.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998)
  const names = headersOf(raw).map((line) => /^([!-9;-~]+):/.exec(line)?.[1]?.toLowerCase())
  expect(names).not.toContain(undefined)
  expect(new Set(names).size).toBe(names.length)
  expect(names).not.toContain('x-mailer')
  expect(names).not.toContain('bcc')
  expect(text).not.toMatch(/nodemailer|NmP/i)
}

describe('composeMessage', () => {
  test('a plain message, octet by octet', async () => {
    expect((await compose()).toString()).toBe(
      [
        'Subject: Hello',
        'From: Agent <agent@here.test>',
        'To: ann@x.test',
        'Message-ID: <1@here.test>',
        'Date: Fri, 02 Jan 2026 03:04:05 +0000',
        'Content-Transfer-Encoding: 7bit',
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=utf-8',
        '',
        'Hi Ann,\r\nall well.\r\n',
      ].join('\r\n'),
    )
  })

  const full: Partial<MessageDraft> = {
    from: { name: 'J\u00f6rg "the agent" M\u00fcller', address: 'agent@here.test' },
    to: [
      { name: 'Ann, B.', address: 'ann@x.test' },
      { name: '\u5f35\u4e09', address: 'zhang@b\u00fccher.test' },
    ],
    cc: [{ name: '', address: 'cy@x.test' }],
    replyTo: [{ name: 'SimulatorState', address: 'desk@here.test' }],
    subject: `Gr\u00fc\u00dfe \u{1f600} ${'sehr lang '.repeat(30)}`,
    text: `Gr\u00fc\u00dfe\r\n.\r\nFrom here\n${'long '.repeat(400)}\n${'x'.repeat(5000)}\n\u{1f600}`,
    html: '<p>Gr\u00fc\u00dfe <img src="cid:logo@here"> <img src=\'cid:a%2Bb\'></p>',
    inReplyTo: '<parent@x.test>',
    references: ['<root@x.test>', '<parent@x.test>'],
    headers: { 'X-Plain': 'a "quoted"; value=1', 'x-umlaut': 'Gr\u00fc\u00dfe', 'X-Long': 'word '.repeat(190).trim() },
    attachments: [
      { filename: 'logo.png', contentType: 'image/png', contentId: 'logo@here', bytes: png },
      { filename: 'plus.png', contentType: 'image/png', contentId: '<a+b>', bytes: png },
      { filename: 'unused.png', contentType: 'image/png', contentId: 'unused', bytes: png },
      { filename: '\u5831\u544a "1".pdf', contentType: 'application/pdf', contentId: null, bytes: Buffer.alloc(100_000, 7) },
      { filename: null, contentType: 'text/csv; charset=utf-8', contentId: null, bytes: Buffer.from('a;b\n1;2\r\n') },
      { filename: 'empty', contentType: 'nonsense', contentId: null, bytes: Buffer.alloc(0) },
    ],
  }

  test('everything at once is read back as it was given', async () => {
    const raw = await compose(full)
    expectClean(raw)
    const read = await PostalMime.parse(raw)
    expect(read.from).toMatchObject({ name: full.from?.name, address: 'agent@here.test' })
    expect(read.to).toMatchObject([
      { name: 'Ann, B.', address: 'ann@x.test' },
      { name: '\u5f35\u4e09', address: expect.stringMatching(/^zhang@(xn--bcher-kva|b\u00fccher)\.test$/) },
    ])
    expect(read.cc).toMatchObject([{ address: 'cy@x.test' }])
    expect(read.replyTo).toMatchObject([{ name: 'SimulatorState', address: 'desk@here.test' }])
    expect(read.subject).toBe(full.subject?.trim())
    expect(read.messageId).toBe('<1@here.test>')
    expect(read.inReplyTo).toBe('<parent@x.test>')
    expect(read.references).toBe('<root@x.test> <parent@x.test>')
    expect(new Date(read.date as string).toISOString()).toBe('2026-01-02T03:04:05.000Z')
    expect(read.text?.replaceAll('\r\n', '\n').trimEnd()).toBe(full.text?.replaceAll('\r\n', '\n'))
    expect(read.html?.trimEnd()).toBe(full.html)
    const extra = new Map(read.headers.map(({ key, value }) => [key, value]))
    expect(extra.get('x-plain')).toBe('a "quoted"; value=1')
    expect(extra.get('x-long')).toBe(full.headers?.['X-Long'])
    expect(headersOf(raw)).toContain('X-Umlaut: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=')
    const parts = read.attachments.map((part) => ({
      name: part.filename,
      type: part.mimeType,
      related: part.related ?? false,
      id: part.contentId,
    }))
    expect(parts).toEqual([
      { name: 'logo.png', type: 'image/png', related: true, id: '<logo@here>' },
      { name: 'plus.png', type: 'image/png', related: true, id: '<a+b>' },
      { name: 'unused.png', type: 'image/png', related: false, id: '<unused>' },
      { name: '\u5831\u544a "1".pdf', type: 'application/pdf', related: false, id: undefined },
      { name: 'attachment-5.csv', type: 'text/csv', related: false, id: undefined },
      { name: 'empty', type: 'application/octet-stream', related: false, id: undefined },
    ])
    for (const [i, part] of read.attachments.entries()) {
      expect(Buffer.from(part.content as ArrayBuffer).equals(full.attachments?.[i]?.bytes as Buffer)).toBe(true)
    }
  })

  test('the same draft gives the same bytes, another seed other boundaries', async () => {
    const [one, two, three] = await Promise.all([compose(full), compose(full), compose({ ...full, boundarySeed: 'msg_2' })])
    expect(one.equals(two)).toBe(true)
    expect(one.equals(three)).toBe(false)
  })

  test('structure: related inside alternative inside mixed', async () => {
    const raw = (await compose(full)).toString('latin1')
    const types = [...raw.matchAll(/^Content-Type: (multipart\/\w+|text\/\w+|image\/\w+|application\/[\w-]+)/gm)].map((match) => match[1])
    expect(types).toEqual([
      'multipart/mixed',
      'multipart/alternative',
      'text/plain',
      'multipart/related',
      'text/html',
      'image/png',
      'image/png',
      'image/png',
      'application/pdf',
      'text/csv',
      'application/octet-stream',
    ])
  })

  test('an attachment without any text does not take the place of the text', async () => {
    const raw = await compose({
      text: '',
      attachments: [{ filename: 'a.txt', contentType: 'text/plain', contentId: null, bytes: Buffer.from('the file') }],
    })
    const read = await PostalMime.parse(raw)
    expect(read.text?.trim()).toBe('')
    expect(read.attachments).toMatchObject([{ filename: 'a.txt', mimeType: 'text/plain' }])
    expect((await PostalMime.parse(await compose({ text: '', html: '' }))).text?.trim()).toBe('')
  })

  test('an attached message goes as it is when it fits on 7-bit lines, else as octets; a multipart never opens a container', async () => {
    const fits = Buffer.from('Subject: inner\r\n\r\nhi\r\n')
    const part = (contentType: string, bytes: Buffer) => ({ filename: 'm.eml', contentType, contentId: null, bytes })
    const raw = await compose({
      attachments: [
        part('message/rfc822', fits),
        part('message/rfc822', Buffer.from('Subject: \u00e9\r\n\r\n')),
        part('message/rfc822', Buffer.from('bare\nline feeds\n')),
        part('message/partial; id=1', fits),
        part('multipart/mixed; boundary=x', fits),
        part('image/png\r\nX-Injected: 1', png),
      ],
    })
    expectClean(raw)
    const types = [...raw.toString('latin1').matchAll(/^Content-Type: ([\w/-]+)/gm)].map((match) => match[1])
    const octets = 'application/octet-stream'
    expect(types).toEqual(['multipart/mixed', 'text/plain', 'message/rfc822', octets, octets, octets, octets, octets])
    expect(raw.includes(fits)).toBe(true)
    expect(raw.includes('\r\nX-Injected')).toBe(false)
  })

  test('references: the first and the last fifty, unusable ids left out, folded', async () => {
    const references = Array.from({ length: 300 }, (_, i) => `<${i}.${'x'.repeat(60)}@x.test>`)
    const hostile = [`<${'y'.repeat(2000)}@x>`, '<a b@x>', '<a@x>\r\nBcc: b@x', '<\u00e9@x>', '', '<>', '<a><b>']
    const raw = await compose({ references: [...references, ...hostile], inReplyTo: hostile[2] as string })
    expectClean(raw)
    const line = headersOf(raw).find((one) => one.startsWith('References:'))
    const ids = line?.slice(12).split(' ')
    expect(ids).toEqual([references[0], ...references.slice(-50)])
    expect(raw.toString('latin1')).not.toContain('In-Reply-To')
  })

  test('an address that needs UTF-8 leaves its header beyond ASCII, and nothing else', async () => {
    const raw = await compose({ to: [{ name: '', address: 'j\u00f6rg@b\u00fccher.test' }] })
    expect(headersOf(raw).filter((line) => /[\u0080-\u00ff]/.test(line))).toEqual([
      `To: ${Buffer.from('j\u00f6rg@b\u00fccher.test').toString('latin1')}`,
    ])
  })

  const bad = 'x\r\nBcc: evil@x.test\r\n\r\ninjected\r\n.\r\n'
  const long = 'y'.repeat(3000)
  const probes: [string, Partial<MessageDraft>][] = [
    ['subject', { subject: bad }],
    ['a subject of 998 letters', { subject: 'z'.repeat(998) }],
    ['a subject that reads as an encoded word', { subject: '=?utf-8?Q?a=0D=0ABcc:_evil?=' }],
    ['an empty subject', { subject: '' }],
    ['a subject of spaces and controls', { subject: ' \t\u0007\0 ' }],
    ['display name', { from: { name: bad, address: 'agent@here.test' }, to: [{ name: bad, address: 'ann@x.test' }] }],
    ['a long display name', { from: { name: long, address: 'agent@here.test' } }],
    ['a display name with an address', { from: { name: 'ceo@bank.test>, <', address: 'agent@here.test' } }],
    ['address', { to: [{ name: '', address: `ann@x.test>${bad}` }] }],
    ['In-Reply-To', { inReplyTo: `<a@x>${bad}` }],
    ['references', { references: [`<a@x>${bad}`, bad] }],
    ['file name', { attachments: [{ filename: `a"${bad}.png`, contentType: 'image/png', contentId: null, bytes: png }] }],
    ['a long file name', { attachments: [{ filename: `${long}.png`, contentType: 'image/png', contentId: null, bytes: png }] }],
    ['a file name with a path', { attachments: [{ filename: '..\\..\\a/b.png', contentType: 'image/png', contentId: null, bytes: png }] }],
    ['content type', { attachments: [{ filename: 'a', contentType: `image/png; name="a"${bad}`, contentId: null, bytes: png }] }],
    ['content id', { html: '<img src="cid:x">', attachments: [{ filename: 'a', contentType: 'image/png', contentId: bad, bytes: png }] }],
    ['boundary seed', { html: '<p>', boundarySeed: bad }],
    ['text with bare line ends and NUL', { text: 'a\rb\nc\r\nd\0e\r.\r' }],
    ['html with bare line ends', { html: 'a\rb\nc\r\nd\u0000\u0080' }],
    ['lone surrogates', { subject: '\ud800', text: '\udc00', from: { name: '\ud800', address: 'agent@here.test' } }],
  ]
  test.each(probes)('cannot be broken by %s', async (_name, more) => {
    const raw = await compose(more)
    expectClean(raw)
    const lines = headersOf(raw)
    expect(lines.filter((line) => /^(bcc|injected|\.$)/i.test(line))).toEqual([])
    expect(lines.filter((line) => line.startsWith('From: '))).toHaveLength(1)
    const read = await PostalMime.parse(raw)
    expect(read.from?.address).toBe('agent@here.test')
    expect(read.bcc).toBeUndefined()
  })

  test('headers that were not checked, and a message id that is none, are our bugs', async () => {
    const unchecked: Record<string, string>[] = [
      { 'X-A': bad },
      { [`X-A: 1${bad}`]: 'x' },
      { Received: 'x' },
      { 'DKIM-Signature': 'x' },
      { From: 'x' },
    ]
    for (const headers of unchecked) await expect(compose({ headers })).rejects.toThrow()
    await expect(compose({ messageId: bad })).rejects.toThrow()
    await expect(compose({ messageId: '' })).rejects.toThrow()
  })
})

// Plain messages, compared with the output of nodemailer's composer and read back by postal-mime.
import MailComposer from 'nodemailer/lib/mail-composer'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { encodeText } from './mime-text.ts'
import { fieldName, fold, type PlainMessage, writePlainMessage } from './plain-message.ts'

const message: PlainMessage = {
  fields: ['Subject: Hello'],
  from: { name: 'Agent', address: 'agent@here.test' },
  to: [{ name: '', address: 'ann@x.test' }],
  cc: [],
  replyTo: [],
  references: [],
  messageId: '<1@here.test>',
  date: new Date('2026-01-02T03:04:05Z'),
  text: 'Hi Ann,\r\nall well.',
  html: '',
  boundary: '=_-0123456789abcdef-Part_1',
}

const byComposer = ({ fields, references, text, html, boundary, ...rest }: PlainMessage): Promise<Buffer> =>
  new MailComposer({
    ...rest,
    ...(references.length ? { references } : {}),
    ...(text ? { text } : {}),
    ...(html ? { html } : {}),
    attachments: [],
    headers: fields.map((field) => {
      const [key = '', value = ''] = field.split(': ')
      return { key, value: { prepared: true as const, value } }
    }),
    baseBoundary: boundary.slice('=_-'.length, -'-Part_1'.length),
    boundaryPrefix: '=_',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()

const named = (name: string) => ({ name, address: 'ann.b+tag@sub.x-y.test' })
const ids = Array.from({ length: 30 }, (_, i) => `<${'r'.repeat(i + 3)}${i}@x.test>`)

const sameBytes: [string, Partial<PlainMessage>][] = [
  ['text', {}],
  ['text that ends its last line', { text: 'Hi\r\n' }],
  ['html alone', { text: '', html: '<p>Hi</p>' }],
  ['text and html', { html: '<p>Hi</p>\r\n' }],
  ['names', { to: ['', 'Ann', 'Ann_B 2', 'Ann, B.', 'a "b" \\c', "O'Neil (x)"].map(named), cc: [named('C')], replyTo: [named('D')] }],
  ['many recipients', { to: Array.from({ length: 50 }, (_, i) => ({ name: i % 3 ? '' : `Person ${i}`, address: `p${i}@x.test` })) }],
  ['references', { references: ids }],
  ['more fields', { fields: ['Subject: Hello', 'In-Reply-To: <0@x.test>', 'X-Entity-Ref-ID: 7', 'List-Unsubscribe: <https://x.test/u>'] }],
  ['lines of 76 characters', { text: `${'x'.repeat(76)}\r\n\t tab and space \r\n.\r\n..` }],
]

/** The message with its header fields each on one line. */
function unfolded(raw: Buffer): string {
  const text = raw.toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  return text.slice(0, end).replace(/\r\n(?=[ \t])/g, '') + text.slice(end)
}

test.each(sameBytes)('the same bytes as the composer, but for where a field is folded: %s', async (_, more) => {
  const own = writePlainMessage({ ...message, ...more })
  expect(unfolded(own)).toBe(unfolded(await byComposer({ ...message, ...more })))
  expect(
    Math.max(
      ...own
        .toString('latin1')
        .split('\r\n')
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(76)
})

const encoded: [string, string][] = [
  ['long lines', 'word '.repeat(500).trim()],
  ['one long word', 'x'.repeat(5000)],
  ['one character too long', 'x'.repeat(77)],
  ['white space at ends of lines', `a \r\n${'b '.repeat(60)}\r\n\t\r\n \r\nend `],
  ['umlauts', 'Grüße an alle: ä ö ü = ß\r\n'.repeat(40)],
  ['long umlauts', 'ü'.repeat(3000).replace(/(ü{7})/g, '$1 word')],
  ['emoji among words', 'so happy \u{1f600}\u{1f600} '.repeat(100)],
  ['Chinese', '\u5f35\u4e09\u4f60\u597d\r\n'.repeat(200)],
  ['controls', 'a\u0001b\u007fc = d\r\n.\r\nFrom here'],
  ['an equals sign at the edge', `${'x'.repeat(74)}=${'y'.repeat(74)}==\r\n${'z'.repeat(75)}=`],
]

test.each(encoded)('read back as it was: %s', async (_, text) => {
  for (const more of [{ text }, { text, html: `<p>${text}</p>` }]) {
    const raw = writePlainMessage({ ...message, ...more })
    const lines = raw.toString('latin1').split('\r\n')
    expect(lines.join('')).toMatch(/^[\t\x20-\x7e]*$/)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(76)
    for (const line of lines) expect(line).not.toMatch(/[ \t]$/)
    const [own, theirs] = [await PostalMime.parse(raw), await PostalMime.parse(await byComposer({ ...message, ...more }))]
    expect(own.text?.replaceAll('\r\n', '\n').trimEnd()).toBe(text.replaceAll('\r\n', '\n').trimEnd())
    expect(own.html).toBe(theirs.html)
    expect(own.headers.filter(({ key }) => key !== 'content-transfer-encoding')).toEqual(
      theirs.headers.filter(({ key }) => key !== 'content-transfer-encoding'),
    )
  }
})

test('quoted-printable of any text is read back as it was, on short lines, with no character cut in two', () => {
  const alphabet = ['a', 'b', 'word', ' ', '  ', '\t', '=', '.', '\r\n', '\r\n', 'ä', '€', '\u{1f600}', '\u0000', '\u007f']
  let seed = 1
  const draw = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed
  }
  for (let round = 0; round < 400; round++) {
    const text = `${'latin letters enough '.repeat(40)}${Array.from({ length: draw() % 300 }, () => alphabet[draw() % alphabet.length]).join('')}`
    const { encoding, body } = encodeText(text)
    expect(encoding).toBe('quoted-printable')
    const lines = body.split('\r\n')
    expect(lines.every((line) => line.length <= 76 && !/[ \t]$/.test(line) && !/[^\t\x20-\x7e]/.test(line))).toBe(true)
    const decodeLine = (line: string) =>
      Buffer.from(
        line.replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))),
        'latin1',
      )
    expect(decodeLine(lines.map((line) => (line.endsWith('=') ? line.slice(0, -1) : `${line}\r\n`)).join('')).toString()).toBe(
      `${text}\r\n`,
    )
    const isWhole = (line: string) => decodeLine(line.replace(/=$/, '')).toString().includes('\ufffd') === false
    expect(lines.every(isWhole)).toBe(true)
  }
})

test.each([
  ['list-id', 'List-ID'],
  ['content-md5', 'Content-MD5'],
  ['received-spf', 'Received-SPF'],
  ['x-idle', 'X-Idle'],
  ['x-id-y', 'X-Id-Y'],
  ['MIME-version', 'MIME-Version'],
  ['x-mime', 'X-Mime'],
])('the field name %s is written %s', (name, written) => {
  expect(fieldName(name)).toBe(written)
})

test('a value is folded where the next word would stand beyond 76 characters', () => {
  expect(fold(`${'a'.repeat(60)} 1234`, 11)).toBe(`${'a'.repeat(60)} 1234`)
  expect(fold(`${'a'.repeat(60)} 12345`, 11)).toBe(`${'a'.repeat(60)}\r\n 12345`)
  const line = 'b'.repeat(37)
  expect(fold(`${line} ${line} ${line} ${line}`, 2)).toBe(`${line}\r\n ${line} ${line}\r\n ${line}`)
  expect(fold('c'.repeat(100), 2)).toBe('c'.repeat(100))
})

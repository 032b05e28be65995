// Subjects in 8-bit text without encoded words.
import { expect, test } from 'vitest'
import { parseMessage } from './parse.ts'

const read = (subject: string, charset: string, from = 'a@b.example') =>
  parseMessage(
    Buffer.from(`From: ${from}\r\nSubject: ${subject}\r\nContent-Type: text/plain; charset=${charset}\r\n\r\n${subject}\r\n`, 'latin1'),
  )
const utf8 = (text: string): string => Buffer.from(text).toString('latin1')

test.each([
  ['koi8-r', '\xf0\xd2\xc9\xd7\xc5\xd4', 'Привет'],
  ['windows-1251', '\xcf\xf0\xe8\xe2\xe5\xf2', 'Привет'],
  ['gb2312', '\xb1\xa8\xbc\xdb\xb5\xa5', '报价单'],
  ['shift_jis', '\x8c\xa9\x90\xcf', '見積'],
  ['iso-8859-2', 'P\xf8\xedli\xb9', 'Příliš'],
  ['ibm850', 'Gr\x81\xe1e', 'Grüße'],
])('a subject in %s has the charset of the body', (charset, written, expected) => {
  const { subject, text, headers } = read(written, charset)
  expect([subject, text, headers.find(({ name }) => name === 'Subject')?.value]).toEqual([expected, expected, expected])
})

test.each([
  ['UTF-8, whatever the body declares', 'koi8-r', utf8('Größe é'), 'Größe é'],
  ['Western text in a body of UTF-8', 'utf-8', 'Gr\xfc\xdfe', 'Grüße'],
  ['text that the charset of the body cannot have', 'shift_jis', 'Caf\xe9', 'Café'],
  ['text in an unknown charset', 'x-nothing', 'Gr\xfc\xdfe', 'Grüße'],
  ['ASCII', 'koi8-r', 'Hello', 'Hello'],
  ['encoded words', 'koi8-r', '=?utf-8?q?Gr=C3=BC=C3=9Fe?=', 'Grüße'],
  ['ASCII that UTF-7 would change', 'utf-7', '+ADw-script+AD4-', '+ADw-script+AD4-'],
])('%s stays', (_name, charset, written, expected) => expect(read(written, charset).subject).toBe(expected))

test('folded subjects and the second of two are read in the charset, and names of senders stay', () => {
  const raw =
    'From: \xf0 <a@b.example>\r\nSubject: \xf0\xd2\r\n \xc9\r\nSubject: \xd7\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\nx\r\n'
  const { subject, headers, from } = parseMessage(Buffer.from(raw, 'latin1'))
  expect([subject, headers.filter(({ name }) => name === 'Subject').map(({ value }) => value)]).toEqual(['Пр и', ['Пр и', 'в']])
  expect(from).toEqual([{ name: 'ð', address: 'a@b.example' }])
})

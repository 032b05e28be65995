// The canonical forms, against the examples of RFC 6376 §3.4.5 and the rules of §3.4.2 and §3.4.4.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { relaxedBody, relaxedField, splitMessage } from './canonical-form.ts'

const body = (text: string) => relaxedBody(Buffer.from(text, 'latin1')).toString('latin1')

test('the example of RFC 6376 §3.4.5', () => {
  const { fields, body: rest } = splitMessage(Buffer.from('A: X\r\nB : Y\t\r\n\tZ  \r\n\r\n C \r\nD \t E\r\n\r\n\r\n'))
  expect(fields.map(relaxedField)).toEqual(['a:X', 'b:Y Z'])
  expect(relaxedBody(rest).toString()).toBe(' C\r\nD E\r\n')
})

test('the hash of an empty body is the one that RFC 6376 §3.4.4 names', () => {
  const hash = (text: string) =>
    createHash('sha256')
      .update(relaxedBody(Buffer.from(text)))
      .digest('base64')
  for (const text of ['', '\r\n', '\r\n\r\n\r\n', ' \t\r\n \r\n']) expect(hash(text)).toBe('47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=')
})

test('bodies: white space at line ends goes, inside lines it is one space, empty lines stay but for the last ones', () => {
  expect(body('a')).toBe('a\r\n')
  expect(body('a\r\n')).toBe('a\r\n')
  expect(body('a\r\n ')).toBe('a\r\n')
  expect(body('\r\na\r\n\r\n\r\nb\r\n\r\n')).toBe('\r\na\r\n\r\n\r\nb\r\n')
  expect(body('a \t b \t\r\n\t\r\n.\r\n..\r\n')).toBe('a b\r\n\r\n.\r\n..\r\n')
  expect(body('\xe9 \xff\r\n')).toBe('\xe9 \xff\r\n')
  for (const [text, canonical] of Object.entries({
    '': '',
    '\r': '\r\r\n',
    '\n': '\n\r\n',
    ' ': '',
    '\t': '',
    ' \r\n': '',
    ' a': ' a\r\n',
    '  a': ' a\r\n',
    'a ': 'a\r\n',
    'a \r': 'a \r\r\n',
    'a \rb': 'a \rb\r\n',
    'a \n': 'a \n\r\n',
    'a\n\r\n': 'a\n\r\n',
    'a\r\r\n': 'a\r\r\n',
    'a\tb': 'a b\r\n',
    'a\r\n \r\n\t': 'a\r\n',
    '\r\n': '',
    '\n\r\n\r\n': '\n\r\n',
  }))
    expect([text, body(text)]).toEqual([text, canonical])
  // A bare CR is an octet like others.
  expect(body('a\rb\r\n')).toBe('a\rb\r\n')
})

test('bodies: white space is found wherever it lies in memory, among words and behind very long words', () => {
  const slowly = (text: string) =>
    `${text
      .replace(/[ \t]+/g, ' ')
      .replace(/ \r\n/g, '\r\n')
      .replace(/(?: |\r\n)+$/, '')}\r\n`
  const ends = ['  ', '\t', ' \t ', ' \r\n', '\t\r\n', ' !', ' \r', '\r\n']
  for (const word of ['words and more words, ', 'x'.repeat(5_000)]) {
    for (let before = 0; before < 9; before++) {
      for (const end of ends) {
        const text = `${'a'.repeat(before)}${word}b${end}c ${word}${end}`
        for (let skew = 0; skew < 4; skew++) {
          const bytes = Buffer.from(' '.repeat(skew) + text, 'latin1').subarray(skew)
          expect(relaxedBody(bytes).equals(Buffer.from(slowly(text), 'latin1')), JSON.stringify([before, word, end, skew])).toBe(true)
        }
      }
    }
  }
})

test('fields: names are lowered, folding and runs of white space become one space, ends are trimmed', () => {
  expect(relaxedField({ key: 'subject', text: 'SUBJect: \t a\r\n\t b  c \r\n ' })).toBe('subject:a b c')
  expect(relaxedField({ key: 'subject', text: 'Subject:' })).toBe('subject:')
  expect(splitMessage(Buffer.from('A: 1\r\n folded\r\nA: 2\r\nno field\r\n\r\nbody')).fields).toEqual([
    { key: 'a', text: 'A: 1\r\n folded' },
    { key: 'a', text: 'A: 2' },
  ])
})

test('10 MB of spaces, line ends or letters cost time linear in their size', () => {
  const timeOf = (bytes: Buffer) => {
    const start = process.cpuUsage()
    relaxedBody(bytes)
    const used = process.cpuUsage(start)
    return used.user + used.system
  }
  const size = 10 * 1024 * 1024
  const letters = timeOf(Buffer.alloc(size, 'a'))
  for (const kind of [' ', '\r\n', ' \r\n', 'a ']) expect(timeOf(Buffer.alloc(size, kind))).toBeLessThan(letters * 8 + 200_000)
})

// The canonical forms, against the examples of RFC 6376 §3.4.5 and the rules of §3.4.2 and §3.4.4.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { expectCost } from '../../../tests/harness/cost.ts'
import { leastThreadMs } from '../../../tests/harness/processor.ts'
import { relaxedBody, relaxedField, simpleBody, splitMessage } from './canonical-form.ts'

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

/** The rules of RFC 6376 §3.4.4, one after another. */
const slowly = (text: string) =>
  `${text
    .replace(/[ \t]+/g, ' ')
    .replace(/ \r\n/g, '\r\n')
    .replace(/(?: |\r\n)+$/, '')}\r\n`

test('bodies: white space is found wherever it lies in memory, among words and behind very long words', () => {
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

test('bodies: any mixture of white space, at any place in memory', () => {
  // A generator of Park and Miller, so that each run reads the same bodies.
  let state = 20_261_123
  const below = (limit: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
  const dense = [' ', ' ', '\t', '\r\n', 'a', 'b', '\r', '\n']
  const sparse = ['word', 'another', ', ', ' ', ' ', '.', '\r\n']
  for (let run = 0; run < 400; run++) {
    const units = run % 4 === 0 ? sparse : dense
    const text = `${Array.from({ length: below(run % 3 === 0 ? 1_500 : 40) }, () => units[below(units.length)]).join('')}z${' '.repeat(below(3))}`
    const skew = run % 8
    const bytes = Buffer.from(' '.repeat(skew) + text, 'latin1').subarray(skew)
    expect(relaxedBody(bytes).toString('latin1'), JSON.stringify(text)).toBe(slowly(text))
  }
})

test('bodies: a tab or a blank at the first octet of a block of the search', () => {
  for (const before of [0, 4_095, 4_096, 8_192])
    for (const blank of ['\t', '\tb', '\tb c', '  ', '  b', ' \r\n', '\t\t'])
      for (const after of ['', 'c'.repeat(5_000), `${'c'.repeat(600)}  d`]) {
        const text = `${'a'.repeat(before)}${blank}${after}e`
        expect(body(text), JSON.stringify([before, blank, after.length])).toBe(slowly(text))
      }
})

test('bodies in their simple form: unchanged, with one line end at the end', () => {
  const simple = (text: string) => simpleBody(Buffer.from(text, 'latin1')).toString('latin1')
  for (const [text, canonical] of [
    ['', '\r\n'],
    ['\r\n', '\r\n'],
    ['\r\n\r\n\r\n', '\r\n'],
    ['a', 'a\r\n'],
    ['a\r\n', 'a\r\n'],
    ['a  b \t\r\n\r\n\r\n', 'a  b \t\r\n'],
    ['a\r\n \r\n', 'a\r\n \r\n'],
    ['a\n', 'a\n\r\n'],
    ['a\r', 'a\r\r\n'],
    ['ab\r', 'ab\r\r\n'],
    ['a\rb', 'a\rb\r\n'],
    ['\n', '\n\r\n'],
    ['\n\r\n', '\n\r\n'],
  ])
    expect([text, simple(text as string)]).toEqual([text, canonical])
  // No copy when the body has its line end.
  const whole = Buffer.from('a\r\n\r\n')
  expect(simpleBody(whole).buffer === whole.buffer && simpleBody(whole).byteOffset === whole.byteOffset).toBe(true)
})

test('fields: names are lowered, folding and runs of white space become one space, ends are trimmed', () => {
  expect(relaxedField({ key: 'subject', text: 'SUBJect: \t a\r\n\t b  c \r\n ' })).toBe('subject:a b c')
  expect(relaxedField({ key: 'subject', text: 'Subject:' })).toBe('subject:')
  expect(relaxedField({ key: 'subject', text: 'Subject:a\tb' })).toBe('subject:a b')
  expect(relaxedField({ key: 'subject', text: 'Subject:a b' })).toBe('subject:a b')
  expect(splitMessage(Buffer.from('A: 1\r\n folded\r\nA: 2\r\nno field\r\n\r\nbody')).fields).toEqual([
    { key: 'a', text: 'A: 1\r\n folded' },
    { key: 'a', text: 'A: 2' },
  ])
  const { fields, body: rest } = splitMessage(Buffer.from('A: 1\r\nB: 2'))
  expect([fields.map(({ text }) => text), rest.length]).toEqual([['A: 1', 'B: 2'], 0])
})

test('10 MB of spaces, line ends or letters cost time linear in their size', async () => {
  const size = 10 * 1024 * 1024
  const letters = Buffer.alloc(size, 'a')
  const plainMs = await leastThreadMs(() => relaxedBody(letters))
  for (const kind of [' ', '\r\n', ' \r\n', 'a ']) {
    const bytes = Buffer.alloc(size, kind)
    await expectCost(() => relaxedBody(bytes), plainMs * 8 + 200, kind)
  }
})

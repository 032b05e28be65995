// The fields of a message as signatures see them: nothing that a reader might take for a field goes by unseen.
import { expect, test } from 'vitest'
import { openMessage } from './message-fields.ts'

const open = (text: string) => {
  const { fields, body } = openMessage(Buffer.from(text, 'latin1'))
  return { fields: fields.map(({ key, text }) => [key, text]), body: body.toString('latin1') }
}

test('fields, folded or not, and the body behind the empty line', () => {
  expect(open('From: a\r\nSubject: b\r\n  c\r\n\r\nbody\r\n')).toEqual({
    fields: [
      ['from', 'From: a'],
      ['subject', 'Subject: b\r\n  c'],
    ],
    body: 'body\r\n',
  })
})

test('blanks and a fold before the colon', () => {
  expect(open('From \t: a\r\nTO\r\n : b\r\n\r\n').fields).toEqual([
    ['from', 'From \t: a'],
    ['to', 'TO\r\n : b'],
  ])
})

test('a line that is not a field belongs to the field above it, and before the first field to none', () => {
  expect(open('From ada Sun\r\nFrom: a\r\nno field\r\n\xa0From: b\r\n: c\r\n\r\n').fields).toEqual([
    ['from', 'From: a\r\nno field\r\n\xa0From: b\r\n: c'],
  ])
})

test('names hold every printable character but the colon, and no other', () => {
  expect(open('!~: a\r\nB\x7f: b\r\n\r\n').fields).toEqual([['!~', '!~: a\r\nB\x7f: b']])
  expect(open('A\r\n\r\nB: c').fields).toEqual([])
  expect(open('A').fields).toEqual([])
  expect(open('A: a\r\nB').fields).toEqual([['a', 'A: a\r\nB']])
})

test.each([
  ['\nA: a\r\n\r\nb', [], 'A: a\r\n\r\nb'],
  ['\r\nA: a\n\nb', [], 'A: a\n\nb'],
  ['\rA: a\r\nB: b\r\n\r\nc', [['b', 'B: b']], 'c'],
  ['\n\n', [], '\n'],
  ['A: a\r\n\r\nb\n\nc', [['a', 'A: a']], 'b\n\nc'],
  ['A: a\n\nb\r\n\r\nc', [['a', 'A: a']], 'b\r\n\r\nc'],
  ['A: a\r\n\nb', [['a', 'A: a']], 'b'],
  [
    'A: a\r\nB: b\r\n',
    [
      ['a', 'A: a'],
      ['b', 'B: b'],
    ],
    '',
  ],
  [
    'A: a\nB: b',
    [
      ['a', 'A: a'],
      ['b', 'B: b'],
    ],
    '',
  ],
])('the header of %j ends where a reader sees its end', (text, fields, body) => expect(open(text)).toEqual({ fields, body }))

test('without an end, without a header, without anything', () => {
  expect(open('From: a')).toEqual({ fields: [['from', 'From: a']], body: '' })
  expect(open('\r\nFrom: a\r\n\r\n')).toEqual({ fields: [], body: 'From: a\r\n\r\n' })
  expect(open('')).toEqual({ fields: [], body: '' })
})

test('bare LF ends header lines, as in the message parser', () => {
  expect(open('From: a\nTo: b\n\nbody\n')).toEqual({
    fields: [
      ['from', 'From: a'],
      ['to', 'To: b'],
    ],
    body: 'body\r\n',
  })
  expect(open('From: a\r\nX: y\n\nFrom: b\r\n\r\n').fields).toEqual([
    ['from', 'From: a'],
    ['x', 'X: y'],
  ])
})

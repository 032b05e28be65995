// The lines by which mail programs mark quotations, and the lines that only resemble them.
import { describe, expect, test } from 'vitest'
import { findHeaderBlockEnd, isForwardMark, isOriginalMark, isQuoted, isRule, quoteMarkOf } from './quote-marks.ts'

test.each<[string, string | null]>([
  ['> Hi', '>'],
  ['>', '>'],
  ['>> Hi', '>'],
  ['   > Hi', '>'],
  ['    > Hi', null],
  ['\t> Hi', null],
  ['＞ Hi', '>'],
  ['>From here on', '>'],
  ['>From me', null],
  [' >From me', '>'],
  ['| Hi', '|'],
  ['   |', '|'],
  ['    | Hi', null],
  ['|Hi', null],
  ['A> Hi', 'A>'],
  ['AB> Hi', 'AB>'],
  ['Bob> Hi', 'Bob>'],
  ['ABCD>', 'ABCD>'],
  ['ABCDE> Hi', null],
  ['ab> Hi', null],
  ['AB>Hi', null],
  ['so AB> Hi', null],
  ['a | b', null],
  ['', null],
])('%j is marked by %j', (line, mark) => {
  const isEscaped = line === '>From here on'
  expect(quoteMarkOf(line)).toBe(isEscaped ? null : mark)
  expect(isQuoted(line)).toBe(!isEscaped && mark === '>')
})

test.each([
  ['---', true],
  [' ____________ ', true],
  ['=-=', true],
  ['***', true],
  ['———', true],
  ['–––', true],
  ['--', false],
  ['--- a', false],
  ['a ---', false],
  ['', false],
])('%j is a rule: %s', (line, expected) => expect(isRule(line)).toBe(expected))

describe('marks of a forward', () => {
  test.each([
    '---------- Forwarded message ---------',
    '-- Forwarded message --',
    '   ---------- Forwarded message ----------',
    '*---------- Forwarded message ----------*',
    '----------&nbsp;Forwarded&nbsp;message&nbsp;----------',
    '---------- Forwarded message: ----------',
    '========== FORWARDED MESSAGE ==========',
    '-------- Weitergeleitete Nachricht --------',
    'Begin forwarded message:',
    '  Begin forwarded message:',
    '*Begin forwarded message:*',
    'Begin forwarded message：',
    '---------- Forwarded message by Bob ----------',
  ])('%s', (line) => expect(isForwardMark(line)).toBe(true))

  test.each([
    'Begin forwarded message',
    'Forwarded message',
    '- Forwarded message -',
    '-=-= Forwarded message',
    '    ---------- Forwarded message ----------',
    'see ---------- Forwarded message ----------',
    '---------- The forwarded message ----------',
    `---------- Forwarded message ${'-'.repeat(100)}`,
    'My forwarded message:',
  ])('%s is none', (line) => expect(isForwardMark(line)).toBe(false))
})

describe('marks of an original message', () => {
  const isMark = (text: string) => isOriginalMark(text.split('\n'), 0)
  test.each([
    '-----Original Message-----',
    '--- Original Message ---',
    '*-------- Original Message --------*',
    '-----Ursprüngliche Nachricht-----',
    '_____Original Message_____',
    '-----Original-Nachricht-----\nVon: Bob',
    '--- Bericht von Ann ---\nVon: Bob',
    '--- Le message d’Ann ---\n\nDe : Bob',
    '--- Ann .:.---\nDate: now',
    '--- What she said ---\nAnn\nFrom: Bob',
    'Message du 03/03/26 09:15\nDe : Bob',
    '   Message du 03/03/26 09:15\nDe : Bob',
  ])('%j', (text) => expect(isMark(text)).toBe(true))

  test.each([
    'Original Message',
    '-Original Message-',
    'so -----Original Message-----',
    '-----Original Message----- it was',
    '--- What she said ---',
    '--- What she said ---\nTo: Bob',
    '--- What she said ---\nAnn\nBen\nFrom: Bob',
    '--- What she said ---\n\n\n\n\nFrom: Bob',
    '--- 3 points of hers ---\nFrom: Bob',
    '--- Ab ---\nFrom: Bob',
    `--- ${'a'.repeat(51)} ---\nFrom: Bob`,
    `-----Original Message${'-'.repeat(101)}`,
    'Message du 03/03/26 09:15\nBonjour',
    'Un message du 03/03/26\nDe : Bob',
    'Message du jour\nDe : Bob',
  ])('%j is none', (text) => expect(isMark(text)).toBe(false))
})

describe('the end of a header block', () => {
  const endOf = (text: string) => findHeaderBlockEnd(text.split('\n'), 0)
  test.each<[string, string, number]>([
    ['Outlook', 'From: Bob\nSent: Tuesday\nTo: Ann\nSubject: x\n\nHi', 4],
    ['labels in another order', 'Subject: x\nTo: Ann\nFrom: Bob\nHi', 3],
    ['an address for a subject', 'From: bob@x.example\nSent: Tuesday\nTo: Ann', 3],
    ['an address in a later line', 'From: Bob\nSent: Tuesday\nTo: ann@x.example', 3],
    ['a date for an author', 'Date: Tuesday\nTo: Ann\nSubject: x', 3],
    ['a wrapped value', 'From: Bob\nTo: Ann,\n Ben,\n Cy\nSubject: x\nHi', 5],
    ['a value of five lines', 'From: Bob\nTo: Ann,\n Ben,\n Cy,\n Di,\n Ed\nSubject: x', -1],
    ['an empty line between the labels', 'From: Bob\n\nTo: Ann\n\nSubject: x\n\nHi', 5],
    ['two empty lines', 'From: Bob\n\n\nTo: Ann\nSubject: x', -1],
    ['text below an empty line', 'From: Bob\nTo: Ann\n\nHi\nSubject: x', -1],
    ['nine lines', 'From: Bob\n\nSent: now\n\nTo: Ann\n\nCc: Ben\n\nSubject: x\n\nHi', 9],
    ['eleven lines', 'To: Ann\n\nCc: Ben\n\nCc: Cy\n\nCc: Di\n\nCc: Ed\n\nFrom: Bob\nSubject: x', -1],
    ['a time and a person', 'Date: 3/3/26 9:15\nFrom: bob@x.example\n\nHi', 2],
    ['a time and a recipient', 'Sent: 9h15\nTo: ann@x.example', 2],
    ['a person and a time', 'From: bob@x.example\nDate: 3/3/26 9.15', 2],
    ['a time and a subject', 'Date: 3/3/26 9:15\nSubject: a@b', -1],
    ['a person without a time', 'Date: Tuesday\nFrom: bob@x.example', -1],
    ['a time without an address', 'Date: 9:15\nFrom: Bob', -1],
    ['a person and a number', 'From: bob@x.example\nTo: room 9:15', -1],
    ['an itinerary', 'From: Oslo\nTo: Bergen\nDate: Tuesday', -1],
    ['two labels', 'From: Bob\nSubject: x', -1],
    ['no author and no date', 'To: Ann\nCc: Ben\nSubject: x', -1],
    ['no label first', 'Hi\nFrom: Bob\nTo: Ann\nSubject: x', -1],
  ])('%s', (_name, text, end) => expect(endOf(text)).toBe(end))
})

test.each<[string, number]>([
  ['From: Ann <ann@x.example> Sent: 3 March 2026 To: Bob Subject: Offer', 1],
  ['Betreff: Angebot 3.3.2026 09:15Von: Ann An: Bob', 1],
  ['-------- Ursprüngliche Nachricht --------Von: Ann Datum: 03.03.26 An: Betreff: Angebot', 1],
  ['-- Original Message -- From: Ann Date: 3 March Subject: Offer', 1],
  ['From: Berlin To: Paris Date: Monday', -1],
  ['Subject: three things', -1],
  ['The fields are From: Ann, Date: Monday and Subject: Offer', -1],
  ['-- Shopping list -- From: the market Date: Monday Subject: fruit', -1],
])('a header on one line: %s', (line, end) => {
  expect(findHeaderBlockEnd([line], 0)).toBe(end)
})

test('"Message du" with a colon is a mark above a header', () => {
  const below = ['De : Ann <ann@x.example>', 'A : bob@x.example', 'Sujet : Devis']
  expect(isOriginalMark(['Message du : 03/03/2026 09:15', ...below], 0)).toBe(true)
  expect(isOriginalMark(['Message du : trésorier', ...below], 0)).toBe(false)
})

// Which tokens have a code's shape, and that links and addresses hold none.
import { expect, test } from 'vitest'
import { findCandidates } from './candidates.ts'

const valuesIn = (text: string): string[] => findCandidates(text).map(({ value }) => value)

test.each([
  ['code 482913.', ['482913']],
  ['482 913, 42 and 10:30', ['482913']],
  ['AB12CD34 and WDJB-MJHT', ['AB12CD34', 'WDJB-MJHT']],
  ['a-word-of-many-parts-a1b2c3 x', []],
  ['(7QK2P9)', ['7QK2P9']],
])('%s', (text, values) => {
  expect(valuesIn(text)).toEqual(values)
})

test('numbers in links and addresses are none, however many there are', () => {
  expect(valuesIn('https://a.example/482913 www.b.example/482913 x482913@c.example 4711.8822@d.example, 771204')).toEqual(['771204'])
  expect(valuesIn('a@b@c.example 482913')).toEqual(['482913'])
  expect(valuesIn(`${'x'.repeat(70)}1234@d.example`)).toEqual([])
})

/** The value, and its kind: d for digits, g for groups, ? for a doubtful one. */
const kindsIn = (text: string): string[] =>
  findCandidates(text).map(
    ({ value, isDigits, isGrouped, isDoubtful }) => value + (isDigits ? ' d' : '') + (isGrouped ? ' g' : '') + (isDoubtful ? ' ?' : ''),
  )

test.each<[text: string, candidates: string[]]>([
  // Lengths of digits.
  ['123 and 1234 and 12345678 and 123456789 and 12345678901', ['1234 d', '12345678 d', '123456789 d ?']],
  // A row of numbers is an account or a table.
  ['123 1234 12345678 123456789', []],
  ['123-456 or 1234-5678 or 123-4567 or 1234-567', ['123456 d g', '12345678 d g', '1234567 d g ?', '1234567 d g ?']],
  ['12-34 is a time, 12-34-56 is a code', ['123456 d g']],
  ['123 456 789', ['123456789 d g']],
  ['123-456-7890', []],
  ['123 456-789', []],
  ['1 2 3 4', ['1234 d g']],
  ['12345 67890', ['12345 d', '67890 d']],
  ['4921 x 5', ['4921 d']],
  ['482913 12.50 771204', ['482913 d', '771204 d']],
  ['1 23 4567', ['4567 d']],
  ['1234 5678', ['12345678 d g']],
  ['1 + x 1234', ['1234 d']],
  ['1234 5678 9012', []],
  ['ABC-DEF-1234567', ['1234567 d']],
  ['ab-CDEF-1234', ['1234 d']],
  ['a: *…1234', []],
  ['a *…1234', []],
  ['12 345 6789', []],
  ['12345678', ['12345678 d']],
  ['xx a 1234 and a/b 1234 and 1234 a) 5', ['1234 d', '1234 d', '1234 d']],
  // Decimals, dates, versions, telephone numbers, cards and prices.
  ['1,234.56 12.34 1234.5678 1.2.3.4', []],
  ['10:30 2026/11/23 1234/5678', []],
  ['+49 1234 5678', []],
  ['ending ...1234 and …1234 and •1234', []],
  ['$1234 €1234 EUR 1234 Rs. 1234 1234 EUR 1234€ 1234 USD 1234% 1234 km', []],
  ['1234 円 1234元 1234 kč', []],
  ['id=123456 a/123456 123456/a 123456_a a_123456', []],
  ['~1234 ^1234 \\1234', []],
  ['otp:otp@189000 {', []],
  ['otp:otp@189000 {', []],
  ['code:*482913* and **482913**', ['482913 d', '482913 d']],
  ['Code: **482913', ['482913 d']],
  ["it's '1234", []],
  // Words.
  ['a1b2 A1B2C3 AB12', ['a1b2', 'A1B2C3', 'AB12 ?']],
  ['G-482913', ['482913 d', '482913 d']],
  ['ABCD-1234', ['1234 d', 'ABCD-1234 g']],
  ['WDJB-MJHT AB1-CD2-EF3 AB-CD', ['WDJB-MJHT g', 'AB1-CD2-EF3 g']],
  ['QXKZRT VERIFY QXKZ QXKZRTPLM', ['QXKZRT']],
  ['12th 5kg 1GB A4 0x1234 x86', []],
  ['X310 hda1 98point6 ZODB4 mp3x', ['X310 ?', 'hda1 ?', '98point6 ?', 'ZODB4 ?', 'mp3x ?']],
  ['ab12cd AB12CD aB12CdEf a1B2c', ['ab12cd ?', 'AB12CD', 'aB12CdEf', 'a1B2c']],
  ['k7m2q9 K7m2Q9x1', ['k7m2q9', 'K7m2Q9x1']],
  ['abcdefghijkl1 abcdefghijklm1', []],
  ['A1B2C3D4E5F6 A1B2C3D4E5F6G', ['A1B2C3D4E5F6']],
  ['Ä1234 1234ä Щ1234 _1234', []],
  ['日1234日', ['1234 d']],
  ['', []],
  ['no number', []],
])('%j', (text, candidates) => expect(kindsIn(text)).toEqual(candidates))

test('links and addresses hold none, and the text behind them does', () => {
  expect(valuesIn('http://a.example/1234?b=5678 1234')).toEqual(['1234'])
  expect(valuesIn('WWW.a.example/1234 5678')).toEqual(['5678'])
  expect(valuesIn('a.1234@b.example.2345 5678')).toEqual(['5678'])
  expect(valuesIn('code 4829 @a.example #4829')).toEqual(['4829'])
  expect(valuesIn('1234 at a @ b.example')).toEqual(['1234'])
})

test('a place is that of the token', () => {
  expect(findCandidates('x 482 913 y')).toMatchObject([{ start: 2, end: 9 }])
  expect(findCandidates('x 12345 67890')).toMatchObject([
    { start: 2, end: 7 },
    { start: 8, end: 13 },
  ])
  expect(findCandidates('your WDJB-MJHT')).toMatchObject([{ start: 5, end: 14 }])
})

test('more than 120 numbers or words are a table', () => {
  expect(findCandidates('1234, '.repeat(200))).toHaveLength(120)
  expect(findCandidates('a1b2 '.repeat(200))).toHaveLength(120)
})

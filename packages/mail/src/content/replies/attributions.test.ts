// The line or lines that introduce a quotation, with the words beside them. The text is a whole message up to the quotation.
import { describe, expect, test } from 'vitest'
import { type Attribution, findAttribution } from './attributions.ts'

/** The attribution that ends on the last line of a text. */
const read = (text: string, isAboveQuote = false, from = 0): Attribution | null => {
  const lines = text.split('\n')
  return findAttribution(lines, lines.length - 1, from, isAboveQuote)
}
const from = (start: number, before = '', behind = ''): Attribution => ({ start, before, behind })

describe('dates', () => {
  test.each([
    'On 3 March 2026 at 9:15, Bob wrote:',
    'On Mar 3, 2026 Bob wrote:',
    'On 03.03.26, 9:15, Bob wrote:',
    'On 3-3-26, 09.15 Bob wrote:',
    'On 2026/3/3 9h15 Bob wrote:',
    'On 3/ 3/ 26, 9: 15, Bob wrote:',
    'On 3. 3. 26, 9:15 Bob wrote:',
    'On 3 mars 26, 9:15 Bob wrote:',
    'On 3-Mar-26, 9:15 Bob wrote:',
    'On 3 sept. 26, 9:15 Bob wrote:',
    'On 12 March 26 9:15 Bob wrote:',
    '2026年3月3日(火) 9時15 Bob wrote:',
    '2026년 3월 3일 9시 15 Bob wrote:',
  ])('%s', (line) => expect(read(line)).toEqual(from(0)))

  test.each([
    ['a time alone', 'On his desk at 9:15 Bob wrote:'],
    ['a number alone', 'On page 12 Bob wrote:'],
    ['a version', 'On release 2.4 Bob wrote:'],
    ['a year within a number', 'On ticket 120261 Bob wrote:'],
    ['no number', 'On the table Bob wrote:'],
    ['no verb', 'On 3 March 2026 at 9:15 we will meet:'],
    ['no opening', 'All that matters on 3 March 2026 is what Bob wrote:'],
    ['no colon', 'On 3 March 2026 at 9:15, Bob wrote'],
  ])('%s is not enough', (_name, line) => expect(read(line)).toBeNull())
})

describe('addresses', () => {
  test.each([
    ['in brackets', 'Bob <bob@x.example> wrote:'],
    ['alone', 'bob@x.example wrote:'],
    ['with blanks in the brackets', 'On 3 March at 9:15, < bob@x.example > wrote:'],
    ['in parentheses', 'On 3 March at 9:15, Bob (bob@x.example) wrote:'],
    ['in square brackets', 'On 3 March at 9:15, Bob [bob@x.example] wrote:'],
    ['as a link', 'On 3 March at 9:15, Bob mailto:bob@x.example wrote:'],
    ['with a date and no verb', '2026年3月3日 9:15 Bob <bob@x.example>:'],
    ['with a date behind it', '"Bob" <bob@x.example>, 3/3/2026 9:15:'],
  ])('%s', (_name, line) => expect(read(line)).toEqual(from(0)))

  test.each([
    ['of something else', 'You can write to <bob@x.example>, he knows:'],
    ['behind a long name', `${'Bob '.repeat(20)}<bob@x.example> wrote:`],
    ['before many words', 'Bob <bob@x.example> wrote what we have all been waiting to hear for so long:'],
    ['without a verb or a date', 'Bob <bob@x.example>:'],
  ])('%s does not count', (_name, text) => expect(read(text)).toBeNull())
})

describe('above a quotation', () => {
  test.each([
    ['a verb is enough', 'Bob wrote:', from(0)],
    ['an address is enough', 'Bob <bob@x.example>:', from(0)],
    ['an address without a colon, with a date', 'On 3 March 2026 at 9:15 Bob <bob@x.example>', from(0)],
    ['an address without a colon or a date', 'Bob <bob@x.example>', null],
    ['words are not enough', 'These are the points:', null],
    ['a long line with an address is not enough', `${'word '.repeat(50)}<bob@x.example>:`, null],
    [
      'a line of 400 characters is read',
      `Fine. ${'x'.repeat(330)} On Tue, Mar 3, 2026 at 9:15 AM Bob wrote:`,
      from(0, `Fine. ${'x'.repeat(330)}`),
    ],
    ['a longer line is not', `Fine. ${'x'.repeat(400)} On Tue, Mar 3, 2026 at 9:15 AM Bob wrote:`, null],
    ['own words before it', 'Thanks! On Tue, Mar 3, 2026 at 9:15 AM Bob wrote:', from(0, 'Thanks!')],
    ['a sentence with another number', 'It works. On 3 days Ann wrote:', from(0)],
    ['a quoted verb alone', '> wrote:', null],
    ['a quoted line with a date', '> On 3/3/26 wrote:', null],
  ])('%s', (_name, text, expected) => expect(read(text, true)).toEqual(expected))

  test('elsewhere, own words on the line need dashes', () => {
    expect(read('Thanks! --- On Tue, Mar 3, 2026 at 9:15 AM Bob wrote:')).toEqual(from(0, 'Thanks!'))
    expect(read('I asked twice. On 3 March 2026 at 9:15 Bob wrote:')).toBeNull()
  })
})

describe('several lines', () => {
  test.each([
    ['a wrapped verb', 'Fine.\nOn Tue, Mar 3, 2026 at 9:15 AM Bob\nwrote:', from(1)],
    ['a wrapped address', 'Fine.\nOn Tue, Mar 3, 2026 at 9:15 AM Bob <\nbob@x.example> wrote:', from(1)],
    ['a wrapped address with an empty line', 'Fine.\nOn Tue, Mar 3, 2026 at 9:15 AM Bob\n\n<bob@x.example> wrote:', from(1)],
    ['a wrapped bracket', 'Fine.\nOn Tue, Mar 3, 2026 at 9:15 AM Bob <bob@x.example\n> wrote:', from(1)],
    ['a sentence above', 'I agree with it.\nBob wrote on 3/3/2026 9:15 AM:', from(1)],
    ['a heading above', 'My answers:\nBob wrote on 3/3/2026 9:15 AM:', from(1)],
    ['an address on a line of its own', 'I like what\nBob <bob@x.example> wrote:', from(1)],
    ['six lines', 'On 3 March 26\nat\nnoon,\n9:15,\nBob\nwrote:', from(0)],
    ['seven lines', 'On 3 March 26\nat\nabout\nnoon,\n9:15,\nBob\nwrote:', null],
    ['a quoted line above', '> On Tue, Mar 3, 2026 at 9:15 AM Bob\nwrote:', null],
    ['more than 400 characters', `On Tue, Mar 3, 2026 at 9:15 AM ${'Bob '.repeat(90)}\n${'Dunn '.repeat(10)}\nwrote:`, null],
  ])('%s', (_name, text, expected) => expect(read(text)).toEqual(expected))

  test('lines that were dropped before are not read', () => {
    expect(read('On Tue, Mar 3, 2026 at 9:15 AM Bob\nwrote:', false, 1)).toBeNull()
    expect(read('On Tue, Mar 3, 2026 at 9:15 AM Bob <\nbob@x.example>\n> wrote:', true, 0)).toEqual(from(0))
  })

  test('an address above a verb alone is a part of it', () => {
    const lines = ['On Tue, Mar 3, 2026 at 9:15 AM Bob <bob@x.example>', '> wrote:']
    expect(findAttribution(lines, 0, 0, true)).toBeNull()
    expect(findAttribution(lines, 1, 0, false)).toEqual(from(0))
  })
})

describe('programs with a form of their own', () => {
  test.each([
    ['Zoho', '---- On Tue, 03 Mar 2026 09:15:50 +0530 Bob wrote ----', from(0)],
    ['Zoho, behind words', 'Thanks ---- On Tue, 03 Mar 2026 Bob wrote ----', from(0, 'Thanks')],
    ['Zoho, wrapped', 'Fine.\n---- On Tue, 03 Mar 2026 Bob\nwrote ----', from(1)],
    ['Android', '---- Bob wrote ----', from(0)],
    ['dashes without a verb', '---- see below ----', null],
    ['dashes alone', '-----------', null],
    ['one dash', 'Bob wrote -', null],
    ['GroupWise', '>>> Bob Dunn <bob@x.example> 3/3/2026 9:15 AM >>>', from(0)],
    ['GroupWise, without blanks', '>>>Bob 3/3/2026 9:15 AM>>>', from(0)],
    ['GroupWise, without a date', '>>> Bob Dunn <bob@x.example> >>>', null],
    ['arrows in a sentence', '>>> Bob 3/3/2026 9:15 AM >>> (again)', null],
    ['three quotations', '>>> > 3/3/2026 >>>', null],
  ])('%s', (_name, text, expected) => expect(read(text)).toEqual(expected))

  test('marks of direction behind the colon, and digits of other scripts', () => {
    for (const mark of ['\u200e', '\u200f', '\u202c', '\u2069'])
      expect(read(`On Tue, Mar 3, 2026 at 9:15 AM Bob wrote:${mark}`)).toEqual(from(0))
    expect(read('في ٣ مارس ٢٠٢٦، ٩:١٥ كتب Bob:\u200f')).toEqual(from(0))
    expect(read('On\u00a0Tue, Mar\u202f3, 2026 at 9:15 AM Bob wrote：')).toEqual(from(0))
  })
})

describe('without a colon', () => {
  test.each(['On Tue, 3 Mar 2026 09:15:00 +0100 Bob <bob@x.example> wrote', 'Le 3 mars 2026 à 09:15, Bob <bob@x.example> a écrit'])(
    'dated, with an address: %s',
    (text) => expect(read(text)).toEqual(from(0)),
  )
  test.each([
    'On 3 March 2026 I sent it to Bob <bob@x.example> and he never wrote',
    'On 3 March 2026 Bob wrote',
    'That is the letter that Bob <bob@x.example> wrote',
    'On 3 March 2026 Bob <bob@x.example> wrote to me',
  ])('a sentence: %s', (text) => expect(read(text)).toBe(null))
})

test.each([
  '3 марта 2026 г. Боб <bob@x.example> напісаў:',
  '2026 թ. մարտի 3-ին 09:15 Բոբ <bob@x.example> գրել է:',
  'Mar 3, 2026 09:15 Bob <bob@x.example> aliandika:',
  'Am 03.03.2026 um 09:15 hat Bob <bob@x.example> geschrieben:',
])('a verb of another language: %s', (text) => expect(read(text)).toEqual(from(0)))

test('a date without a year, wrapped before the address', () => {
  expect(read('See you.\n\nOn Tue, Mar 3, Bob Longname\n<bob@x.example>\nwrote:', true)).toEqual(from(2))
  expect(read('See you.\n\nOn the hill Bob Longname\n<bob@x.example>\nwrote:', true)).not.toEqual(from(2))
})

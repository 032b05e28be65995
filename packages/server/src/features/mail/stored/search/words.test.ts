// Words of the search index, and queries that find them.
import { describe, expect, test } from 'vitest'
import { markAll, markPieces, readQuery, toTsQuery } from './search-query.ts'
import { cutWords, searchedTexts, toSearchVector, type Word } from './words.ts'

const vectorOf = (text: string): Buffer => toSearchVector({ text, from: '', author: '', to: [], subject: '' })

function wordsOf(text: string): Word[] {
  const words: Word[] = []
  cutWords(text, (word) => words.push(word))
  return words
}
const placed = (text: string): string =>
  wordsOf(text)
    .map(({ word, position }) => `${word}:${position}`)
    .join(' ')

test.each<[text: string, words: string]>([
  ['Dear Ann, (as agreed)', 'dear:1 ann:2 as:3 agreed:4'],
  ['Ann <ada.b@mail.example.com>.', 'ann:1 ada.b@mail.example.com:2 ada:2 b:3 mail:4 example:5 com:6'],
  ['AB-1234/5 v1.2', 'ab:1 1234:2 5:3 v1:4 2:5'],
  ['Größe Straße ÉCOLE Ａｂ', 'grosse:1 strasse:2 ecole:3 ab:4'],
  ['İstanbul ΆΛΦΑ Ёлка', 'istanbul:1 αλφα:2 елка:3'],
  ['报价单', '报价:1 价单:2 单:3'],
  ['東京に行', '東京:1 京に:2 に行:3 行:4'],
  ['서울에서', '서울:1 울에:2 에서:3 서:4'],
  ['ไทย', 'ไท:1 ทย:2 ย:3'],
  ['iPhone手机', 'iphone:1 手机:2 机:3'],
  ['ｶﾞｽ', 'ガス:1 ス:2'],
  ['@ a@b @x.y a@b.c@d.e', 'a:1 b:2 x:3 y:4 a@b.c:5 a:5 b:6 c:7 d:8 e:9'],
  ['!?.. 🦓', ''],
])('the words of %j', (text, words) => expect(placed(text)).toBe(words))

test('places of words are offsets in the text', () => {
  for (const text of ['Ünder wörld', 'the 报价单 of ada@example.com', 'ｶﾞｽ and ﬁ', '𠮷野家'])
    for (const { word, start, end, kind } of wordsOf(text)) {
      const shown = text.slice(start, end)
      expect(placed(shown)).toContain(kind === 'address' ? word : word.slice(0, 1))
    }
  expect(wordsOf('的报价').map(({ start, end }) => [start, end])).toEqual([
    [0, 2],
    [1, 3],
    [2, 3],
  ])
})

test.each<[query: string, tsquery: string]>([
  ['plain Zebra', `('plain') & ('zebra')`],
  ['"plain zebra" -horse', `('plain' <1> 'zebra') & !('horse')`],
  ['a OR b c', `('a') | ('b') & ('c')`],
  ['or OR', ''],
  ['order-4711', `('order' <1> '4711')`],
  ['to ada@example.com', `('to') & ('ada@example.com')`],
  ['"ada@example.com wrote"', `('ada@example.com' <3> 'wrote')`],
  ['报价单', `('报价' <1> '价单')`],
  ['库', `('库':*)`],
  ['"iPhone 机 新"', `('iphone')`],
  ['"中 文 中"', `('中':*)`],
  ['"', ''],
  [`'; DROP --`, `('drop')`],
  ['-', ''],
])('the query %j', (query, tsquery) => expect(toTsQuery(readQuery(query))).toBe(tsquery))

describe('marks', () => {
  const all = (text: string, query: string) => markAll(text, readQuery(query))
  const pieces = (text: string, query: string) => markPieces(text, readQuery(query))
  test('stand around each match, and the rest is escaped', () => {
    expect(all('Invoice <4711> & more', 'invoice')).toBe('<mark>Invoice</mark> &lt;4711&gt; &amp; more')
    expect(all('Die Größe', 'grosse')).toBe('Die <mark>Größe</mark>')
    expect(all('新报价单。', '报价单')).toBe('新<mark>报价单</mark>。')
    expect(all('仓库', '库')).toBe('仓<mark>库</mark>')
    expect(all('write to ada@example.com now', 'ada@example.com')).toBe('write to <mark>ada@example.com</mark> now')
    expect(all('plain', 'zebra')).toBeNull()
    expect(all('plain zebra', 'plain -zebra')).toBe('<mark>plain</mark> zebra')
  })
  test('of a long text are two pieces of it', () => {
    const text = `${'before '.repeat(100)}zebra ${'between '.repeat(100)}zebra\n${'after '.repeat(100)}zebra`
    const marked = pieces(text, 'zebra') as string
    expect(marked.split(' … ')).toHaveLength(2)
    expect(marked.match(/<mark>zebra<\/mark>/g)).toHaveLength(2)
    expect(marked.length).toBeLessThan(700)
    expect(marked).toMatch(/^before /)
    expect(pieces('a\n b zebra', 'zebra')).toBe('a b <mark>zebra</mark>')
    expect(pieces(`x${'\ud83d\ude00'.repeat(500)} zebra`, 'zebra')?.isWellFormed()).toBe(true)
  })
})

test('a query of more than 64 words is refused', () => {
  expect(toTsQuery(readQuery('a '.repeat(64))).split('&')).toHaveLength(64)
  expect(() => readQuery('a '.repeat(65))).toThrow('at most 64 words')
})

test('a vector has each word with its places', () => {
  expect(vectorOf('to be or to')).toEqual(Buffer.from('\0\0\0\x03to\0\0\x02\0\x01\0\x04be\0\0\x01\0\x02or\0\0\x01\0\x03', 'latin1'))
  expect(vectorOf(' \n ')).toEqual(Buffer.from([0, 0, 0, 0]))
})

test('the longest texts make vectors below 1 MB', () => {
  const texts = [
    Array.from({ length: 60_000 }, (_, index) => String.fromCharCode(0x4e00 + ((index * 7919) % 20_000))).join(''),
    Array.from({ length: 30_000 }, (_, index) => String.fromCodePoint(0x20000 + ((index * 7919) % 40_000))).join(''),
    Array.from({ length: 20_000 }, (_, index) => `${String.fromCharCode(97 + (index % 26))}${index.toString(36)}`)
      .join(' ')
      .slice(0, 60_000),
    `${'a@b.cd '.repeat(9_000)}`,
  ]
  // PostgreSQL aligns each lexeme to two bytes.
  for (const text of texts) {
    const vector = vectorOf(text)
    expect([vector.length < 1_000_000, vector.readInt32BE() <= 16_400]).toEqual([true, true])
  }
})

test.each(['@', 'a@', '@a.', 'a.', 'é', '报', 'à\u0300', '"', '-"'])('repeated %j takes time in proportion to its length', (unit) => {
  const started = performance.now()
  const text = unit.repeat(60_000 / unit.length)
  vectorOf(text)
  markPieces(text, readQuery(text.slice(0, 60)))
  expect(performance.now() - started).toBeLessThan(2_000)
})

test('the words of sender, recipients and subject stand in the index by themselves', () => {
  const vector = toSearchVector({
    text: '',
    from: 'Ada ada@x.example',
    author: 'Ada@x.example',
    to: ['Bob@X.example'],
    subject: 'Hi Ada',
  }).toString('latin1')
  const words = [
    'f:ada\0\0\x02\0\x01\0\x02',
    'f:ada@x.example\0\0\x01\0\x02',
    'f:x\0',
    'f:example\0',
    's:hi\0\0\x01\0\x01',
    's:ada\0',
    't:bob@x.example\0',
  ]
  for (const word of words) expect(vector).toContain(word)
})

test('the search covers 100 recipients and 60,000 characters, and filters all recipients', () => {
  const message = {
    subject: 'Hi',
    from_name: 'Ada',
    from_address: 'ada@example.com',
    cc_addresses: ['c@x.example'],
    bcc_addresses: ['d@x.example'],
  }
  const of = (to_addresses: string[], text: string) => searchedTexts({ ...message, to_addresses, text })
  expect(of(['b@x.example'], 'Text').text).toBe('Hi Ada ada@example.com b@x.example c@x.example Text')
  expect(of(['b@x.example'], '').to).toEqual(['b@x.example', 'c@x.example', 'd@x.example'])
  expect(of(Array<string>(101).fill('b'), '').text.split(' b')).toHaveLength(101)
  expect(of([], 'x'.repeat(60_001)).text).toHaveLength('Hi Ada ada@example.com c@x.example '.length + 60_000)
  expect(of([], '\ud800').text).toBe('Hi Ada ada@example.com c@x.example \ufffd')
})

test('a message with thousands of long recipients and a long subject stays within a tsvector', () => {
  const address = (n: number, length: number) => `${'é'.repeat(length)}${n}@x.example`
  const to_addresses = [address(0, 3_000), ...Array.from({ length: 4_000 }, (_, n) => address(n, 300))]
  const texts = searchedTexts({
    subject: '漢字'.repeat(30_000),
    from_name: 'ab '.repeat(20_000),
    from_address: 'a@x.example',
    to_addresses,
    cc_addresses: [],
    bcc_addresses: [],
    text: '語文'.repeat(30_000),
  })
  expect(texts.to).toHaveLength(1_000)
  expect(Math.max(...texts.to.map((one) => Buffer.byteLength(one)))).toBeLessThan(2_046)
  expect(toSearchVector(texts).length).toBeLessThan(1_000_000)
})

test('characters that folding makes longer are counted as they are stored, and fields come first', () => {
  const text = Array.from({ length: 9_000 }, (_, n) => `${String(n).padStart(4, '0')}\ufdfa\ufdfa\ufdfa\ufdfa\ufdfa`).join(' ')
  const vector = toSearchVector({ text, from: '', author: '', to: ['last@x.example'], subject: 'kept' })
  expect(vector.length).toBeLessThan(1_048_575)
  expect(vector.toString('latin1')).toContain('s:kept\0')
  expect(vector.toString('latin1')).toContain('t:last@x.example\0')
})

// The server's search vectors against PostgreSQL's for the same texts.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { connect, type PostgresDatabase } from '../src/edges/postgres/connect.ts'
import { parserOf } from '../src/features/mail/messages/filing-store.ts'
import { cutAtSpace, isForPostgres } from '../src/features/mail/messages/search-vector.ts'
import { type Parser, toSearchVectors } from '../src/features/mail/messages/search-words.ts'
import { TokenCache } from '../src/features/mail/messages/token-cache.ts'
import { createEmptyDatabase } from './harness/database.ts'

let database: PostgresDatabase
let close: () => Promise<void>

beforeAll(async () => {
  const { url, drop } = await createEmptyDatabase()
  database = connect({ connectionString: url }, { poolSize: 1, log: createLog('silent') })
  close = async () => {
    await database.close()
    await drop()
  }
})
afterAll(() => close())

/** The texts whose vector is another than PostgreSQL's, and how many were left to PostgreSQL. */
async function compare(texts: string[]): Promise<{ differing: unknown[]; leftCount: number }> {
  const vectors = await toSearchVectors(parserOf(database), texts)
  const differing: unknown[] = []
  for (const [index, vector] of vectors.entries()) {
    if (typeof vector === 'string') continue
    const { rows } = await database.query<{ ours: string; theirs: string }>({
      name: 'compare',
      text: `SELECT $1::tsvector::text AS ours, to_tsvector('simple', $2)::text AS theirs`,
      values: [vector, texts[index]],
    })
    if (rows[0]!.ours !== rows[0]!.theirs) differing.push({ text: texts[index], ...rows[0] })
  }
  return { differing, leftCount: vectors.filter((vector) => typeof vector === 'string').length }
}

/** Numbers below `limit`, the same at every run. */
function numbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

const punctuation = [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~']
const spaces = [' ', ' ', ' ', ' ', ' ', '\n', '\r\n', '\t']
const words = [...'foo Bar x E 1 42 0 www http the word e5 br'.split(' '), 'word ', 'another ']
const odd = [
  ...':// example.com /a/b 1.5 -3 &amp; a-b -- ada@x.io ü é — ’ “ 中 😀 ß İ'.split(' '),
  '\u00a0',
  '\u3000',
  '\u0301',
  '\v',
  '\f',
]

test("every text gets PostgreSQL's own vector", async () => {
  const next = numbers(20_261_122)
  const parts = [...punctuation, ...spaces, ...words, ...odd]
  const some = () => Array.from({ length: next(20) }, () => parts[next(parts.length)]).join('')
  // Enough plain words between them, or the text would be left to PostgreSQL.
  const plain = 'what is between the two odd ends of this text are plain words '.repeat(4)
  const texts = Array.from({ length: 4000 }, () => `${some()}${plain}${some()}`)
  const { differing, leftCount } = await compare(texts)
  expect(differing).toEqual([])
  expect(leftCount).toBeLessThan(texts.length / 2)
})

test('a simple message is tokenized without a query, and unknown words are queried once', async () => {
  const sample = 'Dear Ann, (as agreed) the order 4711 was shipped today!\n\n> Is it "on its way"?\n-- \nBob'
  expect(cutAtSpace(sample)?.pieces.filter(isForPostgres)).toEqual([])
  let questions = 0
  const parser = parserOf(database)
  const counting: Parser = {
    ...parser,
    read: (pieces) => {
      questions++
      return parser.read(pieces)
    },
  }
  const text = `${sample} See https://example.com/orders/4711 or write to ann+orders@example.com; don't answer until 2026-11-22.`
  const [first] = await toSearchVectors(counting, [text])
  const [second] = await toSearchVectors(counting, [text])
  expect(second).toEqual(first)
  expect(questions).toBe(1)
  expect((await compare([text])).differing).toEqual([])
})

test('long texts end where PostgreSQL ends them, for the positions of one word and for all positions', async () => {
  const often = 'again and again '.repeat(4000).slice(0, 60_000)
  const short = 'a b c d e f '.repeat(5000).slice(0, 60_000)
  const many = Array.from({ length: 9000 }, (_, index) => `w${'abcdefghij'[index % 10]}${index.toString(26).replace(/\d/g, 'q')}`).join(' ')
  expect(await compare([often, short, many])).toEqual({ differing: [], leftCount: 0 })
})

test('tags, encoded data and text without blanks are left to PostgreSQL whole', async () => {
  const tag = 'one <a href="x y">two</a> three'
  const data = `a line of data: ${'QUJDREVGR0g/'.repeat(100)} and some words`
  const japanese = '日本語の文章には空白がない。'.repeat(50)
  expect(await toSearchVectors(parserOf(database), [tag, data, japanese, '', ' \n '])).toEqual([
    tag,
    data,
    japanese,
    Buffer.from([0, 0, 0, 0]),
    Buffer.from([0, 0, 0, 0]),
  ])
})

test('different words get different numbers, and a text whose words all collide is given up in time', () => {
  const words = Array.from({ length: 600 }, (_, index) => `w${index}`)
  const text = words.join(' ')
  const find = (hash: (start: number) => number): number[] => {
    const table = new TokenCache()
    table.start(text)
    let start = 0
    return words.map((word) => {
      const number = table.findWord(start, start + word.length, hash(start))
      start += word.length + 1
      return number
    })
  }
  expect(find((start) => start)).toEqual(words.map((_, index) => index))
  expect(find(() => 7).slice(0, 500)).toEqual(words.slice(0, 500).map((_, index) => index))
  expect(find(() => 7).slice(500)).toEqual(words.slice(500).map(() => -1))
})

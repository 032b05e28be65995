// Delimiter lines, compared with a search that reads line by line.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Delimiter, DelimiterSearch } from './delimiters.ts'

function searchFor(raw: Buffer, boundaries: readonly string[]): DelimiterSearch {
  const search = new DelimiterSearch(raw)
  for (const boundary of boundaries) search.open(Buffer.from(boundary))
  return search
}

/** Every line that is a delimiter, by its text alone. */
function linesOf(raw: Buffer, boundaries: readonly string[]): Delimiter[] {
  const found: Delimiter[] = []
  let lineStart = 0
  for (const line of raw.toString('latin1').split(/(?<=\n)/)) {
    const token = /^--([^\n]*?)[ \t\r]*\n?$/.exec(line)?.[1]
    for (let level = boundaries.length - 1; level >= 0 && token !== undefined; level--) {
      const isWhole = token === boundaries[level]
      if (!isWhole && token !== `${boundaries[level]}--`) continue
      found.push({ lineStart, lineEnd: lineStart + line.length, level, isEnd: !isWhole })
      break
    }
    lineStart += line.length
  }
  return found
}

function allFound(search: DelimiterSearch): Delimiter[] {
  const found: Delimiter[] = []
  for (let next = search.find(0); next !== null; next = search.find(next.lineEnd)) found.push(next)
  return found
}

test.each([
  ['one prefix of another', ['b', 'b1', 'b1--']],
  ['one alone', ['outer=_1']],
  ['a long shared beginning', ['----=_Part_1', '----=_Part_2', '----=_Part']],
  ['equal ones', ['same', 'same']],
  ['dashes', ['-', '--']],
  ['none', []],
])('the delimiters of any text: %s', (_, boundaries) => {
  const piece = fc.constantFrom(...['--', '-', '\n', '\r\n', '\n--', ' ', '\t', 'x', 'b', '1', 'Part', ' '.repeat(40)], ...boundaries)
  const long = fc.constantFrom('', 'text '.repeat(120), `${'y'.repeat(511)}\n`, `${'y'.repeat(512)}\n`, '\nz'.repeat(300))
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), long, fc.array(piece, { maxLength: 12 }), (first, middle, last) => {
      const raw = Buffer.from([...first, middle, ...last].join(''))
      expect(allFound(searchFor(raw, boundaries))).toEqual(linesOf(raw, boundaries))
    }),
    { seed: 1, numRuns: 600 },
  )
})

test('only the boundaries that stay open are found', () => {
  const raw = Buffer.from('--inner\n--middle--\n--outer\r\n--inner')
  const search = searchFor(raw, ['outer', 'middle', 'inner'])
  expect(allFound(search).map(({ level }) => level)).toEqual([2, 1, 0, 2])
  search.keep(2)
  expect(allFound(search)).toEqual([
    { lineStart: 8, lineEnd: 19, level: 1, isEnd: true },
    { lineStart: 19, lineEnd: 28, level: 0, isEnd: false },
  ])
  search.keep(1)
  search.open(Buffer.from('inner'))
  expect(allFound(search).map(({ level }) => level)).toEqual([1, 0, 1])
})

test('a line with a thousand blanks behind the boundary is none', () => {
  const found = (blanks: number, rest: string) => searchFor(Buffer.from(`--b${' '.repeat(blanks)}${rest}`), ['b']).find(0) !== null
  expect([found(900, ''), found(900, '\n'), found(900, 'x'), found(2000, '\n')]).toEqual([true, true, false, false])
})

test('a line whose hash is that of the boundary is compared too', () => {
  // A known collision of FNV-1a.
  expect(searchFor(Buffer.from('--macallums\n--macallums--\n'), ['declinate']).find(0)).toBeNull()
  expect(searchFor(Buffer.from('--declinate\n'), ['declinate']).find(0)).toMatchObject({ lineStart: 0, isEnd: false })
})

test('every octet of a boundary counts, also where the low bits of two hashes agree', () => {
  const raw = Buffer.from(Array.from({ length: 5000 }, (_, i) => `--b${i}\n--c${i}--\n`).join(''))
  expect(allFound(searchFor(raw, ['b77', 'c4000'])).map(({ level, isEnd }) => [level, isEnd])).toEqual([
    [0, false],
    [1, true],
  ])
})

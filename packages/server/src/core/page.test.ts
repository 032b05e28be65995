// Keyset pages.
import { newId } from '@callsign/contract/ids'
import { expect, test } from 'vitest'
import { before, readPage, toPage } from './page.ts'

const cursor = newId('message', 0)

test('limit and cursor of a request, with the default limit of the list', () => {
  expect(readPage({}, 'message')).toEqual({ limit: 50, cursor: null })
  expect(readPage({}, 'message', 20)).toEqual({ limit: 20, cursor: null })
  expect(readPage({ limit: 7, cursor }, 'message')).toEqual({ limit: 7, cursor })
})

test.each(['', 'x', newId('thread', 0)])('the cursor %j is refused', (wrong) => {
  expect(() => readPage({ cursor: wrong }, 'message')).toThrow(
    expect.objectContaining({ status: 400, details: [expect.objectContaining({ path: '/cursor' })] }),
  )
})

test('an absent cursor is above every id', () => {
  expect(before('$3')).toBe("coalesce($3::text, 'zzzz')")
})

const view = (row: string) => row.toUpperCase()
const page = (rows: string[], limit: number) => toPage(rows, limit, (row) => `after ${row}`, view)

test.each([
  { rows: [], data: [], next: null },
  { rows: ['a'], data: ['A'], next: null },
  { rows: ['a', 'b'], data: ['A', 'B'], next: null },
  { rows: ['a', 'b', 'c'], data: ['A', 'B'], next: 'after b' },
])('two of the rows $rows', ({ rows, data, next }) => {
  expect(page(rows, 2)).toEqual({ object: 'list', data, has_more: next !== null, next_cursor: next })
})

test('a page without places has no cursor', () => expect(page(['a'], 0).next_cursor).toBeNull())

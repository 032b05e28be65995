// Lists of pages: a change that arrives while a page loads is not missed.
import { expect, test } from 'vitest'
import { createPages, joinHead, type Page } from './pages.ts'

type Item = { id: string }
const pageOf = (...ids: string[]): Page<Item> => ({ items: ids.map((id) => ({ id })), next: null })

test('a refresh during the first load loads once more', async () => {
  const answers = [Promise.withResolvers<Page<Item>>(), Promise.withResolvers<Page<Item>>()]
  let calls = 0
  const pages = createPages(() => (answers[calls++] as (typeof answers)[number]).promise)
  const first = pages.loadMore()
  void pages.refresh()
  void pages.refresh()
  expect(calls).toBe(1)
  answers[0]?.resolve(pageOf('old'))
  answers[1]?.resolve(pageOf('new', 'old'))
  await first
  expect(calls).toBe(2)
  expect(pages.items.value.map(({ id }) => id)).toEqual(['new', 'old'])
  expect(pages.isLoading.value).toBe(false)
})

test('a new head joins the known items, or replaces them when the two do not meet', () => {
  const known = pageOf('b', 'c', 'd').items
  expect(joinHead({ ...pageOf('a', 'b'), next: 'x' }, known).items.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
  expect(joinHead({ ...pageOf('x', 'y'), next: 'z' }, known)).toMatchObject({ isRestarted: true, items: [{ id: 'x' }, { id: 'y' }] })
})

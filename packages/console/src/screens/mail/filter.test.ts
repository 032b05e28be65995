// The search of the inbox with its operators.
import { describe, expect, test } from 'vitest'
import { listQueryOf, parseSearch, readFilter } from './filter.ts'

describe('parseSearch', () => {
  test('splits operators from words', () => {
    expect(parseSearch('tag:campaign:spring tag:x offer')).toMatchObject({ text: 'tag:x offer', list: { tag: 'campaign:spring' } })
    expect(parseSearch('from:ada is:unread "two words" -spam has:code')).toEqual({
      text: '"two words" -spam',
      list: { from: 'ada', is_read: false },
      hasCode: true,
      hasAttachment: false,
    })
  })

  test('takes quoted values and dates', () => {
    expect(parseSearch('subject:"field kit" after:2026-11-01').list).toEqual({ subject: 'field kit', after: '2026-11-01T00:00:00.000Z' })
  })

  test('leaves unknown operators and values in the words', () => {
    expect(parseSearch('is:purple size:5 after:soon -from:ada')).toEqual({
      text: 'is:purple size:5 after:soon -from:ada',
      list: {},
      hasCode: false,
      hasAttachment: false,
    })
  })
})

test('conditions of the search win over those of the folder', () => {
  const filter = readFilter(new URLSearchParams('folder=unread&label=todo&q=is:read'))
  expect(listQueryOf(filter, parseSearch(filter.search))).toEqual({ direction: 'inbound', is_read: true, label: 'todo' })
})

test('the inbox leaves out archived and spam threads, and a search finds them', () => {
  const queryOf = (text: string) => {
    const filter = readFilter(new URLSearchParams(text))
    return listQueryOf(filter, parseSearch(filter.search))
  }
  expect(queryOf('')).toEqual({ folder: 'inbox', direction: 'inbound' })
  expect(queryOf('q=from:ada')).toEqual({ direction: 'inbound', from: 'ada' })
})

test('an unknown folder is the inbox', () => {
  expect(readFilter(new URLSearchParams('folder=nowhere'))).toEqual({ mailbox: '', folder: 'inbox', label: '', search: '' })
})

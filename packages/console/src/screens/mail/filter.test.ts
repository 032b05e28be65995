// The search of the inbox with its operators.
import type { MessageSummary } from '@callsign/sdk'
import { describe, expect, test } from 'vitest'
import { listQueryOf, matches, parseSearch, readFilter } from './filter.ts'

describe('parseSearch', () => {
  test('splits operators from words', () => {
    expect(parseSearch('tag:campaign:spring tag:x offer')).toMatchObject({ text: 'tag:x offer', list: { tag: 'campaign:spring' } })
    expect(parseSearch('from:ada is:unread "two words" -spam has:code')).toEqual({
      text: '"two words" -spam',
      list: { from: 'ada', is_read: false },
      hasCode: true,
      hasAttachment: false,
      problem: null,
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
      problem: 'is:purple is not a filter. Write is:unread, is:read or is:starred.',
    })
  })

  test('takes metadata with any value, and explains it without one', () => {
    const listOf = (search: string) => parseSearch(search).list
    expect(listOf('metadata:order:4711 offer')).toEqual({ metadata: 'order:4711' })
    expect(listOf('metadata:"order number:47 11"')).toEqual({ metadata: 'order number:47 11' })
    expect(listOf('metadata:url:https://a.example')).toEqual({ metadata: 'url:https://a.example' })
    for (const wrong of ['metadata:order', 'metadata::4711'])
      expect(parseSearch(wrong)).toMatchObject({
        text: wrong,
        list: {},
        problem: `${wrong} is not a filter. Write metadata:KEY:VALUE, in quotes if it has spaces.`,
      })
  })
})

test('checks metadata by the text of its value', () => {
  const message = { from: '', to: [], cc: [], subject: '', metadata: { order: 4711, paid: true } } as unknown as MessageSummary
  const isFound = (metadata: string) => matches(message, { metadata }, parseSearch(''))
  expect(['order:4711', 'paid:true', 'order:471', 'none:undefined'].map(isFound)).toEqual([true, true, false, false])
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

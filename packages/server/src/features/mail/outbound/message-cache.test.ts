// The limits of the message cache.
import { expect, test, vi } from 'vitest'
import type { MessageRow } from '../stored/model.ts'
import { createMessageCache } from './message-cache.ts'

const message = (id: string, more: Partial<MessageRow> = {}) => ({ id, text: 'Hello', html: '', headers: {}, ...more }) as MessageRow

test('a message is returned once, as it was written', () => {
  const cache = createMessageCache()
  const row = message('msg_1')
  cache.keep(row)
  expect(cache.take('msg_2')).toBeNull()
  expect(cache.take('msg_1')).toBe(row)
  expect(cache.take('msg_1')).toBeNull()
})

test('large messages, and headers that the database would reorder, are not cached', () => {
  const cache = createMessageCache()
  cache.keep(message('msg_1', { text: 'x'.repeat(300_000) }))
  cache.keep(message('msg_2', { headers: { 'X-B': '1', 'X-A': '2' } }))
  cache.keep(message('msg_3', { headers: { 'X-B': '1' } }))
  expect(cache.take('msg_1')).toBeNull()
  expect(cache.take('msg_2')).toBeNull()
  expect(cache.take('msg_3')).not.toBeNull()
})

test('the cache is bounded and keeps the oldest messages, which are delivered first', () => {
  const cache = createMessageCache()
  const text = 'x'.repeat(200_000)
  for (let i = 0; i < 200; i++) cache.keep(message(`msg_${i}`, { text }))
  expect(cache.take('msg_0')).not.toBeNull()
  expect(cache.take('msg_199')).toBeNull()
  cache.keep(message('msg_200', { text }))
  expect(cache.take('msg_200')).not.toBeNull()
})

test('messages that were not taken within a minute make room for others', () => {
  vi.useFakeTimers()
  try {
    const cache = createMessageCache()
    const text = 'x'.repeat(200_000)
    for (let i = 0; i < 200; i++) cache.keep(message(`msg_${i}`, { text }))
    vi.advanceTimersByTime(59_999)
    cache.keep(message('msg_early', { text }))
    expect(cache.take('msg_early')).toBeNull()
    vi.advanceTimersByTime(1)
    cache.keep(message('msg_late', { text }))
    expect([cache.take('msg_0'), cache.take('msg_40')]).toEqual([null, null])
    expect(cache.take('msg_late')).not.toBeNull()
  } finally {
    vi.useRealTimers()
  }
})

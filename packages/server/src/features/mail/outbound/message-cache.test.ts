// What is remembered of letters for their first attempt, and what is not.
import { expect, test } from 'vitest'
import type { MessageRow } from '../messages/model.ts'
import { createFreshLetters } from './message-cache.ts'

const letter = (id: string, more: Partial<MessageRow> = {}) => ({ id, text: 'Hello', html: '', headers: {}, ...more }) as MessageRow

test('a letter is given once, as it was written', () => {
  const letters = createFreshLetters()
  const row = letter('msg_1')
  letters.keep(row)
  expect(letters.take('msg_2')).toBeNull()
  expect(letters.take('msg_1')).toBe(row)
  expect(letters.take('msg_1')).toBeNull()
})

test('large letters, and headers that the database would put in another order, are left to the database', () => {
  const letters = createFreshLetters()
  letters.keep(letter('msg_1', { text: 'x'.repeat(300_000) }))
  letters.keep(letter('msg_2', { headers: { 'X-B': '1', 'X-A': '2' } }))
  letters.keep(letter('msg_3', { headers: { 'X-B': '1' } }))
  expect(letters.take('msg_1')).toBeNull()
  expect(letters.take('msg_2')).toBeNull()
  expect(letters.take('msg_3')).not.toBeNull()
})

test('the memory is bounded: the oldest stay, which are wanted first', () => {
  const letters = createFreshLetters()
  const text = 'x'.repeat(200_000)
  for (let i = 0; i < 200; i++) letters.keep(letter(`msg_${i}`, { text }))
  expect(letters.take('msg_0')).not.toBeNull()
  expect(letters.take('msg_199')).toBeNull()
  letters.keep(letter('msg_200', { text }))
  expect(letters.take('msg_200')).not.toBeNull()
})

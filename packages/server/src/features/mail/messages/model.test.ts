// The view of a message whose row and recipients were read at different times.
import { expect, test } from 'vitest'
import { type MessageRow, type RecipientRow, toMessage } from './model.ts'

const row = (status: string) =>
  ({
    direction: 'outbound',
    status,
    created_at: new Date(0),
    received_at: null,
    released_at: null,
    trashed_at: null,
    to: [],
    cc: [],
    bcc: [],
  }) as unknown as MessageRow
const recipient = (status: string) =>
  ({
    position: 0,
    address: 'ada@example.com',
    status,
    attempts: 1,
    last_answer: null,
    log: [],
    next_attempt_at: null,
  }) as unknown as RecipientRow

test('a result that was written between the two reads shows in the status too', () => {
  expect(toMessage(row('queued'), [], [recipient('sent')]).status).toBe('sent')
  expect(toMessage(row('queued'), [], [recipient('sent'), recipient('bounced')]).status).toBe('bounced')
})

test('without recipients the status is that of the row', () => {
  expect(toMessage(row('queued'), [], []).status).toBe('queued')
})

// The rows of the mail list.
import type { Identity } from '@callsign/sdk'
import { expect, test } from 'vitest'
import { type ListedMessage, messageRows, whoOf } from './list-rows.ts'

const message = (id: string, threadId: string): ListedMessage =>
  ({
    id,
    thread_id: threadId,
    mailbox_id: 'mbx_1',
    direction: 'inbound',
    from: 'Ada Park <ada@park.example>',
    to: ['sales@agents.example'],
    subject: id,
    labels: [],
    is_read: true,
  }) as unknown as ListedMessage

test('hits of one thread are one row, at the newest, with their number', () => {
  const identities = [{ mailbox: { id: 'mbx_1' }, agent_handle: 'sales' }] as unknown as Identity[]
  const rows = messageRows(identities, [message('a', 't1'), message('b', 't2'), message('c', 't1')])
  expect(rows.map(({ id, handle, count }) => [id, handle, count])).toEqual([
    ['a', 'sales', 2],
    ['b', 'sales', 1],
  ])
})

test('a sent message names its recipients, also when it has none yet', () => {
  const sent = { ...message('a', 't1'), direction: 'outbound' as const }
  expect(whoOf(sent)).toBe('To sales@agents.example')
  expect(whoOf({ ...sent, to: [] })).toBe('No recipient yet')
  expect(whoOf(message('b', 't1'))).toBe('Ada Park')
})

// The views of a message, and its status when its row and its recipients were read at different times.

import { eventBodyBytesMax } from '@callsign/contract/events'
import { formatAddress } from '@callsign/mail/mail-address'
import { expect, test } from 'vitest'
import { canMove, type MessageRow, moved, type RecipientRow, snippetOf } from '../stored/model.ts'
import { toDescription, toItem, toMessage } from './model.ts'

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

test('the delivery of a recipient, with its times', () => {
  const attempted = { last_answer: '250 ok', diagnostic_code: '2.0.0', last_attempt_at: new Date(1000), next_attempt_at: new Date(2000) }
  const fresh = { last_answer: null, diagnostic_code: null, last_attempt_at: null, next_attempt_at: null }
  const recipients = [
    { ...recipient('sent'), ...attempted },
    { ...recipient('queued'), ...fresh },
  ]
  expect(toMessage(row('queued'), [], recipients).delivery).toEqual({
    recipients: [
      {
        ...{ address: 'ada@example.com', status: 'sent', attempts: 1, last_answer: '250 ok', diagnostic_code: '2.0.0', log: [] },
        ...{ last_attempt_at: '1970-01-01T00:00:01.000Z', next_attempt_at: '1970-01-01T00:00:02.000Z' },
      },
      { address: 'ada@example.com', status: 'queued', attempts: 1, ...fresh, log: [] },
    ],
  })
  expect(toMessage({ ...row('received'), direction: 'inbound' }, [], []).delivery).toBeNull()
})

test('the worst status of the recipients, in any order', () => {
  const order = ['delivered', 'sent', 'queued', 'bounced', 'failed']
  for (const [index, worst] of order.entries())
    for (const better of order.slice(0, index + 1))
      for (const both of [
        [worst, better],
        [better, worst],
      ])
        expect(toMessage(row('queued'), [], both.map(recipient)).status).toBe(worst)
})

test('statuses only move forward', () => {
  const order = ['queued', 'sent', 'delivered', 'bounced', 'failed'] as const
  const moves = order.flatMap((from) => order.filter((to) => canMove(from, to)).map((to) => `${from} ${to}`))
  expect(moves).toEqual([
    ...['queued sent', 'queued delivered', 'queued bounced', 'queued failed'],
    ...['sent delivered', 'sent bounced', 'sent failed', 'delivered bounced'],
  ])
  expect([moved('sent', 'delivered'), moved('delivered', 'sent'), moved('failed', 'delivered')]).toEqual([
    'delivered',
    'delivered',
    'failed',
  ])
})

test.each([
  ['', 'ada@example.com', 'ada@example.com'],
  ['Ada', 'ada@example.com', 'Ada <ada@example.com>'],
  ["Ada O'Neil-Ünal", 'a@b.example', "Ada O'Neil-Ünal <a@b.example>"],
  ['Lovelace, Ada', 'a@b.example', '"Lovelace, Ada" <a@b.example>'],
  ['A "B" \\ C', 'a@b.example', '"A \\"B\\" \\\\ C" <a@b.example>'],
])('%j with %s is %j', (name, address, formatted) => expect(formatAddress(name, address)).toBe(formatted))

test.each([
  ['  a \n\t b  c\u00a0d ', 'a b c d'],
  ['x'.repeat(300), 'x'.repeat(200)],
  [`${' '.repeat(1000)}x`, ''],
  [`${'x'.repeat(199)}\u{1f600}`, `${'x'.repeat(199)}\ufffd`],
  ['', ''],
])('the snippet of %j', (text, snippet) => expect(snippetOf(text)).toBe(snippet))

const full = {
  ...{ id: 'msg_1', organization_id: 'org_1', mailbox_id: 'mbx_1', thread_id: 'thrd_1', direction: 'inbound', status: 'received' },
  ...{ from_address: 'ada@example.com', from_name: 'Ada', to_addresses: ['a@x.example'], cc_addresses: ['b@x.example'], bcc_addresses: [] },
  ...{ reply_to: ['r@x.example'], subject: 'Hi', snippet: 'Sn', text: 'Text', html: '<p>Text</p>', extracted_text: 'Te' },
  ...{ rfc_message_id: '<1@x>', in_reply_to: '<0@x>', in_reply_to_message_id: 'msg_0', reference_ids: ['<0@x>'], headers: { 'X-A': '1' } },
  ...{ authentication: null, envelope_from: 'e@x.example', envelope_to: 'a@x.example', labels: ['l'], tags: ['k:v'], metadata: { m: '1' } },
  ...{ is_read: true, is_starred: false, size_bytes: 9, kept_bytes: null, attachment_count: 0, raw_id: null, flags: [], guardrail: null },
  ...{ released_at: new Date(1000), trashed_at: null, created_at: new Date(0), codes: [] },
} as unknown as MessageRow
const marks = { is_read: true, is_starred: false, labels: ['l'], released_at: '1970-01-01T00:00:01.000Z', trashed_at: null }
const fixed = {
  ...{ id: 'msg_1', mailbox_id: 'mbx_1', thread_id: 'thrd_1', direction: 'inbound', status: 'received', to: ['a@x.example'] },
  ...{ cc: ['b@x.example'], bcc: [], reply_to: ['r@x.example'], subject: 'Hi', snippet: 'Sn', delivered_to: 'a@x.example' },
  ...{ in_reply_to_message_id: 'msg_0', message_id: '<1@x>', references: ['<0@x>'], headers: { 'X-A': '1' }, codes: [], size_bytes: 9 },
  ...{ flags: [], guardrail: null, created_at: '1970-01-01T00:00:00.000Z' },
}
const bodies = { text: 'Text', html: '<p>Text</p>', extracted_text: 'Te' }
const unchecked = { authentication: { source: null, spf: null, dkim: null, dmarc: null, arc: null } }

test('the item of a list, and the payload of an event, which has nothing that changes', () => {
  const file = { id: 'att_1', filename: 'a.txt', content_type: 'text/plain', size_bytes: 1, content_id: null, url: 'https://x.example/a' }
  const from = 'Ada <ada@example.com>'
  expect(toItem(full, [file])).toEqual({
    ...{ ...fixed, ...marks, ...bodies, from, attachments: [file] },
    ...{ tags: [{ name: 'k', value: 'v' }], metadata: { m: '1' } },
  })
  expect(toItem({ ...full, tags: null, metadata: null, released_at: null, trashed_at: new Date(0) }, [])).toMatchObject({
    ...{ tags: [], metadata: {}, released_at: null, trashed_at: '1970-01-01T00:00:00.000Z' },
  })
  expect(toDescription(full, [file])).toEqual({
    ...{ ...fixed, ...bodies, ...unchecked, from: 'ada@example.com', attachments: [{ ...file, url: null }] },
    ...{ tags: [], metadata: {}, truncated: false },
  })
})

test('long bodies of events are cut between characters', () => {
  const cut = (text: string, html = '') => {
    const { text: kept, truncated } = toDescription({ ...full, text, html, extracted_text: text }, [])
    return [Buffer.byteLength(kept), kept.isWellFormed(), truncated]
  }
  expect(cut('x'.repeat(eventBodyBytesMax))).toEqual([eventBodyBytesMax, true, false])
  expect(cut('x'.repeat(eventBodyBytesMax + 1))).toEqual([eventBodyBytesMax, true, true])
  expect(cut(`x${'é'.repeat(eventBodyBytesMax / 2)}`)).toEqual([eventBodyBytesMax - 1, true, true])
  expect(cut('', 'x'.repeat(eventBodyBytesMax + 1))).toEqual([0, true, true])
})

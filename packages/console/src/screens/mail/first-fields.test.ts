// The fields of an answer or a forward before its draft is stored.
import { expect, test } from 'vitest'
import type { Original } from './composer-state.ts'
import { firstFields } from './first-fields.ts'

const message: Original = {
  id: 'msg_1',
  direction: 'inbound',
  from: 'Marta Keller <marta@keller.example>',
  reply_to: [],
  to: ['support+eu@agents.example', 'Jo Pike <jo@keller.example>'],
  cc: ['marta@keller.example', 'lee@keller.example'],
  subject: 'Printer',
}
const reply = (more: Partial<Original>, isToAll = false) =>
  firstFields({ kind: 'reply', mailbox: 'support', message: { ...message, ...more }, isToAll, ownAddress: 'support@agents.example' })

test('an answer goes to the sender, or to Reply-To', () => {
  expect(reply({})).toEqual({ to: 'Marta Keller <marta@keller.example>', cc: '', bcc: '', subject: 'Re: Printer', text: '' })
  expect(reply({ reply_to: ['desk@keller.example'] }).to).toBe('desk@keller.example')
})

test('an answer to all leaves out the mailbox with any tag, and repetitions', () => {
  expect(reply({}, true)).toMatchObject({
    to: 'Marta Keller <marta@keller.example>, Jo Pike <jo@keller.example>',
    cc: 'lee@keller.example',
  })
})

test('an answer to a sent message goes to its recipients', () => {
  expect(reply({ direction: 'outbound', from: 'support@agents.example' }).to).toBe('Jo Pike <jo@keller.example>')
})

test('a prefix is not repeated', () => {
  expect(reply({ subject: 'AW: Printer' }).subject).toBe('AW: Printer')
  expect(firstFields({ kind: 'forward', mailbox: 'support', message }).subject).toBe('Fwd: Printer')
})

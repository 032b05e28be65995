// The fields of a delivery status, one by one.
import { describe, expect, test } from 'vitest'
import { readDeliveryStatus } from './delivery-status.ts'
import { type Report, statusOf } from './report-kinds.ts'

const address = 'x@example.com'
const read = (text: string, recipient = address) => readDeliveryStatus(text, recipient)
const group = (fields: string) => read(`Reporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; ${address}\n${fields}\n`)

describe('groups', () => {
  test('a group needs a recipient, an action or a status', () => {
    for (const field of [`Final-Recipient: rfc822; ${address}`, 'Action: failed', 'Status: 5.1.1'])
      expect([field, read(`Reporting-MTA: dns; mx.example\n\n${field}\n`)]).toEqual([
        field,
        expect.objectContaining({ host: 'mx.example' }),
      ])
    expect(read('Reporting-MTA: dns; mx.example\n\nX-Other: failed\n')).toBeNull()
    expect(read('Reporting-MTA: dns; mx.example\n\nX-Other: 1\n\nAction: failed\n')).toMatchObject({ kind: 'failed' })
  })
  test('empty lines of white space separate groups too, and several of them are one', () => {
    expect(read(`\n\nReporting-MTA: dns; mx\n\nFinal-Recipient: rfc822;${address}\n`)?.host).toBe('mx')
    expect(read(`Reporting-MTA: dns; mx\n \t\nAction: failed\n\nFinal-Recipient: rfc822;${address}\nAction: delivered\n`)?.kind).toBe(
      'delivered',
    )
    expect(read(`Reporting-MTA: dns; mx\n \t\n\n\n\nFinal-Recipient: rfc822;${address}\nAction: delivered\n`)).toMatchObject({
      kind: 'delivered',
    })
  })
  test('after 200 groups none is read', () => {
    const others = (count: number) => 'Final-Recipient: rfc822; y@example.com\nAction: delivered\n\n'.repeat(count)
    const text = (count: number) => `Reporting-MTA: dns; mx\n\n${others(count)}Final-Recipient: rfc822; ${address}\nAction: failed\n`
    expect(read(text(198))?.kind).toBe('failed')
    expect(read(text(199))?.kind).toBe('delivered')
  })
  test('the worst result of an alias counts, in any order', () => {
    const kinds = ['failed', 'delayed', 'delivered', 'relayed']
    const text = (actions: string[]) =>
      `Reporting-MTA: dns; mx\n\n${actions.map((action, i) => `Final-Recipient: rfc822; t${i}@example.com\nAction: ${action}\n\n`).join('')}`
    for (const [index, action] of kinds.entries())
      for (const actions of [kinds.slice(index), kinds.slice(index).toReversed()])
        expect([actions, read(text(actions))?.kind]).toEqual([actions, action === 'relayed' ? 'passed-on' : action])
  })
})

describe('fields', () => {
  test('names in any letters, white space before the colon, folded lines, the first of repeated fields', () => {
    expect(group('ACTION : failed\nAction: delivered\nStatus: 5.2.1\nDiagnostic-Code: smtp; 550\n\tno such\n   user')).toMatchObject({
      kind: 'failed',
      enhancedStatus: '5.2.1',
      answer: '550 no such user',
    })
  })
  test('a value may start below its name, and a name may have one letter', () => {
    expect(group('Action:\n  delivered\nStatus: 5.0.0')?.kind).toBe('delivered')
    expect(group('Diagnostic-Code: smtp; 550 no\nX: y\n such user')?.answer).toBe('550 no')
    expect(group('Actions\nAction: delivered')?.kind).toBe('delivered')
  })
  test('lines without a name are passed over, and folds of nothing too', () => {
    expect(read(`  folded\n: empty\nno colon\nFinal-Recipient: rfc822; ${address}\nAction: failed\n`)).toMatchObject({ kind: 'failed' })
  })
  test('a field has at most about 2,000 characters', () => {
    const answer = group(`Action: failed\nDiagnostic-Code: smtp; ${'a'.repeat(1_990)}\n ${'b'.repeat(100)}\n ${'c'.repeat(100)}`)?.answer
    expect(answer).toContain('b')
    expect(answer).not.toContain('c')
  })
  test('addresses in angle brackets, without a type, and in any letters', () => {
    for (const field of [`rfc822; <${address}>`, address, 'RFC822;X@Example.com'])
      expect(
        read(
          `Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; z@example.com\nAction: failed\n\nFinal-Recipient: ${field}\nAction: delivered\n`,
        )?.kind,
      ).toBe('delivered')
  })
  test('the reporting host, or the remote one', () => {
    expect(group('Action: failed\nRemote-MTA: dns; far.example')?.host).toBe('mx.example')
    expect(read(`X: y\n\nFinal-Recipient: rfc822; ${address}\nAction: failed\nRemote-MTA: dns; far.example\n`)?.host).toBe('far.example')
    expect(read(`X: y\n\nFinal-Recipient: rfc822; ${address}\nAction: failed\n`)?.host).toBeNull()
  })
  test('a general status is completed from the reply of its class only', () => {
    const statusWith = (status: string, reply: string) =>
      group(`Action: failed\nStatus: ${status}\nDiagnostic-Code: smtp; ${reply}`)?.enhancedStatus
    expect(statusWith('5.0.0', '550 5.1.1 no')).toBe('5.1.1')
    expect(statusWith('5.0.0', '450 4.2.1 no')).toBe('5.0.0')
    expect(statusWith('5.2.2', '550 5.1.1 no')).toBe('5.2.2')
    expect(statusWith('none', '450 4.2.1 no')).toBe('4.2.1')
    expect(statusWith('none', 'no')).toBeNull()
    expect(statusWith('none', '550 5.100.999 no')).toBe('5.100.999')
    expect(statusWith('5.0.0', 'mx v5.1.1 no')).toBe('5.0.0')
  })
  test('words behind a code in the status are the answer', () => {
    expect(group('Action: failed\nStatus: 550 no such user')?.answer).toBe('550 no such user')
    expect(group('Action: failed\nStatus: see 550 no such user')?.answer).toBe('')
  })
  test('unregistered actions count by their beginning', () => {
    const table = { failure: 'failed', expired: 'failed', deferred: 'delayed', 'x-failure': 'delayed', 'x-relayed': 'delayed' }
    for (const [action, kind] of Object.entries(table))
      expect([action, group(`Action: ${action}\nStatus: 4.0.0`)?.kind]).toEqual([action, kind])
    for (const action of ['x-delayed', 'x-delivered', 'x-expanded'])
      expect([action, group(`Action: ${action}\nStatus: 5.0.0`)?.kind]).toEqual([action, 'failed'])
  })
  test('without an action the reply decides', () => {
    const kindWith = (fields: string) => group(fields)?.kind
    expect(kindWith('Status: 550 no')).toBe('failed')
    expect(kindWith('Diagnostic-Code: smtp; 250 ok')).toBe('delivered')
    expect(kindWith('Diagnostic-Code: smtp; 450 later')).toBe('delayed')
    expect(kindWith('Status: 2.1.5\nDiagnostic-Code: smtp; 550 no')).toBe('delivered')
  })
})

test('the recipient status that follows', () => {
  const after = (kind: Report['kind'], enhancedStatus: string | null, current: string) =>
    statusOf({ kind, enhancedStatus, answer: '', host: null }, current)
  expect(after('delivered', null, 'sent')).toBe('delivered')
  expect(after('failed', '5.1.1', 'sent')).toBe('bounced')
  expect(after('failed', null, 'sent')).toBe('bounced')
  expect(after('failed', '4.4.7', 'sent')).toBe('failed')
  expect(after('failed', '4.4.7', 'delivered')).toBe('bounced')
  for (const kind of ['delayed', 'passed-on', 'complaint', 'feedback', 'automatic', 'letter'] as const)
    expect(after(kind, '5.1.1', 'sent')).toBeNull()
})

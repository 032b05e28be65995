// Reading returned mail: captured reports of Postfix and Exim, published forms of other systems, and hostile ones.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectCost } from '../../tests/harness/cost.ts'
import { readDeliveryStatus } from './delivery-status.ts'
import { readReport } from './report.ts'
import { statusOf } from './report-kinds.ts'

const folder = join(import.meta.dirname, '..', '..', 'tests', 'returned')
const captured = (name: string) => Buffer.from(readFileSync(join(folder, name), 'utf8').replaceAll('\n', '\r\n'))
const read = (text: string, recipient = 'x@example.com', from = '') =>
  readReport(Buffer.from(text.replaceAll('\n', '\r\n')), from, recipient)

describe('captured from real servers', () => {
  const wanted: Record<string, [string, string, string, string | null]> = {
    'exim-delayed': ['full@example.com', 'delayed', '4.0.0', null],
    'exim-expired': ['x@gone.example', 'failed', '4.4.7', 'failed'],
    'exim-full': ['full@example.com', 'failed', '5.2.2', 'bounced'],
    'exim-unknown': ['nobody@example.com', 'failed', '5.0.0', 'bounced'],
    'postfix-delayed': ['x@gone.example', 'delayed', '4.4.1', null],
    'postfix-expired': ['x@gone.example', 'failed', '4.4.1', 'failed'],
    'postfix-full': ['full@example.com', 'failed', '5.2.2', 'bounced'],
    'postfix-unknown': ['nobody@example.com', 'failed', '5.1.1', 'bounced'],
  }
  test('each is understood', () => {
    const found = Object.fromEntries(
      readdirSync(folder).map((file) => {
        const name = file.replace('.eml', '')
        const recipient = wanted[name]?.[0] ?? ''
        const report = readReport(captured(file), '', recipient)
        return [name, [recipient, report.kind, report.enhancedStatus, statusOf(report, 'sent')]]
      }),
    )
    expect(found).toEqual(wanted)
  })

  test('the words that they give stand in the answer', () => {
    const answer = (name: string) => readReport(captured(`${name}.eml`), '', wanted[name]?.[0] as string).answer
    expect(answer('exim-unknown')).toBe('Unrouteable address')
    expect(answer('exim-full')).toBe('mailbox is full: retry timeout exceeded')
    expect(answer('postfix-unknown')).toBe('unknown user: "nobody@example.com"')
    expect(answer('postfix-expired')).toBe('connect to 127.0.0.1[127.0.0.1]:1: Connection refused')
    expect(readReport(captured('postfix-unknown.eml'), '', 'nobody@example.com').host).toBe('peer.example')
  })
})

describe('delivery status', () => {
  const part = (...groups: string[]) => `Reporting-MTA: dns; mx.example\n\n${groups.join('\n\n')}\n`
  const group = (recipient: string, action: string, status: string) =>
    `Final-Recipient: rfc822; ${recipient}\nAction: ${action}\nStatus: ${status}`

  test('of several recipients ours counts; of the names behind an alias the worst', () => {
    const both = part(group('y@example.com', 'failed', '5.1.1'), group('X@Example.com', 'delivered', '2.0.0'))
    expect(readDeliveryStatus(both, 'x@example.com')).toMatchObject({ kind: 'delivered' })
    expect(readDeliveryStatus(both, 'list@example.com')).toMatchObject({ kind: 'failed', enhancedStatus: '5.1.1' })
    const original = part(
      `Original-Recipient: rfc822;x@example.com\n${group('z@inner.example', 'delayed', '4.2.0')}`,
      group('y@example.com', 'failed', '5.1.1'),
    )
    expect(readDeliveryStatus(original, 'x@example.com')).toMatchObject({ kind: 'delayed' })
  })

  test('actions, codes and diagnostics as they are written', () => {
    expect(
      readDeliveryStatus(
        part(
          'Final-Recipient: RFC822;x@example.com\nAction: Failed (no such user)\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 5.1.1 <x@example.com>:\n  User unknown',
        ),
        'x@example.com',
      ),
    ).toEqual({
      kind: 'failed',
      enhancedStatus: '5.1.1',
      answer: '550 5.1.1 <x@example.com>: User unknown',
      host: 'mx.example',
    })
    expect(
      readDeliveryStatus(part('Final-Recipient: utf-8; jürgen@example.com\nAction: relayed\nStatus: 2.1.9'), 'jürgen@example.com')?.kind,
    ).toBe('passed-on')
    expect(readDeliveryStatus(part('Final-Recipient: rfc822; x@example.com\nStatus: 5.1.1'), 'x@example.com')?.kind).toBe('failed')
    expect(readDeliveryStatus(part('Final-Recipient: rfc822; x@example.com\nStatus: 4.4.1'), 'x@example.com')?.kind).toBe('delayed')
    // Without the empty line between the groups.
    expect(
      readDeliveryStatus('Reporting-MTA: dns; a\nFinal-Recipient: rfc822; x@example.com\nAction: failed\nStatus: 5.2.1\n', 'x@example.com'),
    ).toMatchObject({ kind: 'failed', enhancedStatus: '5.2.1' })
    for (const nothing of ['', '\n\n', 'no fields here', 'Reporting-MTA: dns; a\n\n'])
      expect(readDeliveryStatus(nothing, 'x@example.com')).toBeNull()
  })

  test('RFC 6533: a report in UTF-8, in base64', () => {
    const fields = Buffer.from(
      'Reporting-MTA: dns; mx.example\n\nFinal-Recipient: utf-8; jürgen@example.com\nAction: failed\nStatus: 5.1.1\n',
    ).toString('base64')
    const text = `From: MAILER-DAEMON@mx.example\nSubject: x\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\nContent-Type: text/plain\n\nNo.\n--b\nContent-Type: message/global-delivery-status\nContent-Transfer-Encoding: base64\n\n${fields}\n--b--\n`
    expect(read(text, 'jürgen@example.com')).toMatchObject({ kind: 'failed', enhancedStatus: '5.1.1', host: 'mx.example' })
  })
})

describe('complaints (RFC 5965)', () => {
  const feedback = (type: string) =>
    read(
      `From: feedback@provider.example\nSubject: FW: Offer\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=feedback-report; boundary=b\n\n--b\nContent-Type: text/plain\n\nThis is an email abuse report.\n--b\nContent-Type: message/feedback-report\n\nFeedback-Type: ${type}\nUser-Agent: SomeGenerator/1.0\nVersion: 1\nReporting-MTA: dns; mail.provider.example\n\n--b\nContent-Type: message/rfc822\n\nSubject: Offer\n\nx\n--b--\n`,
      'x@example.com',
      'feedback@provider.example',
    )
  test('abuse, fraud, virus, opt-out and other are complaints; not-spam and auth-failure are not', () => {
    for (const type of ['abuse', 'Fraud', 'virus', 'opt-out', 'other', 'unheard-of'])
      expect(feedback(type)).toMatchObject({
        kind: 'complaint',
        host: 'mail.provider.example',
        answer: expect.stringContaining(type.toLowerCase()),
      })
    for (const type of ['not-spam', 'auth-failure', 'dmarc']) expect(feedback(type).kind).toBe('feedback')
    expect(statusOf(feedback('abuse'), 'delivered')).toBeNull()
  })
})

describe('bounces in words', () => {
  const bounce = (subject: string, body: string, header = '') => `From: MAILER-DAEMON@mx.example\nSubject: ${subject}\n${header}\n${body}\n`
  test('qmail', () => {
    const text = bounce(
      'failure notice',
      "Hi. This is the qmail-send program at mx.example.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<x@example.com>:\nSorry, no mailbox here by that name. (#5.1.1)\n\n--- Below this line is a copy of the message.\n\nSubject: Hi\n",
    )
    expect(read(text)).toMatchObject({ kind: 'failed', enhancedStatus: '5.1.1', answer: 'Sorry, no mailbox here by that name. (#5.1.1)' })
  })
  test('an answer of another server, without any code in front', () => {
    const text = bounce(
      'Undeliverable: Hi',
      'Delivery to the following recipient failed permanently:\n\n  x@example.com\n\nThe error that the other server returned was: 550 550 No such user here\n',
    )
    expect(read(text)).toMatchObject({ kind: 'failed', answer: expect.stringContaining('550 No such user here') })
  })
  test('X-Failed-Recipients says it by itself', () => {
    const text = bounce(
      'Something',
      'The following address failed:\n\n  x@example.com\n    retry timeout exceeded\n',
      'X-Failed-Recipients: x@example.com\n',
    )
    expect(read(text, 'x@example.com', 'someone@example.com')).toMatchObject({ kind: 'failed', enhancedStatus: '4.4.7' })
  })
  test('a warning is a delay', () => {
    const text = bounce(
      'Warning: could not send message for past 4 hours',
      'THIS IS A WARNING MESSAGE ONLY\nYOU DO NOT NEED TO RESEND YOUR MESSAGE\n\nWill keep trying until message is 5 days old\n',
    )
    expect(read(text).kind).toBe('delayed')
  })
  test('the same words from a person are a letter', () => {
    expect(
      read(
        'From: Ada <ada@example.com>\nSubject: failure notice\n\nYour message could not be delivered, they said.\n',
        'x@example.com',
        'ada@example.com',
      ).kind,
    ).toBe('letter')
  })
})

describe('automatic answers (RFC 3834)', () => {
  const answer = (header: string, from = '') =>
    read(
      `From: Ada <ada@example.com>\nSubject: Out of office\n${header}\n\nI am away until Monday. Mail could not be delivered to my simulatorState.\n`,
      'ada@example.com',
      from,
    ).kind
  test('are recognised by their fields, whatever their return path', () => {
    for (const header of [
      'Auto-Submitted: auto-replied',
      'Auto-Submitted: auto-replied; owner-email="a@b"',
      'X-Autoreply: yes',
      'X-Autorespond: x',
      'Precedence: auto_reply',
    ])
      for (const from of ['', 'ada@example.com']) expect([header, answer(header, from)]).toEqual([header, 'automatic'])
    expect(answer('Auto-Submitted: auto-generated', 'ada@example.com')).toBe('automatic')
    expect(answer('Auto-Submitted: no', 'ada@example.com')).toBe('letter')
  })
})

test('nothing that comes in makes it throw or take long', async () => {
  const hostile = [
    Buffer.alloc(0),
    Buffer.from('\r\n\r\n'),
    Buffer.concat([
      Buffer.from('Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n'),
      Buffer.alloc(2_000_000, 'Final-Recipient: rfc822;x\r\n\r\n'),
    ]),
    Buffer.concat([Buffer.from('From: MAILER-DAEMON@x\r\nSubject: failure notice\r\n\r\n'), Buffer.alloc(2_000_000, 'mailbox ')]),
    Buffer.concat([Buffer.from('From: MAILER-DAEMON@x\r\nSubject: failure notice\r\n\r\n'), Buffer.alloc(2_000_000, '550 ')]),
    Buffer.concat([Buffer.from(`From: MAILER-DAEMON@x\r\nSubject: ${'delivery '.repeat(200)}\r\n\r\n`), Buffer.alloc(2_000_000, ' ')]),
    Buffer.concat([Buffer.from('Content-Type: message/feedback-report\r\n\r\nFeedback-Type: '), Buffer.alloc(2_000_000, 'a')]),
  ]
  await expectCost(() => {
    for (const raw of hostile) readReport(raw, '', 'x@example.com')
  }, 3000)
})

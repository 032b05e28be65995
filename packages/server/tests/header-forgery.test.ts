// A caller's headers cannot change a message's author, path or authentication. Covers every way of sending, every header name and every trick.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MailSink, startMailSink } from './harness/mail-sink.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let sink: MailSink
let harness: Harness
beforeAll(async () => {
  sink = await startMailSink()
  harness = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  await harness.createAgent('ann', { display_name: 'Ann' })
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
})

const forged =
  'From from FROM Sender To Cc Bcc Subject Date Message-ID In-Reply-To References MIME-Version Content-Type Content-Transfer-Encoding Received Received-SPF Return-Path ' +
  'DKIM-Signature DomainKey-Signature ARC-Seal ARC-Message-Signature ARC-Authentication-Results Authentication-Results Delivered-To Auto-Submitted Resent-From Resent-Sender Reply-To'
const tricks: Record<string, string>[] = [
  { 'X-A\r\nFrom': 'evil@example.com' },
  { 'X-A: b\r\nFrom': 'evil@example.com' },
  { 'X-A': 'b\r\nFrom: evil@example.com' },
  { 'X-A': 'b\nFrom: evil@example.com' },
  { 'X-A': 'b\rFrom: evil@example.com' },
  { 'X-A': 'b\r\n\r\nA new body' },
  { 'From ': 'evil@example.com' },
  { ' From': 'evil@example.com' },
  { 'From:': 'evil@example.com' },
  { 'X-A': 'a\u0000b' },
]

test('every way of sending refuses every reserved header and every trick', async () => {
  await harness.deliver({ from: 'eve@example.org', to: 'ann@agents.localhost', subject: 'Q', text: 'q' })
  const { id } = await harness.waitForMail('ann', 'Q')
  const mail = { to: ['x@example.com'], subject: 's', text: 't' }
  const draft = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body: mail })
  const ways: [string, string, Json][] = [
    ['POST', '/mail/send', { agent: 'ann', ...mail }],
    ['POST', '/mailboxes/ann/messages', mail],
    ['POST', `/mailboxes/ann/messages/${id}/reply`, { text: 't' }],
    ['POST', `/mailboxes/ann/messages/${id}/forward`, { to: 'x@example.com' }],
    ['POST', '/mailboxes/ann/drafts', mail],
    ['PATCH', `/mailboxes/ann/drafts/${draft.id}`, {}],
  ]
  for (const headers of [...forged.split(' ').map((name) => ({ [name]: 'evil@example.com' })), ...tricks])
    for (const [method, path, body] of ways) {
      const { status, body: answer } = await harness.api(method, path, { body: { ...body, headers } })
      expect([method, path, headers, status, answer.error?.code]).toEqual([method, path, headers, 400, 'validation_error'])
    }
  expect(sink.mails).toEqual([])
})

test('each protected field leaves once, as made by the server, for any names, subjects and values', async () => {
  await harness.expectApi(200, 'PATCH', '/identities/ann', { body: { display_name: 'Ann <evil@example.com>, "X" \\' } })
  const { id } = await harness.expectApi(201, 'POST', '/mail/send', {
    body: {
      agent: 'ann',
      to: ['"From: evil@example.com" <x@example.com>'],
      subject: 'From: evil@example.com =?utf-8?q?=0D=0AFrom:_evil@example.com?=',
      text: 'From: evil@example.com\n\n.\nReceived: from evil\n',
      headers: { 'X-From': 'evil@example.com', 'X-Encoded': '=?utf-8?q?=0D=0AFrom:_evil@example.com?=' },
      attachments: [{ filename: 'a"; From="evil.txt', content: 'eA==', content_type: 'text/plain' }],
    },
  })
  const message = await harness.waitForStatus('ann', id, 'sent')
  const mail = await waitFor('the mail', () => sink.mails.find((one) => one.parsed.messageId === message.message_id))
  const header = mail.raw.slice(0, mail.raw.indexOf('\r\n\r\n'))
  const names = header.split(/\r\n(?![ \t])/).map((field) => field.slice(0, field.indexOf(':')).toLowerCase())
  const count = (name: string) => names.filter((one) => one === name).length
  for (const name of ['from', 'to', 'subject', 'date', 'message-id', 'mime-version', 'content-type'])
    expect([name, count(name)]).toEqual([name, 1])
  for (const name of ['sender', 'received', 'return-path', 'authentication-results', 'bcc', 'cc', 'auto-submitted'])
    expect([name, count(name)]).toEqual([name, 0])
  expect(count('dkim-signature')).toBe(2)
  expect(mail.parsed.from?.address).toBe('ann@agents.localhost')
})

// Which parts, authors and header fields make a report.
import { describe, expect, test } from 'vitest'
import { kindOfWords, refineStatus } from './bounce-words.ts'
import { readFeedback, readForwardedComplaint } from './complaint.ts'
import { readReport } from './report.ts'

const recipient = 'ada@gone.example'
const crlf = (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'))
const kindOf = (text: string, envelopeFrom = '') => readReport(crlf(text), envelopeFrom, recipient).kind
const failing = 'Subject: Mail delivery failed\n\nIt failed.\n'

describe('authors', () => {
  const systems = [
    'MAILER-DAEMON@x',
    'Mailer_Daemon@x',
    'mailerdaemon@x',
    'mailer.daemon@x',
    'postmaster@x',
    'post-master@x',
    'mail-system@x',
    'maildelivery@x',
    'mail_server@x',
    'MDaemon@x',
    'root@x',
    'double-bounce@x',
    'bounce@x',
    'bounces-1@x',
    'daemon@x',
    'System Administrator <system-administrator@x>',
    'delivery@x',
    'MicrosoftExchange329e71ec@x',
    'amavis@x',
    'uucp@x',
    'smtp@x',
    'MAILER-DAEMON (Mail Delivery System)',
    '"postmaster"@x',
  ]
  test.each(systems)('%s is a mail system', (from) => expect(kindOf(`From: ${from}\n${failing}`, 'a@b.example')).toBe('failed'))
  test.each(['ada@x', 'rooted@x', 'deliveryman@x', 'smtpfan@x', 'not-postmaster@x', 'bouncer@x', 'Ada (postmaster) <ada@x>'])(
    '%s is not',
    (from) => expect(kindOf(`From: ${from}\n${failing}`, 'a@b.example')).toBe('letter'),
  )
  test('the null sender is enough, and so is X-Failed-Recipients', () => {
    expect(kindOf(`From: ada@x\n${failing}`, '')).toBe('failed')
    expect(kindOf(`From: ada@x\nX-Failed-Recipients: ${recipient}\nSubject: Hello\n\nUnknown.\n`, 'a@b.example')).toBe('failed')
    expect(kindOf(`Subject: Mail delivery failed\n\nIt failed.\n`, 'a@b.example')).toBe('letter')
  })
})

describe('signs of a bounce in prose', () => {
  const from = 'From: postmaster@x\n'
  test('a subject, a sentence, a reply or an enclosed message, and nothing less', () => {
    expect(kindOf(`${from}Subject: Hello\n\nGood day.\n`, 'a@b.example')).toBe('automatic')
    expect(kindOf('From: ada@x\nSubject: Hello\n\nGood day.\n', '')).toBe('letter')
    expect(kindOf(`${from}Subject: Mail delivery failed\n\nx\n`)).toBe('failed')
    expect(kindOf(`${from}Subject: Hello\n\nYour message could not be delivered.\n`)).toBe('failed')
    expect(kindOf(`${from}Subject: Hello\n\n550 blue moon\n`)).toBe('failed')
    expect(kindOf(`${from}Subject: Hello\n\nx\n\nReceived: from a by b\nMessage-ID: <1@x>\nSubject: Hi\n`)).toBe('failed')
    for (const type of ['message/rfc822', 'message/global', 'text/rfc822-headers', 'message/global-headers', 'message/headers'])
      expect([
        type,
        kindOf(
          `${from}Subject: Hello\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\nContent-Type: ${type}\n\nSubject: Hi\n--b--\n`,
        ),
      ]).toEqual([type, 'failed'])
    expect(
      kindOf(`${from}Subject: Hello\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\nContent-Type: image/png\n\nx\n--b--\n`),
    ).toBe('automatic')
  })
  test('a reason that is not a reply, or has a number in it, does not make a bounce', () => {
    for (const body of ['The mailbox is full.', 'Reason: dial 550 to call'])
      expect([body, kindOf(`${from}Subject: Hello\n\n${body}\n`, 'a@b.example')]).toEqual([body, 'automatic'])
  })
  test('a reason far from the address is found, and without any text the subject is the answer', () => {
    const answerTo = (rest: string) => readReport(crlf(`${from}Subject: Mail delivery failed\n${rest}`), '', recipient).answer
    expect(answerTo('\nYour mail of today came back.\n\nThe mailbox is full.\n')).toBe('The mailbox is full.')
    expect(answerTo('Content-Type: image/png\n\nx\n')).toBe('Mail delivery failed')
  })
  test('the null sender alone does not make an enclosed message a bounce', () => {
    expect(
      kindOf(
        'From: ada@x\nSubject: Hello\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\nContent-Type: message/rfc822\n\nSubject: Hi\n--b--\n',
        '',
      ),
    ).toBe('letter')
  })
  test('a delay becomes final by X-Failed-Recipients, by a 5xx reply, by a 5.x.x code and by giving up', () => {
    const delay = 'We will try again later.\n'
    expect(kindOf(`${from}Subject: Hello\n\nNot yet delivered. ${delay}`)).toBe('delayed')
    expect(kindOf(`${from}X-Failed-Recipients: ${recipient}\nSubject: Hello\n\n${delay}`)).toBe('failed')
    expect(kindOf(`${from}Subject: Hello\n\n550 blue moon\n\nNot yet delivered. ${delay}`)).toBe('failed')
    expect(kindOfWords('Delayed', 'It will be retried. (#5.1.1)', false)).toBe('failed')
    expect(kindOfWords('Delayed', 'It will be retried. (#4.1.5)', false)).toBe('delayed')
    expect(kindOfWords('Delayed', 'It will be retried. We have given up.', false)).toBe('failed')
    expect(kindOfWords('Delayed', '', true)).toBe('failed')
  })
  test('codes come from the reply, then from the text, and general ones are refined', () => {
    const statusOfText = (body: string) =>
      readReport(crlf(`${from}Subject: Mail delivery failed\n\n${body}\n`), '', recipient).enhancedStatus
    expect(statusOfText(`${recipient}: 550 5.2.1 no\n\n(#5.1.1)`)).toBe('5.2.1')
    expect(statusOfText(`${recipient}: 550 no such moon\n\n(#5.1.1)`)).toBe('5.1.1')
    expect(statusOfText(`${recipient}: the mailbox is full`)).toBe('5.2.2')
    expect(statusOfText(`${recipient}: 550 the mailbox is full`)).toBeNull()
    expect(statusOfText(`${recipient}: the mailbox is full, room 550 too`)).toBe('5.2.2')
    expect(refineStatus('5.0.0', 'mailbox full')).toBe('5.2.2')
    expect(refineStatus(null, 'queue expired')).toBe('4.4.7')
    expect(refineStatus('5.0.0', 'blue moon')).toBe('5.0.0')
    for (const status of ['5.1.1', '15.0.0', '5.0.01']) expect(refineStatus(status, 'mailbox full')).toBe(status)
  })
})

describe('machine-readable parts', () => {
  const part = (type: string, body: string) =>
    `From: ada@x\nSubject: Hello\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\nContent-Type: ${type}\n\n${body}\n--b--\n`
  test('are known by their exact types', () => {
    const status = `Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; ${recipient}\nAction: failed\n`
    expect(kindOf(part('message/delivery-status', status), 'a@b')).toBe('failed')
    expect(kindOf(part('message/global-delivery-status', status), 'a@b')).toBe('failed')
    for (const type of ['message/delivery-status-x', 'x-message/delivery-status'])
      expect([type, kindOf(part(type, status), 'a@b')]).toEqual([type, 'letter'])
    expect(kindOf(part('message/feedback-report', 'Feedback-Type: abuse'), 'a@b')).toBe('complaint')
    for (const type of ['message/feedback-report-x', 'x-message/feedback-report'])
      expect([type, kindOf(part(type, 'Feedback-Type: abuse'), 'a@b')]).toEqual([type, 'letter'])
    for (const type of ['message/rfc822-x', 'x-message/rfc822'])
      expect([type, kindOf(part(type, 'X-HmXmrOriginalRecipient: a'), 'a@b')]).toEqual([type, 'letter'])
    expect(kindOf(part('message/rfc822', 'X-HmXmrOriginalRecipient: a'), 'a@b')).toBe('complaint')
  })
  test('moved into the text need a recipient and a result, at the start of lines', () => {
    const text = (body: string) => kindOf(`From: ada@x\nSubject: Hello\n\nHi\n${body}\n`, 'a@b')
    expect(text(`Original-Recipient : rfc822; ${recipient}\nAction : failed`)).toBe('failed')
    expect(text(`Final-Recipient: rfc822; ${recipient}`)).toBe('letter')
    expect(text('Action: failed')).toBe('letter')
    expect(text(`The Final-Recipient: rfc822; ${recipient}\nAction: failed`)).toBe('letter')
    expect(text(`Final-Recipient: rfc822; ${recipient}\nThe action: failed`)).toBe('letter')
  })
  test('fields at the first line of the text count, and lines above them do not', () => {
    const status = `Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; ${recipient}\nAction: failed\n`
    for (const above of ['', 'Note: x\n\n'])
      expect([above, readReport(crlf(`Subject: Hello\n\n${above}${status}`), 'a@b', recipient)]).toEqual([
        above,
        expect.objectContaining({ kind: 'failed', host: 'mx' }),
      ])
  })
  test('a sentence of the prose far from the address is not their reason', () => {
    const status = `Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; ${recipient}\nAction: failed\nStatus: 5.1.1\n`
    const raw = part('message/delivery-status', status).replace('\n\nx\n', '\n\nHello.\n\nThe mailbox is full.\n')
    expect(readReport(crlf(raw), '', recipient).answer).toBe('The mailbox does not exist.')
  })
  test('feedback: the type, the program and the host', () => {
    expect(readFeedback('User-Agent:  Loop/1 \r\nFeedback-Type: Fraud\r\nReporting-MTA: dns; mx.example\r\n')).toEqual({
      kind: 'complaint',
      enhancedStatus: null,
      answer: 'A feedback report of the type fraud came from Loop/1.',
      host: 'mx.example',
    })
    expect(readFeedback('Version: 1\n')).toEqual({
      kind: 'complaint',
      enhancedStatus: null,
      answer: 'A feedback report of the type other came.',
      host: null,
    })
    expect(readFeedback('Reporting-MTA: mx.example;x;y\n').host).toBe('x;y')
  })
})

describe('forwarded complaints', () => {
  const complaint = (more: Partial<Parameters<typeof readForwardedComplaint>[0]>) =>
    readForwardedComplaint({
      fields: [],
      author: 'ada@x.example',
      envelopeFrom: 'ada@x.example',
      subject: 'Hello',
      enclosed: Buffer.from('Subject: Hi\n\nx'),
      ...more,
    })
  test('by the author or the envelope of a loop, by the subject, or by the enclosed header', () => {
    expect(complaint({})).toBeNull()
    expect(complaint({ author: 'fbl@x.example' })?.answer).toBe('A complaint came from fbl@x.example.')
    expect(complaint({ envelopeFrom: 'scomp@aol.net' })?.answer).toBe('A complaint came from scomp@aol.net.')
    expect(complaint({ subject: 'Email Feedback Report for IP 192.0.2.1' })?.answer).toBe('A complaint came from ada@x.example.')
    expect(complaint({ subject: 'spam report', envelopeFrom: '' })?.answer).toBe('A complaint came from ada@x.example.')
    expect(complaint({ subject: 'spam report', envelopeFrom: '', author: '' })?.answer).toBe('A complaint came.')
    for (const end of ['\n\n', '\r\n\r\n']) {
      expect(complaint({ enclosed: Buffer.from(`X-HmXmrOriginalRecipient: a${end}x`) })?.kind).toBe('complaint')
      expect(complaint({ enclosed: Buffer.from(`Subject: Hi${end}X-HmXmrOriginalRecipient: a`) })).toBeNull()
    }
    expect(complaint({ enclosed: Buffer.from('X-AOL-INRLY: a') })?.kind).toBe('complaint')
    expect(complaint({ enclosed: Buffer.from(`X: ${'a'.repeat(40_000)}\nX-AOL-INRLY: a\n\nx`) })).toBeNull()
  })
  test('nothing without an enclosed message, but a redirected one by its field', () => {
    expect(complaint({ enclosed: null, author: 'fbl@x.example', subject: 'spam report' })).toBeNull()
    expect(
      complaint({ enclosed: null, fields: [{ key: 'x-hmxmroriginalrecipient', name: 'X-HmXmrOriginalRecipient', value: 'a' }] as never })
        ?.kind,
    ).toBe('complaint')
  })
})

test('lines above the header, with and without CR', () => {
  const text = `From ada Mon Apr 6\n \t\n\nFrom: postmaster@x\n${failing}`
  for (const raw of [Buffer.from(text), crlf(text)]) expect(readReport(raw, 'a@b', recipient).kind).toBe('failed')
  expect(readReport(Buffer.from(`x\nFrom: ada@x\n${failing}`), 'a@b', recipient).kind).toBe('letter')
})

test('automatic answers by each of their fields, without white space', () => {
  for (const field of [
    'Auto-Submitted:   auto-replied',
    'Auto-Submitted: auto-notified',
    'Precedence:  auto_reply',
    'X-Autoreply: 1',
    'X-Autorespond: 1',
    'X-Autoresponse: 1',
    'X-Mail-Autoreply: 1',
  ])
    expect([field, kindOf(`From: ada@x\n${field}\n${failing}`)]).toEqual([field, 'automatic'])
  for (const field of [
    'Auto-Submitted: auto-generated',
    'Auto-Submitted: no',
    'Auto-Submitted: not auto-replied',
    'Precedence: bulk',
    'Precedence: no auto_reply',
    'X-Other: auto-replied',
  ])
    expect([field, kindOf(`From: ada@x\n${field}\n${failing}`)]).toEqual([field, 'failed'])
})

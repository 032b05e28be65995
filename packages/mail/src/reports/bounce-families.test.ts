// Bounces as the families of mail systems write them, and complaints without a feedback part.
import { describe, expect, test } from 'vitest'
import { isHardBounce } from './hard-bounce.ts'
import { readReport } from './report.ts'

const recipient = 'ada@gone.example'
const crlf = (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'))
/** A text that a mail system wrote, with the null sender. */
const read = (subject: string, body: string, from = 'MAILER-DAEMON@mx.example', header = '') =>
  readReport(crlf(`From: ${from}\nSubject: ${subject}\n${header}Content-Type: text/plain; charset=utf-8\n\n${body}\n`), '', recipient)

const quoted = `Received: from agents.example by mx.example (Lotus SMTP MTA v4.6.1) with ESMTP; Mon, 6 Apr 2026 10:00:00 +0000
Return-Path: <bounce@agents.example>
Message-ID: <1@agents.example>
From: bob@agents.example
To: ${recipient}
Subject: Your quota is exceeded

550 5.7.1 this line is quoted, and no reason
`

describe('subjects of bounces', () => {
  const subjects = [
    'Mail delivery failed',
    'Mail delivery failed: returning message to sender',
    'Delivery failure',
    'Delivery Failure',
    'Undelivered Mail Returned to Sender',
    'Undeliverable: Hello',
    'Delivery Status Notification (Failure)',
    'failure notice',
    'Mail System Error - Returned Mail',
    'Non-Delivery Notice',
    'Nondeliverable mail',
    'Message status - undeliverable',
    'Unzustellbar: Hallo',
    'Zustellung fehlgeschlagen: nicht zugestellt',
    'Échec de la remise du message',
    'No se ha podido entregar el mensaje',
    'Mensagem não foi entregue',
    'Mancato recapito',
    'Onbestelbaar: Hallo',
    'Niedostarczona wiadomość',
    'Nedoručitelná zpráva',
    'Kunde inte levereras',
    'Сообщение не доставлено',
    'Недоставленное сообщение',
    '配信不能通知',
    '系统退信',
    '메일이 반송되었습니다',
  ]
  test.each(subjects)('%s', (subject) => expect(read(subject, 'x').kind).toBe('failed'))

  test('the same subjects from a person are ordinary messages', () => {
    for (const subject of subjects) {
      const raw = crlf(`From: Ada <ada@gone.example>\nSubject: ${subject}\n\nSee below.\n`)
      expect([subject, readReport(raw, 'ada@gone.example', recipient).kind]).toEqual([subject, 'letter'])
    }
  })
})

describe('the reason is from the report, never from the quoted message', () => {
  const families: Record<string, [body: string, answer: string, status: string | null]> = {
    Postfix: [
      `This is the mail system at host mx.example.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\n                   The mail system\n\n<${recipient}>: host mx.gone.example[192.0.2.1] said: 550-5.1.1 The account\n    550-5.1.1 does not exist 550 5.1.1 here (in reply to RCPT TO command)\n\n${quoted}`,
      '550 5.1.1 The account does not exist here (in reply to RCPT TO command)',
      '5.1.1',
    ],
    'Postfix with the address in the reply': [
      `<${recipient}>: host mx.gone.example[192.0.2.1] said: 554 5.7.1\n    <${recipient}>: Recipient address rejected: user ${recipient}\n    does not exist (in reply to RCPT TO command)\n`,
      `554 5.7.1 <${recipient}>: Recipient address rejected: user ${recipient} does not exist (in reply to RCPT TO command)`,
      '5.7.1',
    ],
    qmail: [
      `Hi. This is the qmail-send program at mx.example.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<${recipient}>:\n192.0.2.1 does not like recipient.\nRemote host said: 550 No such user here\nGiving up on 192.0.2.1.\n\n--- Below this line is a copy of the message.\n\n${quoted}`,
      '550 No such user here Giving up on 192.0.2.1.',
      null,
    ],
    Exim: [
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ${recipient}\n    SMTP error from remote mail server after RCPT TO:<${recipient}>:\n    host mx.gone.example [192.0.2.1]: 550 Requested action not taken:\n    mailbox unavailable\n\n------ This is a copy of the message, including all the headers. ------\n\n${quoted}`,
      '550 Requested action not taken: mailbox unavailable',
      null,
    ],
    sendmail: [
      `The original message was received at Mon, 6 Apr 2026 10:00:00 GMT\nfrom agents.example [192.0.2.9]\n\n   ----- The following addresses had permanent fatal errors -----\n<${recipient}>\n    (reason: 553 5.3.0 <${recipient}>... Addressee unknown)\n\n   ----- Transcript of session follows -----\n... while talking to mx.gone.example.:\n>>> DATA\n<<< 503 5.0.0 Need RCPT (recipient)\n\n   ----- Original message -----\n\n${quoted}`,
      `553 5.3.0 <${recipient}>... Addressee unknown`,
      '5.3.0',
    ],
    'Exchange 5.5': [
      `Your message\n\n  To:      ${recipient}\n  Subject: Hello\n  Sent:    Mon, 6 Apr 2026 10:00:00 +0000\n\ndid not reach the following recipient(s):\n\n${recipient} on Mon, 6 Apr 2026 10:01:00 +0000\n    The recipient name is not recognized\n\tThe MTS-ID of the original message is: c=us;a= ;p=gone\n    MSEXCH:IMS:GONE:MX 0 (000C05A6) Unknown Recipient\n`,
      'The recipient name is not recognized',
      null,
    ],
    Yahoo: [
      `Message from yahoo.example.\nUnable to deliver message to the following address(es).\n\n<${recipient}>:\nThis user doesn't have a gone.example account (${recipient}) [0]\n\n--- Original message follows.\n\n${quoted}`,
      `This user doesn't have a gone.example account (${recipient}) [0]`,
      null,
    ],
    Gmail: [
      `This is an automatically generated Delivery Status Notification\n\nDelivery to the following recipient failed permanently:\n\n     ${recipient}\n\nTechnical details of permanent failure:\nGoogle tried to deliver your message, but it was rejected by the recipient domain. The error that the other server returned was: 550 550 No mailbox by that name (state 14).\n\n   ----- Original message -----\n\n${quoted}`,
      '550 No mailbox by that name (state 14).',
      null,
    ],
    Domino: [
      `Your message\n\n  Subject: Hello\n\nwas not delivered to:\n\n  ${recipient}\n\nbecause:\n\n  User ada (${recipient}) not listed in Domino Directory\n\n`,
      `User ada (${recipient}) not listed in Domino Directory`,
      null,
    ],
    MDaemon: [`${recipient} - no such user here.\n\nThere is no user by that name at this server.\n`, 'no such user here.', null],
    IMail: [
      `Invalid final delivery userid: ${recipient}\n\n\nOriginal message follows.\n\n${quoted}`,
      `Invalid final delivery userid: ${recipient}`,
      null,
    ],
    'no reason at all': [
      `Delivery to the following recipients failed permanently:\n\n   * ${recipient}\n\n${quoted}`,
      'Delivery to the following recipients failed permanently:',
      null,
    ],
  }
  test.each(Object.entries(families))('%s', (_name, [body, answer, enhancedStatus]) => {
    expect(read('Mail delivery failed', body)).toEqual({ kind: 'failed', enhancedStatus, answer, host: null })
  })

  test('version numbers are not status codes', () => {
    const report = read('Delivery failure', `Lotus SMTP MTA v4.6.1 at mx.example, Exim 4.9.2\n\nThe message to ${recipient} was refused.\n`)
    expect(report.enhancedStatus).toBeNull()
  })

  test('a report in HTML only', () => {
    const html = `<p>Delivery has failed to these recipients:</p><p>${recipient}<br>mx.gone.example #550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##</p>`
    const raw = crlf(`From: postmaster@mx.example\nSubject: Undeliverable: Hi\nContent-Type: text/html\n\n${html}\n`)
    expect(readReport(raw, '', recipient)).toMatchObject({
      kind: 'failed',
      enhancedStatus: '5.1.1',
      answer: expect.stringMatching(/^550 5\.1\.1 RES/),
    })
  })

  test('empty lines and an mbox line above the header', () => {
    const raw = crlf(
      `From MAILER-DAEMON Mon Apr  6 10:00:00 2026\n\nFrom: MAILER-DAEMON@mx.example\nSubject: Mail delivery failed\n\n<${recipient}>: User unknown\n`,
    )
    expect(readReport(raw, '', recipient)).toMatchObject({ kind: 'failed', answer: 'User unknown' })
  })
})

describe('delivery status with unregistered or missing fields', () => {
  const status = (fields: string, text = 'x', subject = 'Delivery Status') =>
    readReport(
      crlf(
        `From: postmaster@mx.example\nSubject: ${subject}\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\nContent-Type: text/plain\n\n${text}\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; ${recipient}\n${fields}\n--b\nContent-Type: message/rfc822\n\n${quoted}--b--\n`,
      ),
      '',
      recipient,
    )
  test.each([
    ['expired', 'failed'],
    ['failure', 'failed'],
    ['Failed', 'failed'],
    ['undeliverable', 'failed'],
    ['error', 'failed'],
    ['delayed', 'delayed'],
    ['deferred', 'delayed'],
    ['warning', 'delayed'],
    ['delivered', 'delivered'],
    ['expanded', 'passed-on'],
    ['relayed (to a gateway)', 'passed-on'],
  ])('Action: %s is %s', (action, kind) => {
    // The prose says the opposite, and does not count.
    const prose = kind === 'failed' ? 'This is only a warning. We will continue to try.' : 'Your message could not be delivered.'
    expect(status(`Action: ${action}\nStatus: 4.4.7`, prose).kind).toBe(kind)
  })

  test('without an action the code decides, and without a code the prose', () => {
    expect(status('Status: 5.2.0').kind).toBe('failed')
    expect(status('Status: 2.1.5').kind).toBe('delivered')
    expect(status('Diagnostic-Code: smtp; 550 no such user').kind).toBe('failed')
    expect(status('Status: 4.4.1', 'Your message could not be delivered within 5 days. It has been given up.').kind).toBe('failed')
    expect(status('Status: 4.4.1', 'This is only a warning. We will continue to try for 4 days.').kind).toBe('delayed')
  })

  test('a reply in the status field', () => {
    expect(status('Action: failure\nStatus: 553 Exceeded the inbound message size')).toMatchObject({
      kind: 'failed',
      answer: '553 Exceeded the inbound message size',
    })
  })

  test('a diagnostic without words is completed from the text, then from the code', () => {
    expect(status('Action: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550', `<${recipient}>: 550 User unknown`)).toMatchObject({
      answer: '550 User unknown',
    })
    expect(status('Action: failed\nStatus: 5.1.1').answer).toBe('The mailbox does not exist.')
    expect(
      status(
        'Action: failed\nStatus: 5.1.1',
        `Failed:\n\n  ${recipient}\n\nThis message is confidential and blocked from unauthorized use.`,
      ).answer,
    ).toBe('The mailbox does not exist.')
    expect(status('Action: failed\nStatus: 5.9.9').answer).toBe('')
  })

  test('fields that a gateway moved into the text', () => {
    const report = read(
      'Returned mail',
      `Your mail came back.\n\nReporting-MTA: dns; mx.example\nFinal-Recipient: rfc822; ${recipient}\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552 quota exceeded\n`,
    )
    expect(report).toMatchObject({ kind: 'failed', enhancedStatus: '5.2.2', answer: '552 quota exceeded', host: 'mx.example' })
  })
})

describe('delays and expiry in prose', () => {
  test('a full mailbox that is tried again is a delay', () => {
    const report = read(
      'Mail Delivery Warning',
      `Delivery to this address\n"${recipient}"\nhas been postponed due to a full mailbox.\nWe will continue to try to deliver your message.\n`,
    )
    expect(report).toMatchObject({ kind: 'delayed', enhancedStatus: '5.2.2' })
  })
  test('the end of retries is 4.4.7, but the words of qmail for any permanent error are not', () => {
    expect(
      read('failure notice', `<${recipient}>:\nI'm not going to try again; this message has been in the queue too long.\n`).enhancedStatus,
    ).toBe('4.4.7')
    expect(read('failure notice', `This is a permanent error; I've given up.\n\n<${recipient}>:\nUser unknown\n`).enhancedStatus).toBeNull()
  })
  test('an enclosed message from a mail system is a bounce in any language', () => {
    const raw = crlf(
      `From: postmaster@mx.example\nSubject: Mesej anda\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nTiada ${recipient}.\n--b\nContent-Type: message/rfc822\n\n${quoted}--b--\n`,
    )
    expect(readReport(raw, '', recipient).kind).toBe('failed')
  })
  test('an automatic answer with the null sender that encloses a message is not a bounce', () => {
    const raw = crlf(
      `From: ${recipient}\nSubject: Absent\nAuto-Submitted: auto-replied\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nAway. Mail cannot be delivered to my desk.\n--b\nContent-Type: message/rfc822\n\n${quoted}--b--\n`,
    )
    expect(readReport(raw, '', recipient).kind).toBe('automatic')
  })
})

describe('complaints without a feedback part', () => {
  const enclosing = (from: string, subject: string, inner: string) =>
    crlf(
      `From: ${from}\nSubject: ${subject}\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\n${inner}--b--\n`,
    )
  test('Hotmail (JMRP) encloses the message', () => {
    const raw = enclosing('staff@hotmail.com', 'complaint about message from 192.0.2.1', quoted)
    expect(readReport(raw, 'staff@hotmail.com', recipient)).toEqual({
      kind: 'complaint',
      enhancedStatus: null,
      answer: 'A complaint came from staff@hotmail.com.',
      host: null,
    })
  })
  test('by the field that Hotmail adds to the enclosed message, or to the message that it redirects', () => {
    const marked = `X-HmXmrOriginalRecipient: ${recipient}\n${quoted}`
    expect(readReport(enclosing('someone@example.net', 'Hello', marked), 'someone@example.net', recipient).kind).toBe('complaint')
    expect(readReport(crlf(marked), 'staff@hotmail.com', recipient).kind).toBe('complaint')
  })
  test('the field in the body of the enclosed message does not count', () => {
    const raw = enclosing('someone@example.net', 'Hello', `${quoted}\nX-HmXmrOriginalRecipient: ${recipient}\n`)
    expect(readReport(raw, 'someone@example.net', recipient).kind).toBe('letter')
  })
  test('a forwarded message of a person is an ordinary message', () => {
    expect(readReport(enclosing('ada@gone.example', 'Fwd: Hello', quoted), 'ada@gone.example', recipient).kind).toBe('letter')
  })
})

test('a suppression follows from the reason, not from the quoted message', () => {
  const body = `<${recipient}>: mailbox is full\n\n${quoted.replace('550 5.7.1 this line', '550 5.1.1 User unknown: this line')}`
  const { enhancedStatus, answer } = read('Mail delivery failed', body)
  expect(isHardBounce(enhancedStatus, answer)).toBe(false)
})

// CALLSIGN_MAIL_TRANSPORT=direct on whole servers. One Callsign delivers to another by DNS alone.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MailSink, startMailSink } from './harness/mail-sink.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let there: Harness
let here: Harness
beforeAll(async () => {
  there = await startHarness({ CALLSIGN_MAIL_DOMAIN: 'there.example', CALLSIGN_MAIL_TRANSPORT: 'simulator' })
  here = await startHarness({
    CALLSIGN_MAIL_DOMAIN: 'here.example',
    CALLSIGN_MAIL_TRANSPORT: 'direct',
    CALLSIGN_MAIL_DIRECT_PORT: String(there.smtpPort),
    CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    CALLSIGN_DNS_SERVERS: there.dns.address,
  })
  there.dns.set('there.example', { MX: [{ preference: 10, exchange: 'mx.there.example' }] })
  there.dns.set('mx.there.example', { A: ['127.0.0.1'] })
  there.dns.set('nomail.example', { MX: [{ preference: 0, exchange: '.' }] })
  there.dns.set('here.example', { TXT: ['v=spf1 ip4:127.0.0.1 -all'] })
  there.dns.set('_dmarc.here.example', { TXT: ['v=DMARC1; p=reject'] })
  const { rows } = await here.db.query<{ selector: string; algorithm: string; public_key: string }>({
    text: `SELECT selector, algorithm, public_key FROM dkim_keys WHERE domain = 'here.example'`,
  })
  for (const { selector, algorithm, public_key: key } of rows)
    there.dns.set(`${selector}._domainkey.here.example`, { TXT: [`v=DKIM1; k=${algorithm.split('-')[0]}; p=${key}`] })
  await here.createAgent('ann', { display_name: 'Ann' })
  await there.createAgent('ben')
})
afterAll(async () => {
  await here.stop()
  await there.stop()
})

test('a message arrives encrypted, signed and authenticated, and is delivered at once', async () => {
  const { id } = await here.send('ann', 'ben@there.example', { subject: 'Straight', text: 'Grüße\n.\n', html: '<p>Grüße</p>' })
  const message = await here.waitForStatus('ann', id, 'delivered')
  expect(message.delivery.recipients[0]).toMatchObject({
    status: 'delivered',
    attempts: 1,
    diagnostic_code: null,
    log: [
      {
        result: 'taken',
        host: 'mx.there.example [127.0.0.1]',
        tls: expect.stringMatching(/^TLSv1\.[23] TLS_/),
        answer: expect.stringMatching(/^250 2\.0\.0 /),
        enhanced_status: '2.0.0',
      },
    ],
  })
  expect((await here.eventsOf(id)).map((event) => event.type)).toEqual(['email.sent', 'email.delivered'])
  const arrived = await there.waitForMail('ben', 'Straight')
  expect(arrived.authentication).toMatchObject({
    spf: { result: 'pass' },
    dkim: { result: 'pass', domain: 'here.example' },
    dmarc: { result: 'pass' },
  })
  expect(arrived.authentication.dkim.signatures.map((one: Json) => one.result)).toEqual(['pass', 'pass'])
})

test('each recipient has its own result for a mailbox, an unknown one, a domain without mail and an unknown domain', async () => {
  const to = ['ben@there.example', 'nobody@there.example', 'x@nomail.example', 'x@nowhere.invalid']
  const { id } = await here.send('ann', to, { subject: 'Four' })
  const message = await here.waitForStatus('ann', id, 'failed')
  expect(message.delivery.recipients.map((one: Json) => [one.status, one.attempts, one.diagnostic_code])).toEqual([
    ['delivered', 1, null],
    ['bounced', 1, '5.1.1'],
    ['failed', 1, '5.1.10'],
    ['failed', 1, '5.1.2'],
  ])
  expect((await here.eventsOf(id)).map((event) => event.type)).toEqual(['email.sent', 'email.delivered', 'email.bounced', 'email.failed'])
  // Later mail to this address is refused until it is taken off the list.
  const refused = await here.api('POST', '/mail/send', { body: { agent: 'ann', to: ['NOBODY@there.example'], subject: 'a', text: 'a' } })
  expect([refused.status, refused.body.error.code]).toEqual([403, 'recipient_suppressed'])
})

describe('from the mail sink', () => {
  let sink: MailSink
  let harness: Harness
  beforeAll(async () => {
    sink = await startMailSink()
    sink.answerRecipients((address, attempt) =>
      attempt <= 2 && address.startsWith('grey') ? '450 4.7.1 greylisted' : address.startsWith('spam') ? '550 5.7.1 looks like spam' : null,
    )
    harness = await startHarness({
      CALLSIGN_MAIL_TRANSPORT: 'direct',
      CALLSIGN_MAIL_DIRECT_PORT: new URL(sink.url).port,
      CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    })
    harness.dns.set('grey.example', { A: ['127.0.0.1'] })
    await harness.createAgent('ann')
  })
  afterAll(async () => {
    await harness.stop()
    await sink.close()
  })

  test('a greylisting server is retried until it accepts the message, and the log has each attempt', async () => {
    const { id } = await harness.send('ann', 'grey@grey.example')
    const message = await harness.waitForStatus('ann', id, 'delivered')
    expect(message.delivery.recipients[0].log.map((one: Json) => [one.result, one.enhanced_status, one.host])).toEqual([
      ['deferred', '4.7.1', 'grey.example [127.0.0.1]'],
      ['deferred', '4.7.1', 'grey.example [127.0.0.1]'],
      ['taken', null, 'grey.example [127.0.0.1]'],
    ])
  })

  test('a refusal of the message does not suppress the address', async () => {
    const { id } = await harness.send('ann', 'spam@grey.example')
    await harness.waitForStatus('ann', id, 'bounced')
    await harness.send('ann', 'spam@grey.example')
  })
})

test('a private mail server is refused unless the operator allows it', async () => {
  const harness = await startHarness({
    CALLSIGN_MAIL_TRANSPORT: 'direct',
    CALLSIGN_MAIL_DIRECT_PORT: String(there.smtpPort),
    CALLSIGN_DNS_SERVERS: there.dns.address,
  })
  try {
    await harness.createAgent('cat')
    const before = (await there.db.query({ text: 'SELECT 1 FROM messages' })).rowCount
    const { id } = await harness.send('cat', 'ben@there.example')
    const message = await harness.waitForStatus('cat', id, 'failed')
    expect(message.delivery.recipients[0].last_answer).toContain('no public address')
    expect((await there.db.query({ text: 'SELECT 1 FROM messages' })).rowCount).toBe(before)
  } finally {
    await harness.stop()
  }
})

// The statuses, attempts, answers and events of a queued message after each reply of the next hop.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MailSink, startMailSink } from './harness/mail-sink.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let sink: MailSink
let harness: Harness
beforeAll(async () => {
  sink = await startMailSink()
  sink.answerRecipients((address, attempt) => {
    if (address.startsWith('bad')) return '550 5.1.1 no such user'
    if (address.startsWith('later') && attempt <= 2) return '450 4.2.1 busy'
    if (address.startsWith('never')) return '451 4.3.0 not today'
    return null
  })
  sink.answerData((address, attempt) => {
    if (address.startsWith('spam')) return '554 5.7.1 spam'
    if (address.startsWith('slow') && attempt <= 1) return '452 4.3.1 full'
    return null
  })
  harness = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  await harness.createAgent('ann')
  await harness.createAgent('ben')
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
})

const outcomes = (message: Json) =>
  message.delivery.recipients.map((one: Json) => [one.address, one.status, one.attempts, one.diagnostic_code])
const types = async (id: string) => (await harness.eventsOf(id)).map((event) => event.type)

describe('through a relay', () => {
  test('2xx changes queued to sent, with the answer and an event', async () => {
    const { id } = await harness.send('ann', 'good@example.com')
    const message = await harness.waitForStatus('ann', id, 'sent')
    expect(message.delivery.recipients).toEqual([
      {
        address: 'good@example.com',
        status: 'sent',
        attempts: 1,
        last_answer: expect.stringMatching(/^250/),
        diagnostic_code: null,
        last_attempt_at: expect.any(String),
        next_attempt_at: null,
        log: [
          {
            at: expect.any(String),
            result: 'taken',
            host: '127.0.0.1',
            tls: null,
            answer: expect.stringMatching(/^250/),
            enhanced_status: null,
          },
        ],
      },
    ])
    expect(await harness.eventsOf(id)).toMatchObject([{ type: 'email.sent', data: { recipients: [{ address: 'good@example.com' }] } }])
  })

  test('5xx to the recipient bounces the message at once', async () => {
    const { id } = await harness.send('ann', 'bad1@example.com')
    const message = await harness.waitForStatus('ann', id, 'bounced', 'failed')
    expect(outcomes(message)).toEqual([['bad1@example.com', 'bounced', 1, '5.1.1']])
    expect(message.delivery.recipients[0].last_answer).toContain('no such user')
    expect([await types(id), sink.attempts('bad1@example.com')]).toEqual([['email.bounced'], 1])
  })

  test('5xx to the data bounces the message', async () => {
    const { id } = await harness.send('ann', 'spam1@example.com')
    expect(outcomes(await harness.waitForStatus('ann', id, 'bounced'))).toEqual([['spam1@example.com', 'bounced', 1, '5.7.1']])
  })

  test('4xx and then 2xx leaves the message queued in between, sent in the end, and accepted once', async () => {
    const { id } = await harness.send('ann', 'later1@example.com', { subject: 'Later' })
    const message = await harness.waitForStatus('ann', id, 'sent')
    expect(outcomes(message)).toEqual([['later1@example.com', 'sent', 3, null]])
    const { log } = message.delivery.recipients[0]
    expect(log.map((one: Json) => [one.result, one.enhanced_status])).toEqual([
      ['deferred', '4.2.1'],
      ['deferred', '4.2.1'],
      ['taken', null],
    ])
    expect(log[0].answer).toContain('busy')
    expect(log.map((one: Json) => one.at)).toEqual(log.map((one: Json) => one.at).toSorted())
    expect(sink.mails.filter((mail) => mail.parsed.subject === 'Later')).toHaveLength(1)
    expect(await types(id)).toEqual(['email.sent'])
  })

  test('4xx to the data is retried', async () => {
    const { id } = await harness.send('ann', 'slow1@example.com')
    expect(outcomes(await harness.waitForStatus('ann', id, 'sent'))).toEqual([['slow1@example.com', 'sent', 2, null]])
  })

  test('4xx until the end of the schedule fails the message', async () => {
    const { id } = await harness.send('ann', 'never1@example.com')
    const message = await harness.waitForStatus('ann', id, 'failed')
    // The first attempt and one for each of the three delays.
    expect(outcomes(message)).toEqual([['never1@example.com', 'failed', 4, '4.3.0']])
    expect([await types(id), sink.attempts('never1@example.com')]).toEqual([['email.failed'], 4])
  })

  test('mixed recipients have their own results, and the message the worst of them', async () => {
    const to = ['good2@example.com', 'bad2@example.com', 'later2@example.com', 'ben@agents.localhost']
    const { id } = await harness.send('ann', to, { subject: 'Mixed' })
    const message = await waitFor('every recipient to be settled', async () => {
      const found = await harness.getMessage('ann', id)
      return found.delivery.recipients.every((one: Json) => one.status !== 'queued') && found
    })
    expect(message.status).toBe('bounced')
    expect(outcomes(message)).toEqual([
      ['good2@example.com', 'sent', 1, null],
      ['bad2@example.com', 'bounced', 1, '5.1.1'],
      ['later2@example.com', 'sent', 3, null],
      ['ben@agents.localhost', 'delivered', 1, null],
    ])
    // A waiting recipient does not cause a second copy for the others.
    const taken = sink.mails.filter((mail) => mail.parsed.subject === 'Mixed').flatMap((mail) => mail.to)
    expect(taken.toSorted()).toEqual(['good2@example.com', 'later2@example.com'])
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ben/messages?subject=Mixed')
    expect(data).toHaveLength(1)
    expect(await types(id)).toEqual(['email.sent', 'email.delivered', 'email.bounced', 'email.sent'])
  })

  test('failed and bounced recipients make the message failed', async () => {
    const { id } = await harness.send('ann', ['bad3@example.com', 'never3@example.com', 'good3@example.com'])
    await harness.waitForStatus('ann', id, 'failed')
    expect((await types(id)).toSorted()).toEqual(['email.bounced', 'email.failed', 'email.sent'])
  })

  test('message statuses are filters of the list', async () => {
    for (const status of ['sent', 'bounced', 'failed']) {
      const { data } = await harness.expectApi(200, 'GET', `/mailboxes/ann/messages?status=${status}`)
      expect(data.length).toBeGreaterThan(0)
      expect(new Set(data.map((one: Json) => one.status))).toEqual(new Set([status]))
    }
  })
})

test('a message deleted while it waits is not sent', async () => {
  const next = await startMailSink()
  // The first attempt is deferred, a second one would be accepted.
  next.answerRecipients((_address, attempt) => (attempt <= 1 ? '450 4.2.1 busy' : null))
  const own = await startHarness({
    CALLSIGN_MAIL_TRANSPORT: 'relay',
    CALLSIGN_SMTP_RELAY_URL: next.url,
    CALLSIGN_MAIL_RETRY_SECONDS: '3600',
  })
  try {
    await own.createAgent('cat')
    const ids = [await own.send('cat', 'deleted@example.com'), await own.send('cat', 'kept@example.com')].map(({ id }) => id)
    const count = async (condition: string) =>
      (await own.db.query({ text: `SELECT 1 FROM jobs WHERE subject = ANY($1) AND ${condition}`, values: [ids] })).rowCount
    await waitFor('both to wait for their second attempt', async () => (await count('lease_token IS NULL AND run_at > now()')) === 2)
    await own.expectApi(200, 'DELETE', `/mailboxes/cat/messages/${ids[0]}`)
    await own.db.query({ text: 'UPDATE message_recipients SET next_attempt_at = now() WHERE message_id = ANY($1)', values: [ids] })
    await own.db.query({ text: 'UPDATE jobs SET run_at = now() WHERE subject = ANY($1)', values: [ids] })
    // A new message wakes the queue, which then finds all jobs that are due.
    await own.send('cat', 'new@example.com')
    await waitFor('the jobs to end', async () => (await count('true')) === 0)
    expect(['deleted@example.com', 'kept@example.com'].map((address) => next.attempts(address))).toEqual([1, 2])
  } finally {
    await own.stop()
    await next.close()
  }
})

test('a message to an unreachable relay stays queued with the reason, and leaves when the relay is back', async () => {
  const away = await startMailSink()
  const { url } = away
  await away.close()
  const own = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: url, CALLSIGN_MAIL_RETRY_SECONDS: '0.05,60' })
  try {
    await own.createAgent('cat')
    const { id } = await own.send('cat', 'x@example.com')
    const message = await waitFor('two attempts', async () => {
      const found = await own.getMessage('cat', id)
      return found.delivery.recipients[0].attempts === 2 && found
    })
    expect([message.status, message.delivery.recipients[0].status]).toEqual(['queued', 'queued'])
    expect(message.delivery.recipients[0].last_answer).toBeTruthy()
    const nextMs = Date.parse(message.delivery.recipients[0].next_attempt_at) - Date.now()
    // 60 seconds, give or take the jitter of a fifth.
    expect(nextMs).toBeGreaterThan(40_000)
    expect(nextMs).toBeLessThan(73_000)
    expect(await own.eventsOf(id)).toEqual([])
  } finally {
    await own.stop()
  }
})

test('the simulator records outside recipients as sent without a connection, and delivers hosted ones', async () => {
  const own = await startHarness()
  try {
    await own.createAgent('cat')
    await own.createAgent('dog')
    const { id } = await own.send('cat', ['x@example.com', 'dog@agents.localhost'], { subject: 'Simulated' })
    const message = await own.waitForStatus('cat', id, 'sent')
    expect(outcomes(message)).toEqual([
      ['x@example.com', 'sent', 1, null],
      ['dog@agents.localhost', 'delivered', 1, null],
    ])
    expect(message.delivery.recipients[0].last_answer).toContain('simulator')
    await own.waitForMail('dog', 'Simulated')
    expect((await own.eventsOf(id)).map((event) => event.type)).toEqual(['email.sent', 'email.delivered'])
  } finally {
    await own.stop()
  }
})

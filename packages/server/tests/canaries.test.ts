// Checks that the log never contains keys, bodies, subjects or addresses. They are sent by every path, including failures, and searched for in the
// log.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey } from '../src/features/account/keys/model.ts'
import { type MailSink, startMailSink } from './harness/mail-sink.ts'
import { type Harness, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let sink: MailSink
let harness: Harness
beforeAll(async () => {
  sink = await startMailSink()
  harness = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  await harness.createAgent('ann', { display_name: 'Canary-display-name', description: 'Canary-description' })
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
})

const canaries = {
  subject: 'Canary-subject-7c1f',
  text: 'Canary-text-7c1f and more words',
  html: '<p>Canary-html-7c1f</p>',
  file: 'Canary-file-7c1f',
  to: 'canary-recipient-7c1f@example.com',
  header: 'Canary-header-7c1f',
  sender: 'canary-sender-7c1f@example.org',
  query: 'Canary-query-7c1f',
}
const mailBody = (more: object = {}) => ({
  agent: 'ann',
  to: [canaries.to],
  subject: canaries.subject,
  text: canaries.text,
  html: canaries.html,
  headers: { 'X-Canary': canaries.header },
  attachments: [{ filename: `${canaries.file}.txt`, content: Buffer.from(canaries.file).toString('base64') }],
  ...more,
})
const arriving = (more: object = {}) => ({
  from: canaries.sender,
  to: 'ann@agents.localhost',
  subject: canaries.subject,
  text: canaries.text,
  html: canaries.html,
  attachments: [{ filename: `${canaries.file}.txt`, content: canaries.file }],
  ...more,
})

/** Checks that the log contains none of the canaries, in clear text or base64, and none of these words. */
function expectClean(...more: string[]): void {
  const lines = harness.logLines().flatMap((line) => line.split('\n'))
  expect(lines.length).toBeGreaterThan(5)
  const words = [...Object.values(canaries), 'Canary-display-name', 'Canary-description', ...more].flatMap((word) => [
    word.replace(/<\/?p>/g, '').toLowerCase(),
    Buffer.from(word).toString('base64').slice(0, 16).toLowerCase(),
  ])
  const found = lines.flatMap((line) => words.filter((word) => line.toLowerCase().includes(word)).map((word) => ({ word, line })))
  expect(found).toEqual([])
}
const secretOf = (key: string): string => key.slice(25, 68)

test('keys that are made, used, refused and revoked stay out of the log', async () => {
  const { id, key } = await harness.expectApi(201, 'POST', '/keys', {
    body: { name: 'Canary-key-name', type: 'organization' },
    headers: { 'idempotency-key': 'k' },
  })
  await harness.expectApi(200, 'GET', '/me', { key })
  await harness.expectApi(200, 'DELETE', `/keys/${id}`)
  const unknown = generateKey()
  for (const refused of [key, unknown, `${unknown}x`, unknown.slice(0, -1)]) await harness.expectApi(401, 'GET', '/me', { key: refused })
  await harness.expectApi(401, 'GET', '/me', { key: null, headers: { authorization: `Basic ${unknown}` } })
  await harness.expectApi(200, 'GET', `/me?api_key=${unknown}`)
  await harness.expectApi(404, 'GET', `/api/v1/${unknown}`)
  expectClean(...[key, unknown, harness.organizationKey, harness.otherOrganization.key].map(secretOf))
})

test('outgoing mail that is sent, refused by the relay or refused by the server stays out of the log', async () => {
  sink.answerRecipients((address, attempt) =>
    attempt > 2 ? `550 5.7.1 <${address}> refused` : attempt > 1 ? `451 4.2.0 <${address}> later` : null,
  )
  for (let i = 0; i < 3; i++) {
    const { id } = await harness.expectApi(201, 'POST', '/mail/send', { body: mailBody(), headers: { 'idempotency-key': `canary-${i}` } })
    await harness.waitForStatus('ann', id, 'sent', 'bounced', 'failed')
  }
  for (const more of [{ to: [`${canaries.to} ${canaries.sender}`] }, { [canaries.query]: 1 }, { headers: { From: canaries.sender } }])
    await harness.expectApi(400, 'POST', '/mail/send', { body: mailBody(more) })
  await harness.expectApi(400, 'POST', '/mail/send', { body: JSON.stringify(mailBody()).slice(0, -5) })
  for (const more of [{ agent: 'nobody' }, { thread_id: canaries.query }])
    await harness.expectApi(404, 'POST', '/mail/send', { body: mailBody(more) })
  await harness.expectApi(400, 'POST', '/mail/send', {
    body: mailBody({ attachments: [{ filename: 'a', url: `http://127.0.0.1:1/${canaries.file}` }] }),
  })
  expectClean()
})

test('incoming mail that is accepted, refused, unreadable, read, searched, answered and downloaded stays out of the log', async () => {
  await harness.deliver(arriving())
  await expect(harness.deliver(arriving({ to: 'canary-nobody-7c1f@agents.localhost' }))).rejects.toThrow('550')
  await harness.deliver({
    envelope: { from: canaries.sender, to: 'ann@agents.localhost' },
    raw: `${canaries.subject}\r\nContent-Type: multipart/x; boundary=\r\n\r\n${canaries.text}`,
  })
  const message = await harness.waitForMail('ann', canaries.subject)
  const path = `/mailboxes/ann/messages/${message.id}`
  await harness.expectApi(200, 'GET', `/mailboxes/ann/search?q=${canaries.query}`)
  await harness.expectApi(200, 'GET', `/mailboxes/ann/messages?subject=${canaries.subject}&from=${canaries.sender}`)
  await harness.expectApi(200, 'GET', `${path}/raw`)
  await harness.expectApi(200, 'PATCH', path, { body: { add_labels: [canaries.query] } })
  await harness.expectApi(201, 'POST', `${path}/reply`, { body: { text: canaries.text, to: canaries.to } })
  await harness.expectApi(404, 'GET', `/mailboxes/${canaries.to}/messages`)
  const link = new URL(message.attachments[0].url)
  await harness.expectApi(200, 'GET', link.pathname + link.search, { key: null })
  await harness.expectApi(403, 'GET', `${link.pathname}?expires=1&signature=${canaries.query}`, { key: null })
  expectClean('canary-nobody-7c1f', link.searchParams.get('signature') as string)
})

test('texts that are delivered, forged, read and refused stay out of the log, with their media', async () => {
  await harness.createAgent('phoned')
  const number = await harness.expectApi(201, 'POST', '/phone/numbers', { body: { agent_handle: 'phoned' } })
  const body = { to: number.phone_number, from: '+16502537700', text: canaries.text }
  const sent = await harness.expectApi(201, 'POST', '/simulator/sms', { body })
  await harness.expectApi(201, 'POST', '/simulator/sms', { body: { ...body, media: [{ url: `http://127.0.0.1:1/${canaries.file}` }] } })
  await waitFor('both texts', async () => (await harness.expectApi(200, 'GET', `/phone/numbers/${number.id}/messages`)).data.length === 2)
  await harness.expectApi(200, 'GET', `/phone/numbers/${number.id}/messages/${sent.message_id}`)
  await harness.expectApi(400, 'POST', '/simulator/sms', { body: { ...body, [canaries.query]: 1 } })
  await harness.expectApi(404, 'POST', `/hooks/phone/simulator/${canaries.query}`, { key: null, body: canaries.text })
  await harness.expectApi(404, 'GET', '/phone/numbers/+16502537700')
  await harness.expectApi(200, 'DELETE', `/phone/numbers/${number.id}`)
  expectClean(number.phone_number, '+16502537700')
})

test('iMessage conversations that are paired, written, answered, refused and ended stay out of the log', async () => {
  await harness.createAgent('paired', { display_name: 'Canary-display-name' })
  const from = '+16502537701'
  const { conversation_id } = await harness.expectApi(201, 'POST', '/simulator/imessage', { body: { from, text: 'connect @paired' } })
  await harness.expectApi(201, 'POST', '/simulator/imessage', { body: { from, text: canaries.text } })
  const { id } = await harness.expectApi(200, 'POST', '/imessage/messages', { body: { conversation_id, text: canaries.text } })
  const path = `/imessage/messages?conversation_id=${conversation_id}`
  await waitFor('the answer to be sent', async () =>
    (await harness.expectApi(200, 'GET', path)).messages.some(
      (one: { id: string; status: string }) => one.id === id && one.status === 'sent',
    ),
  )
  await harness.expectApi(200, 'GET', `/imessage/router?agent=paired&phone=${encodeURIComponent(from)}`)
  await harness.expectApi(400, 'GET', `/imessage/router?agent=paired&phone=${canaries.query}`)
  await harness.expectApi(400, 'POST', '/imessage/messages', {
    body: { conversation_id, text: canaries.text, media_url: `http://127.0.0.1:1/${canaries.file}` },
  })
  await harness.expectApi(403, 'POST', '/imessage/messages', { body: { to: '+16502537702', identity_id: 'paired', text: canaries.text } })
  await harness.expectApi(404, 'POST', `/hooks/imessage/simulator/${canaries.query}`, { key: null, body: canaries.text })
  await harness.expectApi(201, 'POST', '/simulator/imessage', { body: { from, text: 'stop' } })
  expectClean(from, '+16502537702')
})

describe('when the database refuses a row', () => {
  // PostgreSQL puts the whole row into the detail of such an error.
  const constraint = (verb: string) => harness.db.query({ text: `ALTER TABLE messages ${verb}` })
  beforeAll(() => constraint(`ADD CONSTRAINT canary CHECK (subject NOT LIKE 'Canary%') NOT VALID`))
  afterAll(() => constraint('DROP CONSTRAINT canary'))

  test('the API answers 500 without its contents, and so does the log', async () => {
    const before = harness.logLines().length
    const { status, body } = await harness.api('POST', '/mail/send', { body: mailBody(), headers: { 'idempotency-key': 'refused' } })
    expect([status, body.error.code]).toEqual([500, 'internal_error'])
    expect(JSON.stringify(body)).not.toMatch(/canary/i)
    const lines = harness.logLines().slice(before).join('')
    expect(lines).toContain(body.error.request_id)
    expect(lines).toContain('violates check constraint')
    expectClean()
  })

  test('SMTP answers 451 without its contents, and so does the log', async () => {
    const error = await harness.deliver(arriving()).then(
      () => null,
      (reason: Error & { response?: string }) => reason,
    )
    expect(error?.response).toMatch(/^451 /)
    expect(error?.response).not.toMatch(/canary/i)
    await waitFor('the failure in the log', () => harness.logLines().join('').includes('was not accepted'))
    expectClean()
  })
})

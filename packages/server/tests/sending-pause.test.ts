// The pause of an organization under load: nothing leaves while it lasts, and afterwards everything leaves once.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCallsignd } from './harness/callsignd.ts'
import { type MailSink, startMailSink } from './harness/mail-sink.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let sink: MailSink
beforeAll(async () => {
  sink = await startMailSink()
  harness = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  for (const handle of ['ann', 'ben']) await harness.createAgent(handle)
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
})

const organization = (action: '' | '/pause' | '/resume', body?: Json) =>
  harness.expectApi(200, action === '' ? 'GET' : 'POST', `/organization${action}`, { body })

/** Numbers of jobs that deliver mail: running, due, and held for later. */
async function countJobs(): Promise<{ running: number; due: number; held: number }> {
  const { rows } = await harness.db.query<{ running: number; due: number; held: number }>({
    text: `SELECT (count(*) FILTER (WHERE lease_token IS NOT NULL))::int AS running,
      (count(*) FILTER (WHERE lease_token IS NULL AND run_at <= now()))::int AS due,
      (count(*) FILTER (WHERE lease_token IS NULL AND run_at > now()))::int AS held
      FROM jobs WHERE kind IN ('deliver-message', 'imessage-chat')`,
  })
  return rows[0] as { running: number; due: number; held: number }
}

const settled = () =>
  waitFor('all jobs to be held', async () => {
    const { running, due } = await countJobs()
    return running + due === 0
  })

const messageIdsIn = () => sink.mails.map((mail) => mail.parsed.messageId as string)

test('a pause under load holds every message, retries too, and loses and repeats none', async () => {
  sink.answerData((address, attempt) => (address.startsWith('later') && attempt === 1 ? '451 4.2.0 later' : null))
  const sent: string[] = []
  const send = async (index: number) => {
    const to = index % 5 === 0 ? `later${index}@example.com` : index % 5 === 1 ? 'ben@agents.localhost' : `now${index}@example.com`
    const { id, status } = await harness.send('ann', to, { subject: `Number ${index}` })
    expect(status).toBe('queued')
    sent.push(id)
  }
  const isPaused = Promise.withResolvers<void>()
  const sender = async (first: number) => {
    for (let index = first; index < 96; index += 8) {
      if (index >= 80) await isPaused.promise
      await send(index)
    }
  }
  const senders = Promise.all(Array.from({ length: 8 }, (_, first) => sender(first)))
  await waitFor('some messages to leave', () => sink.mails.length >= 10)
  const paused = await organization('/pause', { reason: 'Wrong people' })
  isPaused.resolve()
  expect(paused).toMatchObject({ paused_at: expect.any(String), pause_reason: 'Wrong people' })
  await senders
  expect(sent).toHaveLength(96)
  await settled()
  const before = sink.mails.length
  const { held } = await countJobs()
  expect(held).toBeGreaterThan(0)
  // Every held job looks again and stays held.
  await harness.db.query({ text: `UPDATE jobs SET run_at = now() WHERE kind = 'deliver-message'` })
  await settled()
  expect(sink.mails.length).toBe(before)
  expect((await countJobs()).held).toBe(held)

  const resumed = await organization('/resume')
  expect(resumed).toMatchObject({ paused_at: null, pause_reason: null })
  const messages = await Promise.all(sent.map((id) => harness.waitForStatus('ann', id, 'sent', 'delivered')))
  const outside = messages.filter((message) => !message.to.includes('ben@agents.localhost'))
  expect(messageIdsIn().toSorted()).toEqual(outside.map((message: Json) => message.message_id).toSorted())
  const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ben/messages?direction=inbound&limit=100')
  expect(new Set(data.map((one: Json) => one.subject)).size).toBe(data.length)
  expect(data).toHaveLength(messages.length - outside.length)
})

test('pause and resume are idempotent, in the audit log, and for organization keys', async () => {
  const first = await organization('/pause', { reason: 'One' })
  const again = await organization('/pause', { reason: 'Two' })
  expect(again).toEqual(first)
  expect(await organization('')).toEqual(first)
  await organization('/resume')
  await organization('/resume')
  const { data } = await harness.expectApi(200, 'GET', '/audit?limit=3')
  expect(data.slice(0, 2).map((one: Json) => [one.action, one.details])).toEqual([
    ['organization.resumed', {}],
    ['organization.paused', { reason: 'One' }],
  ])
  const key = await harness.agentKey('ann')
  for (const action of ['pause', 'resume']) expect((await harness.api('POST', `/organization/${action}`, { key })).status).toBe(403)
})

test('a pause of one organization does not hold the mail of another', async () => {
  const { key } = harness.otherOrganization
  await harness.createAgent('other', {}, key)
  await organization('/pause')
  const { id } = await harness.expectApi(201, 'POST', '/mail/send', {
    key,
    body: { agent: 'other', to: ['now@example.com'], subject: 'Other', text: 'Other' },
  })
  await waitFor('the message to leave', async () => {
    const message = await harness.expectApi(200, 'GET', `/mailboxes/other/messages/${id}`, { key })
    return message.status === 'sent'
  })
  await organization('/resume')
})

test('two processes under load hold what is paused, and resume sends each message once, though one of them was killed meanwhile', async () => {
  const other = await startCallsignd({ ...harness.environment, CALLSIGN_SMTP_PORT: '0' })
  sink.mails.length = 0
  const accepted: string[] = []
  const bases = [harness.baseUrl, other.baseUrl]
  const isPaused = Promise.withResolvers<void>()
  const sender = async (first: number) => {
    for (let index = first; index < 160; index += 16) {
      if (index >= 144) await isPaused.promise
      const answer = await fetch(`${bases[index % 2]}/api/v1/mail/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${harness.organizationKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ agent: 'ann', to: [`pair${index}@example.com`], subject: `Pair ${index}`, text: 'Hello' }),
      })
      expect(answer.status).toBe(201)
      accepted.push(((await answer.json()) as Json).id)
    }
  }
  const senders = Promise.all(Array.from({ length: 16 }, (_, first) => sender(first)))
  await waitFor('some messages to leave', () => sink.mails.length >= 10)
  await organization('/pause', { reason: 'Two processes' })
  isPaused.resolve()
  await senders
  expect(new Set(accepted).size).toBe(160)
  await settled()
  const before = sink.mails.length
  expect(before).toBeLessThan(160)
  await harness.db.query({ text: `UPDATE jobs SET run_at = now() WHERE kind = 'deliver-message'` })
  await settled()
  expect(sink.mails.length).toBe(before)
  other.signal('SIGKILL')
  await other.ended

  await organization('/resume')
  for (const id of accepted) await harness.waitForStatus('ann', id, 'sent')
  const subjects = sink.mails.map((mail) => mail.parsed.subject)
  expect(subjects.toSorted()).toEqual(Array.from({ length: 160 }, (_, index) => `Pair ${index}`).toSorted())
})

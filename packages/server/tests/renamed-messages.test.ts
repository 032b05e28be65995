// A relay that replaces the Message-ID, as Amazon SES does: answers to the id that recipients got join the thread of the sent message.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readMailCase } from './harness/mail-cases.ts'
import { type MailSink, startMailSink } from './harness/mail-sink.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let sink: MailSink
let harness: Harness
beforeAll(async () => {
  sink = await startMailSink()
  harness = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  await harness.createAgent('agent', { inbound_mode: 'allowlist' })
  await harness.createAgent('other')
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
})

const recipient = 'recipient@customer.example'
let count = 0
/** A message of the agent that the relay has accepted with this answer. */
async function sendWith(answer: string, more: Json = {}): Promise<Json> {
  sink.answerAccepted(() => answer)
  const { id } = await harness.send('agent', recipient, { subject: 'Offer', ...more })
  return harness.waitForStatus('agent', id, 'sent')
}
/** A mail to a mailbox with these ids in In-Reply-To or References, as it has arrived. */
async function answerWith(ids: Json, status: 'received' | 'quarantined' = 'received', more: Json = {}): Promise<Json> {
  const subject = `Re: Offer ${++count}`
  await harness.deliver({ from: `Recipient <${recipient}>`, to: 'agent@agents.localhost', subject, text: 'Yes', ...ids, ...more })
  return harness.waitForMail(more.to === undefined ? 'agent' : 'other', subject, status)
}

const given = JSON.parse(readMailCase('answer-to-a-renamed-message.json'))
const { 'In-Reply-To': renamed } = given.headers_of_the_answer

test('the answer joins the thread, and an allowlist receives it as a reply', async () => {
  const before = await answerWith({ inReplyTo: renamed }, 'quarantined')
  const message = await sendWith(given.reply_of_the_relay_to_the_message.slice(4))
  expect(before.thread_id).not.toBe(message.thread_id)
  const answer = await answerWith({ inReplyTo: renamed, references: [renamed] })
  expect(answer).toMatchObject({ thread_id: message.thread_id, in_reply_to_message_id: message.id, guardrail: { basis: 'reply' } })
})

const uuid = (last: number) => `1a2b3c4d-5e6f-7081-92a3-00000000000${last}`

test.each([
  ['a region', `Ok 0102018f0c2d3e4f-${uuid(1)}-000000`, `<0102018f0c2d3e4f-${uuid(1)}-000000@eu-west-1.amazonses.com>`],
  ['an enhanced status code', `2.0.0 Ok: queued as ${uuid(2)}`, `<${uuid(2)}@mail.relay.example>`],
  ['a whole Message-ID', `2.6.0 <AM0PR01MB1234${uuid(3)}@prod.relay.example> Queued`, `<AM0PR01MB1234${uuid(3)}@prod.relay.example>`],
])('%s, by References alone', async (_name, answer, id) => {
  const message = await sendWith(answer)
  expect(await answerWith({ references: [id] })).toMatchObject({ thread_id: message.thread_id, guardrail: { basis: 'reply' } })
})

test('the ids in References of an answer that joins are known from then on', async () => {
  const message = await sendWith('OK')
  const unseen = '<renamed-follow-up@relay.example>'
  const first = await answerWith({ references: [message.message_id, unseen] })
  expect(await answerWith({ inReplyTo: unseen })).toMatchObject({ thread_id: first.thread_id, guardrail: { basis: 'reply' } })
})

test('an unknown id, an altered one, and the number of a queue join nothing', async () => {
  const long = `0100018f0c2d3e4f-${uuid(4)}-000000`
  const message = await sendWith(`Ok ${long} 4TzQ1r2VbGz9sVJ 17000000000000000000000000001`)
  for (const id of [
    `<${long}@email.relay.example.evil@x.example>`,
    `<${long.replace(/.$/, '1')}@email.relay.example>`,
    `<${long.slice(0, -1)}@email.relay.example>`,
    '<4TzQ1r2VbGz9sVJ@email.relay.example>',
    '<17000000000000000000000000001@email.relay.example>',
    '<relay@email.relay.example>',
    `<relay:${long}>`,
  ]) {
    const answer = await answerWith({ inReplyTo: id }, 'quarantined')
    expect([answer.thread_id === message.thread_id, answer.in_reply_to_message_id], id).toEqual([false, null])
  }
})

test('the id of a message of another mailbox joins nothing', async () => {
  await sendWith(`Ok 0100018f0c2d3e4f-${uuid(5)}-000000`)
  const answer = await answerWith({ inReplyTo: `<0100018f0c2d3e4f-${uuid(5)}-000000@email.relay.example>` }, 'received', {
    to: 'other@agents.localhost',
  })
  expect(answer.in_reply_to_message_id).toBeNull()
})

test('a sender that the agent has not written to stays in quarantine, with a true id too', async () => {
  const id = `0100018f0c2d3e4f-${uuid(7)}-000000`
  const message = await sendWith(`Ok ${id}`)
  const stranger = await answerWith({ inReplyTo: `<${id}@email.relay.example>` }, 'quarantined', { from: 'stranger@elsewhere.example' })
  expect(stranger.thread_id).not.toBe(message.thread_id)
})

test('the id of one message is not given to another one', async () => {
  const id = `0100018f0c2d3e4f-${uuid(6)}-000000`
  const [first, second] = [await sendWith(`Ok ${id}`), await sendWith(`Ok ${id}`)]
  expect(second.thread_id).not.toBe(first.thread_id)
  expect((await answerWith({ inReplyTo: `<${id}@email.relay.example>` })).thread_id).toBe(first.thread_id)
})

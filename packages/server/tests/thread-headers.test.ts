// In-Reply-To and References that callers write themselves, as programs of other mail services do: by Resend, AgentMail, our API and drafts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCase } from './harness/mail-cases.ts'
import type { SunkMail } from './harness/mail-sink.ts'
import { type Relayed, startRelayed } from './harness/relayed.ts'
import { createResend } from './harness/resend-sdk.ts'
import type { Json } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let relayed: Relayed
beforeAll(async () => {
  relayed = await startRelayed()
  await relayed.harness.createAgent('agent')
})
afterAll(() => relayed.stop())

const sunk = (subject: string): Promise<SunkMail> =>
  waitFor(`mail ${subject}`, () => relayed.sink.mails.find(({ parsed }) => parsed.subject === subject))

/** A message for `agent` with this Message-ID. */
async function question(messageId: string, subject: string): Promise<Json> {
  await relayed.harness.deliver({ from: 'sender@customer.example', to: 'agent@agents.localhost', subject, text: '?', messageId })
  return relayed.harness.waitForMail('agent', subject)
}

/** Sends by the API of AgentMail. Resolves with the status and the answer. */
async function sendByAgentMail(body: Json): Promise<{ status: number; body: Json }> {
  const answer = await fetch(`${relayed.harness.baseUrl}/compat/agentmail/v0/inboxes/agent@agents.localhost/messages/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${relayed.harness.organizationKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: await answer.json() }
}

describe('an email of Resend', () => {
  const email = JSON.parse(readCase('thread-headers-of-an-email.json'))

  test('has its thread headers on the wire, and joins the thread of the named message', async () => {
    const { thread_id } = await question('<question.1@customer.example>', 'Question')
    const { data, error } = await createResend(relayed.harness).emails.send(email)
    expect(error).toBeNull()
    const message = await relayed.harness.getMessage('agent', data?.id as string)
    expect(message.thread_id).toBe(thread_id)
    expect((await sunk('Re: Question')).parsed).toMatchObject({
      inReplyTo: '<question.1@customer.example>',
      references: '<question.1@customer.example>',
    })
  })

  test.each([
    ['In-Reply-To alone, in lower case', { 'in-reply-to': '<a@elsewhere.example>' }, '<a@elsewhere.example>', '<a@elsewhere.example>'],
    [
      'References alone, in several lines of blanks',
      { References: '<a@elsewhere.example>   <b@elsewhere.example>' },
      '<b@elsewhere.example>',
      '<a@elsewhere.example> <b@elsewhere.example>',
    ],
    [
      'both in another order',
      { References: '<b@elsewhere.example> <a@elsewhere.example>', 'IN-REPLY-TO': '<b@elsewhere.example>' },
      '<b@elsewhere.example>',
      '<a@elsewhere.example> <b@elsewhere.example>',
    ],
  ])('with %s, of messages elsewhere', async (subject, headers, inReplyTo, references) => {
    const list = { 'List-Unsubscribe': '<https://x.example/u>', 'X-Priority': '1' }
    const { error } = await createResend(relayed.harness).emails.send({ ...email, subject, headers: { ...headers, ...list } })
    expect(error).toBeNull()
    const { parsed } = await sunk(subject)
    expect([parsed.inReplyTo, parsed.references]).toEqual([inReplyTo, references])
    expect(Object.fromEntries(parsed.headers.map(({ key, value }) => [key, value]))).toMatchObject({
      'list-unsubscribe': '<https://x.example/u>',
      'x-priority': '1',
    })
  })

  test('that is scheduled keeps them', async () => {
    const { id, thread_id } = await question('<question.2@customer.example>', 'Question 2')
    const { data } = await createResend(relayed.harness).emails.send({
      ...email,
      subject: 'Later',
      scheduledAt: 'in 1 hour',
      headers: { References: '<x@y.example> <question.2@customer.example>' },
    })
    const [draftId] = String(data?.id).split('.') as [string]
    const draft = await relayed.harness.expectApi(200, 'GET', `/mailboxes/agent/drafts/${draftId}`)
    expect([draft.thread_id, draft.in_reply_to_message_id]).toEqual([thread_id, id])
    await relayed.harness.makeDraftsDue(draftId)
    expect((await sunk('Later')).parsed.references).toBe('<x@y.example> <question.2@customer.example>')
  })

  test.each(['Message-ID', 'From', 'Received', 'DKIM-Signature', 'Bcc'])('is refused with %s', async (name) => {
    const { error } = await createResend(relayed.harness).emails.send({ ...email, headers: { ...email.headers, [name]: '<x@y.example>' } })
    expect(error).toMatchObject({ name: 'validation_error' })
  })

  test('is refused for a thread header without an id, and for a line break', async () => {
    for (const value of ['yesterday', ' ', 'a\r\nBcc: x@y.example'])
      expect((await createResend(relayed.harness).emails.send({ ...email, headers: { 'In-Reply-To': value } })).error, value).not.toBeNull()
  })
})

describe('a message of AgentMail', () => {
  test('has its thread headers', async () => {
    const { thread_id } = await question('<question.3@customer.example>', 'Question 3')
    const headers = { 'In-Reply-To': '<question.3@customer.example>', 'X-Own': '1' }
    const sent = await sendByAgentMail({ to: 'sender@customer.example', subject: 'By AgentMail', text: 'x', headers })
    expect([sent.status, sent.body.thread_id]).toEqual([200, thread_id])
    expect((await sunk('By AgentMail')).parsed.inReplyTo).toBe('<question.3@customer.example>')
    expect((await sendByAgentMail({ to: 'a@b.example', subject: 'x', text: 'x', headers: { Sender: 'a@b.example' } })).status).toBe(400)
  })
})

describe('references of our API', () => {
  test('a single known one brings the chain of its message', async () => {
    await relayed.harness.deliver({
      from: 'sender@customer.example',
      to: 'agent@agents.localhost',
      subject: 'Chain',
      text: '?',
      messageId: '<c3@customer.example>',
      references: '<c1@customer.example> <c2@customer.example>',
      inReplyTo: '<c2@customer.example>',
    })
    const { id, thread_id } = await relayed.harness.waitForMail('agent', 'Chain')
    const sent = await relayed.harness.send('agent', 'sender@customer.example', {
      subject: 'Re: Chain',
      references: ['<c3@customer.example>'],
    })
    expect(await relayed.harness.getMessage('agent', sent.id)).toMatchObject({
      thread_id,
      in_reply_to_message_id: id,
      references: ['<c1@customer.example>', '<c2@customer.example>', '<c3@customer.example>'],
    })
  })

  test('of another mailbox join nothing', async () => {
    await relayed.harness.deliver({
      from: 'sender@customer.example',
      to: 'ann@agents.localhost',
      subject: 'For Ann',
      text: '?',
      messageId: '<ann@customer.example>',
    })
    const { thread_id } = await relayed.harness.waitForMail('ann', 'For Ann')
    const sent = await relayed.harness.send('agent', 'x@customer.example', { references: ['<ann@customer.example>'] })
    expect(sent.thread_id).not.toBe(thread_id)
  })

  test.each([['no brackets'], ['<a b@c>'], ['<a@b>\r\nBcc: x@y.example'], ['<>']])('%j is not a Message-ID: 400', async (reference) => {
    const { status } = await relayed.harness.api('POST', '/mailboxes/agent/messages', {
      body: { to: ['a@b.example'], subject: 'x', text: 'x', references: [reference] },
    })
    expect(status).toBe(400)
  })

  test('with thread_id, or with in_reply_to of a draft: 400', async () => {
    const { id, thread_id } = await question('<question.4@customer.example>', 'Question 4')
    const references = ['<question.4@customer.example>']
    const message = { to: ['a@b.example'], subject: 'x', text: 'x', thread_id, references }
    expect((await relayed.harness.api('POST', '/mailboxes/agent/messages', { body: message })).status).toBe(400)
    expect((await relayed.harness.api('POST', '/mailboxes/agent/drafts', { body: { in_reply_to: id, references } })).status).toBe(400)
  })
})

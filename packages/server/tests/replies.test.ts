// Replies and forwards, with their recipients, their headers and their thread.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MailSink, SunkMail } from './harness/mail-sink.ts'
import { type Relayed, startRelayed } from './harness/relayed.ts'
import type { Harness, Json } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let relayed: Relayed
let sink: MailSink
let harness: Harness
beforeAll(async () => {
  relayed = await startRelayed()
  ;({ sink, harness } = relayed)
})
afterAll(() => relayed.stop())

const arrive: Relayed['arrive'] = (mail) => relayed.arrive(mail)
const reply = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  harness.api('POST', `/mailboxes/ann/messages/${id}/reply`, { body, headers })
const replied = async (id: string, body: unknown): Promise<{ sent: Json; mail: SunkMail }> => {
  const answer = await reply(id, body)
  expect(answer.status).toBe(201)
  const sent = await harness.getMessage('ann', answer.body.id)
  return { sent, mail: await waitFor('the reply at the relay', () => sink.mails.find((mail) => mail.parsed.messageId === sent.message_id)) }
}

describe('POST …/reply', () => {
  test('answers 201 {id, thread_id} and goes to the original sender, with In-Reply-To, References and one Re:', async () => {
    const original = await arrive()
    const answer = await reply(original.id, { text: 'This.' })
    expect([answer.status, answer.body]).toEqual([201, { id: expect.stringMatching(/^msg_/), thread_id: original.thread_id }])
    const { sent, mail } = await replied(original.id, { text: 'And that.', html: '<i>And that.</i>' })
    expect(sent).toMatchObject({
      direction: 'outbound',
      to: ['eve@example.org'],
      cc: [],
      subject: `Re: ${original.subject}`,
      in_reply_to_message_id: original.id,
      thread_id: original.thread_id,
      references: [original.message_id],
    })
    expect(mail.parsed).toMatchObject({
      inReplyTo: original.message_id,
      references: original.message_id,
      html: expect.stringContaining('<i>And that.</i>'),
    })
    expect(mail.parsed.to).toMatchObject([{ address: 'eve@example.org', name: 'Eve' }])
  })

  test.each([
    ['re: is there already', 'RE: Plans', 'RE: Plans'],
    ['of another language', 'AW: Pläne', 'AW: Pläne'],
    ['no subject', '', 'Re:'],
  ])('the subject gets one Re prefix (%s)', async (_name, subject, expected) => {
    const original = await arrive({ subject })
    expect((await replied(original.id, { text: 'a' })).sent.subject).toBe(expected)
  })

  test('the reply goes to Reply-To when there is one', async () => {
    const original = await arrive({ replyTo: 'desk@example.org' })
    expect((await replied(original.id, { text: 'a' })).mail.to).toEqual(['desk@example.org'])
  })

  test("reply_all adds all other recipients, and drops the agent's own address", async () => {
    const original = await arrive({
      to: 'ann+tag@agents.localhost, zed@example.org',
      cc: ['carol@example.org', 'ANN@agents.localhost', 'eve@example.org'],
    })
    const { sent } = await replied(original.id, { text: 'a', reply_all: true })
    expect([sent.to, sent.cc]).toEqual([['eve@example.org', 'zed@example.org'], ['carol@example.org']])
    await harness.waitForStatus('ann', sent.id, 'sent')
    expect(sink.recipientsOf(sent.message_id)).toEqual(['carol@example.org', 'eve@example.org', 'zed@example.org'])
    expect((await replied(original.id, { text: 'a', reply_all: false })).sent.cc).toEqual([])
  })

  test('to, cc and bcc replace the default recipients, each as a string or a list', async () => {
    const original = await arrive()
    const one = await replied(original.id, { text: 'a', to: 'x@example.com', cc: 'y@example.com', bcc: 'z@example.com' })
    expect([one.sent.to, one.sent.cc, one.sent.bcc]).toEqual([['x@example.com'], ['y@example.com'], ['z@example.com']])
    const two = await replied(original.id, { text: 'a', to: ['x@example.com', 'w@example.com'], cc: [], bcc: ['z@example.com'] })
    await harness.waitForStatus('ann', two.sent.id, 'sent')
    expect(sink.recipientsOf(two.sent.message_id)).toEqual(['w@example.com', 'x@example.com', 'z@example.com'])
    expect(two.sent.thread_id).toBe(original.thread_id)
  })

  test('reply_to is sent, and a blocked address in it is rejected', async () => {
    const original = await arrive()
    const { sent, mail } = await replied(original.id, { text: 'a', reply_to: 'Ann <ann+desk@agents.localhost>' })
    expect(sent.reply_to).toEqual(['ann+desk@agents.localhost'])
    expect(mail.parsed.replyTo).toMatchObject([{ address: 'ann+desk@agents.localhost' }])
    const path = `/mailboxes/ann/messages/${original.id}/forward`
    const forwarded = await harness.expectApi(201, 'POST', path, { body: { to: 'x@example.com', reply_to: ['ann@agents.localhost'] } })
    expect((await harness.getMessage('ann', forwarded.id)).reply_to).toEqual(['ann@agents.localhost'])
    await harness.expectApi(201, 'POST', '/identities/ann/mail-rules', {
      body: { direction: 'outbound', action: 'block', entry: 'blocked.example' },
    })
    for (const answer of [
      await reply(original.id, { text: 'a', reply_to: 'eve@blocked.example' }),
      await harness.api('POST', path, { body: { to: 'x@example.com', reply_to: 'eve@blocked.example' } }),
    ])
      expect([answer.status, answer.body.error.code]).toEqual([403, 'recipient_not_allowed'])
  })

  test('attachments by base64 and custom headers are sent', async () => {
    const original = await arrive()
    const attachments = [{ filename: 'a.bin', content_type: 'application/x-thing', content: 'AAEC', content_id: 'thing' }]
    const { sent, mail } = await replied(original.id, { text: 'a', attachments, headers: { 'X-Ticket': '42' } })
    expect(sent.attachments).toMatchObject([{ filename: 'a.bin', content_type: 'application/x-thing', size_bytes: 3, content_id: 'thing' }])
    expect(mail.parsed.attachments).toMatchObject([{ filename: 'a.bin', mimeType: 'application/x-thing' }])
    expect(mail.raw).toContain('X-Ticket: 42\r\n')
  })

  test.each<[string, unknown, string]>([
    ['neither text nor html', {}, '/text'],
    ['an empty text', { text: '' }, '/text'],
    ['no content_type on an attachment', { text: 'a', attachments: [{ filename: 'a', content: 'AAEC' }] }, '/attachments/0/content_type'],
    [
      'an attachment with neither content nor url',
      { text: 'a', attachments: [{ filename: 'a', content_type: 'text/plain' }] },
      '/attachments/0',
    ],
    ['a bad address', { text: 'a', to: 'nobody' }, '/to/0'],
    ['reply_all that is no boolean', { text: 'a', reply_all: 'yes' }, '/reply_all'],
    ['an own In-Reply-To', { text: 'a', headers: { 'In-Reply-To': '<a@b>' } }, '/headers/In-Reply-To'],
    ['a subject', { text: 'a', subject: 'Other' }, '/subject'],
  ])('%s is 400', async (_name, body, path) => {
    const original = await arrive()
    const answer = await reply(original.id, body)
    expect([answer.status, answer.body.error.code, answer.body.error.details[0].path]).toEqual([400, 'validation_error', path])
  })

  test('an unknown message is 404 with any body', async () => {
    expect((await reply('msg_01h455vb4pex5vsknk084sn02q', { text: 'a' })).body.error.code).toBe('not_found')
  })

  test("a reply to the agent's own message goes to its recipients", async () => {
    const sent = await harness.send('ann', 'x@example.com')
    expect((await replied(sent.id, { text: 'ping' })).mail.to).toEqual(['x@example.com'])
  })

  test('the References chain is complete over many replies', async () => {
    let last = await arrive()
    const chain = [last.message_id]
    for (let i = 0; i < 5; i++) {
      const { sent, mail } = await replied(last.id, { text: String(i) })
      expect(mail.parsed.references?.split(/\s+/)).toEqual(chain)
      chain.push(sent.message_id)
      last = sent
    }
  })
})

describe('POST …/forward', () => {
  const forward = (id: string, body: unknown) => harness.api('POST', `/mailboxes/ann/messages/${id}/forward`, { body })
  const forwarded = async (id: string, body: unknown): Promise<{ sent: Json; mail: SunkMail }> => {
    const answer = await forward(id, body)
    expect(answer.status).toBe(201)
    const sent = await harness.getMessage('ann', answer.body.id)
    return {
      sent,
      mail: await waitFor('the forward at the relay', () => sink.mails.find((mail) => mail.parsed.messageId === sent.message_id)),
    }
  }

  test('quotes the original under the new text, with a Fwd prefix and its attachments, in a thread of its own', async () => {
    const original = await arrive({ html: '<p>What <b>now</b>?</p>', attachments: [{ filename: 'a.txt', content: 'abc' }] })
    const { sent, mail } = await forwarded(original.id, { to: 'x@example.com', text: 'For you' })
    expect(sent).toMatchObject({ subject: `Fwd: ${original.subject}`, to: ['x@example.com'], in_reply_to_message_id: null })
    expect(sent.thread_id).not.toBe(original.thread_id)
    expect(mail.parsed.text).toMatch(/^For you[\s\S]+From: .*eve@example\.org[\s\S]+What now\?/)
    expect(mail.parsed.html).toContain('<b>now</b>')
    expect(mail.parsed.attachments.map((one) => Buffer.from(one.content as ArrayBuffer).toString())).toEqual(['abc'])
    expect(sent.attachments[0].id).not.toBe(original.attachments[0].id)
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${original.id}`)
    const link = sent.attachments[0].url.replace(harness.publicUrl, '')
    expect((await harness.api('GET', link, { key: null })).body.toString()).toBe('abc')
  })

  test('forward_attachments false leaves them out, and subject and further attachments are the caller’s', async () => {
    const original = await arrive({ attachments: [{ filename: 'a.txt', content: 'abc' }] })
    const body = {
      to: ['x@example.com'],
      forward_attachments: false,
      subject: 'Mine',
      attachments: [{ filename: 'b.txt', content: 'AAEC' }],
    }
    const { sent } = await forwarded(original.id, body)
    expect([sent.subject, sent.attachments.map((one: Json) => one.filename)]).toEqual(['Mine', ['b.txt']])
  })

  test('a forward without recipients is 400, and of an unknown message 404', async () => {
    const original = await arrive()
    for (const body of [{}, { to: [] }, { to: 'nobody' }]) expect((await forward(original.id, body)).status).toBe(400)
    expect((await forward('msg_01h455vb4pex5vsknk084sn02q', { to: 'x@example.com' })).status).toBe(404)
  })
})

describe('threads', () => {
  const thread = (id: string, handle = 'ann') => harness.expectApi(200, 'GET', `/mailboxes/${handle}/threads/${id}`)

  test('an incoming reply joins by In-Reply-To, and GET …/threads/{id} lists oldest first', async () => {
    const sent = await harness.send('ann', 'eve@example.org', { subject: 'Start' })
    const { message_id } = await harness.getMessage('ann', sent.id)
    const answer = await arrive({ subject: 'Something else', inReplyTo: message_id })
    expect([answer.thread_id, answer.in_reply_to_message_id]).toEqual([sent.thread_id, sent.id])
    const found = await thread(sent.thread_id)
    expect(found).toMatchObject({
      id: sent.thread_id,
      mailbox_id: answer.mailbox_id,
      subject: 'Start',
      message_count: 2,
      last_message_at: answer.created_at,
    })
    expect(found.messages.map((one: Json) => one.id)).toEqual([sent.id, answer.id])
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ann/threads?limit=1')
    expect(data[0]).toMatchObject({ id: sent.thread_id, message_count: 2, snippet: answer.snippet })
  })

  test('a reply joins by References when In-Reply-To names an unknown message', async () => {
    const sent = await harness.send('ann', 'eve@example.org')
    const { message_id } = await harness.getMessage('ann', sent.id)
    const answer = await arrive({
      inReplyTo: '<unknown@example.org>',
      references: ['<older@example.org>', message_id, '<unknown@example.org>'],
    })
    expect(answer.thread_id).toBe(sent.thread_id)
  })

  test('a parent that arrives after its child finds the thread', async () => {
    const child = await arrive({ inReplyTo: '<late-parent@example.org>' })
    const parent = await arrive({ messageId: '<late-parent@example.org>' })
    expect(parent.thread_id).toBe(child.thread_id)
  })

  test('the subject alone never joins threads, and neither do references to another mailbox', async () => {
    const one = await arrive({ subject: 'Same' })
    await harness.deliver({ from: 'eve@example.org', to: 'ben@agents.localhost', subject: 'Same', text: 'a', inReplyTo: one.message_id })
    const two = await harness.waitForMail('ben', 'Same')
    expect([two.thread_id === one.thread_id, two.in_reply_to_message_id]).toEqual([false, null])
    expect((await harness.api('GET', `/mailboxes/ben/threads/${one.thread_id}`)).status).toBe(404)
    expect((await harness.expectApi(200, 'GET', `/mail/messages?agent=ben&thread_id=${one.thread_id}`)).messages).toEqual([])
  })

  test('deleting messages takes them out of the thread, and the last one takes the thread', async () => {
    const original = await arrive()
    const { sent } = await replied(original.id, { text: 'a' })
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${sent.id}`)
    expect(await thread(original.thread_id)).toMatchObject({
      message_count: 1,
      last_message_at: original.created_at,
      snippet: original.snippet,
    })
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${original.id}`)
    expect((await harness.api('GET', `/mailboxes/ann/threads/${original.thread_id}`)).body.error.code).toBe('not_found')
  })

  test('the last message is deleted while the next one arrives, both succeed, and the thread has the remaining one', async () => {
    let last = await arrive({ subject: 'Race' })
    for (let round = 0; round < 25; round++) {
      const messageId = `<race-${round}@example.org>`
      const mail = {
        from: 'eve@example.org',
        to: 'ann@agents.localhost',
        subject: 'Race',
        text: 'a',
        inReplyTo: last.message_id,
        messageId,
      }
      const [{ response }] = await Promise.all([
        harness.deliver(mail),
        harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${last.id}`),
      ])
      last = await harness.getMessage('ann', response.split(' ').at(-1) as string)
      const found = await thread(last.thread_id)
      expect([found.message_count, found.messages.map((one: Json) => one.id), found.last_message_at]).toEqual([
        1,
        [last.id],
        last.created_at,
      ])
    }
  })
})

// Sending. Covers input, refusals and answers of POST /mail/send and POST …/messages, and the bytes that leave.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MailSink, type SunkMail, startMailSink } from './harness/mail-sink.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let sink: MailSink
let harness: Harness
beforeAll(async () => {
  sink = await startMailSink()
  harness = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  await harness.createAgent('ann', { display_name: 'Ann Agent' })
  await harness.createAgent('ben')
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
})

const post = (body: unknown) => harness.api('POST', '/mail/send', { body })
const basic = { agent: 'ann', to: ['x@example.com'], subject: 'Hello', text: 'Hello there' }
const sunk = (subject: string): Promise<SunkMail> =>
  waitFor(`"${subject}" at the relay`, () => sink.mails.find((mail) => mail.parsed.subject === subject))

describe('POST /mail/send', () => {
  test('answers 201 with id, thread_id, status queued and created_at', async () => {
    const { status, body } = await post(basic)
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^msg_[0-7][0-9a-z]{25}$/),
      thread_id: expect.stringMatching(/^thrd_[0-7][0-9a-z]{25}$/),
      status: 'queued',
      created_at: expect.any(String),
    })
    const message = await harness.getMessage('ann', body.id)
    expect(message).toMatchObject({ id: body.id, thread_id: body.thread_id, direction: 'outbound', from: 'ann@agents.localhost' })
    expect(message.created_at).toBe(body.created_at)
  })

  test('the message that leaves has every field in its place', async () => {
    const body = {
      agent: '@ann',
      to: ['Xavier Ödön <x@example.com>'],
      cc: ['c@example.com'],
      bcc: ['hidden@example.com'],
      reply_to: ['desk@example.org'],
      subject: 'Grüße, naïve façade',
      text: 'Plain wörds\n.\n..dots',
      html: '<p>Rich wörds</p>',
      headers: { 'X-Campaign': 'spring', 'List-Unsubscribe': '<https://example.org/u>' },
      attachments: [{ filename: 'naïve.txt', content: Buffer.from('abc').toString('base64') }],
    }
    const { id } = await harness.expectApi(201, 'POST', '/mail/send', { body })
    const { from, raw, parsed } = await sunk(body.subject)
    expect(from).toMatch(/^bounce\+[0-9a-z]{26}-\d-[0-9a-z]{20}@agents\.localhost$/)
    await harness.waitForStatus('ann', id, 'sent')
    expect(sink.recipientsOf(parsed.messageId as string)).toEqual(['c@example.com', 'hidden@example.com', 'x@example.com'])
    expect(new Set(sink.mails.filter((mail) => mail.parsed.messageId === parsed.messageId).map((mail) => mail.from)).size).toBe(3)
    expect(parsed).toMatchObject({
      from: { name: 'Ann Agent', address: 'ann@agents.localhost' },
      to: [{ name: 'Xavier Ödön', address: 'x@example.com' }],
      cc: [{ address: 'c@example.com' }],
      replyTo: [{ address: 'desk@example.org' }],
      html: expect.stringContaining('Rich wörds'),
      attachments: [{ filename: 'naïve.txt', mimeType: 'text/plain' }],
    })
    expect(parsed.text?.replaceAll('\r\n', '\n')).toContain('Plain wörds\n.\n..dots')
    expect(Buffer.from(parsed.attachments[0]?.content as ArrayBuffer).toString()).toBe('abc')
    const header = (key: string) => parsed.headers.filter((one) => one.key === key).map((one) => one.value)
    expect([header('x-campaign'), header('list-unsubscribe')]).toEqual([['spring'], ['<https://example.org/u>']])
    expect(raw).not.toContain('hidden@example.com')
    expect(raw.split('\r\n').every((line) => line.length <= 998)).toBe(true)
    const message = await harness.getMessage('ann', id)
    expect(message).toMatchObject({
      to: ['x@example.com'],
      cc: ['c@example.com'],
      bcc: ['hidden@example.com'],
      reply_to: ['desk@example.org'],
      subject: body.subject,
      text: body.text,
      html: body.html,
      headers: body.headers,
      message_id: parsed.messageId,
      is_read: true,
      labels: [],
      tags: [],
      metadata: {},
    })
    // The raw view has the bytes sent over the wire.
    const bytes = (await harness.api('GET', `/mailboxes/ann/messages/${id}/raw`)).body as Buffer
    expect(bytes.toString('latin1').trimEnd()).toBe(raw.trimEnd())
  })

  test('HTML alone is enough, and its text is derived', async () => {
    const html = '<style>p{}</style><p>Rich &amp; short</p><p>Second</p>'
    const text = 'Rich & short\n\nSecond'
    const { text: _, ...rest } = basic
    const { body } = await post({ ...rest, html })
    const sent = await harness.waitForStatus('ann', body.id, 'sent')
    expect(sent).toMatchObject({ text, html, extracted_text: text, snippet: expect.stringContaining('Rich & short') })
    const reply = await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${body.id}/reply`, { body: { html, to: 'x@example.com' } })
    expect(await harness.getMessage('ann', reply.id)).toMatchObject({ text, html })
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body: { to: 'x@example.com', subject: 's', html } })
    const { id } = await harness.expectApi(201, 'POST', `/mailboxes/ann/drafts/${draft.id}/send`)
    expect(await harness.getMessage('ann', id)).toMatchObject({ text, html })
    const raw = String((await harness.api('GET', `/mailboxes/ann/messages/${body.id}/raw`)).body)
    expect(raw).toMatch(/Content-Type: text\/plain.*Rich & short\r\n\r\nSecond.*Content-Type: text\/html/s)
    // A given text is kept, and a blank one is replaced.
    for (const [given, kept] of [
      ['Mine', 'Mine'],
      [' \n', text],
    ] as const)
      expect(await harness.getMessage('ann', (await post({ ...basic, text: given, html })).body.id)).toMatchObject({ text: kept })
    expect((await post({ ...rest, html: '' })).body.error.details[0].path).toBe('/text')
  })

  test.each(['agent', 'to', 'subject', 'text'])('%s is required', async (field) => {
    const { status, body } = await post({ ...basic, [field]: undefined })
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'validation_error', `/${field}`])
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['no recipient', { to: [] }, '/to'],
    ['to as a string', { to: 'x@example.com' }, '/to'],
    ['an address that is none', { to: ['x@example.com', 'nobody'] }, '/to/1'],
    ['two addresses in one entry', { to: ['a@example.com, b@example.com'] }, '/to/0'],
    ['a line break in an address', { to: ['a@example.com\r\nBcc: b@example.com'] }, '/to/0'],
    ['a group of addresses', { to: ['team: a@example.com;'] }, '/to/0'],
    ['a second address behind the first', { to: ['<a@example.com> <b@example.com>'] }, '/to/0'],
    ['an address with an over-long local part', { cc: [`${'x'.repeat(256)}@example.com`] }, '/cc/0'],
    ['a bad bcc', { bcc: ['@example.com'] }, '/bcc/0'],
    ['a bad reply_to', { reply_to: 'nobody' }, '/reply_to/0'],
    ['a subject of two lines', { subject: 'a\r\nBcc: b@example.com' }, '/subject'],
    ['a subject of 999 characters', { subject: 'x'.repeat(999) }, '/subject'],
    ['text that is no string', { text: null }, '/text'],
    ['an own From', { headers: { From: 'a@example.com' } }, '/headers/From'],
    ['an own Message-ID', { headers: { 'message-id': '<a@b>' } }, '/headers/message-id'],
    ['an own DKIM-Signature', { headers: { 'DKIM-Signature': 'v=1' } }, '/headers/DKIM-Signature'],
    ['an own Content-Type', { headers: { 'Content-Type': 'text/html' } }, '/headers/Content-Type'],
    ['a line break in a header', { headers: { 'X-A': 'a\r\nBcc: b@example.com' } }, '/headers/X-A'],
    ['a colon in a header name', { headers: { 'X:A': 'a' } }, '/headers/X:A'],
    ['a header that is no string', { headers: { 'X-A': 1 } }, '/headers/X-A'],
    ['an unknown field', { subjekt: 'a' }, '/subjekt'],
  ])('%s is 400 validation_error naming the field', async (_name, change, path) => {
    const { status, body } = await post({ ...basic, ...change })
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'validation_error', path])
  })

  test('a subject of 998 characters is sent and returned whole', async () => {
    const subject = `${'long '.repeat(199)}end`
    expect(subject).toHaveLength(998)
    const { id } = await harness.expectApi(201, 'POST', '/mail/send', { body: { ...basic, subject } })
    expect((await sunk(subject)).parsed.subject).toBe(subject)
    expect((await harness.getMessage('ann', id)).subject).toBe(subject)
  })

  test('50 recipients in to, cc and bcc together are accepted, and 51 are 400', async () => {
    const list = (from: number, count: number) => Array.from({ length: count }, (_, i) => `r${from + i}@example.com`)
    const fifty = { ...basic, subject: 'Fifty', to: list(0, 20), cc: list(20, 20), bcc: list(40, 10) }
    const { id } = await harness.expectApi(201, 'POST', '/mail/send', { body: fifty })
    const sent = await harness.waitForStatus('ann', id, 'sent')
    expect(sent.delivery.recipients).toHaveLength(50)
    expect(new Set(sink.recipientsOf(sent.message_id)).size).toBe(50)
    for (const more of [{ bcc: list(40, 11) }, { to: list(0, 51), cc: [], bcc: [] }]) {
      const { status, body } = await post({ ...fifty, ...more })
      expect([status, body.error.code]).toEqual([400, 'validation_error'])
    }
  })

  test('a repeated recipient gets one copy', async () => {
    const body = { ...basic, subject: 'Twice', to: ['a@example.com', 'A@Example.com'], cc: ['a@example.com'] }
    await harness.expectApi(201, 'POST', '/mail/send', { body })
    expect((await sunk('Twice')).to).toEqual(['a@example.com'])
  })

  test('an unknown agent, and one of another organization, is 404', async () => {
    expect((await post({ ...basic, agent: 'nobody' })).body.error.code).toBe('not_found')
    const answer = await harness.api('POST', '/mail/send', { key: harness.otherOrganization.key, body: basic })
    expect(answer.body.error.code).toBe('not_found')
  })

  test('an empty subject and an empty text are accepted', async () => {
    const { id } = await harness.expectApi(201, 'POST', '/mail/send', { body: { ...basic, subject: '', text: '' } })
    expect(await harness.waitForStatus('ann', id, 'sent')).toMatchObject({ subject: '', text: '', snippet: '' })
  })
})

describe('thread_id', () => {
  test('sets In-Reply-To and References from the latest message of the thread', async () => {
    const first = await harness.send('ann', 'x@example.com', { subject: 'Chain 1' })
    const second = await harness.send('ann', 'x@example.com', { subject: 'Chain 2', thread_id: first.thread_id })
    const third = await harness.send('ann', 'x@example.com', { subject: 'Chain 3', thread_id: first.thread_id })
    expect([second.thread_id, third.thread_id]).toEqual([first.thread_id, first.thread_id])
    const [one, two, three] = [await sunk('Chain 1'), await sunk('Chain 2'), await sunk('Chain 3')]
    expect([one.parsed.inReplyTo, one.parsed.references]).toEqual([undefined, undefined])
    expect([two.parsed.inReplyTo, two.parsed.references]).toEqual([one.parsed.messageId, one.parsed.messageId])
    expect(three.parsed.inReplyTo).toBe(two.parsed.messageId)
    expect(three.parsed.references).toBe(`${one.parsed.messageId} ${two.parsed.messageId}`)
    expect((await harness.getMessage('ann', third.id)).in_reply_to_message_id).toBe(second.id)
  })

  test('a thread that the mailbox does not have is 404', async () => {
    const { thread_id } = await harness.send('ben', 'x@example.com')
    expect((await post({ ...basic, thread_id })).body.error.code).toBe('not_found')
    for (const thread_id of ['thrd_01h455vb4pex5vsknk084sn02q', 'thread']) expect((await post({ ...basic, thread_id })).status).toBe(404)
  })

  test('without it a message starts its own thread, even with the same subject', async () => {
    const [one, two] = [await harness.send('ann', 'x@example.com'), await harness.send('ann', 'x@example.com')]
    expect(one.thread_id).not.toBe(two.thread_id)
  })
})

describe('POST /mailboxes/{email_address}/messages', () => {
  test('sends from that mailbox, by address or handle', async () => {
    for (const name of ['ann', 'ann@agents.localhost']) {
      const { agent: _, ...body } = { ...basic, subject: `From ${name}` }
      const sent = await harness.expectApi(201, 'POST', `/mailboxes/${name}/messages`, { body })
      expect(sent.status).toBe('queued')
      expect((await sunk(`From ${name}`)).parsed.from?.address).toBe('ann@agents.localhost')
    }
    const answer = await harness.api('POST', '/mailboxes/ann/messages', { body: basic })
    expect(answer.body.error.details[0].path).toBe('/agent')
  })
})

describe('hosted recipients', () => {
  test('are delivered to their mailbox, with status delivered', async () => {
    const body = {
      agent: 'ann',
      to: ['Ben <ben@agents.localhost>'],
      subject: 'Inside',
      text: 'From simulatorState to simulatorState',
      html: '<b>bold</b>',
    }
    const sent = await harness.expectApi(201, 'POST', '/mail/send', { body })
    const message = await harness.waitForStatus('ann', sent.id, 'delivered')
    expect(message.delivery.recipients).toMatchObject([{ address: 'ben@agents.localhost', status: 'delivered', attempts: 1 }])
    const arrived = await harness.waitForMail('ben', 'Inside')
    expect(arrived).toMatchObject({
      direction: 'inbound',
      status: 'received',
      from: 'ann@agents.localhost',
      to: ['ben@agents.localhost'],
      text: expect.stringContaining('From simulatorState to simulatorState'),
      html: expect.stringContaining('<b>bold</b>'),
      message_id: message.message_id,
      is_read: false,
    })
    expect(sink.mails.some((mail) => mail.parsed.subject === 'Inside')).toBe(false)
    expect((await harness.eventsOf(sent.id)).map((event) => event.type)).toEqual(['email.sent', 'email.delivered'])
    expect((await harness.eventsOf(arrived.id)).map((event) => event.type)).toEqual(['email.received'])
  })

  test('plus tags and capitals reach the same mailbox, and an unknown address on the mail domain bounces', async () => {
    await harness.send('ann', 'BEN+news@Agents.Localhost', { subject: 'Tagged' })
    expect((await harness.waitForMail('ben', 'Tagged')).to).toEqual(['BEN+news@agents.localhost'])
    const { id } = await harness.send('ann', ['nobody@agents.localhost', 'ben@agents.localhost'], { subject: 'Half' })
    const message = await harness.waitForStatus('ann', id, 'bounced')
    expect(message.delivery.recipients.map((one: Json) => [one.status, one.diagnostic_code])).toEqual([
      ['bounced', '5.1.1'],
      ['delivered', null],
    ])
    await harness.waitForMail('ben', 'Half')
  })

  test('a blind copy is filed, and is hidden from other recipients', async () => {
    const body = { agent: 'ann', to: ['x@example.com'], bcc: ['ben@agents.localhost'], subject: 'Blind', text: 'a' }
    await harness.expectApi(201, 'POST', '/mail/send', { body })
    const arrived = await harness.waitForMail('ben', 'Blind')
    expect([arrived.to, arrived.bcc]).toEqual([['x@example.com'], []])
    expect((await sunk('Blind')).to).toEqual(['x@example.com'])
  })

  test('of another organization are delivered too, and each side sees its own copy only', async () => {
    await harness.createAgent('ophelia', {}, harness.otherOrganization.key)
    const sent = await harness.send('ann', 'ophelia@agents.localhost', { subject: 'Across' })
    await harness.waitForStatus('ann', sent.id, 'delivered')
    const { messages, total } = await harness.expectApi(200, 'GET', '/mail/messages', { key: harness.otherOrganization.key })
    expect([total, messages[0].subject, messages[0].direction]).toEqual([1, 'Across', 'inbound'])
    expect(messages[0].id).not.toBe(sent.id)
    expect((await harness.api('GET', `/mailboxes/ophelia/messages/${messages[0].id}`)).status).toBe(404)
    expect((await harness.api('GET', `/mailboxes/ann/messages/${sent.id}`, { key: harness.otherOrganization.key })).status).toBe(404)
  })
})

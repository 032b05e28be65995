// Automatic answers (RFC 3834). They are marked, go to the sender alone and once per day, and never answer automatic mail.
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

let count = 0
/** Each message comes from a new sender unless `from` is given, because a sender gets one automatic answer per day. */
const arrive = (more: object = {}): Promise<Json> => relayed.arrive({ from: `Eve <eve${++count}@example.org>`, ...more })
const answer = (id: string, more: object = {}, agent = 'ann') =>
  harness.api('POST', `/mailboxes/${agent}/messages/${id}/reply`, { body: { text: 'I am away.', automatic: true, ...more } })
const atRelay = (id: string): Promise<SunkMail> =>
  waitFor('the mail at the relay', async () => {
    const { message_id } = await harness.getMessage('ann', id)
    return sink.mails.find((mail) => mail.parsed.messageId === message_id)
  })
const headersOf = (mail: SunkMail, name: string) => mail.parsed.headers.filter(({ key }) => key === name).map(({ value }) => value)

describe('an automatic answer', () => {
  test('is marked, and goes to the sender alone with the null return path, in the thread', async () => {
    const original = await arrive({ replyTo: 'desk@example.org' })
    const sent = await answer(original.id)
    expect([sent.status, sent.body.thread_id]).toEqual([201, original.thread_id])
    const mail = await atRelay(sent.body.id)
    expect([mail.from, mail.to]).toEqual(['', [`eve${count}@example.org`]])
    expect(headersOf(mail, 'auto-submitted')).toEqual(['auto-replied'])
    expect(mail.parsed).toMatchObject({ subject: `Auto: ${original.subject}`, inReplyTo: original.message_id })
    expect(headersOf(mail, 'dkim-signature')[0]?.replace(/\s/g, '')).toMatch(/[:=]Auto-Submitted[:;]/i)
  })

  test.each([
    ['an automatic answer', { headers: { 'Auto-Submitted': 'auto-replied' } }],
    ['a notification', { headers: { 'Auto-Submitted': 'auto-generated' } }],
    ['a list', { headers: { 'List-Id': '<list.example.org>' } }],
    ['bulk mail', { headers: { Precedence: 'bulk' } }],
    ['mail that asks for none', { headers: { 'X-Auto-Response-Suppress': 'All' } }],
    ['a mail system', { from: 'MAILER-DAEMON@example.org' }],
    ['an address that reads nothing', { from: 'no-reply@example.org' }],
  ])("is refused with 409 for %s, and the agent's own reply is accepted", async (_, more) => {
    const original = await arrive(more)
    expect((await answer(original.id)).status).toBe(409)
    expect((await answer(original.id, { automatic: false })).status).toBe(201)
  })

  test('is not given to mail with the null return path', async () => {
    const original = await arrive({ envelope: { from: '', to: 'ann@agents.localhost' } })
    expect((await answer(original.id)).body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('null return path') })
  })

  test('a sender gets one automatic answer per day, for any message and any number of concurrent requests', async () => {
    const first = await arrive({ from: 'Bo <bo@example.org>' })
    const second = await arrive({ from: 'Bo <BO@example.org>' })
    const statuses = (await Promise.all([first, second, first, second].map(({ id }) => answer(id)))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([201, 409, 409, 409])
    expect((await answer(second.id)).body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('within a day') })
    expect((await answer((await arrive()).id)).status).toBe(201)
  })

  test('goes to the sender only, and other recipients are 400', async () => {
    const { id } = await arrive()
    for (const more of [{ to: 'x@example.org' }, { cc: 'x@example.org' }, { bcc: 'x@example.org' }, { reply_all: true }])
      expect([more, (await answer(id, more)).status]).toEqual([more, 400])
  })

  test('between two agents is seen as automatic and is not answered', async () => {
    const sent = await harness.api('POST', '/mail/send', {
      body: { agent: 'ben', to: ['ann@agents.localhost'], subject: 'Between us', text: 'Hello' },
    })
    expect(sent.status).toBe(201)
    const original = await harness.waitForMail('ann', 'Between us')
    expect((await answer(original.id)).status).toBe(201)
    const back = await harness.waitForMail('ben', 'Auto: Between us')
    expect(back.headers).toMatchObject({ 'auto-submitted': 'auto-replied' })
    expect((await answer(back.id, {}, 'ben')).status).toBe(409)
  })
})

test('a notification is marked as automatic, and its return path receives bounces', async () => {
  const body = { agent: 'ann', to: ['eve@example.org'], subject: 'Report', text: 'All is well.', automatic: true }
  const sent = await harness.api('POST', '/mail/send', { body })
  const mail = await atRelay(sent.body.id)
  expect(headersOf(mail, 'auto-submitted')).toEqual(['auto-generated'])
  expect(mail.from).toMatch(/^bounce\+/)
  expect((await harness.getMessage('ann', sent.body.id)).headers).toEqual({ 'Auto-Submitted': 'auto-generated' })
  const own = await harness.api('POST', '/mail/send', { body: { ...body, headers: { 'Auto-Submitted': 'no' } } })
  expect(own.status).toBe(400)
})

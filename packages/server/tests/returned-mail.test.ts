// Returned mail on a whole server. Real reports set the right status, forged ones change nothing, and other messages reach the agent.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MailSink, startMailSink } from './harness/mail-sink.ts'
import { captured, complaint, handIn } from './harness/return-mail.ts'
import { scripted, welcome } from './harness/scripted-smtp.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let sink: MailSink
let harness: Harness
beforeAll(async () => {
  sink = await startMailSink()
  harness = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
  await harness.createAgent('ann')
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
})

/** A message that the relay accepted, with the return path of each recipient. */
async function sent(...to: string[]): Promise<{ id: string; returnPaths: Record<string, string> }> {
  for (const address of to) await harness.api('DELETE', `/suppressions/${encodeURIComponent(address)}`)
  const { id } = await harness.send('ann', to)
  const message = await harness.waitForStatus('ann', id, 'sent')
  const own = sink.mails.filter((mail) => mail.parsed.messageId === message.message_id)
  return { id, returnPaths: Object.fromEntries(own.map((mail) => [mail.to[0] as string, mail.from])) }
}
const recipientOf = async (id: string, position = 0): Promise<Json> => (await harness.getMessage('ann', id)).delivery.recipients[position]
const types = async (id: string) => (await harness.eventsOf(id)).map((event) => event.type)
const isSuppressed = async (address: string) =>
  (await harness.expectApi(200, 'GET', `/suppressions?email_address=${encodeURIComponent(address)}`)).data.length === 1
const inbox = async (): Promise<Json[]> => (await harness.expectApi(200, 'GET', '/mailboxes/ann/messages?direction=inbound&limit=100')).data
const take = (name: string, returnPath: string) => handIn(harness.smtpPort, { to: returnPath, raw: captured(name, returnPath).raw })

describe('reports of Postfix and Exim', () => {
  test.each([
    ['postfix-unknown', 'nobody@example.com', 'bounced', '5.1.1', true],
    ['postfix-full', 'full@example.com', 'bounced', '5.2.2', false],
    ['postfix-expired', 'x@gone.example', 'failed', '4.4.1', false],
    ['postfix-delayed', 'x@gone.example', 'sent', null, false],
    ['exim-unknown', 'nobody@example.com', 'bounced', '5.0.0', true],
    ['exim-full', 'full@example.com', 'bounced', '5.2.2', false],
    ['exim-expired', 'x@gone.example', 'failed', '4.4.7', false],
    ['exim-delayed', 'full@example.com', 'sent', null, false],
  ] as const)('%s to %s ends %s', async (name, address, status, code, suppressed) => {
    const { id, returnPaths } = await sent(address)
    await take(name, returnPaths[address] as string)
    const message = await harness.getMessage('ann', id)
    const recipient = message.delivery.recipients[0]
    expect([message.status, recipient.status, recipient.diagnostic_code]).toEqual([status, status, code])
    expect(recipient.log).toMatchObject([
      { result: 'taken' },
      { result: 'report', host: expect.stringMatching(/^(peer|mx\.exim)\.example$/) },
    ])
    expect(await types(id)).toEqual(['email.sent', ...(status === 'sent' ? [] : [`email.${status}`])])
    expect(await isSuppressed(address)).toBe(suppressed)
    expect(await inbox()).toEqual([])

    // A repeat, as from a sender that lost the first answer, changes nothing.
    await take(name, returnPaths[address] as string)
    expect((await recipientOf(id)).log).toHaveLength(2)
    expect(await types(id)).toHaveLength(status === 'sent' ? 1 : 2)
  })

  test('a delay precedes the failure, and a failed message stays failed after a late report of success', async () => {
    const { id, returnPaths } = await sent('x@gone.example')
    const path = returnPaths['x@gone.example'] as string
    await take('postfix-delayed', path)
    await take('postfix-expired', path)
    const success = captured('postfix-expired', path)
      .raw.replace('Action: failed', 'Action: delivered')
      .replace('Status: 4.4.1', 'Status: 2.0.0')
    await handIn(harness.smtpPort, { to: path, raw: success })
    const { status, log } = await recipientOf(id)
    expect([status, log.length]).toEqual(['failed', 4])
    expect(await types(id)).toEqual(['email.sent', 'email.failed'])
  })

  test('a report of success makes it delivered, and a later bounce bounced', async () => {
    const { id, returnPaths } = await sent('nobody@example.com')
    const path = returnPaths['nobody@example.com'] as string
    const { raw } = captured('postfix-unknown', path)
    await handIn(harness.smtpPort, {
      to: path,
      raw: raw.replace('Action: failed', 'Action: delivered').replace('Status: 5.1.1', 'Status: 2.0.0'),
    })
    expect((await harness.getMessage('ann', id)).status).toBe('delivered')
    await handIn(harness.smtpPort, { to: path, raw })
    expect((await harness.getMessage('ann', id)).status).toBe('bounced')
    expect(await types(id)).toEqual(['email.sent', 'email.delivered', 'email.bounced'])
  })

  test('each recipient has its own return path, and the message has the worst status of them', async () => {
    const { id, returnPaths } = await sent('nobody@example.com', 'full@example.com', 'fine@example.com')
    expect(new Set(Object.values(returnPaths)).size).toBe(3)
    await take('postfix-full', returnPaths['full@example.com'] as string)
    const message = await harness.getMessage('ann', id)
    expect(message.delivery.recipients.map((one: Json) => one.status)).toEqual(['sent', 'bounced', 'sent'])
    expect(message.status).toBe('bounced')
  })

  test("a report at one recipient's return path about another applies to the former", async () => {
    const { id, returnPaths } = await sent('evil@example.com', 'nobody@example.com')
    // The report names a different recipient than its return path, which was given to evil@.
    await take('postfix-unknown', returnPaths['evil@example.com'] as string)
    const message = await harness.getMessage('ann', id)
    expect(message.delivery.recipients.map((one: Json) => one.status)).toEqual(['bounced', 'sent'])
    expect([await isSuppressed('nobody@example.com'), await isSuppressed('evil@example.com')]).toEqual([false, true])
  })
})

describe('forged', () => {
  test('an invalid return path, with any byte of the code changed, is 550 and changes nothing', async () => {
    const { id, returnPaths } = await sent('nobody@example.com')
    const path = returnPaths['nobody@example.com'] as string
    const forgeries = [
      path.replace(/-([0-9a-z]{20})@/, (_, code: string) => `-${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}@`),
      path.replace('-0-', '-1-'),
      path.replace(/-[0-9a-z]{20}@/, '-@'),
      'bounce+@agents.localhost',
      'bounce+anything@agents.localhost',
      path.replace('@agents.localhost', '@elsewhere.example'),
    ]
    for (const to of forgeries)
      await expect(handIn(harness.smtpPort, { to, raw: captured('postfix-unknown', path).raw })).rejects.toThrow(/55[0-9]/)
    expect((await harness.getMessage('ann', id)).status).toBe('sent')
    expect((await recipientOf(id)).log).toHaveLength(1)
  })

  test('mail to the agent itself is ordinary mail with any content', async () => {
    const { id, returnPaths } = await sent('nobody@example.com')
    const path = returnPaths['nobody@example.com'] as string
    const { raw } = captured('postfix-unknown', path)
    await handIn(harness.smtpPort, {
      to: 'ann@agents.localhost',
      raw: raw.replace(/^Message-Id: .*$/im, 'Message-Id: <forged@peer.example>'),
    })
    const arrived = await waitFor('the message', async () => (await inbox()).find((one) => one.message_id === '<forged@peer.example>'))
    expect(arrived).toMatchObject({ subject: 'Undelivered Mail Returned to Sender', status: 'received' })
    expect((await harness.getMessage('ann', id)).status).toBe('sent')
    expect(await isSuppressed('nobody@example.com')).toBe(false)
  })

  test('a report on a deleted message is 550', async () => {
    const { id, returnPaths } = await sent('nobody@example.com')
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${id}`)
    await expect(take('postfix-unknown', returnPaths['nobody@example.com'] as string)).rejects.toThrow('550')
  })

  test('a return path used as a recipient through the API does not exist', async () => {
    const { id, returnPaths } = await sent('nobody@example.com')
    const attempt = await harness.send('ann', returnPaths['nobody@example.com'] as string, {
      subject: 'Undelivered Mail Returned to Sender',
    })
    await harness.waitForStatus('ann', attempt.id, 'bounced', 'failed')
    expect((await harness.getMessage('ann', id)).status).toBe('sent')
  })
})

describe('complaints', () => {
  test('a complaint at the return path, or at bounce@ with the path quoted, gives an event and a suppression and keeps the status', async () => {
    for (const to of [null, 'bounce@agents.localhost', 'BOUNCE@agents.localhost']) {
      const { id, returnPaths } = await sent('reader@example.com')
      const path = returnPaths['reader@example.com'] as string
      await handIn(harness.smtpPort, { from: 'feedback@provider.example', to: to ?? path, raw: complaint(path) })
      expect((await harness.getMessage('ann', id)).status).toBe('sent')
      expect(await types(id)).toEqual(['email.sent', 'email.complained'])
      expect((await harness.eventsOf(id))[1]?.data.recipients).toMatchObject([{ address: 'reader@example.com' }])
      const refused = await harness.api('POST', '/mail/send', {
        body: { agent: 'ann', to: ['reader@example.com'], subject: 'a', text: 'a' },
      })
      expect([refused.status, refused.body.error.code]).toEqual([403, 'recipient_suppressed'])
    }
  })

  test('a complaint of Hotmail (JMRP), which has no feedback part, counts at bounce@ too', async () => {
    const { id, returnPaths } = await sent('reader@example.com')
    const raw = `From: staff@hotmail.com\nTo: bounce@agents.localhost\nSubject: complaint about message from 192.0.2.1\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: reader@example.com\nReturn-Path: <${returnPaths['reader@example.com']}>\nFrom: ann@agents.localhost\nSubject: Hello\n\nHello there\n--b--\n`
    await handIn(harness.smtpPort, { from: 'staff@hotmail.com', to: 'bounce@agents.localhost', raw })
    expect(await types(id)).toEqual(['email.sent', 'email.complained'])
    expect(await isSuppressed('reader@example.com')).toBe(true)
  })

  test('"not spam" is recorded and changes nothing', async () => {
    const { id, returnPaths } = await sent('reader@example.com')
    await handIn(harness.smtpPort, {
      to: 'bounce@agents.localhost',
      raw: complaint(returnPaths['reader@example.com'] as string, 'not-spam'),
    })
    expect(await types(id)).toEqual(['email.sent'])
    expect(await isSuppressed('reader@example.com')).toBe(false)
  })

  test('a complaint at bounce@ without a valid return path is refused', async () => {
    const { id, returnPaths } = await sent('reader@example.com')
    const forged = (returnPaths['reader@example.com'] as string).replace('-0-', '-1-')
    for (const path of ['', forged])
      await expect(handIn(harness.smtpPort, { to: 'bounce@agents.localhost', raw: complaint(path) })).rejects.toThrow('550')
    await expect(
      handIn(harness.smtpPort, { from: 'a@b.example', to: 'bounce@agents.localhost', raw: 'Subject: hi\n\nhi\n' }),
    ).rejects.toThrow('550')
    expect(await types(id)).toEqual(['email.sent'])
  })
})

describe('mail for a person', () => {
  test('an automatic answer is recorded, reaches the agent in its thread, and changes nothing', async () => {
    const { id, returnPaths } = await sent('away@example.com')
    const message = await harness.getMessage('ann', id)
    const raw = `From: Away <away@example.com>\nTo: ann@agents.localhost\nSubject: Out of office\nMessage-ID: <away1@example.com>\nIn-Reply-To: ${message.message_id}\nAuto-Submitted: auto-replied\n\nBack on Monday.\n`
    await handIn(harness.smtpPort, { to: returnPaths['away@example.com'] as string, raw })
    const arrived = await waitFor('the answer', async () => (await inbox()).find((one) => one.message_id === '<away1@example.com>'))
    expect(arrived).toMatchObject({ thread_id: message.thread_id, status: 'received' })
    const recipient = await recipientOf(id)
    expect([recipient.status, recipient.log.length]).toEqual(['sent', 2])
    expect(recipient.log[1]).toMatchObject({ result: 'report', answer: 'An automatic answer came back: Out of office' })
    expect(await types(id)).toEqual(['email.sent'])
  })

  test('a message to the return path reaches the agent', async () => {
    const { id, returnPaths } = await sent('odd@example.com')
    const raw =
      'From: Odd <odd@example.com>\nSubject: Re: Hello\nMessage-ID: <odd1@example.com>\n\nMy program answers to the return path.\n'
    await handIn(harness.smtpPort, { from: 'odd@example.com', to: [returnPaths['odd@example.com'] as string, 'ann@agents.localhost'], raw })
    await waitFor('the message', async () => (await inbox()).filter((one) => one.message_id === '<odd1@example.com>').length === 1)
    expect((await recipientOf(id)).log).toHaveLength(1)
  })
})

test("a bounce that precedes the relay's answer is not undone by it", async () => {
  const relay = await scripted(async (peer) => {
    await welcome(peer)
    const path = /<(.*)>/.exec(await peer.line())?.[1] as string
    peer.say('250 2.1.0 ok')
    await peer.line()
    peer.say('250 2.1.5 ok')
    await peer.line()
    peer.say('354 go')
    await peer.data()
    await handIn(own.smtpPort, { to: path, raw: captured('postfix-unknown', path).raw })
    peer.say('250 2.0.0 taken')
  })
  const own = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: `smtp://localhost:${relay.port}` })
  try {
    await own.createAgent('cat')
    const { id } = await own.send('cat', 'nobody@example.com')
    const gone = async () => (await own.db.query({ text: 'SELECT 1 FROM jobs WHERE subject = $1', values: [id] })).rowCount === 0
    await waitFor('the delivery to end', gone)
    const message = await own.getMessage('cat', id)
    expect(message.status).toBe('bounced')
    expect(message.delivery.recipients[0].log.map((one: Json) => one.result)).toEqual(['report', 'taken'])
    expect((await own.eventsOf(id)).map((event) => event.type)).toEqual(['email.bounced'])
  } finally {
    await own.stop()
  }
})
